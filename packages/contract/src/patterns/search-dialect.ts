import {
  ANYTHING,
  type CharSet,
  complement,
  DIGITS,
  foldCase,
  POSIX,
  range,
  SPACE,
  subtract,
  union,
  WORD,
} from "./char-set.ts";
import { choice, one, type Pattern, PatternError, PatternText, repeat, sequence } from "./pattern.ts";

export interface SearchDialect {
  readonly caseSensitive: boolean;
  /** true if the pattern is literal text. */
  readonly fixed: boolean;
}

const LONGEST = 2000;
const MAX_REPEATS = 1000;
const DEEPEST = 100;

/** Characters that never match: a search sees single lines of text files, which do not contain them. */
const NEVER: CharSet = [0x00, 0x00, 0x0a, 0x0a];

const CLASSES: Readonly<Record<string, CharSet>> = {
  t: range("\t"),
  r: range("\r"),
  f: range("\f"),
  v: range("\v"),
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};

/** Parses the regular expressions that `search_file_content` documents. A PatternError says how to fix the pattern. */
export function parseSearchPattern(text: string, dialect: SearchDialect): Pattern {
  if (text.length > LONGEST) throw new PatternError(`The pattern is longer than ${LONGEST} characters.`);
  if (/[\n\0]/.test(text))
    throw new PatternError("A search looks at single lines; search for one of the lines.");
  const lead = dialect.fixed ? "" : (/^\(\?i\)/.exec(text)?.[0] ?? "");
  const fold = dialect.caseSensitive && lead === "" ? (set: CharSet) => set : foldCase;
  if (dialect.fixed) return sequence([...text].map((character) => one(fold(range(character)))));
  return new Parser(text.slice(lead.length), fold).parsePattern();
}

class Parser extends PatternText {
  readonly #fold: (set: CharSet) => CharSet;
  #depth = 0;

  constructor(text: string, fold: (set: CharSet) => CharSet) {
    super(text);
    this.#fold = fold;
  }

  parsePattern(): Pattern {
    const pattern = this.#parseChoice();
    if (this.peek() === ")") throw this.#createFault('")" closes no group; write "\\)" for the character');
    return pattern;
  }

  #parseChoice(): Pattern {
    const options = [this.#parseSequence()];
    while (this.takeIf("|")) options.push(this.#parseSequence());
    return choice(options);
  }

  #parseSequence(): Pattern {
    const parts: Pattern[] = [];
    for (let next = this.peek(); next !== undefined && next !== "|" && next !== ")"; next = this.peek()) {
      parts.push(this.#readRepetition(this.#parseAtom()));
    }
    return sequence(parts);
  }

  #readRepetition(atom: Pattern): Pattern {
    const counts = this.#parseQuantifier();
    if (counts === null) return atom;
    const [min, max] = counts;
    if (min > MAX_REPEATS || (max ?? 0) > MAX_REPEATS) {
      throw this.#createFault(`at most ${MAX_REPEATS} repetitions can be counted; use "+" or "*"`);
    }
    if (max !== null && max < min) throw this.#createFault("the numbers in {min,max} are out of order");
    // Whether a quantifier is lazy makes no difference to which lines match.
    this.takeIf("?");
    if (this.peek() === "+")
      throw this.#createFault('possessive quantifiers are not supported; leave out the "+"');
    if (this.#parseQuantifier() !== null)
      throw this.#createFault("a quantifier follows a quantifier; put a group around it");
    return repeat(atom, min, max);
  }

  #parseQuantifier(): readonly [number, number | null] | null {
    if (this.takeIf("*")) return [0, null];
    if (this.takeIf("+")) return [1, null];
    if (this.takeIf("?")) return [0, 1];
    const found = this.takeMatch(/^\{(\d{1,9})(,(\d{0,9}))?\}/);
    if (found === null) return null;
    const min = Number(found[1]);
    if (found[2] === undefined) return [min, min];
    return [min, found[3] ? Number(found[3]) : null];
  }

