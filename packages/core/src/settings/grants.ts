import { stat } from "node:fs/promises";
import { join } from "node:path";
import { SettingsError } from "@burin/contract/settings/settings";
import { changeHomeFile, readHomeFile } from "@burin/machine/disk/home-file";

/** A rule that the person answered "always" to, for one project or for all. */
export interface StoredGrant {
  readonly rule: string;
  /** The real path of the project's folder; absent when the grant holds everywhere. */
  readonly project?: string;
  /** ISO 8601. */
  readonly when: string;
}

interface Known {
  /** Tells whether the file is still the same. */
  readonly stamp: string;
  readonly grants: readonly StoredGrant[];
}

/** `grants.json`, in the folder of what belongs to the person. What it cannot be read from grants nothing. */
export class GrantStore {
  readonly path: string;
  #known: Known | null = null;

  constructor(home: string) {
    this.path = join(home, "grants.json");
  }

  /** As the file says now; reading it again costs one look. Throws SettingsError when it is broken. */
  async all(): Promise<readonly StoredGrant[]> {
    const found = await stat(this.path, { bigint: true }).catch(() => null);
    const stamp = found === null ? "" : `${found.ino} ${found.mtimeNs} ${found.size}`;
    if (this.#known?.stamp !== stamp) {
      const text = found === null ? null : await readHomeFile(this.path);
      this.#known = { stamp, grants: grantsIn(text, this.path) };
    }
    return this.#known.grants;
  }

  /** Throws SettingsError, and stores nothing, when the file is broken or cannot be written. */
  async add(rules: readonly string[], project: string | undefined): Promise<void> {
    const when = new Date().toISOString();
    await this.#change((grants) => {
      const missing = rules.filter(
        (rule) => !grants.some((one) => one.rule === rule && one.project === project),
      );
      const scope = project === undefined ? {} : { project };
      return [...grants, ...missing.map((rule) => ({ rule, ...scope, when }))];
    });
  }

  /** Takes back those that are chosen. Resolves to what is gone. */
  async revoke(isChosen: (grant: StoredGrant) => boolean): Promise<readonly StoredGrant[]> {
    let gone: readonly StoredGrant[] = [];
    await this.#change((grants) => {
      gone = grants.filter(isChosen);
      return grants.filter((grant) => !isChosen(grant));
    });
    return gone;
  }

  async #change(change: (grants: readonly StoredGrant[]) => readonly StoredGrant[]): Promise<void> {
    await changeHomeFile(this.path, (text) => {
      const before = grantsIn(text, this.path);
      const grants = change(before);
      const isSame = text !== null && grants.length === before.length;
      return isSame ? text : `${JSON.stringify({ grants }, null, 2)}\n`;
    });
  }
}

function grantsIn(text: string | null, path: string): readonly StoredGrant[] {
  if (text === null) return [];
  let found: unknown;
  try {
    found = (JSON.parse(text) as { grants?: unknown } | null)?.grants;
  } catch {
    found = undefined;
  }
  if (Array.isArray(found) && found.every(isGrant)) return found;
  throw new SettingsError(
    `${path} is broken, so no stored grant counts; it was left as it is. Mend it, or move it away.`,
  );
}

function isGrant(value: unknown): value is StoredGrant {
  if (typeof value !== "object" || value === null) return false;
  const { rule, project, when } = value as Record<string, unknown>;
  return (
    typeof rule === "string" && typeof when === "string" && ["string", "undefined"].includes(typeof project)
  );
}
