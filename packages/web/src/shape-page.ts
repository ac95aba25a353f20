import { parseJson } from "@burin/contract/messages/untrusted-json";
import { removeInvisible } from "@burin/contract/text/untrusted-text";
import type { RawPage, ShapedPage } from "@burin/files/parsing/parse-aside";
import { findMainContent } from "./html/main-content.ts";
import { renderPageMarkdown } from "./html/page-markdown.ts";
import { readPageTree } from "./html/page-tree.ts";

const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json$/;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;
const HTML_START = /^\ufeff?\s*(?:<!--[^>]{0,2000}-->\s*)*<(?:!doctype html|html|head|body)[\s>]/i;
/** If the main part is a smaller share of the page than this, it was probably not found. */
const MIN_MAIN_SHARE = 0.1;

/** Converts a page to what a model reads, according to its type and the requested format. */
export function shapePage(page: RawPage): ShapedPage {
  const { title, text, notes } = shapeByType(page);
  return { title: removeInvisible(title), text: removeInvisible(text).trim(), notes };
}

function shapeByType({ raw, url, mimeType, format }: RawPage): ShapedPage {
  if (format === "html") return { title: "", text: raw, notes: [] };
  // A login page arrives with the media type of the file that it replaces.
  if (!HTML_TYPE.test(mimeType) && !HTML_START.test(raw))
    return { title: "", text: JSON_TYPE.test(mimeType) ? indentJson(raw) : raw, notes: [] };
  const { title, text, isMainPart } = readHtmlPage(raw, new URL(url), format === "text");
  const notes = isMainPart
    ? ['Navigation and other surroundings were left out; use "format": "html" for the whole page.']
    : [];
  if (text === "" && raw !== "")
    notes.push("The page has no text; its content may be loaded by a script in a browser.");
  return { title, text, notes };
}

/** Returns a page's main content as Markdown or plain text; the whole page if it has no main part. */
export function readHtmlPage(html: string, url: URL, isPlain: boolean) {
  const { body, title, base: ownBase } = readPageTree(html);
  const base = URL.canParse(ownBase, url.href) ? new URL(ownBase, url.href) : url;
  const main = findMainContent(body);
  if (main !== null && main.root.text >= body.text * MIN_MAIN_SHARE) {
    const text = renderPageMarkdown(main.root, { base, isPlain, isExcluded: main.isLeftOut });
    if (text !== "") return { title, text, isMainPart: true };
  }
  const text = renderPageMarkdown(body, { base, isPlain, isExcluded: () => false });
  return { title, text, isMainPart: false };
}

const INDENT = "  ";
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;

/** Formats JSON with one entry per line; other text stays. Keeps long numbers, and the order and number of keys. */
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
      const indent = INDENT.repeat(Math.min(depth, MAX_DEPTH));
      blanks += indent.length;
      pieces.push("\n", indent);
    }
    if (blanks > MAX_BLANKS) return text;
    if (pieces.length > MAX_PIECES) {
      parts.push(pieces.join(""));
      pieces = [];
    }
    pieces.push(token === ":" ? ": " : token);
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
  return parts.join("") + pieces.join("");
}

/** With deeper indentation, most of the text would be spaces. */
const MAX_DEPTH = 50;
/** How many pieces are collected before they are joined: single pieces take many times the memory of their text. */
const MAX_PIECES = 10_000;
/** If more spaces than this were needed, the text would not be easier to read. */
const MAX_BLANKS = 20_000_000;
