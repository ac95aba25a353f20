import { decodeHTMLAttribute } from "entities/decode";

/** The only attributes that are read: those that Markdown or the search for the main content needs. */
export type Attributes = Readonly<Record<string, string>>;

export interface HtmlHandler {
  open(name: string, attributes: Attributes, isClosed: boolean): void;
  close(name: string): void;
  text(text: string): void;
}

const ATTRIBUTES = new Set([
  ...["src", "alt", "title", "class", "id", "role", "style", "hidden", "aria-hidden", "type", "data-lang"],
  ...["href", "checked", "colspan", "start", "encoding", "data-src", "data-language", "alttext", "content"],
]);
/** Most tags have none of these. */
const NO_ATTRIBUTES: Attributes = {};
const MOST_VALUE_CHARACTERS = 4000;

/** Their content is not text of the page, or not HTML; each ends only at its own end tag. */
const SKIPPED = new Map(
  "script style noscript template svg iframe object noembed noframes canvas select textarea"
    .split(" ")
    .map((name) => [name, new RegExp(`</${name}(?=[\\s/>])`, "gi")]),
);

/** References are replaced as in attributes, also in text: a visible address keeps its `&copy=`. */
function withoutReferences(text: string): string {
  return text.includes("&") ? decodeHTMLAttribute(text) : text;
}

const TAG_NAME = /[A-Za-z][^\s/>]*/y;
const ATTRIBUTE = /[\s/]*([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/y;
const TAG_END = /[^>]*>/y;

/** Reads HTML from start to end, once, and never fails; what no browser would show is left out. */
export function scanHtml(html: string, handler: HtmlHandler): void {
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf("<", at);
    const end = tag === -1 ? html.length : tag;
    if (end > at) handler.text(withoutReferences(html.slice(at, end)));
    at = tag === -1 ? end : afterTag(html, tag, handler);
  }
}

function afterTag(html: string, at: number, handler: HtmlHandler): number {
  const next = html.charCodeAt(at + 1);
  if (next === 0x21 || next === 0x3f) return afterDeclaration(html, at);
  const isEnd = next === 0x2f;
  TAG_NAME.lastIndex = at + (isEnd ? 2 : 1);
  const name = TAG_NAME.exec(html)?.[0].toLowerCase();
  if (name === undefined) {
    if (isEnd) return indexAfter(html, ">", at);
    handler.text("<");
    return at + 1;
  }
  return isEnd ? afterEndTag(html, name, handler) : afterStartTag(html, name, handler);
}

function afterEndTag(html: string, name: string, handler: HtmlHandler): number {
  TAG_END.lastIndex = TAG_NAME.lastIndex;
  const hasEnd = TAG_END.test(html);
  if (hasEnd) handler.close(name);
  return hasEnd ? TAG_END.lastIndex : html.length;
}

function afterStartTag(html: string, name: string, handler: HtmlHandler): number {
  let attributes: Record<string, string> | null = null;
  let at = TAG_NAME.lastIndex;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const found = ATTRIBUTE.exec(html);
    if (found === null) break;
    at = ATTRIBUTE.lastIndex;
    const [, rawName = "", double, single, bare] = found;
    const key = rawName.toLowerCase();
    if (!ATTRIBUTES.has(key) || attributes?.[key] !== undefined) continue;
    attributes ??= {};
    attributes[key] = withoutReferences((double ?? single ?? bare ?? "").slice(0, MOST_VALUE_CHARACTERS));
  }
  const end = html.indexOf(">", at);
  // A tag that never ends is not text either.
  if (end === -1) return html.length;
  const isClosed = html.charCodeAt(end - 1) === 0x2f;
  const endTag = SKIPPED.get(name);
  if (endTag !== undefined) return isClosed && name === "svg" ? end + 1 : afterSkipped(html, endTag, end + 1);
  handler.open(name, attributes ?? NO_ATTRIBUTES, isClosed);
  return end + 1;
}

function afterSkipped(html: string, endTag: RegExp, at: number): number {
  endTag.lastIndex = at;
  return endTag.test(html) ? indexAfter(html, ">", endTag.lastIndex) : html.length;
}

function afterDeclaration(html: string, at: number): number {
  if (html.startsWith("<!--", at)) {
    // A comment may be closed at once.
    const isEmpty = html.startsWith(">", at + 4) || html.startsWith("->", at + 4);
    return isEmpty ? indexAfter(html, ">", at) : indexAfter(html, "-->", at + 4);
  }
  return indexAfter(html, ">", at);
}

function indexAfter(html: string, end: string, from: number): number {
  const at = html.indexOf(end, from);
  return at === -1 ? html.length : at + end.length;
}
