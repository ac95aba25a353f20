import { parseJson } from "@burin/contract/messages/untrusted-json";

const INDENT = "  ";
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;

/** One line per entry; unchanged when it is not JSON. Long numbers, and the order and number of keys, stay. */
export function indentJson(text: string): string {
  if (parseJson(text) === undefined) return text;
  const parts: string[] = [];
  let pieces: string[] = [];
  let blanks = 0;
  let depth = 0;
  let before = "";
  for (const [token] of text.matchAll(TOKEN)) {
    const isEnd = token === "}" || token === "]";
    if (isEnd) depth -= 1;
    const isAfterStart = before === "{" || before === "[";
    if (isEnd !== isAfterStart || before === ",") {
      const indent = INDENT.repeat(Math.min(depth, MOST_DEPTH));
      blanks += indent.length;
      pieces.push("\n", indent);
    }
    if (blanks > MOST_BLANKS) return text;
    if (pieces.length > MOST_PIECES) {
      parts.push(pieces.join(""));
      pieces = [];
    }
    pieces.push(token === ":" ? ": " : token);
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
  return parts.join("") + pieces.join("");
}

/** With more nesting most of the text would be spaces. */
const MOST_DEPTH = 50;
/** Single pieces take many times the memory of their text. */
const MOST_PIECES = 10_000;
/** With more spaces than this it is not easier to read. */
const MOST_BLANKS = 20_000_000;
