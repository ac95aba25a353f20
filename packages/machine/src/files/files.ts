import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  readdirSync,
  type Stats,
  statSync,
} from "node:fs";
import { resolve } from "node:path";
import type {
  ChangedText,
  FilePreview,
  FileSnapshot,
  FileWrite,
  FileWritten,
  Seen,
} from "@burin/contract/machine/file-change";
import type { FileContent, LineRange } from "@burin/contract/machine/file-content";
import type { FindRequest, FoundFiles } from "@burin/contract/machine/find-request";
import type { SearchRequest, SearchResult } from "@burin/contract/machine/search-request";
import {
  type DirectoryEntry,
  type Listing,
  type ListOptions,
  WorkspaceError,
} from "@burin/contract/machine/workspace";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import { sortByCodePoints } from "@burin/contract/text/code-point-order";
import { lockPath } from "../disk/path-lock.ts";
import { leaveOutFolders } from "../processes/helper-program.ts";
import { searchFiles } from "../search/search-files.ts";
import { Access, type AccessSettings } from "./access.ts";
import { findFiles } from "./find-files.ts";
import { HeldFile, isTouched, readAll } from "./held-file.ts";
import type { FolderRules } from "./ignore.ts";
import { type Opened, openWithin, resolveWithin } from "./paths.ts";
import { readContent } from "./read-content.ts";
import { hashOf, type ReadMemory, ReadRecord } from "./read-record.ts";
import { changed, heldContent, type OnChange, replaceFile } from "./replace-file.ts";
import { asWorkspaceError, notRegular } from "./system-error.ts";
import { pathsIn, realTarget } from "./target-folder.ts";

/** A file is overwritten with both contents in memory; larger ones are left to other means. */
const MOST_CHANGED_BYTES = 256 * 1024 * 1024;

/** Of a larger file only the part that is edited becomes text. */
const LARGE_BYTES = 10 * 1024 * 1024;

const MOST_KNOWN = 50;

/** Of a search and of finding files. */
const TIME_LIMIT_MS = 30_000;

/** Who hears of what happens to files. */
export interface FileNotes {
  readonly onChange?: OnChange | undefined;
  readonly reads?: ReadMemory | undefined;
}

/** The files of real folders, and what the model has been shown of each. It is loaded with the first call. */
export class NodeFiles {
  readonly #access: Access;
  readonly #onChange: OnChange | undefined;
  readonly #record: ReadRecord;
  /** What the last versions were given for, as long as nothing else needs the memory: then nothing is read twice. */
  readonly #held = new Map<string, WeakRef<HeldFile>>();

  constructor(roots: readonly string[], settings: AccessSettings, { onChange, reads }: FileNotes) {
    leaveOutFolders(roots);
    this.#access = new Access(roots, settings);
    this.#onChange = onChange;
    this.#record = new ReadRecord(reads);
  }

