/** The words of a table, which may stand on several lines. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\S+/g) ?? [];
}

/** The same words as a set. */
export function createWordSet(text: string): ReadonlySet<string> {
  return new Set(splitWords(text));
}
