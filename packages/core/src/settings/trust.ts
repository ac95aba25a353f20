import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { SettingsError } from "@burin/contract/settings/settings";
import { changeHomeFile, readHomeFile } from "@burin/machine/disk/home-file";

/** What the person said of a folder, and of which list they said it. */
export interface TrustAnswer {
  /** Its real path; no other folder is meant, whatever it contains or links to. */
  readonly folder: string;
  readonly trusted: boolean;
  /** What its settings would have run then. */
  readonly effects: readonly string[];
  /** Of those; an answer whose list does not fit it counts for nothing. */
  readonly hash: string;
  /** ISO 8601. */
  readonly when: string;
}

/** `changed`: it was trusted, but with other things to run. */
export type TrustState = "trusted" | "untrusted" | "changed" | "refused";

/** `trust.json`, in the folder of what belongs to the person. What it cannot be read from trusts nobody. */
export class TrustStore {
  readonly path: string;

  constructor(home: string) {
    this.path = join(home, "trust.json");
  }

  /** Throws SettingsError when the file is broken. */
  async all(): Promise<readonly TrustAnswer[]> {
    return answersIn(await readHomeFile(this.path), this.path);
  }

  /** The answer for this very folder. */
  async of(root: string): Promise<TrustAnswer | null> {
    const folder = await realpath(root);
    return (await this.all()).find((answer) => answer.folder === folder) ?? null;
  }

  /** Remembers an answer to exactly these effects. Throws SettingsError, and stores nothing, when it cannot. */
  async answer(root: string, trusted: boolean, effects: readonly string[]): Promise<void> {
    const folder = await realpath(root);
    const answer = { folder, trusted, effects, hash: hashOf(effects), when: new Date().toISOString() };
    await this.#change((answers) => [...answers.filter((one) => one.folder !== folder), answer]);
  }

  /** true when there was an answer. The folder need not exist any more. */
  async forget(root: string): Promise<boolean> {
    const folder = await realpath(root).catch(() => root);
    let wasThere = false;
    await this.#change((answers) => {
      const kept = answers.filter((one) => one.folder !== folder);
      wasThere = kept.length < answers.length;
      return kept;
    });
    return wasThere;
  }

  async #change(change: (answers: readonly TrustAnswer[]) => readonly TrustAnswer[]): Promise<void> {
    await changeHomeFile(this.path, (text) => {
      const folders = change(answersIn(text, this.path));
      return `${JSON.stringify({ folders }, null, 2)}\n`;
    });
  }
}

/** What an answer means for the effects that the folder's settings have now. */
export function trustState(answer: TrustAnswer | null, effects: readonly string[]): TrustState {
  if (answer === null) return "untrusted";
  if (!answer.trusted) return "refused";
  return answer.hash === hashOf(effects) ? "trusted" : "changed";
}

/** The order in which the settings say things means nothing. */
function hashOf(effects: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([...effects].sort()))
    .digest("hex");
}

function answersIn(text: string | null, path: string): readonly TrustAnswer[] {
  if (text === null) return [];
  let found: unknown;
  try {
    found = (JSON.parse(text) as { folders?: unknown } | null)?.folders;
  } catch {
    found = undefined;
  }
  if (Array.isArray(found) && found.every(isAnswer)) return found;
  throw new SettingsError(
    `${path} is broken, so no folder is trusted; it was left as it is. Mend it, or move it away.`,
  );
}

function isAnswer(value: unknown): value is TrustAnswer {
  if (typeof value !== "object" || value === null) return false;
  const { folder, trusted, effects, hash, when } = value as Record<string, unknown>;
  const texts = [folder, hash, when].every((one) => typeof one === "string");
  return texts && typeof trusted === "boolean" && Array.isArray(effects);
}
