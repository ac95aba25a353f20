import { Automaton } from "./automaton.ts";
import { parseGlob } from "./glob-dialect.ts";

export interface GlobOptions {
  readonly caseSensitive: boolean;
}

/**
 * Returns a test for paths with `/` between segments. A pattern without a slash is compared with the last segment,
 * at any depth, as in ignore files; `src/` means everything in `src`; `*` also matches names that begin with a
 * dot; a leading `!` negates the pattern. Takes time linear in the path, whatever the pattern.
 */
export function globMatcher(pattern: string, options: GlobOptions): (path: string) => boolean {
  const isNegated = pattern.startsWith("!") && !pattern.startsWith("!(");
  const glob = (isNegated ? pattern.slice(1) : pattern)
    .replace(/^(?:\.\/)+/, "")
    .replace(/(?<=[^/])\/+$/, "/**");
  const automaton = new Automaton(parseGlob(glob, { ...options, groups: true }), { whole: true });
  const isName = !glob.includes("/");
  return (path) => {
    const text = isName ? path.slice(path.lastIndexOf("/") + 1) : path;
    return automaton.matches(text) !== isNegated;
  };
}

/** The same for exclusion: a folder that matches also covers everything in it, as in ignore files. */
export function globCovers(pattern: string, options: GlobOptions): (path: string) => boolean {
  const matches = globMatcher(pattern, options);
  if (pattern.startsWith("!")) return matches;
  return (path) => {
    for (let end = path.indexOf("/", 1); end > 0; end = path.indexOf("/", end + 1)) {
      if (matches(path.slice(0, end))) return true;
    }
    return matches(path);
  };
}
