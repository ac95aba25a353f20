/** A word as a user would write it for a POSIX shell: bare if that is safe, otherwise in single quotes. */
export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const WORD = /\s*((?:[^\s'"\\|&;<>()$`]|\\[^\n]|'[^']*'|"(?:[^"\\$`]|\\[\\"$`])*")+)/y;
const PIECE = /\\([^\n])|'([^']*)'|"((?:[^"\\$`]|\\[\\"$`])*)"|([^\s'"\\]+)/g;

/** The words without quotes, for rules; null when the text has anything that a shell would interpret. */
export function splitShellWords(text: string): readonly string[] | null {
  const words: string[] = [];
  const trimmed = text.trim();
  WORD.lastIndex = 0;
  while (WORD.lastIndex < trimmed.length) {
    const found = WORD.exec(trimmed)?.[1];
    if (found === undefined) return null;
    words.push(withoutQuotes(found));
  }
  return words;
}

function withoutQuotes(word: string): string {
  let value = "";
  for (const [, escaped, single, double, bare] of word.matchAll(PIECE)) {
    value += escaped ?? single ?? double?.replace(/\\([\\"$`])/g, "$1") ?? bare ?? "";
  }
  return value;
}
