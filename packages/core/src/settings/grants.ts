import { join } from "node:path";
import { HomeList } from "@burin/files/disk/home-file";

/** A rule that the user allowed with "always", for one project or for all. */
export interface StoredGrant {
  readonly rule: string;
  /** The real path of the project's folder. Absent if the grant applies everywhere. */
  readonly project?: string;
  /** The time in ISO 8601. */
  readonly when: string;
}

/** Stores grants in `grants.json`, in the user's folder. If it cannot be read, nothing is granted. */
export class GrantStore extends HomeList<StoredGrant> {
  constructor(home: string) {
    const otherwise = "no stored grant counts";
    super(join(home, "grants.json"), { key: "grants", isItem: isGrant, consequence: otherwise });
  }

  /** Adds rules. Throws a SettingsError, and stores nothing, if the file is invalid or cannot be written. */
  async add(rules: readonly string[], project: string | undefined): Promise<void> {
    const when = new Date().toISOString();
    const scope = project === undefined ? {} : { project };
    await this.changeItems((grants) => {
      const missing = rules.filter(
        (rule) => !grants.some((one) => one.rule === rule && one.project === project),
      );
      return missing.length === 0
        ? grants
        : [...grants, ...missing.map((rule) => ({ rule, ...scope, when }))];
    });
  }

  /** Removes the chosen grants. Resolves to the removed ones. */
  async revoke(isChosen: (grant: StoredGrant) => boolean): Promise<readonly StoredGrant[]> {
    let gone: readonly StoredGrant[] = [];
    await this.changeItems((grants) => {
      gone = grants.filter(isChosen);
      return gone.length === 0 ? grants : grants.filter((grant) => !isChosen(grant));
    });
    return gone;
  }
}

function isGrant(value: unknown): value is StoredGrant {
  if (typeof value !== "object" || value === null) return false;
  const { rule, project, when } = value as Record<string, unknown>;
  return (
    typeof rule === "string" && typeof when === "string" && ["string", "undefined"].includes(typeof project)
  );
}
