import { withoutUnseen } from "@burin/contract/text/untrusted-text";
import type { RawPage, ShapedPage } from "@burin/machine/parsing/parse-order";
import { readHtmlPage } from "./html/html-to-markdown.ts";
import { indentJson } from "./indent-json.ts";

const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json$/;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;
const HTML_START = /^\ufeff?\s*(?:<!--[^>]{0,2000}-->\s*)*<(?:!doctype html|html|head|body)[\s>]/i;

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
