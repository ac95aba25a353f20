export function createWordSet(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
