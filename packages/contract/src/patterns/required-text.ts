import type { CharSet } from "./char-set.ts";
import type { Pattern } from "./pattern.ts";

/**
 * The longest text that every match contains, for a quick first check; empty when none is certain. Where case does
 * not count it is in lower case, and stands for every spelling in ASCII letters.
 */
export function requiredText(pattern: Pattern, caseSensitive: boolean): string {
  const texts = [""];
  for (const part of pattern.kind === "sequence" ? pattern.parts : [pattern]) {
    if (part.kind === "assert") continue;
    const character = part.kind === "one" ? characterOf(part.set, caseSensitive) : null;
    if (character === null) texts.push("");
    else texts.push((texts.pop() ?? "") + character);
  }
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest));
}

/** Outside ASCII only characters without case are certain; null for a set of several. */
function characterOf(set: CharSet, caseSensitive: boolean): string | null {
  const [first = 0, last = 0, ...others] = set;
  const text = String.fromCodePoint(first);
  if (others.length === 0 && first === last)
    return caseSensitive || text.toLowerCase() === text.toUpperCase() ? text : null;
  const small = text.toLowerCase();
  const isOneLetter = !caseSensitive && first === last && others.length === 2 && first < 0x80;
  return isOneLetter && others.every((one) => one === small.charCodeAt(0)) ? small : null;
}
