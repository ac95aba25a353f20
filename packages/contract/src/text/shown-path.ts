/** What breaks a line or is not seen. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** What a list with such a name in it says behind its lines. */
export const QUOTED_NAMES = "[A name in quotes is a JSON string; in an argument write it exactly like that.]";

/**
 * A path or a name as one line that stands for no other: with characters that break the line or are not seen it is
 * the JSON string of it, which put into the arguments of a call as it is means the file again.
 */
export function shownPath(path: string): string {
  if (path[0] !== '"' && path.search(HIDDEN) === -1) return path;
  return JSON.stringify(path).replace(HIDDEN, (character) =>
    [...Buffer.from(character, "utf16le").swap16().toString("hex").matchAll(/.{4}/g)]
      .map((unit) => `\\u${unit}`)
      .join(""),
  );
}
