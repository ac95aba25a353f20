import { Automaton } from "./automaton.ts";
import { ANYTHING, range } from "./char-set.ts";
import { parseGlob } from "./glob-dialect.ts";
import { choice, EMPTY, one, repeat, sequence } from "./pattern.ts";

export interface GlobOptions {
  readonly caseSensitive: boolean;
}

/**
 * Returns a test for paths with `/` between segments. A pattern without a slash is compared with the last segment,
 * at any depth, as in ignore files; `src/` means everything in `src`; `*` also matches names that begin with a
 * dot; a leading `!` negates the pattern. Takes time linear in the path, whatever the pattern.
 */
export function globMatcher(pattern: string, options: GlobOptions): (path: string) => boolean {
  return pathTest(pattern, options, false);
}

/** The same for exclusion: a folder that matches also covers everything in it, as in ignore files. */
export function globCovers(pattern: string, options: GlobOptions): (path: string) => boolean {
  return pathTest(pattern, options, !pattern.startsWith("!"));
}

const AND_BELOW = choice([EMPTY, sequence([one(range("/")), repeat(one(ANYTHING), 0, null)])]);

function pathTest(pattern: string, options: GlobOptions, isBelowToo: boolean): (path: string) => boolean {
  const isNegated = pattern.startsWith("!") && !pattern.startsWith("!(");
  const glob = (isNegated ? pattern.slice(1) : pattern)
    .replace(/^(?:\.\/)+/, "")
    .replace(/(?<=[^/])\/+$/, "/**");
  const itself = parseGlob(glob, { ...options, groups: true });
  const automaton = new Automaton(isBelowToo ? sequence([itself, AND_BELOW]) : itself, { whole: true });
  if (glob.includes("/")) return (path) => automaton.matches(path) !== isNegated;
  return (path) => {
    const names = isBelowToo ? path.replace(/^\//, "").split("/") : [path.slice(path.lastIndexOf("/") + 1)];
    return names.some((name) => automaton.matches(name)) !== isNegated;
  };
}
