import type { Span, Style } from "../terminal/styled-line.ts";

const KEYWORDS = new Set(
  `
  abstract and as assert async await begin bool boolean break byte case catch char class const continue
  def default defer del delete do double elif else elsif end ensure enum except export extends extern
  false False final finally float fn for foreach from func function go goto if impl implements import in
  include instanceof int interface internal is lambda let long loop match mod module mut namespace new
  nil None nonlocal not null nullptr number object of operator or override package pass private
  protected pub public raise readonly ref require rescue return Self self short signed sizeof static str
  string struct super switch template then this throw throws trait true True try type typedef typeof
  undefined union unless unsafe unsigned until use using val var virtual void volatile when where while
  with yield`
    .trim()
    .split(/\s+/),
);
const HASH = new Set(
  "py python sh bash zsh shell console rb ruby yaml yml toml r perl make makefile dockerfile conf ini".split(
    " ",
  ),
);
const DASHES = new Set(["sql", "lua", "haskell", "hs", "elm", "ada"]);
/** Languages of plain text, in which words have no special meaning. */
const PROSE = new Set(["text", "txt", "md", "markdown", "diff", "patch", "log", "csv", "plain", "output"]);

const SHELLS = new Set(["sh", "bash", "zsh", "shell", "console"]);

const TOKEN =
  /("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?)|(\b0x[\da-f]+\b|\b\d[\d_.]*\b)|([A-Za-z_$][\w$]*)|(\/\/.*|\/\*.*?(?:\*\/|$))|(#.*)|(--.*)/gi;
const LONGEST = 500;

/** Whether most lines of the language have nothing to highlight, so that nothing would tell them from words. */
export function isWordy(language: string): boolean {
  const name = language.toLowerCase();
  return name === "" || SHELLS.has(name) || (PROSE.has(name) && name !== "diff" && name !== "patch");
}

/** Highlights strings, numbers, words and comments in one line of code. Works for most languages. */
export function highlightCode(text: string, language: string): Span[] {
  const name = language.toLowerCase();
  if (name === "diff" || name === "patch") return [{ text, style: findDiffStyle(text) }];
  if (PROSE.has(name) || text.length > LONGEST) return [{ text }];
  const spans: Span[] = [];
  let from = 0;
  for (const found of text.matchAll(TOKEN)) {
    const style = findStyle(found, name, text[found.index - 1] ?? "");
    if (style === undefined || found.index < from) continue;
    if (found.index > from) spans.push({ text: text.slice(from, found.index) });
    const isRest = style === "comment" && found[4]?.startsWith("/*") !== true;
    const token = isRest ? text.slice(found.index) : found[0];
    spans.push({ text: token, style });
    from = found.index + token.length;
  }
  return from === 0 ? [{ text }] : [...spans, { text: text.slice(from) }];
}

function findStyle(found: RegExpMatchArray, language: string, before: string): Style | undefined {
  const [, string, number, word, slashes, hash, dashes] = found;
  if (string !== undefined) return "string";
  if (number !== undefined) return "number";
  if (word !== undefined) return KEYWORDS.has(word) ? "keyword" : undefined;
  const isComment =
    // The slashes in `https://` do not start a comment.
    (slashes !== undefined && !HASH.has(language) && before !== ":") ||
    (hash !== undefined && (HASH.has(language) || language === "") && /^\s?$/.test(before)) ||
    (dashes !== undefined && DASHES.has(language));
  return isComment ? "comment" : undefined;
}

function findDiffStyle(text: string): Style | undefined {
  if (text.startsWith("+")) return "added";
  if (text.startsWith("-")) return "removed";
  return text.startsWith("@@") ? "dim" : undefined;
}
