/** Names with spaces between them, as a set. */
export function wordSet(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
