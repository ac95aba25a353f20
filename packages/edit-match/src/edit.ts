import type { ClosestRegion } from "./closest.ts";

/** The content of a file and the two texts that a model sent. */
export interface EditRequest {
  readonly content: string;
  readonly oldText: string;
  readonly newText: string;
  readonly expected: number;
  /** The content has changed since the model saw it: an extra line or another word may come from that change. */
  readonly isOutdated?: boolean;
  /** Its ending names the language: it says where escapes may stand, and whether code stands in fences. */
  readonly fileName?: string;
  /** Escapes in the new text are meant as they are. */
  readonly isLiteral?: boolean;
  /** The names of rules to leave out, to measure their effect; docs/edit-matching.md lists them all. */
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
      /** "exact", or the mistakes that were ignored. */
      readonly stage: string;
      /** In the order of the file, without overlap; offsets are in the original content. */
      readonly replacements: readonly Replacement[];
      /** The first line of each replacement. */
      readonly lines: readonly number[];
    }
  | { readonly status: "none"; readonly alreadyApplied: boolean; readonly closest?: ClosestRegion }
  | { readonly status: "ambiguous"; readonly found: number; readonly lines: readonly number[] }
  /** The line that stands for others, or a fence that may be meant. */
  | { readonly status: "omission"; readonly placeholder: string }
  /** A line, or a sign, that the edit adds is next to its place already. */
  | { readonly status: "doubled"; readonly line: string }
  /** Only the new text has this escape, and the file's language has none there. */
  | { readonly status: "escaped"; readonly escape: string }
  | { readonly status: "no_change" };
