import type { Pattern } from "@burin/contract/patterns/pattern";
import type { Stretch } from "../files/walk.ts";

export interface Batch {
  /** The searched folder; the engine runs in it. */
  readonly folder: string;
  /** In the order of their paths. */
  readonly stretches: readonly Stretch[];
  readonly signal: AbortSignal;
}

/**
 * A program that says which files may hold a line that matches. It may name too many, never too few: the
 * lines themselves are found by one matcher, so that all engines give the same hits in the same order.
 */
export interface Engine {
  readonly name: "ripgrep" | "git" | "grep";
  /** Whether it looks into UTF-16 files that bear a byte order mark. */
  readonly readsUtf16: boolean;
  /** Whether the files of a whole folder are told to it by the name of the folder, or not at all. */
  readonly takesFolders: boolean;
  /** null when the program cannot do it. */
  propose(batch: Batch): Promise<ReadonlySet<string> | null>;
}

/** Makes an engine for one search; null when its program is not there or the pattern is not for it. */
export type EngineMaker = (pattern: Pattern, folder: string) => Promise<Engine | null>;
