import { basename, dirname, join, sep } from "node:path";
import { onceFor } from "@burin/contract/async/once";
import type { FindRequest, FoundFiles } from "@burin/contract/machine/workspace";
import { Automaton } from "@burin/contract/patterns/automaton";
import { parseGlob } from "@burin/contract/patterns/glob-pattern";
import { compareCodePoints } from "@burin/contract/text/code-point-order";
import { lstatOf, realOf } from "../disk/disk-looks.ts";
import type { Access } from "../ignore/access.ts";
import { Slices, Walk } from "../ignore/walk.ts";
import { isWithin, isWithinAny, namesAt, patternWithin } from "../paths/paths.ts";
import type { SearchMeans } from "../search/search-files.ts";

interface Match {
  readonly path: string;
  /** With fractions of a millisecond, by which files that are created together differ. */
  readonly time: number;
}

/** The time of a change may be that much behind the clock. */
const DOUBTFUL_MS = 100;
/** Reading the clock costs more than looking at one name. */
const NAMES_PER_LOOK = 64;

/** Finds files by a glob in a folder that was checked; each result is checked again by its real path. */
export async function findFiles(
  access: Access,
  folder: string,
  request: FindRequest & Pick<SearchMeans, "signal" | "stopAt">,
): Promise<FoundFiles> {
  const startedAt = Date.now() - DOUBTFUL_MS;
  const glob = pathGlob(folder, request);
  const rules = access.ignoreRules();
  const walk = new Walk({
    folder,
    rules: access.namedFolder(folder, rules),
    respectGitIgnore: request.respectGitIgnore,
    enters: glob.canHold,
  });
  const slices = new Slices(request.signal, request.stopAt);
  const newest = new Newest(request.most);
  let isPartial = false;
  let seen = 0;
  for (let stretch = walk.nextStretch(); stretch !== null && !isPartial; stretch = walk.nextStretch()) {
    const { folder: below, names, links } = stretch;
    for (const name of names) {
      if (glob.matches(below, name)) {
        const path = `${folder === sep ? "" : folder}/${below}${name}`;
        newest.add(matchAt(path, links.has(name), access));
      }
      seen += 1;
      if (seen % NAMES_PER_LOOK === 0 && slices.isOver) isPartial = !(await slices.goOn());
      if (isPartial) break;
    }
  }
  const files = firstInside(newest.inOrder(), request.most, startedAt);
  const { unreadable: unreadableFolders, hasIgnored } = walk;
  return { files, total: newest.total, isPartial, unreadableFolders, hasIgnored };
}

/** A link counts if its target is inside the roots and not hidden from all tools. */
function matchAt(path: string, isLink: boolean, access: Access): Match | null {
  const real = isLink ? realOf(path) : path;
  const found = real === null ? null : lstatOf(real);
  if (real === null || !found?.isFile()) return null;
  const isInside = () =>
    isWithinAny(real, access.roots) && access.ownRules().visibility(real, false) !== "own";
  return !isLink || isInside() ? { path, time: found.mtimeMs } : null;
}

/**
 * A folder may have been replaced by a link during the walk, also for a moment, so each folder above a result is
 * checked once more: one that was moved since then has a new time, and is looked into again. `startedAt` is some
 * milliseconds earlier because the clock of a disk may be behind.
 */
function firstInside(matches: readonly Match[], most: number, startedAt: number): string[] {
  const known = new Map<string, Set<string> | "unmoved">();
  const namesIn = (path: string): Set<string> | "unmoved" =>
    onceFor(known, path, () => {
      const above = dirname(path) === path ? "unmoved" : namesIn(dirname(path));
      const stats = lstatOf(path);
      const isUnmoved = above === "unmoved" && stats?.isDirectory() === true && stats.ctimeMs < startedAt;
      return isUnmoved ? "unmoved" : new Set(namesAt(path));
    });
  const files: string[] = [];
  for (const { path } of matches) {
    if (files.length >= most) break;
    const names = namesIn(dirname(path));
    if (names === "unmoved" || names.has(basename(path))) files.push(path);
  }
  return files;
}

/** The newest matches. Any other is dropped at once, however many there are. */
class Newest {
  total = 0;
  readonly #most: number;
  #kept: Match[] = [];
  #oldest = Number.NEGATIVE_INFINITY;

  constructor(most: number) {
    // Some of them may turn out to be outside at the end.
    this.#most = most * 2;
  }

  add(match: Match | null): void {
    if (match === null) return;
    this.total += 1;
    if (match.time < this.#oldest) return;
    this.#kept.push(match);
    if (this.#kept.length < this.#most * 2) return;
    this.#kept = this.inOrder().slice(0, this.#most);
    this.#oldest = this.#kept.at(-1)?.time ?? this.#oldest;
  }

  inOrder(): Match[] {
    return this.#kept.sort((a, b) => b.time - a.time || compareCodePoints(a.path, b.path));
  }
}

/** A glob for paths in a folder. Brackets and braces that are part of existing names are taken literally. */
function pathGlob(folder: string, request: FindRequest) {
  const { caseSensitive } = request;
  const pattern = patternWithin(request.pattern, folder);
  const known = withKnownNames(pattern, folder);
  // A pattern that says nothing about folders: then the names alone are compared.
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
    canHold: (below: string) => bare !== undefined || automata.some((automaton) => automaton.canGoOn(below)),
  };
}

/** Escapes the first segments of the pattern as far as files or folders with exactly these names exist. */
function withKnownNames(pattern: string, folder: string): string {
  const segments = pattern.split("/");
  let place = folder;
  for (const [index, segment] of segments.entries()) {
    place = join(place, segment);
    if (lstatOf(place) === null || !isWithin(place, folder) || segment === "") break;
    segments[index] = segment.replace(/[*?[\]{}()!@+\\|,]/g, "\\$&");
  }
  return segments.join("/");
}
