import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { HomeList } from "@burin/files/disk/home-file";

/** What the user decided about a folder with a given list of effects. */
export interface TrustAnswer {
  /** Its real path; the answer applies to no other folder, whatever it contains or links to. */
  readonly folder: string;
  readonly trusted: boolean;
  /** What its settings would have run at that time. */
  readonly effects: readonly string[];
  /** The hash of the effects; an answer with a different list is ignored. */
  readonly hash: string;
  /** ISO 8601. */
  readonly when: string;
}

/** `changed`: it was trusted, but its settings now run other things. */
export type TrustState = "trusted" | "untrusted" | "changed" | "refused";

/** `trust.json`, in the user's folder. When it cannot be read, no folder is trusted. */
export class TrustStore extends HomeList<TrustAnswer> {
  constructor(home: string) {
    const otherwise = "no folder is trusted";
    super(join(home, "trust.json"), { key: "folders", isItem: isAnswer, otherwise });
  }

  async of(root: string): Promise<TrustAnswer | null> {
    const folder = await realpath(root);
    return (await this.all()).find((answer) => answer.folder === folder) ?? null;
  }

  /** Stores an answer for exactly these effects. Throws SettingsError, and stores nothing, when it cannot. */
  async answer(root: string, trusted: boolean, effects: readonly string[]): Promise<void> {
    const folder = await realpath(root);
    const answer = { folder, trusted, effects, hash: hashOf(effects), when: new Date().toISOString() };
    await this.change((answers) => [...answers.filter((one) => one.folder !== folder), answer]);
  }

  /** Returns true when there was an answer. The folder need not exist any more. */
  async forget(root: string): Promise<boolean> {
    const folder = await realpath(root).catch(() => root);
    let wasThere = false;
    await this.change((answers) => {
      wasThere = answers.some((one) => one.folder === folder);
      return wasThere ? answers.filter((one) => one.folder !== folder) : answers;
    });
    return wasThere;
  }
}

export function trustState(answer: TrustAnswer | null, effects: readonly string[]): TrustState {
  if (answer === null) return "untrusted";
  if (!answer.trusted) return "refused";
  return answer.hash === hashOf(effects) ? "trusted" : "changed";
}

/** Independent of the order in the settings. */
function hashOf(effects: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([...effects].sort()))
    .digest("hex");
}

function isAnswer(value: unknown): value is TrustAnswer {
  if (typeof value !== "object" || value === null) return false;
  const { folder, trusted, effects, hash, when } = value as Record<string, unknown>;
  const texts = [folder, hash, when].every((one) => typeof one === "string");
  return texts && typeof trusted === "boolean" && Array.isArray(effects);
}
