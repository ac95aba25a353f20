/** A replacement that no deterministic stage could place. */
export interface FailedEdit {
  readonly content: string;
  readonly oldText: string;
  readonly newText: string;
  readonly reason: string;
  /** The first line of the closest region, counted from 1. */
  readonly line: number;
  /** All places of the old text, if it occurs more than once; empty when there are too many. */
  readonly places?: readonly number[];
}

/** Proposes another old and new text, or null. The proposal must itself match as often as expected. */
export type CorrectEdit = (
  failed: FailedEdit,
  signal: AbortSignal,
) => Promise<{ readonly oldText: string; readonly newText: string } | null>;
