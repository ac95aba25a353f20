import type { ChangedText, FilePreview, FileSnapshot, FileWrite, FileWritten } from "./file-change.ts";
import type { FileContent, LineRange } from "./file-content.ts";
import type { FindRequest, FoundFiles } from "./find-request.ts";
import type { SearchRequest, SearchResult } from "./search-request.ts";

/** Why the workspace did not do what was asked. Stable: programs switch on it. */
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

/** A refusal or failure that the model can act upon. The message is complete: it says what to do instead. */
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
  /** The absolute path, as it was given. */
  readonly path: string;
  /** Folders first, then by code point of the name. */
  readonly entries: readonly DirectoryEntry[];
  readonly gitIgnored: number;
  /** Hidden by `.burinignore` or by settings. */
  readonly ownIgnored: number;
}

/** All that a tool may touch on the machine. Every path is judged by its real location, links resolved. */
export interface Workspace {
  /** The real path of the folder that all work stays in. */
  readonly root: string;
  /** The root and the folders that may be used beside it, by their real paths. */
  readonly roots: readonly string[];
  /** The absolute path meant; a relative one counts from the root. Refuses what lies outside. */
  resolve(path: string): Promise<string>;
  /** How rules and people name a path: from the root, with `/`. Says nothing about whether it may be used. */
  relative(path: string): string;
  list(directory: string, options: ListOptions, signal: AbortSignal): Promise<Listing>;
  /** Files below a directory by a glob, the newest first. */
  find(directory: string, request: FindRequest, signal: AbortSignal): Promise<FoundFiles>;
  /** Lines that match, in one file or in all text files below a directory, in the order of their paths. */
  search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult>;
  /** Text as a run of lines, media whole. The text given counts as shown to the model. */
  read(file: string, range: LineRange, signal: AbortSignal): Promise<FileContent>;
  /**
   * The file as it is now, to prepare a change. A missing one is no error. Of a large file, when the changes are
   * named, only the part in which they are.
   */
  snapshot(file: string, changes?: readonly ChangedText[]): Promise<FileSnapshot>;
  /** What `write` would make of the file, or of the basis. Refuses what the file's encoding cannot hold. */
  preview(file: string, content: string, basis?: string): Promise<FilePreview>;
  /** Writes all or nothing, making missing folders. Refuses when the file is not what the change was made for. */
  write(change: FileWrite, signal: AbortSignal): Promise<FileWritten>;
}
