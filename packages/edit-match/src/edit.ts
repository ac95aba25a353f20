import type { ClosestRegion } from "./closest.ts";

/** The content of a file and the two texts that a model sent. */
export interface EditRequest {
  readonly content: string;
  readonly oldText: string;
  readonly newText: string;
  readonly expected: number;
  /** The content has changed since the model saw it. An extra line or another word may come from that change. */
  readonly isOutdated?: boolean;
  /**
   * The file's name. Its extension tells the language, which decides where escapes may occur and whether code is in
   * fences.
   */
  readonly fileName?: string;
  /** Escapes in the new text are meant literally. */
  readonly isLiteral?: boolean;
  /** The names of rules to leave out, for measuring their effect. docs/edit-matching.md lists all rules. */
  readonly leaveOut?: readonly string[];
}

/** A part of the original content and the text that replaces it. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export type EditMatch =
  | {
      readonly status: "matched";
      /** "exact", or the names of the mistakes that were ignored. */
      readonly stage: string;
      /** The replacements in file order, without overlap. Offsets are in the original content. */
      readonly replacements: readonly Replacement[];
      /** The number of each replacement's first line. */
      readonly lines: readonly number[];
    }
  | { readonly status: "none"; readonly alreadyApplied: boolean; readonly closest?: ClosestRegion }
  | { readonly status: "ambiguous"; readonly found: number; readonly lines: readonly number[] }
  /** What makes the edit unclear: the line that stands for left-out lines, or a fence that may be intended. */
  | { readonly status: "omission"; readonly placeholder: string }
  /** A line or sign that the edit adds is already next to its place. */
  | { readonly status: "doubled"; readonly line: string }
  /** The new text alone has this escape, and the file's language has no escapes at that place. */
  | { readonly status: "escaped"; readonly escape: string }
  | { readonly status: "no_change" };
