import { parseJson } from "@burin/contract/messages/untrusted-json";
import { withoutUnseen } from "@burin/contract/text/untrusted-text";
import type { RawPage, ShapedPage } from "@burin/files/parsing/parse-aside";
import { mainContent } from "./html/main-content.ts";
import { pageMarkdown } from "./html/page-markdown.ts";
import { readPageTree } from "./html/page-tree.ts";

const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json$/;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;
const HTML_START = /^\ufeff?\s*(?:<!--[^>]{0,2000}-->\s*)*<(?:!doctype html|html|head|body)[\s>]/i;
/** If the main part is a smaller share of the page than this, it was not found. */
const LEAST_SHARE = 0.1;

/** A page as a model reads it, by its type and the requested format. */
export function shapePage(page: RawPage): ShapedPage {
  const { title, text, notes } = shaped(page);
  return { title: withoutUnseen(title), text: withoutUnseen(text).trim(), notes };
}

function shaped({ raw, url, mimeType, format }: RawPage): ShapedPage {
  if (format === "html") return { title: "", text: raw, notes: [] };
  // A page that asks for a login comes under the type of what it stands for.
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

/** The main content of a page as Markdown or as plain text, or the whole page if it has no main part. */
export function readHtmlPage(html: string, url: URL, isPlain: boolean) {
  const { body, title, base: ownBase } = readPageTree(html);
  const base = URL.canParse(ownBase, url.href) ? new URL(ownBase, url.href) : url;
  const main = mainContent(body);
  if (main !== null && main.root.text >= body.text * LEAST_SHARE) {
    const text = pageMarkdown(main.root, { base, isPlain, isLeftOut: main.isLeftOut });
    if (text !== "") return { title, text, isMainPart: true };
  }
  const text = pageMarkdown(body, { base, isPlain, isLeftOut: () => false });
  return { title, text, isMainPart: false };
}

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
