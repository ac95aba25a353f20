import { orElse } from "../or-else.ts";
import { isRecord } from "./untrusted-json.ts";

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
