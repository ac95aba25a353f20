/** A set from a string of names with spaces between them. */
export function wordSet(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
