import { basename, sep } from "node:path";
import { once } from "@burin/contract/async/once";
import { type SearchRequest, type SearchResult, WorkspaceError } from "@burin/contract/machine/workspace";
import { MatchTimeoutError } from "@burin/contract/patterns/automaton";
import { type Pattern, PatternError } from "@burin/contract/patterns/pattern";
import { parseSearchPattern } from "@burin/contract/patterns/search-dialect";
import type { Access } from "../ignore/access.ts";
import { TimeSlices, Walk } from "../ignore/walk.ts";
import { isWithinAny } from "../paths/paths.ts";
import { type CreateEngine, createGitGrep, createSystemGrep, type Engine } from "./engine.ts";
import { FileSearcher } from "./file-searcher.ts";
import { HitCollector, IGNORED_MS, NO_RESULTS } from "./hit-lines.ts";
import { LineMatcher } from "./line-matcher.ts";
import { proposeFiles, WantedFiles } from "./proposed-files.ts";
import { createRipgrep } from "./ripgrep.ts";

/**
 * The engines in order of preference: the first one that is installed and can handle the pattern is used. Without any,
 * the files are searched here.
 */
const ENGINES: readonly CreateEngine[] = [createRipgrep, createGitGrep, createSystemGrep];

/** How long to search before an engine starts: a common pattern has enough hits in the first files. */
const ENGINE_DELAY_MS = 4;

export interface SearchTarget {
  /** The real path of what is searched. */
  readonly realPath: string;
  readonly isFolder: boolean;
}

export interface SearchOptions {
  readonly signal: AbortSignal;
  /** A value of `performance.now()`. */
  readonly stopAt: number;
  /**
   * Engines that are used instead of the installed ones, and for every file, even if the first files have enough hits.
   */
  readonly engines?: readonly CreateEngine[];
}

/** Searches a file or a folder. The hits and their order do not depend on the engines. */
export async function searchFiles(
  access: Access,
  target: SearchTarget,
  request: SearchRequest & SearchOptions,
): Promise<SearchResult> {
  const pattern = parsePattern(request);
  const rules = access.createIgnoreRules();
  const start = (wanted: FindsOptions): Finds => {
    const slices = new TimeSlices(request.signal, wanted.stopAt);
    const collector = new HitCollector(wanted);
    const searcher = new FileSearcher({
      matcher: new LineMatcher(pattern, request.caseSensitive, wanted.stopAt),
      mayOpen: (real) =>
        isWithinAny(real, access.searchableRoots) && access.findRefusal(real, rules) === null,
      onGap: (gap) => collector.gaps.add(gap),
      slices,
      unsaved: request.unsaved ?? new Map(),
    });
    return { slices, collector, searcher };
  };
  const finds = start(request);
  const { collector } = finds;
  if (!target.isFolder) {
    await runMarkingTimeout(collector, () =>
      searchNamedFile(access.findRefusal(target.realPath, rules), target, finds),
    );
    return collector.buildResult();
  }
  const walk = new Walk({
    folder: target.realPath,
    rules: access.readNamedFolderRules(target.realPath, rules),
    respectGitIgnore: request.respectGitIgnore,
  });
  const files = new WantedFiles(walk, { ...request, access, place: target.realPath });
  const engine = once(() => createEngine(access, target, { pattern, engines: request.engines ?? ENGINES }));
  const search = { target, request, files, engine };
  await runMarkingTimeout(collector, () => searchFolder({ ...search, ...finds }));
  if (walk.hasBrokenNames) collector.gaps.add("Files whose names are not valid UTF-8 were skipped.");
  if (walk.unreadable > 0) collector.gaps.add(`${walk.unreadable} unreadable folder(s) were skipped.`);
  const result = collector.buildResult();
  if (result.hits > 0 || !walk.hasIgnored) return result;
  if (!walk.isAtEnd || collector.isOutOfTime) return { ...result, ignoredHits: "unknown" };
  walk.startIgnored();
  const second = start({ ...NO_RESULTS, stopAt: Math.min(request.stopAt, performance.now() + IGNORED_MS) });
  await runMarkingTimeout(second.collector, () => searchFolder({ ...search, ...second }));
  if (second.collector.isFull) return { ...result, ignoredHits: "some" };
  return { ...result, ignoredHits: walk.isAtEnd && !second.collector.isOutOfTime ? "none" : "unknown" };
}

