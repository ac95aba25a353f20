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

/** How deep, and how large, a value may be that is sent or shown. */
const MOST_PLAIN_LEVELS = 500;
const MOST_VALUES = 2_000_000;

/** Whether objects and lists are nested deeper than `most` levels. Recursion could overflow the stack. */
export function nestsDeeper(value: unknown, most: number): boolean {
  let level = [value];
  for (let depth = 0; depth <= most && level.length > 0; depth += 1) level = innerValues(level);
  return level.length > 0;
}

/** One list for all: one for each text and number in them would take most of the time. */
function innerValues(level: readonly unknown[]): unknown[] {
  const inner: unknown[] = [];
  for (const value of level)
    if (typeof value === "object" && value !== null) for (const one of Object.values(value)) inner.push(one);
  return inner;
}

/** Whether the value can be written as JSON and read again: no circular reference, no bigint, nothing that throws. */
export function isPlainJson(value: unknown): boolean {
  let [level, values] = [[value], 0];
  return orElse(false, () => {
    for (let depth = 0; level.length > 0; depth += 1) {
      values += level.length;
      if (depth > MOST_PLAIN_LEVELS || values > MOST_VALUES || !level.every(isWritable)) return false;
      level = innerValues(level);
    }
    return true;
  });
}

function isWritable(value: unknown): boolean {
  if (typeof value === "bigint") return false;
  return typeof value !== "object" || value === null || !("toJSON" in value) || value instanceof Date;
}

/** JSON with sorted keys: equal values give equal texts. */
export function stableJson(value: unknown): string {
  const inOrder = (_key: string, one: unknown) =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one;
  return JSON.stringify(value, inOrder) ?? "null";
}
