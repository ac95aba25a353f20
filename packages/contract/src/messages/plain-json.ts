import { isRecord } from "./untrusted-json.ts";

/** As deep as what is said and shown may nest, and as much as it may hold. */
const MOST_PLAIN_LEVELS = 500;
const MOST_VALUES = 2_000_000;

/** Whether objects and lists are nested more than so many levels deep. A recursion would itself be too deep. */
export function nestsDeeper(value: unknown, most: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true;
    level = level.flatMap(innerValues);
  }
  return false;
}

function innerValues(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}

/** Whether the value can be written as JSON and read again: no circle, no bigint, nothing that throws. */
export function isPlainJson(value: unknown): boolean {
  let level = [value];
  let values = 0;
  try {
    for (let depth = 0; level.length > 0; depth += 1) {
      values += level.length;
      if (depth > MOST_PLAIN_LEVELS || values > MOST_VALUES || !level.every(isWritable)) return false;
      level = level.flatMap(innerValues);
    }
    return true;
  } catch {
    return false;
  }
}

function isWritable(value: unknown): boolean {
  if (typeof value === "bigint") return false;
  return typeof value !== "object" || value === null || !("toJSON" in value) || value instanceof Date;
}

/** JSON with its keys in order: equal texts are equal values. */
export function stableJson(value: unknown): string {
  const inOrder = (_key: string, one: unknown) =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one;
  return JSON.stringify(value, inOrder) ?? "null";
}