async function searchNamedFile(
  refusal: Error | null,
  { realPath }: SearchTarget,
  finds: Finds,
): Promise<void> {
  if (refusal !== null) throw refusal;
  const { searcher, collector } = finds;
  const found = await searcher.search(realPath, collector.remaining);
  collector.addFile(basename(realPath), found);
  if (found === null && !searcher.isText(realPath))
    collector.gaps.add("The file is binary, and only text is searched.");
}

function createEngine(
  { environment, helpers }: Access,
  { realPath: folder }: SearchTarget,
  { pattern, engines }: { readonly pattern: Pattern; readonly engines: readonly CreateEngine[] },
): Engine | null {
  let engine: Engine | null = null;
  for (const make of engines) engine ??= make(pattern, { folder, environment, helpers });
  return engine;
}

/** Marks the result as incomplete if matching takes too long. */
async function runMarkingTimeout(collector: HitCollector, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof MatchTimeoutError)) throw error;
    collector.markOutOfTime();
  }
}

type FindsOptions = Pick<SearchRequest & SearchOptions, "max" | "context" | "namesOnly" | "stopAt">;

/** What one pass over the files works with. */
interface Finds {
  readonly searcher: FileSearcher;
  readonly slices: TimeSlices;
  readonly collector: HitCollector;
}

interface FolderSearch extends Finds {
  readonly target: SearchTarget;
  readonly request: SearchRequest & SearchOptions;
  readonly files: WantedFiles;
  readonly engine: () => Engine | null;
}

async function searchFolder(search: FolderSearch): Promise<void> {
  const { target, request, files, searcher, slices, collector } = search;
  if (await searchWithoutEngine(search, request.engines === undefined ? ENGINE_DELAY_MS : 0)) return;
  const engine = search.engine();
  if (engine === null) return void (await searchWithoutEngine(search, Number.POSITIVE_INFINITY));
  const { unsaved = new Map(), signal } = request;
  const folder = target.realPath;
  const proposals = proposeFiles({ engine, files, folder, slices, searcher, signal, unsaved });
  for await (const path of proposals) {
    if (path === null) return collector.markOutOfTime();
    collector.addFile(path, await searcher.search(toAbsolute(target, path), collector.remaining));
    if (collector.isFull) return;
  }
}

/**
 * Searches without an engine for the given time. Returns true when everything has been searched. Listing folders does
 * not count: an engine would need it too.
 */
async function searchWithoutEngine(search: FolderSearch, milliseconds: number): Promise<boolean> {
  const { target, files, searcher, slices, collector } = search;
  let left = milliseconds;
  for (let stretch = files.nextStretch(); stretch !== null; stretch = files.nextStretch()) {
    for (const [index, name] of stretch.names.entries()) {
      if (left <= 0) {
        files.pushBack(stretch, index);
        return false;
      }
      const start = performance.now();
      const path = stretch.folder + name;
      collector.addFile(path, await searcher.search(toAbsolute(target, path), collector.remaining));
      if (collector.isFull) return true;
      left -= performance.now() - start;
      if (!slices.isOver || (await slices.yieldTurn())) continue;
      collector.markOutOfTime();
      return true;
    }
  }
  return true;
}

function toAbsolute({ realPath }: SearchTarget, path: string): string {
  return realPath.endsWith(sep) ? realPath + path : `${realPath}/${path}`;
}

function parsePattern(request: SearchRequest): Pattern {
  try {
    return parseSearchPattern(request.pattern, request);
  } catch (error) {
    if (error instanceof PatternError) throw new WorkspaceError("invalid_pattern", error.message);
    throw error;
  }
}
