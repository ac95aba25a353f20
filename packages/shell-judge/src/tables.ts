/** The names in a text, separated by spaces. */
export function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

/** One row of a table for several names, which may stand on several lines. */
export function alike<Row>(names: string, row: Row): Record<string, Row> {
  return Object.fromEntries((names.match(/\S+/g) ?? []).map((name) => [name, row]));
}

/** The row of that very name, which may be one that every object has. */
export function rowOf<Row>(table: Readonly<Record<string, Row>>, name: string): Row | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
