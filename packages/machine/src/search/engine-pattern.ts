import { type CharSet, rangesOf, sizeOf, without } from "@burin/contract/patterns/char-set";
import type { Pattern } from "@burin/contract/patterns/pattern";

/** The two syntaxes of the engines. */
export type Flavour = "ripgrep" | "extended";

/** Engines limit repetitions differently; a larger count is left open. */
const MOST_COUNTED = 100;
const LAST_ASCII = 0x7f;

/**
 * Returns the pattern for an engine that looks at bytes, in any encoding: it finds every line that the pattern
 * matches, perhaps more, never fewer. null when only the decoded text can tell, or when it would find every line.
 */
export function enginePattern(pattern: Pattern, flavour: Flavour): string | null {
  try {
    const written = new Writer(flavour).write(pattern);
    return written === "" || matchesNothing(pattern) ? null : written;
  } catch (error) {
    if (error instanceof NotInBytes) return null;
    throw error;
  }
}

class NotInBytes extends Error {}

/** true when the pattern can match without any character; then it says nothing about a line's bytes. */
function matchesNothing(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case "one":
      return false;
    case "assert":
      return true;
    case "sequence":
      return pattern.parts.every(matchesNothing);
    case "choice":
      return pattern.options.some(matchesNothing);
    case "repeat":
      return pattern.least === 0 || matchesNothing(pattern.of);
  }
}

class Writer {
  readonly #flavour: Flavour;

  constructor(flavour: Flavour) {
    this.#flavour = flavour;
  }

  /** Assertions are left out: line ends, byte order marks and word characters depend on the decoded text. */
  write(pattern: Pattern): string {
    switch (pattern.kind) {
      case "one":
        return this.#one(pattern.set);
      case "assert":
        return "";
      case "sequence":
        return pattern.parts.map((part) => this.write(part)).join("");
      case "choice":
        return this.#choice(pattern.options);
      case "repeat":
        return this.#repeat(pattern);
    }
  }

  #choice(options: readonly Pattern[]): string {
    const written = options.map((option) => this.write(option));
    const filled = written.filter((option) => option !== "");
    if (filled.length === 0) return "";
    return this.#group(filled.join("|")) + (filled.length < written.length ? "?" : "");
  }

  #repeat({ of, least, most }: Pattern & { readonly kind: "repeat" }): string {
    if (of.kind === "one" && isNearlyAny(of.set)) return least === 0 ? ".*" : ".+";
    const inner = this.write(of);
    if (inner === "" || most === 0) return "";
    const low = Math.min(least, MOST_COUNTED);
    const high = most === null || most > MOST_COUNTED ? "" : String(most);
    return `${this.#group(inner)}{${low},${high}}`;
  }

  #group(inner: string): string {
    return this.#flavour === "ripgrep" ? `(?:${inner})` : `(${inner})`;
  }

  #one(set: CharSet): string {
    const ranges = rangesOf(set);
    if (ranges.every(([first]) => first > LAST_ASCII)) throw new NotInBytes();
    if (!isMixed(set)) return this.#ascii(set);
    // A character beyond ASCII takes one to four bytes, and the first one is not ASCII in any encoding.
    const beyond = this.#flavour === "ripgrep" ? "[\\x80-\\xff]" : "[^\u0001-\u007f]";
    return isNearlyAny(set)
      ? this.#group(".{1,4}")
      : this.#group(`${this.#ascii(within(set))}|${beyond}.{0,3}`);
  }

  #ascii(set: CharSet): string {
    return sizeOf(set) === 1 ? this.#character(set[0] ?? 0) : this.#bracket(rangesOf(set));
  }

  #character(code: number): string {
    const character = String.fromCharCode(code);
    if (/[A-Za-z0-9_ ]/.test(character)) return character;
    if (this.#flavour === "ripgrep") return hex(code);
    return "^\\".includes(character) ? `\\${character}` : `[${character}]`;
  }

  #bracket(ranges: readonly [number, number][]): string {
    if (this.#flavour === "ripgrep") {
      const items = ranges.map(([first, last]) =>
        first === last ? hex(first) : `${hex(first)}-${hex(last)}`,
      );
      return `[${items.join("")}]`;
    }
    return extendedBracket(ranges);
  }
}

/** The ASCII part of a set. */
function within(set: CharSet): CharSet {
  return without(set, [LAST_ASCII + 1, 0x10ffff]);
}

/** Most ASCII characters and others: an engine would hardly be faster with it. */
function isNearlyAny(set: CharSet): boolean {
  return isMixed(set) && sizeOf(within(set)) > 100;
}

/** A set of ASCII and other characters. */
function isMixed(set: CharSet): boolean {
  const first = set[0] ?? 0;
  return first <= LAST_ASCII && (set.at(-1) ?? 0) > LAST_ASCII;
}

function hex(code: number): string {
  return `\\x${code.toString(16).padStart(2, "0")}`;
}

/** In POSIX brackets nothing escapes, so special characters are placed where they have no meaning. */
function extendedBracket(ranges: readonly [number, number][]): string {
  const members = new Set<number>();
  for (const [first, last] of ranges) for (let code = first; code <= last; code += 1) members.add(code);
  const special = ["]", "^", "-", "["].filter((character) => members.delete(character.charCodeAt(0)));
  const head = special.includes("]") ? "]" : "";
  const tail = `${special.includes("[") ? "[" : ""}${special.includes("^") ? "^" : ""}${special.includes("-") ? "-" : ""}`;
  const middle = [...members].map((code) => String.fromCharCode(code)).join("");
  const items = head + middle + tail;
  // A caret alone cannot come first.
  return items === "^-" ? "[-^]" : `[${items}]`;
}
