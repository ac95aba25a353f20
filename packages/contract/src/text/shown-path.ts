/** Characters that break a line or are invisible. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** The note after a list that contains such a name. */
export const QUOTED_NAMES = "[A name in quotes is a JSON string; in an argument write it exactly like that.]";

/** A path or name as one unambiguous line: with unseen characters it is a JSON string, ready for the next call. */
export function shownPath(path: string): string {
  if (path[0] !== '"' && path.search(HIDDEN) === -1) return path;
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(path).replace(HIDDEN, (character) => character.split("").map(escaped).join(""));
}
