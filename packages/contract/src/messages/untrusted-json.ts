import { withFallback } from "../with-fallback.ts";

/** A JSON object from outside, with unchecked values. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the objects in a list; an empty list if the value is not a list. */
export function filterRecords(list: unknown): JsonRecord[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** The deepest allowed nesting. No meaningful value nests this deep. */
const MAX_LEVELS = 10_000;
/** The error for text nested too deeply: each level takes many times the memory of its bracket. */
const TOO_DEEP = `objects and lists are nested more than ${MAX_LEVELS} levels deep`;

/** Parses JSON. Returns undefined when the text is not JSON (JSON itself has no undefined). */
export function parseJson(text: string): unknown {
  return withFallback(undefined, () => parseUntrustedJson(text));
}

/** Parses JSON for callers that need the reason of a failure. Throws as `JSON.parse` does, also for deep nesting. */
export function parseUntrustedJson(text: string): unknown {
  if (isNestedTooDeep(text)) throw new SyntaxError(TOO_DEEP);
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function isNestedTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; text.length > MAX_LEVELS && at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // `[` and `{` differ in only one bit, as do `]` and `}`.
    if (code === QUOTE) at = findStringEnd(text, at);
    else if ((code | 0x20) === 0x7b) depth += 1;
    else if ((code | 0x20) === 0x7d) depth -= 1;
    if (depth > MAX_LEVELS) return true;
  }
  return false;
}

function findStringEnd(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}

/** How deep and how large a value may be that is sent or shown. */
const MAX_PLAIN_LEVELS = 500;
const MAX_VALUES = 2_000_000;

/** Whether objects and lists are nested deeper than `most` levels. Iterative: recursion could overflow the stack. */
export function isTooDeep(value: unknown, maxDepth: number): boolean {
  let level = [value];
  for (let depth = 0; depth <= maxDepth && level.length > 0; depth += 1) level = listInnerValues(level);
  return level.length > 0;
}

/** Collects into one list, because allocating a list for each text and number would take most of the time. */
function listInnerValues(level: readonly unknown[]): unknown[] {
  const inner: unknown[] = [];
  for (const value of level)
    if (typeof value === "object" && value !== null) for (const one of Object.values(value)) inner.push(one);
  return inner;
}

/** Whether the value can be written as JSON and parsed: no circular reference, bigint or throwing getter. */
export function isPlainJson(value: unknown): boolean {
  let [level, values] = [[value], 0];
  return withFallback(false, () => {
    for (let depth = 0; level.length > 0; depth += 1) {
      values += level.length;
      if (depth > MAX_PLAIN_LEVELS || values > MAX_VALUES || !level.every(isWritable)) return false;
      level = listInnerValues(level);
    }
    return true;
  });
}

function isWritable(value: unknown): boolean {
  if (typeof value === "bigint") return false;
  return typeof value !== "object" || value === null || !("toJSON" in value) || value instanceof Date;
}

/** Returns JSON with sorted keys, so that equal values give equal texts. */
export function stringifySorted(value: unknown): string {
  const sortKeys = (_key: string, one: unknown) =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one;
  return JSON.stringify(value, sortKeys) ?? "null";
}
