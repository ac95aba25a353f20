import { orElse } from "../or-else.ts";

/** Unchecked JSON from outside: an object with unknown values. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects in a list; none if it is not a list. */
export function recordsIn(list: unknown): JsonRecord[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** No meaningful value nests this deep. */
const MOST_LEVELS = 10_000;
/** Each level takes many times the memory of its bracket. */
const TOO_DEEP = `objects and lists are nested more than ${MOST_LEVELS} levels deep`;

/** Returns the value, or undefined when the text is not JSON (JSON itself has no undefined). */
export function parseJson(text: string): unknown {
  return orElse(undefined, () => parseOutsideJson(text));
}

/** The same for callers that need the reason: throws as `JSON.parse` does, also when the nesting is too deep. */
export function parseOutsideJson(text: string): unknown {
  if (nestsTooDeep(text)) throw new SyntaxError(TOO_DEEP);
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; text.length > MOST_LEVELS && at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // `[` and `{`, and `]` and `}`, differ in one bit only.
    if (code === QUOTE) at = stringEnd(text, at);
    else if ((code | 0x20) === 0x7b) depth += 1;
    else if ((code | 0x20) === 0x7d) depth -= 1;
    if (depth > MOST_LEVELS) return true;
  }
  return false;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}
