import { closeSync, type Dirent, fstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { resolve, sep } from "node:path";
import { once } from "@burin/contract/async/once";
import {
  type FileContent,
  type FindRequest,
  type FindResult,
  type LineRange,
  type Listing,
  type ListOptions,
  type SearchRequest,
  type SearchResult,
  WorkspaceError,
} from "@burin/contract/machine/workspace";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { sortByCodePoints } from "@burin/contract/text/code-point-order";
import { withFallback } from "@burin/contract/with-fallback";
import { resolvePossiblyMissing } from "../disk/disk-looks.ts";
import { createNotRegularError, toWorkspaceError } from "../disk/system-error.ts";
import { Access, type AccessOptions } from "../ignore/access.ts";
import type { FolderRules } from "../ignore/ignore.ts";
import { findClosedFolder, findOpeningFault, type OpenableSettings } from "../paths/beside.ts";
import {
  createPathBuilder,
  isWithinAny,
  locatePath,
  type OpenedFile,
  openInsideRoots,
} from "../paths/paths.ts";
import type { FileChanges } from "./change-files.ts";
import { readContent } from "./read-content.ts";
import { readFileSize } from "./read-opened.ts";
import { ReadRecord } from "./read-record.ts";
import type { WorkspaceSettings } from "./workspace-settings.ts";

/** The time limit of a search for text or for files. */
const TIME_LIMIT_MS = 30_000;

/**
 * The files of real folders, and what the model has seen of each. Loaded with the first call; parts that only some
 * calls need are loaded when first used.
 */
export class NodeFiles {
  readonly #access: Access;
  readonly #record: ReadRecord;
  readonly #openable: OpenableSettings & { readonly opened: string[] };
  readonly changes: () => Promise<FileChanges>;

  constructor(roots: readonly string[], settings: WorkspaceSettings & AccessOptions) {
    const { openJournal, reads, beginWrite } = settings;
    settings.helpers.leaveOutFolders(roots);
    this.#access = new Access(roots, settings);
    const { environment, closed = [], opened = [] } = settings;
    this.#openable = { environment, closed, opened };
    this.#record = new ReadRecord(reads);
    this.changes = once(async () => {
      const [changing, onChange] = await Promise.all([import("./change-files.ts"), openJournal?.()]);
      return new changing.FileChanges(this.#access, this.#record, { onChange, beginWrite });
    });
  }

  async resolve(path: string): Promise<string> {
    return (await locatePath(path, this.#access.roots)).absolute;
  }

  async list(directory: string, options: ListOptions, signal: AbortSignal): Promise<Listing> {
    const opened = await openInsideRoots(directory, this.#access.searchableRoots);
    try {
      if (!fstatSync(opened.descriptor).isDirectory())
        throw createNotFolderError(`${directory} is not a directory; read it with read_file.`);
      signal.throwIfAborted();
      const rules = this.#access.readNamedFolderRules(opened.realPath, this.#access.createIgnoreRules());
      return listFolder(opened, rules, options);
    } finally {
      closeSync(opened.descriptor);
    }
  }

  async find(directory: string, request: FindRequest, signal: AbortSignal): Promise<FindResult> {
    const { place, stats } = await this.#locate(directory);
    if (!stats.isDirectory()) throw createNotFolderError(`${directory} is not a directory.`);
    const { findFiles } = await import("./find-files.ts");
    return findFiles(this.#access, place, { ...request, signal, stopAt: performance.now() + TIME_LIMIT_MS });
  }

  async search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const { place, stats } = await this.#locate(path);
    const isFolder = stats.isDirectory();
    if (!isFolder && !stats.isFile()) throw createNotRegularError(path);
    const { searchFiles } = await import("../search/search-files.ts");
    const means = { signal, stopAt: performance.now() + TIME_LIMIT_MS };
    return searchFiles(this.#access, { realPath: place, isFolder }, { ...request, ...means });
  }

  async #locate(path: string): Promise<{ readonly place: string; readonly stats: Stats }> {
    const { descriptor, realPath } = await openInsideRoots(path, this.#access.searchableRoots);
    try {
      return { place: realPath, stats: fstatSync(descriptor) };
    } finally {
      closeSync(descriptor);
    }
  }

  async read(file: string, range: LineRange, signal: AbortSignal): Promise<FileContent> {
    const { descriptor, realPath } = await this.#openToRead(file);
    try {
      this.#access.assertAllowed(file, realPath);
      const size = readFileSize(descriptor, file);
      const { content, shown, whole } = await readContent({ descriptor, path: file, size, range, signal });
      if (whole !== null) this.#record.noteWholeFile(realPath, whole);
      else if (shown !== null) this.#record.note({ file: realPath, lines: shown() });
      return content;
    } finally {
      closeSync(descriptor);
    }
  }

  findClosedFolder(path: string): Promise<string | null> {
    return findClosedFolder(path, this.#access.searchableRoots, this.#openable);
  }

  async openFolder(path: string): Promise<string> {
    const { roots, searchableRoots } = this.#access;
    const folder = resolvePossiblyMissing(resolve(roots[0] ?? sep, path));
    const fault = findOpeningFault(folder, this.#openable);
    if (fault !== null) throw new WorkspaceError("denied_path", `${fault}.`);
    if (!isWithinAny(folder, searchableRoots)) this.#openable.opened.push(folder);
    return folder;
  }

  /** Most files are in a root, and then the other readable folders need no lookup. */
  #openToRead(file: string): Promise<OpenedFile> {
    const openFile = (roots: readonly string[]) => openInsideRoots(file, roots);
    return openFile(this.#access.roots).catch((error: unknown) => {
      if (!(error instanceof WorkspaceError) || error.code !== "outside_root") throw error;
      return openFile(this.#access.readableRoots);
    });
  }
}

function createNotFolderError(message: string): WorkspaceError {
  return new WorkspaceError("not_a_directory", message);
}

/** Lists what is directly in an opened folder, without what the rules and options exclude. */
function listFolder(opened: OpenedFile, rules: FolderRules, options: ListOptions): Listing {
  const leftOut = options.ignore.map((pattern) => createGlobMatcher(pattern, { caseSensitive: true }));
  const names = { folders: [] as string[], files: [] as string[] };
  let gitIgnored = 0;
  let ownIgnored = 0;
  for (const entry of readOpenedEntries(opened)) {
    const { name } = entry;
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && leadsToFolder(opened, name));
    if (leftOut.some((matches) => matches(name))) continue;
    // Git treats a link as a file, whatever it points to.
    const visibility = rules.findVisibility(name, entry.isDirectory());
    if (visibility === "own") ownIgnored += 1;
    else if (visibility === "git" && options.respectGitIgnore) gitIgnored += 1;
    else (isFolder ? names.folders : names.files).push(name);
  }
  const entries = [
    ...sortByCodePoints(names.folders).map((name) => ({ name, isDirectory: true })),
    ...sortByCodePoints(names.files).map((name) => ({ name, isDirectory: false })),
  ];
  return { path: opened.path, entries, gitIgnored, ownIgnored };
}

/** Reads through the checked descriptor where the system allows it, so that the names come from exactly that folder. */
function readOpenedEntries(opened: OpenedFile): Dirent[] {
  try {
    return readdirSync(createPathBuilder(opened.descriptor, opened.realPath)("."), { withFileTypes: true });
  } catch (error) {
    throw toWorkspaceError(error, opened.realPath);
  }
}

function leadsToFolder({ descriptor, realPath }: OpenedFile, name: string): boolean {
  return withFallback(false, () => statSync(createPathBuilder(descriptor, realPath)(name)).isDirectory());
}
