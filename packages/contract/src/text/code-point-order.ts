/** Compares by code point. Plain `<` compares UTF-16 units, which puts astral characters before U+E000 to U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
  for (let at = 0; ; at += 1) {
    const left = a.codePointAt(at);
    const right = b.codePointAt(at);
    if (left === undefined || right === undefined) return a.length - b.length;
    if (left !== right) return left - right;
  }
}

/** Sorts in place by code point, independent of the locale. */
export function sortByCodePoints(texts: string[]): string[] {
  const hasAstral = texts.some((text) => /[\ud800-\udfff]/.test(text));
  return hasAstral ? texts.sort(compareCodePoints) : texts.sort();
}
