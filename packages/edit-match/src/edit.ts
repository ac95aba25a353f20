import type { ClosestRegion } from "./closest.ts";

/** What is asked: the content of a file and the two texts that a model sent. */
export interface EditRequest {
  readonly content: string;
  readonly oldText: string;
  readonly newText: string;
  /** How many places are to be changed. */
  readonly expected: number;
  /**
   * Whether somebody has changed the content since the model saw it: then a line that is more there or a word that is
   * otherwise is no slip of the model's.
   */
  readonly isOutdated?: boolean;
  /** The names of rules to do without, to see what they buy; docs/edit-matching.md has them all. */
  readonly leaveOut?: readonly string[];
}

/** A stretch of the original content and what is written in its stead. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export type EditMatch =
  | {
      readonly status: "matched";
      /** "exact", or the mistakes that were seen through. */
      readonly stage: string;
      /** In the order of the file, without overlap; offsets count in the original content. */
      readonly replacements: readonly Replacement[];
      /** The first line of each replacement. */
      readonly lines: readonly number[];
    }
  | { readonly status: "none"; readonly alreadyApplied: boolean; readonly closest?: ClosestRegion }
  | { readonly status: "ambiguous"; readonly found: number; readonly lines: readonly number[] }
  | { readonly status: "omission"; readonly placeholder: string }
  | { readonly status: "no_change" };
