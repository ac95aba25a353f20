import { type CharSet, countCharacters, listRanges, subtract } from "@burin/contract/patterns/char-set";
import type { Pattern } from "@burin/contract/patterns/pattern";

/** The two regular-expression syntaxes that engines understand. */
export type Flavour = "ripgrep" | "extended";

/** Engines limit repeat counts differently, so a larger maximum is left open. */
const MAX_COUNTED = 100;
const LAST_ASCII = 0x7f;

/**
 * Returns the pattern for an engine that searches bytes in any encoding. It matches every line that the original
 * matches, and perhaps more. null if only the decoded text can decide, or if it would match every line.
 */
export function toEnginePattern(pattern: Pattern, flavour: Flavour): string | null {
  try {
    const written = writePattern(pattern, flavour);
    return written === "" || canMatchEmpty(pattern) ? null : written;
  } catch (error) {
    if (error instanceof NotInBytesError) return null;
    throw error;
  }
}

class NotInBytesError extends Error {}

/** true if the pattern can match the empty string, and so tells nothing about a line's bytes. */
function canMatchEmpty(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case "one":
      return false;
    case "assert":
      return true;
    case "sequence":
      return pattern.parts.every(canMatchEmpty);
    case "choice":
      return pattern.options.some(canMatchEmpty);
    case "repeat":
      return pattern.min === 0 || canMatchEmpty(pattern.of);
  }
}

/** Leaves assertions out: line ends, byte order marks and word characters depend on the decoded text. */
function writePattern(pattern: Pattern, flavour: Flavour): string {
  switch (pattern.kind) {
    case "one":
      return writeSet(pattern.set, flavour);
    case "assert":
      return "";
    case "sequence":
      return pattern.parts.map((part) => writePattern(part, flavour)).join("");
    case "choice":
      return writeChoice(pattern.options, flavour);
    case "repeat":
      return writeRepeat(pattern, flavour);
  }
}

function writeChoice(options: readonly Pattern[], flavour: Flavour): string {
  const written = options.map((option) => writePattern(option, flavour));
  const filled = written.filter((option) => option !== "");
  if (filled.length === 0) return "";
  return writeGroup(filled.join("|"), flavour) + (filled.length < written.length ? "?" : "");
}

function writeRepeat({ of, min, max }: Pattern & { readonly kind: "repeat" }, flavour: Flavour): string {
  if (of.kind === "one" && coversNearlyAll(of.set)) return min === 0 ? ".*" : ".+";
  const inner = writePattern(of, flavour);
  if (inner === "" || max === 0) return "";
  const low = Math.min(min, MAX_COUNTED);
  const high = max === null || max > MAX_COUNTED ? "" : String(max);
  return `${writeGroup(inner, flavour)}{${low},${high}}`;
}

function writeGroup(inner: string, flavour: Flavour): string {
  return flavour === "ripgrep" ? `(?:${inner})` : `(${inner})`;
}

function writeSet(set: CharSet, flavour: Flavour): string {
  if (listRanges(set).every(([first]) => first > LAST_ASCII)) throw new NotInBytesError();
  if (!hasAsciiAndOthers(set)) return writeAsciiSet(set, flavour);
  if (coversNearlyAll(set)) return writeGroup(".{1,4}", flavour);
  // A character beyond ASCII takes one to four bytes, and the first one is not ASCII in any encoding.
  const beyond = flavour === "ripgrep" ? "[\\x80-\\xff]" : "[^\u0001-\u007f]";
  return writeGroup(`${writeAsciiSet(intersectAscii(set), flavour)}|${beyond}.{0,3}`, flavour);
}

function writeAsciiSet(set: CharSet, flavour: Flavour): string {
  const ranges = listRanges(set);
  const character = String.fromCharCode(set[0] ?? 0);
  if (countCharacters(set) === 1 && /[A-Za-z0-9_ ]/.test(character)) return character;
  if (flavour === "ripgrep")
    return `[${ranges.map(([first, last]) => `${formatHex(first)}-${formatHex(last)}`).join("")}]`;
  if (countCharacters(set) > 1) return formatBracket(ranges);
  return "^\\".includes(character) ? `\\${character}` : `[${character}]`;
}

/** Returns the ASCII part of a set. */
function intersectAscii(set: CharSet): CharSet {
  return subtract(set, [LAST_ASCII + 1, 0x10ffff]);
}

/** Whether the set has most ASCII characters and others too, so that an engine would hardly be faster with it. */
function coversNearlyAll(set: CharSet): boolean {
  return hasAsciiAndOthers(set) && countCharacters(intersectAscii(set)) > 100;
}

/** Formats a set of ASCII and other characters. */
function hasAsciiAndOthers(set: CharSet): boolean {
  const first = set[0] ?? 0;
  return first <= LAST_ASCII && (set.at(-1) ?? 0) > LAST_ASCII;
}

function formatHex(code: number): string {
  return `\\x${code.toString(16).padStart(2, "0")}`;
}

/** POSIX brackets have no escapes, so special characters go where they have no meaning. */
function formatBracket(ranges: readonly [number, number][]): string {
  const codes = ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  );
  const rankCharacter = (character: string) => (character === "]" ? -1 : "[^-".indexOf(character) + 1);
  const characters = codes.map((code) => String.fromCharCode(code));
  const items = characters.sort((one, other) => rankCharacter(one) - rankCharacter(other)).join("");
  // A caret must not come first, because it would negate the set.
  return items === "^-" ? "[-^]" : `[${items}]`;
}
