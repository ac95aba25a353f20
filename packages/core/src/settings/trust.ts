import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { HomeList } from "@burin/files/disk/home-file";

/** The user's decision about a folder with a certain list of effects. */
export interface TrustAnswer {
  /** The folder's real path. The answer applies to no other folder, whatever that contains or links to. */
  readonly folder: string;
  readonly trusted: boolean;
  /** What the folder's settings would have run when the user answered. */
  readonly effects: readonly string[];
  /** The hash of the effects. An answer with a different hash no longer applies. */
  readonly hash: string;
  /** The time in ISO 8601. */
  readonly when: string;
}

/** `changed`: the folder was trusted, but its settings would now run other things. */
export type TrustState = "trusted" | "untrusted" | "changed" | "refused";

/** Stores the user's decisions in `trust.json`, in the user's folder. If it cannot be read, no folder is trusted. */
export class TrustStore extends HomeList<TrustAnswer> {
  constructor(home: string) {
    const otherwise = "no folder is trusted";
    super(join(home, "trust.json"), { key: "folders", isItem: isAnswer, consequence: otherwise });
  }

  async readAnswer(root: string): Promise<TrustAnswer | null> {
    const folder = await realpath(root);
    return (await this.readItems()).find((answer) => answer.folder === folder) ?? null;
  }

  /** Stores an answer for exactly these effects. Throws a SettingsError, and stores nothing, if it cannot. */
  async storeAnswer(root: string, trusted: boolean, effects: readonly string[]): Promise<void> {
    const folder = await realpath(root);
    const answer = { folder, trusted, effects, hash: hashEffects(effects), when: new Date().toISOString() };
    await this.changeItems((answers) => [...answers.filter((one) => one.folder !== folder), answer]);
  }

  /** Removes an answer. Returns whether there was one. The folder need not exist any more. */
  async forget(root: string): Promise<boolean> {
    const folder = await realpath(root).catch(() => root);
    let wasThere = false;
    await this.changeItems((answers) => {
      wasThere = answers.some((one) => one.folder === folder);
      return wasThere ? answers.filter((one) => one.folder !== folder) : answers;
    });
    return wasThere;
  }
}

export function resolveTrustState(answer: TrustAnswer | null, effects: readonly string[]): TrustState {
  if (answer === null) return "untrusted";
  if (!answer.trusted) return "refused";
  return answer.hash === hashEffects(effects) ? "trusted" : "changed";
}

/** Hashes the effects, independent of their order. */
function hashEffects(effects: readonly string[]): string {
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
