/** A replacement that no deterministic stage could place. */
export interface FailedEdit {
  readonly content: string;
  readonly oldText: string;
  readonly newText: string;
  readonly reason: string;
  /** Of the closest region, counted from 1. */
  readonly line: number;
  /** Where the old text stands, when it does in several places; all of them, or none where they are too many. */
  readonly places?: readonly number[];
}

/** Proposes another old and new text, or null. What it proposes must itself match as often as expected. */
export type CorrectEdit = (
  failed: FailedEdit,
  signal: AbortSignal,
) => Promise<{ readonly oldText: string; readonly newText: string } | null>;
