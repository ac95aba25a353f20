/** Quotes a word for a POSIX shell, as a user would write it: bare if that is safe, otherwise in single quotes. */
export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const WORD = /\s*((?:[^\s'"\\|&;<>()$`]|\\[^\n]|'[^']*'|"(?:[^"\\$`]|\\[\\"$`])*")+)/y;
const PIECE = /\\([^\n])|'([^']*)'|"((?:[^"\\$`]|\\[\\"$`])*)"|([^\s'"\\]+)/g;

/** Splits a command into words without quotes. Returns null when a shell would interpret anything in it. */
export function splitShellWords(text: string): readonly string[] | null {
  const words: string[] = [];
  const trimmed = text.trim();
  WORD.lastIndex = 0;
  while (WORD.lastIndex < trimmed.length) {
    const found = WORD.exec(trimmed)?.[1];
    if (found === undefined) return null;
    words.push(removeQuotes(found));
  }
  return words;
}

function removeQuotes(word: string): string {
  let value = "";
  for (const [, escaped, single, double, bare] of word.matchAll(PIECE)) {
    value += escaped ?? single ?? double?.replace(/\\([\\"$`])/g, "$1") ?? bare ?? "";
  }
  return value;
}
