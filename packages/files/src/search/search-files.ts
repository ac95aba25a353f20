import { basename, sep } from "node:path";
import { type SearchRequest, type SearchResult, WorkspaceError } from "@burin/contract/machine/workspace";
import { MatchTimeoutError } from "@burin/contract/patterns/automaton";
import { type Pattern, PatternError } from "@burin/contract/patterns/pattern";
import { parseSearchPattern } from "@burin/contract/patterns/search-dialect";
import type { Access } from "../ignore/access.ts";
import { TimeSlices, Walk } from "../ignore/walk.ts";
import { isWithinAny } from "../paths/paths.ts";
import { type CreateEngine, createGitGrep, createSystemGrep, type Engine } from "./engine.ts";
import { FileSearcher } from "./file-searcher.ts";
import { HitCollector } from "./hit-lines.ts";
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
  const { signal, stopAt } = request;
  const slices = new TimeSlices(signal, stopAt);
  const collector = new HitCollector(request);
  const rules = access.ignoreRules();
  const searcher = new FileSearcher({
    matcher: new LineMatcher(pattern, request.caseSensitive, stopAt),
    mayOpen: (real) => isWithinAny(real, access.searchableRoots) && access.findRefusal(real, rules) === null,
    onGap: (gap) => collector.gaps.add(gap),
    slices,
    unsaved: request.unsaved ?? new Map(),
  });
  let hasIgnored = false;
  try {
    if (target.isFolder) {
      const walk = new Walk({
        folder: target.realPath,
        rules: access.openNamedFolder(target.realPath, rules),
        respectGitIgnore: request.respectGitIgnore,
      });
      const files = new WantedFiles(walk, { ...request, access, place: target.realPath });
      await searchFolder({ access, target, request, pattern, files, searcher, slices, collector });
      hasIgnored = walk.hasIgnored;
      if (walk.hasBrokenNames) collector.gaps.add("Files whose names are not valid UTF-8 were skipped.");
      if (walk.unreadable > 0) collector.gaps.add(`${walk.unreadable} unreadable folder(s) were skipped.`);
    } else {
      const refusal = access.findRefusal(target.realPath, rules);
      if (refusal !== null) throw refusal;
      const found = await searcher.search(target.realPath, collector.remaining);
      collector.addFile(basename(target.realPath), found);
      if (found === null && !searcher.isText(target.realPath))
        collector.gaps.add("The file is binary, and only text is searched.");
    }
  } catch (error) {
    if (!(error instanceof MatchTimeoutError)) throw error;
    collector.markOutOfTime();
  }
  return { ...collector.buildResult(), hasIgnored };
}

interface FolderSearch {
  readonly access: Access;
  readonly target: SearchTarget;
  readonly request: Parameters<typeof searchFiles>[2];
  readonly pattern: Pattern;
  readonly files: WantedFiles;
  readonly searcher: FileSearcher;
  readonly slices: TimeSlices;
  readonly collector: HitCollector;
}

async function searchFolder(search: FolderSearch): Promise<void> {
  const { access, target, request, files, searcher, slices, collector } = search;
  const { engines } = request;
  if (await searchWithoutEngine(search, engines === undefined ? ENGINE_DELAY_MS : 0)) return;
  const { environment, helpers } = access;
  const place = { folder: target.realPath, environment, helpers };
  let engine: Engine | null = null;
  for (const make of engines ?? ENGINES) engine ??= make(search.pattern, place);
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

/** Searches without an engine for the given time. Returns true when everything has been searched. */
async function searchWithoutEngine(search: FolderSearch, milliseconds: number): Promise<boolean> {
  const { target, files, searcher, slices, collector } = search;
  const end = performance.now() + milliseconds;
  for (let stretch = files.nextStretch(); stretch !== null; stretch = files.nextStretch()) {
    for (const [index, name] of stretch.names.entries()) {
      if (performance.now() >= end) {
        files.pushBack(stretch, index);
        return false;
      }
      const path = stretch.folder + name;
      collector.addFile(path, await searcher.search(toAbsolute(target, path), collector.remaining));
      if (collector.isFull) return true;
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
