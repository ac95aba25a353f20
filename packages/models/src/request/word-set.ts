export function wordSet(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
