import { splitWords } from "@burin/contract/text/words";

/** One row of a table for several names, which may stand on several lines. */
export function repeatRow<Row>(names: string, row: Row): Record<string, Row> {
  return Object.fromEntries(splitWords(names).map((name) => [name, row]));
}

/** Returns the table's own row with that name; a plain lookup would also find properties that every object inherits. */
export function findRow<Row>(table: Readonly<Record<string, Row>>, name: string): Row | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

export function matchesAny(patterns: readonly RegExp[], text: string): boolean {
  return patterns.some((pattern) => pattern.test(text));
}
