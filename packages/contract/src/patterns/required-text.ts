import type { CharSet } from "./char-set.ts";
import type { Pattern } from "./pattern.ts";

/**
 * Returns the longest text that every match contains, for a quick first check; empty when none is certain. If case is
 * ignored, it is in lower case and stands for every spelling in ASCII letters.
 */
export function findRequiredText(pattern: Pattern, caseSensitive: boolean): string {
  const texts = [""];
  for (const part of pattern.kind === "sequence" ? pattern.parts : [pattern]) {
    if (part.kind === "assert") continue;
    const character = part.kind === "one" ? findOnlyCharacter(part.set, caseSensitive) : null;
    if (character === null) texts.push("");
    else texts.push((texts.pop() ?? "") + character);
  }
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest));
}

/** Returns the set's only character, or null. If case is ignored, a non-ASCII character must have no case. */
function findOnlyCharacter(set: CharSet, caseSensitive: boolean): string | null {
  const [first = 0, last = 0, ...others] = set;
  const text = String.fromCodePoint(first);
  if (others.length === 0 && first === last)
    return caseSensitive || text.toLowerCase() === text.toUpperCase() ? text : null;
  const small = text.toLowerCase();
  const isOneLetter = !caseSensitive && first === last && others.length === 2 && first < 0x80;
  return isOneLetter && others.every((one) => one === small.charCodeAt(0)) ? small : null;
}
