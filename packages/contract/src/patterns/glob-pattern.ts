import { Automaton } from "./automaton.ts";
import {
  ANYTHING,
  type CharSet,
  complement,
  foldCase,
  NOTHING,
  POSIX,
  range,
  subtract,
  union,
} from "./char-set.ts";
import { choice, EMPTY, one, type Pattern, PatternError, PatternText, repeat, sequence } from "./pattern.ts";

export interface GlobOptions {
  readonly caseSensitive: boolean;
}

/**
 * Returns a function that tests paths with `/` between segments. A pattern without a slash is compared with the last
 * segment, at any depth, as in ignore files. `src/` means everything in `src`, `*` also matches names that begin with a
 * dot, and a leading `!` negates the pattern. The test takes time linear in the path, whatever the pattern.
 */
export function createGlobMatcher(pattern: string, options: GlobOptions): (path: string) => boolean {
  return createPathTest(pattern, options, false);
}

/** Like `createGlobMatcher`, for exclusion: a pattern that matches a folder also covers everything in it. */
export function createGlobExcluder(pattern: string, options: GlobOptions): (path: string) => boolean {
  return createPathTest(pattern, options, !pattern.startsWith("!"));
}

const AND_BELOW = choice([EMPTY, sequence([one(range("/")), repeat(one(ANYTHING), 0, null)])]);