  #parseAtom(): Pattern {
    const character = this.next();
    switch (character) {
      case "(":
        return this.#parseGroup();
      case "[":
        return this.#createSetPattern(this.#parseBrackets());
      case ".":
        return this.#createSetPattern(ANYTHING);
      case "^":
        return { kind: "assert", what: "start" };
      case "$":
        return { kind: "assert", what: "end" };
      case "*":
      case "+":
      case "?":
        throw this.#createFault(`"${character}" repeats nothing; write "\\${character}" for the character`);
      case "\\":
        return this.#parseEscape();
      default:
        return this.#createSetPattern(this.#fold(range(character)));
    }
  }

  #parseGroup(): Pattern {
    if (this.takeIf("?")) this.#parseGroupPrefix();
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw this.#createFault("the groups are nested too deeply");
    const inner = this.#parseChoice();
    this.#depth -= 1;
    if (!this.takeIf(")")) throw this.#createFault('a "(" is never closed; write "\\(" for the character');
    return inner;
  }

  #parseGroupPrefix(): void {
    if (this.takeIf(":")) return;
    if (this.takeMatch(/^P?<[A-Za-z_]\w*>/, 80) !== null) return;
    const rest = this.peekText(80);
    if (/^<?[=!]/.test(rest)) {
      throw this.#createFault(`look-around "(?${rest[0]}..." is not supported; search for the text itself`);
    }
    if (/^[a-z-]+[:)]/i.test(rest)) {
      throw this.#createFault('inline flags are not supported, only "(?i)" at the start; use case_sensitive');
    }
    throw this.#createFault(`"(?${rest[0] ?? ""}" is not supported`);
  }

  #parseEscape(): Pattern {
    const character = this.peek();
    if (character === "b" || character === "B") {
      this.at += 1;
      return { kind: "assert", what: character === "b" ? "word edge" : "no word edge" };
    }
    return this.#createSetPattern(this.#fold(this.#parseEscapedSet(false)));
  }

  /** Parses what follows a backslash, as a set of characters. */
  #parseEscapedSet(inBrackets: boolean): CharSet {
    const character = this.next();
    if (character === "")
      throw this.#createFault('the pattern ends in a lone "\\"; write "\\\\" for the character');
    const known = CLASSES[character];
    if (known !== undefined) return known;
    if (character === "b" && inBrackets) return range("\b");
    if (character === "x" || character === "u") return this.#readCodePoint(character);
    if (character === "n") throw this.#createFault('"\\n" is in no line: a search looks at single lines');
    if (character === "k" || /[1-9]/.test(character)) {
      throw this.#createFault(
        `back-reference "\\${character}" is not supported; write out what it stands for`,
      );
    }
    if (character === "p" || character === "P") {
      throw this.#createFault(`"\\${character}{...}" is not supported; write the characters as [...]`);
    }
    if (/[A-Za-z0-9]/.test(character)) {
      throw this.#createFault(
        `"\\${character}" is not supported; known are \\d \\D \\w \\W \\s \\S \\b \\B \\t \\xHH \\uHHHH`,
      );
    }
    return range(character);
  }

  #readCodePoint(kind: "x" | "u"): CharSet {
    const found = this.takeMatch(
      kind === "x" ? /^([0-9a-f]{2})|^\{([0-9a-f]{1,6})\}/i : /^([0-9a-f]{4})|^\{([0-9a-f]{1,6})\}/i,
    );
    const point = Number.parseInt(found?.[1] ?? found?.[2] ?? "", 16);
    if (found === null || point > 0x10ffff)
      throw this.#createFault(`"\\${kind}" needs a code: \\x41, \\u00e9 or \\u{1f600}`);
    return [point, point];
  }

  #parseBrackets(): CharSet {
    const isNegated = this.takeIf("^");
    const sets: CharSet[] = [];
    for (let next = this.next(); next !== "]"; next = this.next()) {
      if (next === "") throw this.#createFault('a "[" is never closed; write "\\[" for the character');
      sets.push(this.#parseBracketItem(next));
    }
    if (sets.length === 0) throw this.#createFault('"[]" is empty; write "\\[\\]" for the characters');
    const set = union(sets);
    return isNegated ? complement(set) : set;
  }

  #parseBracketItem(first: string): CharSet {
    const known = first === "[" ? POSIX.get(/^:([a-z]+):\]/.exec(this.peekText(12))?.[1] ?? "") : undefined;
    if (known !== undefined) {
      this.takeMatch(/^[^\]]+\]/);
      return this.#fold(known);
    }
    const start = first === "\\" ? this.#parseEscapedSet(true) : range(first);
    if (!this.takeRangeSign()) return this.#fold(start);
    const next = this.next();
    const end = next === "\\" ? this.#parseEscapedSet(true) : range(next);
    // Next to a class the hyphen is a plain character, as in JavaScript.
    if (!isSingleCharacter(start) || !isSingleCharacter(end))
      return this.#fold(union([start, end, range("-")]));
    const [from = 0] = start;
    const [to = 0] = end;
    if (to < from) throw this.#createFault(`the range ${first}-${next} in "[...]" is out of order`);
    return this.#fold([from, to]);
  }

  #createSetPattern(set: CharSet): Pattern {
    return one(subtract(set, NEVER));
  }

  #createFault(what: string): PatternError {
    return new PatternError(`Invalid regular expression: ${what}.`);
  }
}

function isSingleCharacter(set: CharSet): boolean {
  return set.length === 2 && set[0] === set[1];
}