  resolve(path: string): Promise<string> {
    return resolveWithin(path, this.#access.roots);
  }

  async list(directory: string, options: ListOptions, signal: AbortSignal): Promise<Listing> {
    const opened = await openWithin(directory, this.#access.roots, constants.O_RDONLY);
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
    const { place, stats } = await this.#placeOf(directory);
    if (!stats.isDirectory()) throw new WorkspaceError("not_a_directory", `${directory} is not a directory.`);
    return findFiles(this.#access, place, { ...request, signal, stopAt: performance.now() + TIME_LIMIT_MS });
  }

  async search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const { place, stats } = await this.#placeOf(path);
    const isFolder = stats.isDirectory();
    if (!isFolder && !stats.isFile()) throw notRegular(path);
    const means = { signal, stopAt: performance.now() + TIME_LIMIT_MS };
    return searchFiles(this.#access, { place, isFolder }, { ...request, ...means });
  }

  async #placeOf(path: string): Promise<{ readonly place: string; readonly stats: Stats }> {
    const { descriptor, realPath } = await openWithin(path, this.#access.roots, constants.O_RDONLY);
    try {
      return { place: realPath, stats: fstatSync(descriptor) };
    } finally {
      closeSync(descriptor);
    }
  }

  async read(file: string, range: LineRange, signal: AbortSignal): Promise<FileContent> {
    const { descriptor, realPath } = await openWithin(file, this.#access.readableRoots, constants.O_RDONLY);
    try {
      this.#assertAllowed(file, realPath);
      const size = sizeOfFile(descriptor, file);
      const { content, shown, whole } = await readContent({ descriptor, path: file, size, range, signal });
      if (whole !== null) this.#record.note({ file: realPath, whole: hashOf(whole) });
      else if (shown !== null) this.#record.note({ file: realPath, lines: shown });
      return content;
    } finally {
      closeSync(descriptor);
    }
  }

  async snapshot(file: string, changes?: readonly ChangedText[]): Promise<FileSnapshot> {
    const current = await this.#current(file);
    const isLarge = (current.bytes?.length ?? 0) > LARGE_BYTES;
    return this.#snapshotOf(changes && isLarge ? current.around(changes) : current);
  }

  async preview(file: string, content: string, basis?: string): Promise<FilePreview> {
    const known = basis === undefined ? undefined : this.#held.get(basis)?.deref();
    const now = known ?? (await this.#current(file));
    const current = basis === undefined ? now : now.as(basis);
    if (current === null) throw changed(file);
    const after = current.rewritten(file, content).text;
    return { realPath: current.realPath, before: this.#snapshotOf(current), after };
  }

  async write(change: FileWrite, signal: AbortSignal): Promise<FileWritten> {
    return this.#alone(change.file, signal, (real) => this.#write(change, real, signal));
  }

  /** One write at a time for each file, whoever makes it: from the look at the file to its new name. */
  async #alone<T>(file: string, signal: AbortSignal, write: (real: string) => Promise<T>): Promise<T> {
    const real = await realTarget(file, this.#access.roots);
    try {
      return await lockPath(real, () => write(real), { signal });
    } catch (error) {
      throw asWorkspaceError(error, file);
    }
  }

  async #write(change: FileWrite, real: string, signal: AbortSignal): Promise<FileWritten> {
    const { file, content, isBasisAgreed } = change;
    signal.throwIfAborted();
    const now = await this.#upToDate(file, { real, known: this.#held.get(change.basis)?.deref() });
    const basis = now.as(change.basis);
    const current = basis ?? now;
    const wasBasis = basis !== null;
    if (isBasisAgreed && !wasBasis) throw changed(file);
    const { bytes: before, stats } = current;
    const seen = this.#record.seen(current.realPath, current);
    if (!isBasisAgreed && seen !== "all") throw seen === "older" ? changed(file) : notRead(file, seen);
    const { pieces: after, isSame } = current.rewritten(file, content);
    // Nothing will be written, so that nothing would look at the bytes again.
    if (isSame && before !== null && !(await this.#current(file)).bytes?.equals(before)) throw changed(file);
    const isKnown = change.isWholeKnown || seen === "all";
    let whole = isKnown && isSame ? current.hash : undefined;
    const meanwhile = () => {
      if (isKnown) whole = hashOf(...after);
    };
    const { roots, environment } = this.#access;
    const place = { file, real, roots, environment, onChange: this.#onChange };
    const fresh = { ...heldContent(before, after, signal), meanwhile };
    const notes = isSame ? [] : await replaceFile({ ...place, stats, content: fresh });
    this.#record.note(whole === undefined ? { file: real } : { file: real, whole });
    return { isNew: before === null, wasBasis, notes };
  }

  /** What is known already when the file holds it still, so that nothing found out about it is found out again. */
  async #upToDate(
    file: string,
    { real, known }: { readonly real: string; readonly known: HeldFile | undefined },
  ): Promise<HeldFile> {
    if (known?.stats && known.realPath === real) {
      const now = lstatSync(real, { bigint: true, throwIfNoEntry: false });
      if (now !== undefined && !isTouched(now, known.stats)) {
        this.#assertAllowed(file, real);
        return known;
      }
    }
    const current = await this.#current(file);
    const isSame = known !== undefined && known.bytes !== null && current.bytes?.equals(known.bytes);
    return isSame && known.realPath === current.realPath ? known : current;
  }

  #snapshotOf(current: HeldFile): FileSnapshot {
    const { bytes, realPath, text, part, version } = current;
    const exists = bytes !== null;
    const seen = exists ? this.#record.seen(realPath, current) : "nothing";
    const firstLine = part === null ? {} : { firstLine: part.firstLine };
    this.#held.delete(version);
    this.#held.set(version, new WeakRef(current));
    for (const oldest of [...this.#held.keys()].slice(0, -MOST_KNOWN)) this.#held.delete(oldest);
    return { exists, version, text, ...firstLine, seen, bytes: bytes?.length ?? 0 };
  }

  /** What was opened is judged, and the name by which it was asked for. */
  #assertAllowed(file: string, realPath: string): void {
    const rules = this.#access.ownRules();
    for (const place of new Set([resolve(this.#access.roots[0] ?? "", file), realPath])) {
      const refusal = this.#access.refusal(place, rules);
      if (refusal !== null) throw refusal;
    }
  }

  async #current(file: string): Promise<HeldFile> {
    const { descriptor, realPath } = await this.#opened(file);
    if (descriptor === null) return new HeldFile({ realPath, bytes: null, stats: null });
    try {
      const size = sizeOfFile(descriptor, file);
      if (size > MOST_CHANGED_BYTES) {
        throw new WorkspaceError(
          "too_large",
          `${file} has ${size} bytes; at most ${MOST_CHANGED_BYTES} can be changed here.`,
        );
      }
      return await held(descriptor, realPath);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Without a descriptor when there is no such file. What it tells may be used. */
  async #opened(file: string): Promise<{ readonly descriptor: number | null; readonly realPath: string }> {
    const { roots } = this.#access;
    const opened = await openWithin(file, roots, constants.O_RDONLY).catch((error: unknown) => {
      if (error instanceof WorkspaceError && error.code === "not_found") return null;
      throw error;
    });
    const { descriptor, realPath } = opened ?? { descriptor: null, realPath: await realTarget(file, roots) };
    try {
      this.#assertAllowed(file, realPath);
      return { descriptor, realPath };
    } catch (error) {
      if (descriptor !== null) closeSync(descriptor);
      throw error;
    }
  }
}

/** What the system says is asked first: a write that comes in between shows later. */
async function held(descriptor: number, realPath: string): Promise<HeldFile> {
  const stats = fstatSync(descriptor, { bigint: true });
  return new HeldFile({ realPath, bytes: await readAll(descriptor, Number(stats.size)), stats });
}

function sizeOfFile(descriptor: number, file: string): number {
  const found = fstatSync(descriptor);
  if (found.isDirectory()) {
    throw new WorkspaceError(
      "is_a_directory",
      `${file} is a directory, not a file; list it with list_directory.`,
    );
  }
  if (found.isFile()) return found.size;
  throw notRegular(file);
}

function notRead(file: string, seen: Seen): WorkspaceError {
  const what = seen === "part" ? "only a part of it has been read" : "it has not been read in full";
  return new WorkspaceError(
    "not_read",
    `${file} exists, and ${what} in this session, so it is not overwritten unasked. Read all of its lines with read_file first, then write again.`,
  );
}

/** What lies directly in an opened folder, without what the rules and the options leave out. */
function listFolder(opened: Opened, rules: FolderRules, options: ListOptions): Listing {
  const leftOut = options.ignore.map((pattern) => globMatcher(pattern, { caseSensitive: true }));
  const names = { folders: [] as string[], files: [] as string[] };
  let gitIgnored = 0;
  let ownIgnored = 0;
  for (const entry of entriesOf(opened)) {
    const { name } = entry;
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && leadsToFolder(opened, name));
    if (leftOut.some((matches) => matches(name))) continue;
    // Git takes a link for a file, wherever it leads.
    const visibility = rules.visibilityOf(name, entry.isDirectory());
    if (visibility === "own") ownIgnored += 1;
    else if (visibility === "git" && options.respectGitIgnore) gitIgnored += 1;
    else (isFolder ? names.folders : names.files).push(name);
  }
  const entries: DirectoryEntry[] = [];
  for (const name of sortByCodePoints(names.folders)) entries.push({ name, isDirectory: true });
  for (const name of sortByCodePoints(names.files)) entries.push({ name, isDirectory: false });
  return { path: opened.path, entries, gitIgnored, ownIgnored };
}

/** Read through the judged descriptor where the system allows it, so that the names are that folder's. */
function entriesOf(opened: Opened): Dirent[] {
  try {
    return readdirSync(pathsIn(opened.descriptor, opened.realPath)("."), { withFileTypes: true });
  } catch (error) {
    throw asWorkspaceError(error, opened.realPath);
  }
}

function leadsToFolder({ descriptor, realPath }: Opened, name: string): boolean {
  try {
    return statSync(pathsIn(descriptor, realPath)(name)).isDirectory();
  } catch {
    return false;
  }
}
