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
    const written = write(pattern, flavour);
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

/** Assertions are left out: line ends, byte order marks and word characters depend on the decoded text. */
function write(pattern: Pattern, flavour: Flavour): string {
  switch (pattern.kind) {
    case "one":
      return writeOne(pattern.set, flavour);
    case "assert":
      return "";
    case "sequence":
      return pattern.parts.map((part) => write(part, flavour)).join("");
    case "choice":
      return writeChoice(pattern.options, flavour);
    case "repeat":
      return writeRepeat(pattern, flavour);
  }
}

function writeChoice(options: readonly Pattern[], flavour: Flavour): string {
  const written = options.map((option) => write(option, flavour));
  const filled = written.filter((option) => option !== "");
  if (filled.length === 0) return "";
  return group(filled.join("|"), flavour) + (filled.length < written.length ? "?" : "");
}

function writeRepeat({ of, least, most }: Pattern & { readonly kind: "repeat" }, flavour: Flavour): string {
  if (of.kind === "one" && isNearlyAny(of.set)) return least === 0 ? ".*" : ".+";
  const inner = write(of, flavour);
  if (inner === "" || most === 0) return "";
  const low = Math.min(least, MOST_COUNTED);
  const high = most === null || most > MOST_COUNTED ? "" : String(most);
  return `${group(inner, flavour)}{${low},${high}}`;
}

function group(inner: string, flavour: Flavour): string {
  return flavour === "ripgrep" ? `(?:${inner})` : `(${inner})`;
}

function writeOne(set: CharSet, flavour: Flavour): string {
  if (rangesOf(set).every(([first]) => first > LAST_ASCII)) throw new NotInBytes();
  if (!isMixed(set)) return writeAscii(set, flavour);
  if (isNearlyAny(set)) return group(".{1,4}", flavour);
  // A character beyond ASCII takes one to four bytes, and the first one is not ASCII in any encoding.
  const beyond = flavour === "ripgrep" ? "[\\x80-\\xff]" : "[^\u0001-\u007f]";
  return group(`${writeAscii(within(set), flavour)}|${beyond}.{0,3}`, flavour);
}

function writeAscii(set: CharSet, flavour: Flavour): string {
  const ranges = rangesOf(set);
  const character = String.fromCharCode(set[0] ?? 0);
  if (sizeOf(set) === 1 && /[A-Za-z0-9_ ]/.test(character)) return character;
  if (flavour === "ripgrep")
    return `[${ranges.map(([first, last]) => `${hex(first)}-${hex(last)}`).join("")}]`;
  if (sizeOf(set) > 1) return extendedBracket(ranges);
  return "^\\".includes(character) ? `\\${character}` : `[${character}]`;
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
  const codes = ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  );
  const rank = (character: string) => (character === "]" ? -1 : "[^-".indexOf(character) + 1);
  const characters = codes.map((code) => String.fromCharCode(code));
  const items = characters.sort((one, other) => rank(one) - rank(other)).join("");
  // A caret alone cannot come first.
  return items === "^-" ? "[-^]" : `[${items}]`;
}
