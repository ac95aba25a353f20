/** How much of a file's present content the model has been shown in this session. */
export type Seen = "all" | "part" | "nothing" | "older";

/** A file as it is at one moment, as the basis of a change. */
export interface FileSnapshot {
  readonly exists: boolean;
  /** Too large to be held: it has no text here, and its places are changed with `planLargeEdit`. */
  readonly isLarge: boolean;
  /** Without byte order mark; null when there is no file, when it holds no text or is too large. */
  readonly text: string | null;
  /** "older" when the model was shown something else than the file holds now. */
  readonly seen: Seen;
  readonly bytes: number;
}

export interface FileWrite {
  readonly file: string;
  /** The whole new text. Encoding, byte order mark, line ends and the bytes of unchanged lines are kept. */
  readonly content: string;
  /** false when the model named only a change in it, and may never have seen the rest. */
  readonly isWholeKnown: boolean;
  /** What the change was made for, as this workspace's `snapshot` or `preview` gave it. */
  readonly basis: FileSnapshot;
  /**
   * true when a person was shown the change against the basis, or when it is a change in it: only that very
   * content is replaced. Otherwise only a new file is made or one replaced that the model has been shown in full.
   */
  readonly isBasisAgreed: boolean;
}

/** What a write would do, told before anybody is asked. */
export interface FilePreview {
  /** Where the file really is, links resolved. */
  readonly realPath: string;
  readonly before: FileSnapshot;
  /** The text that the file would hold: the new content with what is kept of the old file. */
  readonly after: string;
}

export interface FileWritten {
  readonly isNew: boolean;
  /** What was replaced was the basis of the change. */
  readonly wasBasis: boolean;
  /** What could not be kept as it was, in words. */
  readonly notes: readonly string[];
}

/** A literal replacement in a file that is too large to be held in memory. */
export interface LargeEdit {
  readonly file: string;
  readonly oldText: string;
  readonly newText: string;
  readonly expected: number;
}

/** Lines around one change of a large file, or around some that are close together. */
export interface LargeRegion {
  /** The number of its first line, from 1. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** What a large edit would do to the file as it is now. */
export interface LargePlan {
  readonly edit: LargeEdit;
  readonly realPath: string;
  readonly bytes: number;
  readonly seen: Seen;
  readonly found: number;
  /** The lines of the first places. */
  readonly lines: readonly number[];
  /** "exact", or what was ignored to find the places. */
  readonly stage: string;
  /** The new text stands in the file already; only looked for when nothing was found. */
  readonly alreadyApplied: boolean;
  /** The first of them; empty unless as many places were found as expected. */
  readonly regions: readonly LargeRegion[];
  /** Every place is in one of the regions. */
  readonly isShownWhole: boolean;
}
