const INDENT = "  ";
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;

/**
 * The same document with a line for each entry, or as it is when it is no JSON. Nothing but blanks changes: long
 * numbers, the order of keys and keys that stand twice are what a reader came for.
 */
export function indentJson(text: string): string {
  if (!isJson(text)) return text;
  const pieces: string[] = [];
  let depth = 0;
  let before = "";
  const newLine = () => pieces.push("\n", INDENT.repeat(Math.min(depth, MOST_DEPTH)));
  for (const [token] of text.matchAll(TOKEN)) {
    const isEnd = token === "}" || token === "]";
    if (isEnd) depth -= 1;
    const isAfterStart = before === "{" || before === "[";
    if (isEnd ? !isAfterStart : isAfterStart || before === ",") newLine();
    pieces.push(token === ":" ? ": " : token);
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
  return pieces.join("");
}

/** Deeper, blanks would be most of the text. */
const MOST_DEPTH = 50;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
