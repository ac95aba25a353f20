import { basename, posix } from "node:path";
import {
  type FileContent,
  type FilePreview,
  type FileSnapshot,
  type FileWrite,
  type FindRequest,
  type FindResult,
  type LineRange,
  type Listing,
  type ListOptions,
  type SearchRequest,
  type SearchResult,
  type SeenExtent,
  type TextChange,
  type Workspace,
  WorkspaceError,
  type WriteResult,
} from "@burin/contract/machine/workspace";
import { MatchTimeoutError } from "@burin/contract/patterns/automaton";
import { createGlobExcluder, createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { PatternError } from "@burin/contract/patterns/pattern";
import { parseSearchPattern } from "@burin/contract/patterns/search-dialect";
import { compareCodePoints, sortByCodePoints } from "@burin/contract/text/code-point-order";
import { lockPath } from "../disk/path-lock.ts";
import { hashBytes } from "../disk/regular-file.ts";
import { decodeFile } from "../encodings/text-format.ts";
import { relativizePattern } from "../paths/paths.ts";
import { HitCollector, HitLines, IGNORED_MS, NO_RESULTS } from "../search/hit-lines.ts";
import { LineMatcher } from "../search/line-matcher.ts";
import { createNotReadError } from "./change-files.ts";
import { type FileFunctions, FunctionPlaces, isFolder } from "./function-place.ts";
import { FunctionAccess, FunctionWalk } from "./function-walk.ts";
import { HeldFile } from "./held-file.ts";
import { readBytesContent } from "./read-content.ts";
import { ReadRecord } from "./read-record.ts";
import { createChangedError } from "./replace-file.ts";
import type { WorkspaceSettings } from "./workspace-settings.ts";

/** The time limit of a search for text or for files. */
const TIME_LIMIT_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** A larger file is not searched. */
const MAX_SEARCHED_BYTES = 10 * 1024 * 1024;
const AT_ONCE = 8;
const MAX_KNOWN = 50;
const CASE = { caseSensitive: true };

/** The files of a machine that a few functions reach, and what the model has seen of them. */
export class FunctionWorkspace implements Omit<Workspace, "root" | "roots" | "relative"> {
  readonly #places: FunctionPlaces;
  readonly #access: FunctionAccess;
  readonly #record: ReadRecord;
  /** The content of the latest versions of files. */
  readonly #held = new Map<string, HeldFile>();

  constructor(functions: FileFunctions, roots: readonly string[], settings: WorkspaceSettings) {
    this.#places = new FunctionPlaces(functions, roots);
    this.#access = new FunctionAccess(this.#places, settings);
    this.#record = new ReadRecord(settings.reads);
  }

  async resolve(path: string): Promise<string> {
    return (await this.#places.locate(path)).path;
  }

  async list(directory: string, options: ListOptions): Promise<Listing> {
    const { path, real } = await this.#locateFolder(directory, "; read it with read_file");
    const rules = await this.#access.readNamedRules(real);
    const leftOut = options.ignore.map((pattern) => createGlobMatcher(pattern, CASE));
    const names = { folders: [] as string[], files: [] as string[] };
    let gitIgnored = 0;
    let ownIgnored = 0;
    for (const { name, isDirectory } of await this.#places.listEntries(real)) {
      if (leftOut.some((matches) => matches(name))) continue;
      const visibility = rules.findVisibility(name, isDirectory);
      if (visibility === "own") ownIgnored += 1;
      else if (visibility === "git" && options.respectGitIgnore) gitIgnored += 1;
      else (isDirectory ? names.folders : names.files).push(name);
    }
    const entries = [
      ...sortByCodePoints(names.folders).map((name) => ({ name, isDirectory: true })),
      ...sortByCodePoints(names.files).map((name) => ({ name, isDirectory: false })),
    ];
    return { path, entries, gitIgnored, ownIgnored };
  }

  async find(directory: string, request: FindRequest, signal: AbortSignal): Promise<FindResult> {
    const { real } = await this.#locateFolder(directory);
    const matches = createGlobMatcher(relativizePattern(request.pattern, real), request);
    const walk = new FunctionWalk(this.#access, { ...request, signal, stopAt: computeDeadline() });
    const paths = (await walk.files(real)).filter(matches).map((path) => posix.join(real, path));
    const found = await mapInGroups(paths, async (path) => ({
      path,
      time: (await this.#places.stat(path).catch(() => null))?.mtimeMs ?? 0,
    }));
    found.sort((a, b) => b.time - a.time || compareCodePoints(a.path, b.path));
    const { isPartial, unreadable: unreadableFolders, hasIgnored } = walk;
    const files = found.slice(0, request.max).map(({ path }) => path);
    return { files, total: found.length, isPartial, unreadableFolders, hasIgnored };
  }

  async search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const { real } = await this.#places.locate(path);
    const found = await this.#places.stat(real);
    if (found === null) throw createNotFound(path);
    const stopAt = computeDeadline();
    const search = { matcher: makeMatcher(request, stopAt), collector: new HitCollector(request), request };
    if (!isFolder(found)) {
      await this.#access.assertAllowed(real);
      await this.#searchFile(real, basename(real), search);
      return search.collector.buildResult();
    }
    const walk = new FunctionWalk(this.#access, { ...request, signal, stopAt });
    const isWanted = makeFileFilter(real, request);
    const means = { signal, stopAt };
    await this.#searchFiles(real, (await walk.files(real)).filter(isWanted), { ...search, ...means });
    if (walk.isPartial) search.collector.markOutOfTime();
    if (walk.unreadable > 0)
      search.collector.gaps.add(`${walk.unreadable} unreadable folder(s) were skipped.`);
    const result = search.collector.buildResult();
    if (result.hits > 0 || !walk.hasIgnored) return result;
    if (search.collector.isOutOfTime) return { ...result, ignoredHits: "unknown" };
    const collector = new HitCollector(NO_RESULTS);
    const stopIgnoredAt = Math.min(stopAt, performance.now() + IGNORED_MS);
    const ignored = (await walk.ignoredFiles(real, stopIgnoredAt)).filter(isWanted);
    const second = { matcher: makeMatcher(request, stopIgnoredAt), collector, request };
    await this.#searchFiles(real, ignored, { ...second, signal, stopAt: stopIgnoredAt });
    if (collector.isFull) return { ...result, ignoredHits: "some" };
    return { ...result, ignoredHits: walk.isPartial || collector.isOutOfTime ? "unknown" : "none" };
  }

  async #searchFiles(folder: string, files: readonly string[], search: Search & SearchMeans): Promise<void> {
    const { collector, signal, stopAt } = search;
    try {
      for (let at = 0; at < files.length && !collector.isFull; at += AT_ONCE) {
        signal.throwIfAborted();
        if (performance.now() > stopAt) throw new MatchTimeoutError();
        const some = files.slice(at, at + AT_ONCE);
        const texts = await Promise.all(
          some.map((file) => this.#readSearchText(posix.join(folder, file), search)),
        );
        for (const [index, text] of texts.entries()) collectHits(some[index] ?? "", text, search);
      }
    } catch (error) {
      if (!(error instanceof MatchTimeoutError)) throw error;
      collector.markOutOfTime();
    }
  }

  async read(file: string, range: LineRange, signal: AbortSignal): Promise<FileContent> {
    const { bytes, realPath } = await this.#readCurrent(file);
    if (bytes === null) throw createNotFound(file);
    const { content, shown, whole } = await readBytesContent(bytes, { path: file, range, signal });
    if (whole !== null) this.#record.noteWholeFile(realPath, whole);
    else if (shown !== null) this.#record.note({ file: realPath, lines: shown() });
    return content;
  }

  async snapshot(file: string, _changes?: readonly TextChange[]): Promise<FileSnapshot> {
    return this.#makeSnapshot(await this.#readCurrent(file));
  }

  async preview(file: string, content: string, basis?: string): Promise<FilePreview> {
    const current = (this.#held.get(basis ?? "") ?? (await this.#readCurrent(file))).matchVersion(basis);
    if (current === null) throw createChangedError(file);
    const { text: after } = current.rewrite(file, content);
    return { realPath: current.realPath, before: this.#makeSnapshot(current), after };
  }

  /** Changes a file while no other session on this computer changes it. */
  async write(change: FileWrite, signal: AbortSignal): Promise<WriteResult> {
    const { real } = await this.#places.locate(change.file);
    return lockPath(`function-workspace:${real}`, () => this.#write(change), { signal });
  }

  async #write({ file, content, basis, isBasisAgreed, isWholeKnown }: FileWrite): Promise<WriteResult> {
    const now = await this.#readCurrent(file);
    if (!now.isFileOf(basis)) throw createChangedError(file);
    const wasBasis = now.matchVersion(basis) !== null;
    if (isBasisAgreed && !wasBasis) throw createChangedError(file);
    const seen = this.#record.findSeenExtent(now.realPath, now);
    if (!isBasisAgreed && seen !== "all")
      throw seen === "older" ? createChangedError(file) : createNotReadError(file, seen);
    const { pieces, isSame } = now.rewrite(file, content);
    const bytes = Buffer.concat([...pieces]);
    if (now.bytes === null) await this.#places.assertNoLink({ path: file, real: now.realPath });
    if (!isSame) await this.#places.write(now.realPath, bytes);
    const isKnown = isWholeKnown || seen === "all";
    this.#record.note(isKnown ? { file: now.realPath, whole: hashBytes(bytes) } : { file: now.realPath });
    return { isNew: now.bytes === null, wasBasis, notes: [] };
  }

  #makeSnapshot(current: HeldFile): FileSnapshot {
    const { bytes, realPath, text, version } = current;
    const seen: SeenExtent = bytes === null ? "nothing" : this.#record.findSeenExtent(realPath, current);
    this.#held.delete(version);
    this.#held.set(version, current);
    for (const oldest of [...this.#held.keys()].slice(0, -MAX_KNOWN)) this.#held.delete(oldest);
    return { exists: bytes !== null, version, text, seen, bytes: bytes?.length ?? 0 };
  }

  /** Reads the file as it is now; `bytes` is null when there is none. */
  async #readCurrent(file: string): Promise<HeldFile> {
    const { path, real } = await this.#places.locate(file);
    await this.#access.assertAllowed(path);
    if (real !== path) await this.#access.assertAllowed(real);
    const found = await this.#places.stat(real);
    if (found !== null && isFolder(found))
      throw new WorkspaceError(
        "is_a_directory",
        `${file} is a directory, not a file; list it with list_directory.`,
      );
    if ((found?.size ?? 0) > MAX_BYTES)
      throw new WorkspaceError(
        "too_large",
        `${file} has ${found?.size} bytes; at most ${MAX_BYTES} can be used here.`,
      );
    const bytes = found === null ? null : await this.#places.read(real);
    return new HeldFile({ realPath: real, bytes, stats: null });
  }

  async #locateFolder(directory: string, hint = "") {
    const place = await this.#places.locate(directory);
    const found = await this.#places.stat(place.real);
    if (found === null) throw createNotFound(directory);
    if (!isFolder(found))
      throw new WorkspaceError("not_a_directory", `${directory} is not a directory${hint}.`);
    return place;
  }

  async #searchFile(real: string, name: string, search: Search): Promise<void> {
    const text = await this.#readSearchText(real, search);
    if (text === null) search.collector.gaps.add("The file is binary, and only text is searched.");
    collectHits(name, text, search);
  }

  /** Returns the file's text; null where it is not text or outside the roots. */
  async #readSearchText(path: string, { collector, request }: Search): Promise<string | null> {
    const unsaved = request.unsaved?.get(path);
    if (unsaved !== undefined) return unsaved;
    if (!(await this.#places.hasNoLinks(path))) return null;
    const found = await this.#places.stat(path).catch(() => null);
    if ((found?.size ?? 0) > MAX_SEARCHED_BYTES) {
      collector.gaps.add("Files larger than 10 MB were not searched.");
      return null;
    }
    const bytes = await this.#places.read(path).catch(() => null);
    return bytes === null ? null : decodeFile(bytes);
  }
}

interface SearchMeans {
  readonly signal: AbortSignal;
  /** A value of `performance.now()`. */
  readonly stopAt: number;
}

interface Search {
  readonly matcher: LineMatcher;
  readonly collector: HitCollector;
  readonly request: SearchRequest;
}

function collectHits(path: string, text: string | null, { matcher, collector }: Search): void {
  if (text === null || collector.isFull) return;
  const hits = new HitLines(matcher, collector.remaining);
  hits.add(text, true);
  collector.addFile(path, hits);
}

function makeMatcher(request: SearchRequest, stopAt: number): LineMatcher {
  try {
    return new LineMatcher(parseSearchPattern(request.pattern, request), request.caseSensitive, stopAt);
  } catch (error) {
    if (error instanceof PatternError) throw new WorkspaceError("invalid_pattern", error.message);
    throw error;
  }
}

function makeFileFilter(folder: string, { include, exclude }: SearchRequest): (path: string) => boolean {
  const included = include.map((glob) => createGlobMatcher(relativizePattern(glob, folder), CASE));
  const excluded = exclude.map((glob) => createGlobExcluder(relativizePattern(glob, folder), CASE));
  return (path) =>
    (included.length === 0 || included.some((matches) => matches(path))) &&
    !excluded.some((covers) => covers(path));
}

async function mapInGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  return results;
}

function computeDeadline(): number {
  return performance.now() + TIME_LIMIT_MS;
}

function createNotFound(path: string): WorkspaceError {
  return new WorkspaceError("not_found", `${path} does not exist.`);
}
