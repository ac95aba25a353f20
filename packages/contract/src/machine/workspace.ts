/** Why the workspace refused or failed. Stable: programs switch on it. */
export type WorkspaceErrorCode =
  | "outside_root"
  | "not_found"
  | "not_a_directory"
  | "is_a_directory"
  | "not_a_regular_file"
  | "permission_denied"
  | "invalid_path"
  | "invalid_pattern"
  | "ignored"
  | "denied_path"
  | "read_only"
  | "no_space"
  | "too_large"
  | "unusable_media"
  | "unencodable"
  | "not_read"
  | "changed_on_disk"
  | "omission_placeholder"
  | "not_recorded"
  | "io_error";

/** A refusal or failure that the model can act on. The message is complete: it says what to do instead. */
export class WorkspaceError extends Error {
  override readonly name = "WorkspaceError";
  readonly code: WorkspaceErrorCode;

  constructor(code: WorkspaceErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface DirectoryEntry {
  readonly name: string;
  /** A link counts as what it points to. */
  readonly isDirectory: boolean;
}

export interface ListOptions {
  /** Globs; an entry whose name matches one is left out. */
  readonly ignore: readonly string[];
  readonly respectGitIgnore: boolean;
}

export interface Listing {
  /** The absolute path, as requested. */
  readonly path: string;
  /** Folders first, then sorted by code point of the name. */
  readonly entries: readonly DirectoryEntry[];
  readonly gitIgnored: number;
  /** Hidden by `.burinignore` or by settings. */
  readonly ownIgnored: number;
}

/** Everything that a tool may use on the machine. Every path is judged by its real location, with links resolved. */
export interface Workspace {
  /** The real path of the folder that all work stays in. */
  readonly root: string;
  /** The real paths of the root and of the other folders that may be used. */
  readonly roots: readonly string[];
  /** Returns the absolute path; relative paths start at the root. Refuses paths outside. */
  resolve(path: string): Promise<string>;
  /** The path as rules and users write it: relative to the root, with `/`. Does not check access. */
  relative(path: string): string;
  list(directory: string, options: ListOptions, signal: AbortSignal): Promise<Listing>;
  /** Returns the files below a directory that match a glob, newest first. */
  find(directory: string, request: FindRequest, signal: AbortSignal): Promise<FoundFiles>;
  /** Returns the matching lines in one file, or in all text files below a directory, sorted by path. */
  search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult>;
  /** Returns a range of lines of a text file, or a whole media file. The text counts as shown to the model. */
  read(file: string, range: LineRange, signal: AbortSignal): Promise<FileContent>;
  /** The file as it is now, to prepare a change; it may be missing. Of a large file, only what the changes touch. */
  snapshot(file: string, changes?: readonly ChangedText[]): Promise<FileSnapshot>;
  /** Returns what `write` would make of the file or basis. Refuses text that the file's encoding cannot hold. */
  preview(file: string, content: string, basis?: string): Promise<FilePreview>;
  /** Writes all or nothing and creates missing folders. Refuses when the file no longer matches the basis. */
  write(change: FileWrite, signal: AbortSignal): Promise<FileWritten>;
}

/** A range of lines of a text file. Line numbers start at 1, and both ends are included. */
export interface TextLines {
  readonly kind: "text";
  /** The lines as in the file, with line ends, each cut at the requested length. */
  readonly text: string;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly totalLines: number;
  /** How many of the lines shown were cut for their length. */
  readonly linesCut: number;
}

/** An image or a document that a model can look at. */
export interface MediaContent {
  readonly kind: "media";
  readonly mimeType: string;
  readonly base64: string;
  readonly bytes: number;
  /** What is missing from an incomplete image. */
  readonly note?: string;
}

/** The content of a file, recognized by its bytes and never by its name; binary content cannot be read here. */
export type FileContent = TextLines | MediaContent | { readonly kind: "binary" };

export interface LineRange {
  /** 0-based first line. */
  readonly offset: number;
  readonly limit: number;
  /** Longer lines are cut at this length. */
  readonly mostLineCharacters: number;
  /** Most characters in total; lines beyond it are left out as if `limit` were smaller. Default: no limit. */
  readonly mostCharacters?: number;
  /** Returns an SVG image as its source text. */
  readonly svgAsText?: boolean;
}

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

export interface FindRequest {
  /** A glob relative to the folder; one without a slash is compared with names at any depth. */
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly respectGitIgnore: boolean;
  /** How many of the newest files are returned. */
  readonly most: number;
}

export interface FoundFiles {
  /** Absolute paths, newest first; files of the same time are sorted by path. */
  readonly files: readonly string[];
  readonly total: number;
  /** The time limit was reached before everything was searched. */
  readonly isPartial: boolean;
  readonly unreadableFolders: number;
  /** Something was left out because git ignores it. */
  readonly hasIgnored?: boolean;
}

export interface SearchRequest {
  /** In the dialect of `patterns/search-dialect.ts`. */
  readonly pattern: string;
  readonly caseSensitive: boolean;
  /** The pattern is literal text. */
  readonly fixed: boolean;
  /** Only files whose path relative to the searched directory, or whose name, matches one of these globs. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly respectGitIgnore: boolean;
  /** Most hits returned; with `namesOnly`, most files. */
  readonly most: number;
  /** Lines shown before and after each hit. */
  readonly context: number;
  /** One hit per file is enough. */
  readonly namesOnly: boolean;
  /** Unsaved texts from an editor, by real path; searched instead of what these files hold on disk. */
  readonly unsaved?: ReadonlyMap<string, string>;
}

export interface SearchLine {
  /** Counted from 1. */
  readonly number: number;
  /** Without the line end. A long line is shortened, which marks in it show. */
  readonly text: string;
  /** false for the lines around a hit. */
  readonly isHit: boolean;
}

export interface FileHits {
  /** Relative to the searched directory, with `/`; only the name when a single file was searched. */
  readonly path: string;
  readonly lines: readonly SearchLine[];
}

export interface SearchResult {
  /** Sorted by path, by code point. */
  readonly files: readonly FileHits[];
  /** The number of hits in `files`. */
  readonly hits: number;
  /** There is at least one more hit than requested. */
  readonly hasMore: boolean;
  /** What was not searched and why, in words; empty when everything was searched. */
  readonly gaps: readonly string[];
  /** Something was left out because git ignores it. */
  readonly hasIgnored?: boolean;
}
