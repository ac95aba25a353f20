/** How much of the file's current content the model has seen in this session. */
export type Seen = "all" | "part" | "nothing" | "older";

/** A file at one moment, as the basis of a change. */
export interface FileSnapshot {
  readonly exists: boolean;
  /** Identifies this exact content and the part of it in `text`, as the basis of a write. Only for the machine. */
  readonly version: string;
  /** Without byte order mark; null when there is no file or it is not text. */
  readonly text: string | null;
  /** Of a large file, `text` holds only the surroundings of the given changes, starting at this line number. */
  readonly firstLine?: number;
  /** "older" when the model has seen an earlier content of the file. */
  readonly seen: Seen;
  readonly bytes: number;
}

export interface ChangedText {
  readonly oldText: string;
  readonly newText: string;
}

export interface FileWrite {
  readonly file: string;
  /** The new text for all of the basis. Keeps encoding, byte order mark, line ends and bytes of unchanged lines. */
  readonly content: string;
  /** false when the model gave only a change within it and may never have seen the rest. */
  readonly isWholeKnown: boolean;
  /** The version that the change is based on, from `snapshot` or `preview`. */
  readonly basis: string;
  /**
   * true when a user saw the change against the basis, or when it is a change within it: then only that exact
   * content is replaced. Otherwise the file must be new, or the model must have seen all of it.
   */
  readonly isBasisAgreed: boolean;
}

/** What a write would do, worked out before the user is asked. */
export interface FilePreview {
  /** The file's real path, with links resolved. */
  readonly realPath: string;
  readonly before: FileSnapshot;
  /** The text that the file would hold: the new content plus what is kept of the old file. */
  readonly after: string;
}

export interface FileWritten {
  readonly isNew: boolean;
  /** The replaced content was the basis of the change. */
  readonly wasBasis: boolean;
  /** What could not be kept, in words. */
  readonly notes: readonly string[];
}