function createPathTest(
  pattern: string,
  options: GlobOptions,
  isBelowToo: boolean,
): (path: string) => boolean {
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

export interface GlobDialect {
  readonly caseSensitive: boolean;
  /** true for shell braces; false for ignore files, where braces are plain characters. */
  readonly groups: boolean;
}

const LONGEST = 4096;
const MAX_OPTIONS = 1000;
const DEEPEST = 20;
/** Groups that only some shells support. Treating them as plain characters could let a file escape a rule. */
const OTHER_GROUPS = /^(?:!\(|[@?*+]\([^()]*\||\{(?:-?\d{1,7}\.\.-?\d{1,7}|[A-Za-z]\.\.[A-Za-z])\})/;
const LONGEST_GROUP = 200;
const SLASH: CharSet = range("/");
const NAME_CHARACTER: Pattern = one(complement(SLASH));

const ANY_PATH: Pattern = repeat(one(ANYTHING), 0, null);
/** Any number of whole path segments, each with its trailing slash. */
const ANY_FOLDERS: Pattern = repeat(sequence([repeat(NAME_CHARACTER, 0, null), one(SLASH)]), 0, null);

/** Parses a glob for paths with `/`: `*`, `?`, `**`, `[...]` and `{a,b}` as usual. `*` also matches a leading dot. */
export function parseGlob(text: string, dialect: GlobDialect): Pattern {
  if (text.length > LONGEST) throw new PatternError(`The glob is longer than ${LONGEST} characters.`);
  return new GlobParser(text, dialect).parseSequence("");
}

class GlobParser extends PatternText {
  readonly #dialect: GlobDialect;
  #depth = 0;
  #options = 0;
  #lastBracket: number | undefined;

  constructor(text: string, dialect: GlobDialect) {
    super(text);
    this.#dialect = dialect;
  }

  /** Parses up to one of the characters in `ends`, or to the end of the text. */
  parseSequence(ends: string): Pattern {
    const parts: Pattern[] = [];
    for (let next = this.peek(); next !== undefined && !ends.includes(next); next = this.peek()) {
      parts.push(this.#parseItem(parts));
    }
    return sequence(parts);
  }

  #parseItem(before: Pattern[]): Pattern {
    const group = this.#dialect.groups ? this.#parseGroup() : null;
    if (group !== null) return group;
    const character = this.next();
    switch (character) {
      case "*":
        return this.#parseStars(before);
      case "?":
        return NAME_CHARACTER;
      case "[":
        return this.#parseBrackets() ?? this.#readUnclosedBracket();
      case "\\":
        return this.#readEscape();
      default:
        return this.#createCharacter(character);
    }
  }

  /** Handles an unclosed bracket: in git it matches nothing, whatever follows; in a shell it is a plain character. */
  #readUnclosedBracket(): Pattern {
    if (this.#dialect.groups) return this.#createCharacter("[");
    this.at = this.points.length;
    return one(NOTHING);
  }

  #readEscape(): Pattern {
    const character = this.next();
    if (character !== "") return this.#createCharacter(character);
    return this.#dialect.groups ? this.#createCharacter("\\") : one(NOTHING);
  }

  /** Parses a run of stars. `**` differs from `*` only when it is a whole segment. */
  #parseStars(before: Pattern[]): Pattern {
    const start = this.at - 1;
    while (this.peek() === "*") this.at += 1;
    const isDouble = this.at - start >= 2;
    const previous = this.points[start - 1];
    const next = this.peek();
    const starts = this.#dialect.groups ? "/{," : "/";
    const ends = this.#dialect.groups ? "/}," : "/";
    const isSegment =
      (previous === undefined || starts.includes(previous)) && (next === undefined || ends.includes(next));
    if (!isDouble || !isSegment) return repeat(NAME_CHARACTER, 0, null);
    if (next === "/") {
      this.at += 1;
      return ANY_FOLDERS;
    }
    if (previous !== "/" || next !== undefined || before.at(-1) === ANY_FOLDERS) return ANY_PATH;
    // `a/**` also matches `a` itself.
    before.pop();
    const inside = sequence([one(SLASH), ANY_PATH]);
    return before.length === 0 || !this.#dialect.groups ? inside : choice([EMPTY, inside]);
  }

  /** Parses `{a,b}`. Returns null for anything else, which is then read as plain characters. */
  #parseGroup(): Pattern | null {
    if (!"@?*+!{".includes(this.peek() ?? "")) return null;
    const other = OTHER_GROUPS.exec(this.peekText(LONGEST_GROUP))?.[0];
    if (other !== undefined)
      throw new PatternError(
        `"${other}" in a glob is not supported: write alternatives as {a,b}, and "\\${other}" for the characters.`,
      );
    if (!this.#isClosedGroup()) return null;
    this.at += 1;
    const options = this.#parseChoices();
    this.at += 1;
    // `{a}` has no alternatives and means itself, as in a shell.
    if (options.length > 1) return choice(options);
    return sequence([this.#createCharacter("{"), ...options, this.#createCharacter("}")]);
  }

  #parseChoices(): Pattern[] {
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw new PatternError("The groups of the glob are nested too deeply.");
    const options: Pattern[] = [];
    for (;;) {
      options.push(this.parseSequence(",}"));
      this.#options += 1;
      if (this.#options > MAX_OPTIONS)
        throw new PatternError(`The glob has more than ${MAX_OPTIONS} alternatives.`);
      if (this.peek() !== ",") break;
      this.at += 1;
    }
    this.#depth -= 1;
    return options;
  }

  #isClosedGroup(): boolean {
    let depth = 0;
    for (let at = this.at; at < this.points.length; at += 1) {
      const character = this.points[at];
      if (character === "\\") at += 1;
      else if (character === "{") depth += 1;
      else if (character === "}") depth -= 1;
      if (depth === 0) return character === "}";
    }
    return false;
  }

  /** Parses a bracket expression. Returns null when it is never closed. */
  #parseBrackets(): Pattern | null {
    const start = this.at;
    this.#lastBracket ??= this.points.lastIndexOf("]");
    if (start > this.#lastBracket) return null;
    const isNegated = this.peek() === "!" || this.peek() === "^";
    if (isNegated) this.at += 1;
    const sets: CharSet[] = [];
    for (let isFirst = true; ; isFirst = false) {
      const next = this.next();
      if (next === "") {
        this.at = start;
        return null;
      }
      if (next === "]" && !isFirst) break;
      sets.push(this.#parseBracketItem(next));
    }
    const set = this.#foldIfNeeded(union(sets));
    return one(subtract(isNegated ? complement(set) : set, SLASH));
  }

  #parseBracketItem(first: string): CharSet {
    const name = first === "[" && this.peek() === ":" ? this.takeMatch(/^:([a-z]+):\]/) : null;
    if (name !== null) return POSIX.get(name[1] ?? "") ?? NOTHING;
    const start = first === "\\" ? this.next() : first;
    if (!this.takeRangeSign()) return range(start);
    const next = this.next();
    return range(start, next === "\\" ? this.next() : next);
  }

  #createCharacter(character: string): Pattern {
    return one(this.#foldIfNeeded(range(character)));
  }

  #foldIfNeeded(set: CharSet): CharSet {
    return this.#dialect.caseSensitive ? set : foldCase(set);
  }
}
