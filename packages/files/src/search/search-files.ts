import { basename, sep } from "node:path";
import { type SearchRequest, type SearchResult, WorkspaceError } from "@burin/contract/machine/workspace";
import { OutOfTime } from "@burin/contract/patterns/automaton";
import { type Pattern, PatternError } from "@burin/contract/patterns/pattern";
import { parseSearchPattern } from "@burin/contract/patterns/search-dialect";
import type { Access } from "../ignore/access.ts";
import { Slices, Walk } from "../ignore/walk.ts";
import { isWithinAny } from "../paths/paths.ts";
import { type Engine, type EngineMaker, gitGrep, systemGrep } from "./engine.ts";
import { FileSearcher } from "./file-searcher.ts";
import { HitCollector } from "./hit-lines.ts";
import { LineMatcher } from "./line-matcher.ts";
import { proposedFiles, WantedFiles } from "./proposed-files.ts";
import { ripgrep } from "./ripgrep.ts";

/** The first one that is installed and can handle the pattern is used; without any the files are searched here. */
const ENGINES: readonly EngineMaker[] = [ripgrep, gitGrep, systemGrep];

/** A common pattern has enough hits in the first files; then no program has to be started. */
const HEAD_START_MS = 4;

export interface SearchTarget {
  /** The real path of what is searched. */
  readonly place: string;
  readonly isFolder: boolean;
}

export interface SearchMeans {
  readonly signal: AbortSignal;
  /** A value of `performance.now()`. */
  readonly stopAt: number;
  /** Used instead of the installed ones, and for every file, even if the first files have enough hits. */
  readonly engines?: readonly EngineMaker[];
}

/** Searches a file or a folder. The hits and their order do not depend on the engines. */
export async function searchFiles(
  access: Access,
  target: SearchTarget,
  request: SearchRequest & SearchMeans,
): Promise<SearchResult> {
  const pattern = parsed(request);
  const { signal, stopAt } = request;
  const slices = new Slices(signal, stopAt);
  const collector = new HitCollector(request);
  const rules = access.ignoreRules();
  const searcher = new FileSearcher({
    matcher: new LineMatcher(pattern, request.caseSensitive, stopAt),
    mayOpen: (real) => isWithinAny(real, access.roots) && access.refusal(real, rules) === null,
    onGap: (gap) => collector.gaps.add(gap),
    slices,
    unsaved: request.unsaved ?? new Map(),
  });
  let hasIgnored = false;
  try {
    if (target.isFolder) {
      const walk = new Walk({
        folder: target.place,
        rules: access.namedFolder(target.place, rules),
        respectGitIgnore: request.respectGitIgnore,
      });
      const files = new WantedFiles(walk, { ...request, access, place: target.place });
      await searchFolder({ access, target, request, pattern, files, searcher, slices, collector });
      hasIgnored = walk.hasIgnored;
      if (walk.hasBrokenNames) collector.gaps.add("Files whose names are not valid UTF-8 were skipped.");
      if (walk.unreadable > 0) collector.gaps.add(`${walk.unreadable} unreadable folder(s) were skipped.`);
    } else {
      const refusal = access.refusal(target.place, rules);
      if (refusal !== null) throw refusal;
      const found = await searcher.search(target.place, collector.wanted);
      collector.take(basename(target.place), found);
      if (found === null && !searcher.isText(target.place))
        collector.gaps.add("The file is binary, and only text is searched.");
    }
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    collector.outOfTime();
  }
  return { ...collector.result(), hasIgnored };
}

interface FolderSearch {
  readonly access: Access;
  readonly target: SearchTarget;
  readonly request: Parameters<typeof searchFiles>[2];
  readonly pattern: Pattern;
  readonly files: WantedFiles;
  readonly searcher: FileSearcher;
  readonly slices: Slices;
  readonly collector: HitCollector;
}

async function searchFolder(search: FolderSearch): Promise<void> {
  const { access, target, request, files, searcher, slices, collector } = search;
  const { engines } = request;
  if (await searchHere(search, engines === undefined ? HEAD_START_MS : 0)) return;
  const { environment, helpers } = access;
  const place = { folder: target.place, environment, helpers };
  let engine: Engine | null = null;
  for (const make of engines ?? ENGINES) engine ??= make(search.pattern, place);
  if (engine === null) return void (await searchHere(search, Number.POSITIVE_INFINITY));
  const { unsaved = new Map(), signal } = request;
  const folder = target.place;
  const proposals = proposedFiles({ engine, files, folder, slices, searcher, signal, unsaved });
  for await (const path of proposals) {
    if (path === null) return collector.outOfTime();
    collector.take(path, await searcher.search(absolute(target, path), collector.wanted));
    if (collector.isFull) return;
  }
}

/** Searches files without an engine for that long. Returns true when nothing is left to do. */
async function searchHere(search: FolderSearch, milliseconds: number): Promise<boolean> {
  const { target, files, searcher, slices, collector } = search;
  const end = performance.now() + milliseconds;
  for (let stretch = files.nextStretch(); stretch !== null; stretch = files.nextStretch()) {
    for (const [index, name] of stretch.names.entries()) {
      if (performance.now() >= end) {
        files.putBack(stretch, index);
        return false;
      }
      const path = stretch.folder + name;
      collector.take(path, await searcher.search(absolute(target, path), collector.wanted));
      if (collector.isFull) return true;
      if (!slices.isOver || (await slices.goOn())) continue;
      collector.outOfTime();
      return true;
    }
  }
  return true;
}

function absolute({ place }: SearchTarget, path: string): string {
  return place.endsWith(sep) ? place + path : `${place}/${path}`;
}

function parsed(request: SearchRequest): Pattern {
  try {
    return parseSearchPattern(request.pattern, request);
  } catch (error) {
    if (error instanceof PatternError) throw new WorkspaceError("invalid_pattern", error.message);
    throw error;
  }
}
