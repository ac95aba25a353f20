import { basename, dirname, join, sep } from "node:path";
import { getOrCreate } from "@burin/contract/async/once";
import type { FindRequest, FindResult } from "@burin/contract/machine/workspace";
import { Automaton } from "@burin/contract/patterns/automaton";
import { parseGlob } from "@burin/contract/patterns/glob-pattern";
import { compareCodePoints } from "@burin/contract/text/code-point-order";
import { tryLstat, tryRealPath } from "../disk/disk-looks.ts";
import type { Access } from "../ignore/access.ts";
import { TimeSlices, Walk } from "../ignore/walk.ts";
import { isWithin, isWithinAny, readFolderNames, relativizePattern } from "../paths/paths.ts";
import type { SearchOptions } from "../search/search-files.ts";

interface Match {
  readonly path: string;
  /** The file's time in milliseconds with a fraction, so that files created together can be ordered. */
  readonly time: number;
}

/** How far a file's time stamp may lag behind the clock. */
const DOUBTFUL_MS = 100;
/** How many names to look at before the clock is read again, which costs more than a name. */
const NAMES_PER_CLOCK_CHECK = 64;

/** Finds files by a glob in a folder that was checked; each result is checked again by its real path. */
export async function findFiles(
  access: Access,
  folder: string,
  request: FindRequest & Pick<SearchOptions, "signal" | "stopAt">,
): Promise<FindResult> {
  const startedAt = Date.now() - DOUBTFUL_MS;
  const glob = compilePathGlob(folder, request);
  const rules = access.createIgnoreRules();
  const walk = new Walk({
    folder,
    rules: access.readNamedFolderRules(folder, rules),
    respectGitIgnore: request.respectGitIgnore,
    shouldEnter: glob.canHold,
  });
  const slices = new TimeSlices(request.signal, request.stopAt);
  const newest = new NewestMatches(request.max);
  let isPartial = false;
  let seen = 0;
  for (let stretch = walk.nextBatch(); stretch !== null && !isPartial; stretch = walk.nextBatch()) {
    const { folder: below, names, links } = stretch;
    for (const name of names) {
      if (glob.matches(below, name)) {
        const path = `${folder === sep ? "" : folder}/${below}${name}`;
        newest.add(createMatch(path, links.has(name), access));
      }
      seen += 1;
      if (seen % NAMES_PER_CLOCK_CHECK === 0 && slices.isOver) isPartial = !(await slices.yieldTurn());
      if (isPartial) break;
    }
  }
  const files = listInside(newest.listNewestFirst(), request.max, startedAt);
  const { unreadable: unreadableFolders, hasIgnored } = walk;
  return { files, total: newest.total, isPartial, unreadableFolders, hasIgnored };
}

/** Returns the match. A link counts if its target is inside the roots and not hidden from all tools. */
function createMatch(path: string, isLink: boolean, access: Access): Match | null {
  const real = isLink ? tryRealPath(path) : path;
  const found = real === null ? null : tryLstat(real);
  if (real === null || !found?.isFile()) return null;
  const isInside = () =>
    isWithinAny(real, access.searchableRoots) &&
    access.createRulesWithoutGit().judgePath(real, false) !== "own";
  return !isLink || isInside() ? { path, time: found.mtimeMs } : null;
}

/**
 * A folder may have been replaced by a link during the walk, even briefly, so every folder above a result is checked
 * again: a folder that was moved since has a new time and is read again. `startedAt` is a little early, because a
 * disk's clock may lag.
 */
function listInside(matches: readonly Match[], maxFiles: number, startedAt: number): string[] {
  const known = new Map<string, Set<string> | "unmoved">();
  const listFolderNames = (path: string): Set<string> | "unmoved" =>
    getOrCreate(known, path, () => {
      const above = dirname(path) === path ? "unmoved" : listFolderNames(dirname(path));
      const stats = tryLstat(path);
      const isUnmoved = above === "unmoved" && stats?.isDirectory() === true && stats.ctimeMs < startedAt;
      return isUnmoved ? "unmoved" : new Set(readFolderNames(path));
    });
  const files: string[] = [];
  for (const { path } of matches) {
    if (files.length >= maxFiles) break;
    const names = listFolderNames(dirname(path));
    if (names === "unmoved" || names.has(basename(path))) files.push(path);
  }
  return files;
}

/** Keeps the newest matches and drops all others at once, however many there are. */
class NewestMatches {
  total = 0;
  readonly #max: number;
  #kept: Match[] = [];
  #oldest = Number.NEGATIVE_INFINITY;

  constructor(max: number) {
    // Keep a few more, because some may turn out to be outside at the end.
    this.#max = max * 2;
  }

  add(match: Match | null): void {
    if (match === null) return;
    this.total += 1;
    if (match.time < this.#oldest) return;
    this.#kept.push(match);
    if (this.#kept.length < this.#max * 2) return;
    this.#kept = this.listNewestFirst().slice(0, this.#max);
    this.#oldest = this.#kept.at(-1)?.time ?? this.#oldest;
  }

  listNewestFirst(): Match[] {
    return this.#kept.sort((a, b) => b.time - a.time || compareCodePoints(a.path, b.path));
  }
}

/** Compiles a glob for paths in a folder. Brackets and braces that are part of existing names are taken literally. */
function compilePathGlob(folder: string, request: FindRequest) {
  const { caseSensitive } = request;
  const pattern = relativizePattern(request.pattern, folder);
  const known = escapeKnownNames(pattern, folder);
  // The pattern mentions no folder, so only the names are compared.
  const bare = known === pattern ? /^(?:\*\*\/)?([^/]+)$/.exec(request.pattern)?.[1] : undefined;
  const glob = bare ?? known;
  const readings = glob.includes("[") ? [glob, glob.replace(/(?<!\\)\[/g, "\\[")] : [glob];
  const automata = readings.map(
    (reading) => new Automaton(parseGlob(reading, { caseSensitive, groups: true }), { whole: true }),
  );
  return {
    matches(below: string, name: string): boolean {
      const text = bare === undefined ? below + name : name;
      return automata.some((automaton) => automaton.matches(text));
    },
    canHold: (below: string) =>
      bare !== undefined || automata.some((automaton) => automaton.canStillMatch(below)),
  };
}

/** Escapes the first segments of the pattern as far as files or folders with exactly these names exist. */
function escapeKnownNames(pattern: string, folder: string): string {
  const segments = pattern.split("/");
  let place = folder;
  for (const [index, segment] of segments.entries()) {
    place = join(place, segment);
    if (tryLstat(place) === null || !isWithin(place, folder) || segment === "") break;
    segments[index] = segment.replace(/[*?[\]{}()!@+\\|,]/g, "\\$&");
  }
  return segments.join("/");
}
