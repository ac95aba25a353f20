/** Why the workspace refused or failed. The codes are stable, because programs switch on them. */
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

/** A refusal or failure that the model can act on. The message also says what to do instead. */
export class WorkspaceError extends Error {
  override readonly name = "WorkspaceError";
  readonly code: WorkspaceErrorCode;

  constructor(code: WorkspaceErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** One file or folder in a listing. */
export interface DirectoryEntry {
  readonly name: string;
  /** For a link, whether its target is a directory. */
  readonly isDirectory: boolean;
}

/** What a listing leaves out. */
export interface ListOptions {
  /** Globs; entries whose name matches one of them are left out. */
  readonly ignore: readonly string[];
  /** Leaves out what git ignores. */
  readonly respectGitIgnore: boolean;
}

/** What is in a folder, and how much of it was left out. */
export interface Listing {
  /** The absolute path, as requested. */
  readonly path: string;
  /** Folders first, then sorted by code point of the name. */
  readonly entries: readonly DirectoryEntry[];
  readonly gitIgnored: number;
  /** How many entries `.burinignore` files or settings hid. */
  readonly ownIgnored: number;
}

/** Gives tools access to files. Every path is judged by its real location, with links resolved. */
export interface Workspace {
  /** The real path of the folder in which all work happens. */
  readonly root: string;
  /** The real paths of the root and of the other folders that tools may use. */
  readonly roots: readonly string[];
  /** Returns the absolute path; a relative path starts at the root. Rejects paths outside the roots. */
  resolve(path: string): Promise<string>;
  /** Returns the path as rules and users write it: relative to the root, with `/`. Does not check access. */
  relative(path: string): string;
  list(directory: string, options: ListOptions, signal: AbortSignal): Promise<Listing>;
  /** Returns the files below a directory that match a glob, newest first. */
  find(directory: string, request: FindRequest, signal: AbortSignal): Promise<FindResult>;
  /** Returns the matching lines in one file, or in all text files below a directory, sorted by path. */
  search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult>;
  /** Returns a range of lines of a text file, or a whole media file. The returned text counts as seen by the model. */
  read(file: string, range: LineRange, signal: AbortSignal): Promise<FileContent>;
  /**
   * Returns the folder outside the roots that a user must open before this path can be read. Returns null if the path
   * needs no opening, and if nobody can open a folder for it. Absent: the workspace opens no folders.
   */
  findClosedFolder?(path: string): Promise<string | null>;
  /** Opens a folder for everything that reads, as long as the session lasts. Resolves to its real path. */
  openFolder?(path: string): Promise<string>;
  /** Returns a file's current state, as the basis of a change; it may be missing. A large file's is only partial. */
  snapshot(file: string, changes?: readonly TextChange[]): Promise<FileSnapshot>;
  /** Returns what `write` would make of the file or basis. Rejects text that the file's encoding cannot represent. */
  preview(file: string, content: string, basis?: string): Promise<FilePreview>;
  /** Writes all or nothing, and creates missing folders. Rejects when the file no longer matches the basis. */
  write(change: FileWrite, signal: AbortSignal): Promise<WriteResult>;
}

/** A range of lines of a text file. Line numbers start at 1, and both ends are included. */
export interface TextLines {
  readonly kind: "text";
  /** The lines as they are in the file, with line ends. Lines longer than the requested length are cut. */
  readonly text: string;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly totalLines: number;
  /** How many of these lines were cut because they are too long. */
  readonly linesCut: number;
}

/** An image or a document that a model can view. */
export interface MediaContent {
  readonly kind: "media";
  readonly mimeType: string;
  readonly base64: string;
  readonly bytes: number;
  /** Says what is missing if the image is incomplete. */
  readonly note?: string;
}

/** The content of a file. Its kind is recognized by its bytes, not by its name. Binary content cannot be read here. */
export type FileContent = TextLines | MediaContent | { readonly kind: "binary" };

/** Which lines of a file to read, and how much of them. */
export interface LineRange {
  /** The first line, counted from 0. */
  readonly offset: number;
  readonly limit: number;
  /** Longer lines are cut at this length. */
  readonly maxLineCharacters: number;
  /** The maximum number of characters in total; lines beyond that are omitted. Default: no limit. */
  readonly maxCharacters?: number;
  /** true to return an SVG image as its source text. */
  readonly svgAsText?: boolean;
}

/** How much of the file's current content the model has seen in this session. `older`: only an earlier version. */
export type SeenExtent = "all" | "part" | "nothing" | "older";

/** A file at one moment, as the basis of a change. */
export interface FileSnapshot {
  readonly exists: boolean;
  /** Identifies this exact content and the part in `text`, as the basis of a write. Only the workspace reads it. */
  readonly version: string;
  /** The text without byte order mark; null when the file is missing or is not text. */
  readonly text: string | null;
  /** Set for a large file, where `text` holds only the text around the given changes: its first line's number. */
  readonly firstLine?: number;
  /** "older" when the model has seen only an earlier content of the file. */
  readonly seen: SeenExtent;
  readonly bytes: number;
}

/** One replacement in a file, as a caller of `snapshot` intends it. */
export interface TextChange {
  readonly oldText: string;
  readonly newText: string;
}

/** A change of one file, with the content that it is based on. */
export interface FileWrite {
  readonly file: string;
  /** The new text for the whole basis. Encoding, byte order mark, line ends and unchanged lines are kept. */
  readonly content: string;
  /** false when the model gave only a change inside the text and may never have seen the rest. */
  readonly isWholeKnown: boolean;
  /** The version that the change is based on, from `snapshot` or `preview`. */
  readonly basis: string;
  /**
   * true when a user saw the change against this basis, or when the change covers only a part of it; then exactly that
   * content is replaced. If false, the file must be new, or the model must have seen all of it.
   */
  readonly isBasisAgreed: boolean;
}

/** What a write would do, computed before the user is asked. */
export interface FilePreview {
  /** The file's real path, with links resolved. */
  readonly realPath: string;
  readonly before: FileSnapshot;
  /** The text that the file would hold: the new content plus the parts of the old file that are kept. */
  readonly after: string;
}

/** What `write` has done. */
export interface WriteResult {
  readonly isNew: boolean;
  /** true if the replaced content was the basis of the change. */
  readonly wasBasis: boolean;
  /** Sentences about what could not be preserved. */
  readonly notes: readonly string[];
}

/** Which files `find` looks for. */
export interface FindRequest {
  /** A glob relative to the folder. A glob without a slash matches names at any depth. */
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly respectGitIgnore: boolean;
  /** The maximum number of files to return, newest first. */
  readonly max: number;
}

/** The files that `find` has found, and what it did not look at. */
export interface FindResult {
  /** Absolute paths, newest first. Files with the same time are sorted by path. */
  readonly files: readonly string[];
  readonly total: number;
  /** true if the time limit was reached before everything was searched. */
  readonly isPartial: boolean;
  readonly unreadableFolders: number;
  /** true if files were left out because git ignores them. */
  readonly hasIgnored?: boolean;
}

/** What `search` looks for, and in which files. */
export interface SearchRequest {
  /** A regular expression in the dialect of `patterns/search-dialect.ts`. */
  readonly pattern: string;
  readonly caseSensitive: boolean;
  /** true if the pattern is literal text. */
  readonly fixed: boolean;
  /** Search only files whose name, or whose path relative to the searched directory, matches one of these globs. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly respectGitIgnore: boolean;
  /** The maximum number of hits to return; with `namesOnly`, the maximum number of files. */
  readonly max: number;
  /** How many lines to return before and after each hit. */
  readonly context: number;
  /** true if one hit per file is enough. */
  readonly namesOnly: boolean;
  /** Unsaved text from an editor, by real path. It is searched instead of the file on disk. */
  readonly unsaved?: ReadonlyMap<string, string>;
}

export interface SearchLine {
  /** Counted from 1. */
  readonly number: number;
  /** The line without its line end. Marks in a long line show where it was shortened. */
  readonly text: string;
  /** false for the lines around a hit. */
  readonly isHit: boolean;
}

export interface FileHits {
  /** The path relative to the searched directory, with `/`. When a single file was searched, only its name. */
  readonly path: string;
  readonly lines: readonly SearchLine[];
}

/** What `search` has found, and what it did not look at. */
export interface SearchResult {
  /** Sorted by path, in code point order. */
  readonly files: readonly FileHits[];
  /** The number of hits in `files`. */
  readonly hits: number;
  /** true if there is at least one more hit than requested. */
  readonly hasMore: boolean;
  /** Sentences about what was not searched and why. Empty when everything was searched. */
  readonly gaps: readonly string[];
  /** Whether files that git ignores have hits. Only set if no other file has one. */
  readonly ignoredHits?: "none" | "some" | "unknown";
}
