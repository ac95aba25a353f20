/** Characters that break a line or are invisible. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** The note after a list in which a name is quoted. */
export const QUOTED_NAMES_NOTE =
  "[A name in quotes is a JSON string; in an argument write it exactly like that.]";

/** Formats a path as one unambiguous line: a JSON string, usable in the next call, if it has invisible characters. */
export function formatPath(path: string): string {
  if (path[0] !== '"' && path.search(HIDDEN) === -1) return path;
  const escapeCodeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(path).replace(HIDDEN, (character) =>
    character.split("").map(escapeCodeUnit).join(""),
  );
}
