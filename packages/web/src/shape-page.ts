import { withoutUnseen } from "@burin/contract/text/untrusted-text";
import type { RawPage, ShapedPage } from "@burin/machine/parsing/parse-order";
import { mainContent } from "./html/main-content.ts";
import { pageMarkdown } from "./html/page-markdown.ts";
import { readPageTree } from "./html/page-tree.ts";
import { indentJson } from "./indent-json.ts";

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
