/** How much of a file's present content the model has been shown in this session. */
export type Seen = "all" | "part" | "nothing" | "older";

/** A file as it is at one moment, as the basis of a change. */
export interface FileSnapshot {
  readonly exists: boolean;
  /** Names this very content, and the part of it that `text` is: what a write is based on. Only the machine reads it. */
  readonly version: string;
  /** Without byte order mark; null when there is no file or when it holds no text. */
  readonly text: string | null;
  /** Of a large file the text is only what is around the changes that were named: from the line of this number on. */
  readonly firstLine?: number;
  /** "older" when the model was shown something else than the file holds now. */
  readonly seen: Seen;
  readonly bytes: number;
}

/** What an edit is to put in the place of what. */
export interface ChangedText {
  readonly oldText: string;
  readonly newText: string;
}

export interface FileWrite {
  readonly file: string;
  /** The new text of all that the basis holds. Encoding, byte order mark, line ends and the bytes of unchanged lines are kept. */
  readonly content: string;
  /** false when the model named only a change in it, and may never have seen the rest. */
  readonly isWholeKnown: boolean;
  /** The version that the change was made for, as `snapshot` or `preview` gave it. */
  readonly basis: string;
  /**
   * true when a user was shown the change against the basis, or when it is a change in it: only that very
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
