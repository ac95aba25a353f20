/** A replacement that no deterministic stage could place in the file. */
export interface FailedEdit {
  readonly content: string;
  readonly oldText: string;
  readonly newText: string;
  readonly reason: string;
  /** The first line of the closest match, counted from 1. */
  readonly line: number;
  /** The lines of all places of the old text, if it occurs more than once. Empty if there are too many. */
  readonly places?: readonly number[];
}

/** Proposes another old and new text, or null. The proposed old text must itself match as often as expected. */
export type CorrectEdit = (
  failed: FailedEdit,
  signal: AbortSignal,
) => Promise<{ readonly oldText: string; readonly newText: string } | null>;
