import type { ChangedText, FilePreview, FileSnapshot, FileWrite, FileWritten } from "./file-change.ts";
import type { FileContent, LineRange } from "./file-content.ts";
import type { FindRequest, FoundFiles } from "./find-request.ts";
import type { SearchRequest, SearchResult } from "./search-request.ts";

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
