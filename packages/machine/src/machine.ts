import { closeSync, constants, fstatSync, type Stats } from "node:fs";
import type {
  ChangedText,
  FilePreview,
  FileSnapshot,
  FileWrite,
  FileWritten,
} from "@burin/contract/machine/file-change";
import type { FileContent, LineRange } from "@burin/contract/machine/file-content";
import type { FindRequest, FoundFiles } from "@burin/contract/machine/find-request";
import type { SearchRequest, SearchResult } from "@burin/contract/machine/search-request";
import { type Listing, type ListOptions, WorkspaceError } from "@burin/contract/machine/workspace";
import { Access, type AccessSettings } from "./files/access.ts";
import { type FileNotes, Files } from "./files/files.ts";
import { findFiles } from "./files/find-files.ts";
import { listFolder } from "./files/list-folder.ts";
import { openWithin, resolveWithin } from "./files/paths.ts";
import { notRegular } from "./files/system-error.ts";
import { leaveOutFolders } from "./processes/helper-program.ts";
import { searchFiles } from "./search/search-files.ts";

/** The work of a workspace on real folders. It is loaded with the first call, because a start needs none of it. */
export class Machine {
  readonly #roots: readonly string[];
  readonly #access: Access;
  readonly #files: Files;

  constructor(roots: readonly string[], settings: AccessSettings, notes: FileNotes) {
    this.#roots = roots;
    leaveOutFolders(roots);
    this.#access = new Access(roots, settings);
    this.#files = new Files(this.#access, notes);
  }

  resolve(path: string): Promise<string> {
    return resolveWithin(path, this.#roots);
  }

  async list(directory: string, options: ListOptions, signal: AbortSignal): Promise<Listing> {
    const opened = await openWithin(directory, this.#roots, constants.O_RDONLY);
    try {
      if (!fstatSync(opened.descriptor).isDirectory()) {
        throw new WorkspaceError(
          "not_a_directory",
          `${directory} is not a directory; read it with read_file.`,
        );
      }
      signal.throwIfAborted();
      const rules = this.#access.namedFolder(opened.realPath, this.#access.ignoreRules());
      return listFolder(opened, rules, options);
    } finally {
      closeSync(opened.descriptor);
    }
  }

  async find(directory: string, request: FindRequest, signal: AbortSignal): Promise<FoundFiles> {
    return findFiles(this.#access, await this.#realFolder(directory), { ...request, signal });
  }

  async search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const { place, stats } = await this.#place(path);
    const isFolder = stats.isDirectory();
    if (!isFolder && !stats.isFile()) throw notRegular(path);
    return searchFiles(this.#access, { place, isFolder }, { ...request, signal });
  }

  async #realFolder(directory: string): Promise<string> {
    const { place, stats } = await this.#place(directory);
    if (!stats.isDirectory()) throw new WorkspaceError("not_a_directory", `${directory} is not a directory.`);
    return place;
  }

  async #place(path: string): Promise<{ readonly place: string; readonly stats: Stats }> {
    const { descriptor, realPath } = await openWithin(path, this.#roots, constants.O_RDONLY);
    try {
      return { place: realPath, stats: fstatSync(descriptor) };
    } finally {
      closeSync(descriptor);
    }
  }

  read(file: string, range: LineRange, signal: AbortSignal): Promise<FileContent> {
    return this.#files.read(file, range, signal);
  }

  snapshot(file: string, changes?: readonly ChangedText[]): Promise<FileSnapshot> {
    return this.#files.snapshot(file, changes);
  }

  preview(file: string, content: string, basis?: FileSnapshot): Promise<FilePreview> {
    return this.#files.preview(file, content, basis);
  }

  write(change: FileWrite, signal: AbortSignal): Promise<FileWritten> {
    return this.#files.write(change, signal);
  }
}
