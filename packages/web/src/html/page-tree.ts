import { createWordSet } from "@burin/contract/text/words";
import { decodeHTMLAttribute } from "entities/decode";

/** The only attributes that are read: those that Markdown or the search for the main content needs. */
type Attributes = Readonly<Record<string, string>>;

interface HtmlHandler {
  open(name: string, attributes: Attributes, isClosed: boolean): void;
  close(name: string): void;
  text(text: string): void;
}

const ATTRIBUTES = new Set([
  ...["src", "alt", "title", "class", "id", "role", "style", "hidden", "aria-hidden", "type", "data-lang"],
  ...["href", "checked", "colspan", "start", "encoding", "data-src", "data-language", "alttext", "content"],
]);
/** Shared by the tags without any of these attributes, which are most. */
const NO_ATTRIBUTES: Attributes = {};
const MAX_VALUE_CHARACTERS = 4000;

/** Elements whose content is not text of the page or not HTML. Each ends only at its own end tag. */
const SKIPPED = new Map(
  "script style noscript template svg iframe object noembed noframes canvas select textarea"
    .split(" ")
    .map((name) => [name, new RegExp(`</${name}(?=[\\s/>])`, "gi")]),
);

/** Replaces character references as in attributes, even in text, so that a visible URL keeps its `&copy=`. */
function decodeReferences(text: string): string {
  return text.includes("&") ? decodeHTMLAttribute(text) : text;
}

const TAG_NAME = /[A-Za-z][^\s/>]*/y;
const ATTRIBUTE = /[\s/]*([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/y;
const TAG_END = /[^>]*>/y;

/** Reads HTML once from start to end, and never fails. Leaves out what no browser would show. */
function scanHtml(html: string, handler: HtmlHandler): void {
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf("<", at);
    const end = tag === -1 ? html.length : tag;
    if (end > at) handler.text(decodeReferences(html.slice(at, end)));
    at = tag === -1 ? end : readTag(html, tag, handler);
  }
}

function readTag(html: string, at: number, handler: HtmlHandler): number {
  const next = html.charCodeAt(at + 1);
  if (next === 0x21 || next === 0x3f) return skipDeclaration(html, at);
  const isEnd = next === 0x2f;
  TAG_NAME.lastIndex = at + (isEnd ? 2 : 1);
  const name = TAG_NAME.exec(html)?.[0].toLowerCase();
  if (name === undefined) {
    if (isEnd) return findIndexAfter(html, ">", at);
    handler.text("<");
    return at + 1;
  }
  return isEnd ? readEndTag(html, name, handler) : readStartTag(html, name, handler);
}

function readEndTag(html: string, name: string, handler: HtmlHandler): number {
  TAG_END.lastIndex = TAG_NAME.lastIndex;
  const hasEnd = TAG_END.test(html);
  if (hasEnd) handler.close(name);
  return hasEnd ? TAG_END.lastIndex : html.length;
}

function readStartTag(html: string, name: string, handler: HtmlHandler): number {
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
    attributes[key] = decodeReferences((double ?? single ?? bare ?? "").slice(0, MAX_VALUE_CHARACTERS));
  }
  const end = html.indexOf(">", at);
  // A tag that never ends is not text either.
  if (end === -1) return html.length;
  const isClosed = html.charCodeAt(end - 1) === 0x2f;
  const endTag = SKIPPED.get(name);
  if (endTag !== undefined) return isClosed && name === "svg" ? end + 1 : skipElement(html, endTag, end + 1);
  handler.open(name, attributes ?? NO_ATTRIBUTES, isClosed);
  return end + 1;
}

function skipElement(html: string, endTag: RegExp, at: number): number {
  endTag.lastIndex = at;
  return endTag.test(html) ? findIndexAfter(html, ">", endTag.lastIndex) : html.length;
}

function skipDeclaration(html: string, at: number): number {
  if (html.startsWith("<!--", at)) {
    // A comment may be closed immediately.
    const isEmpty = html.startsWith(">", at + 4) || html.startsWith("->", at + 4);
    return isEmpty ? findIndexAfter(html, ">", at) : findIndexAfter(html, "-->", at + 4);
  }
  return findIndexAfter(html, ">", at);
}

function findIndexAfter(html: string, end: string, from: number): number {
  const at = html.indexOf(end, from);
  return at === -1 ? html.length : at + end.length;
}

/** An element with the amount of its text, so that no part of a page has to be visited again. */
export interface PageElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: (PageElement | string)[];
  readonly parent: PageElement | null;
  /** The number of characters in it, not counting white space. */
  text: number;
  /** The number of these characters that are inside links. */
  linked: number;
  commas: number;
}

/** Deeper elements are read without their tags: no page for readers nests this deep. */
const MAX_DEPTH = 200;
const MAX_ELEMENTS = 400_000;

const VOID = new Set("area base br col embed frame hr img input link meta param source track wbr".split(" "));
/** An open paragraph ends where one of these elements begins. */
const ENDS_PARAGRAPH = createWordSet(`
  address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5
  h6 header hr main menu nav ol p pre section table ul`);
interface ImpliedEnd {
  readonly ends: readonly string[];
  readonly within: readonly string[];
}

const CELLS: ImpliedEnd = { ends: ["td", "th"], within: ["tr", "table"] };
const GROUPS: ImpliedEnd = { ends: ["thead", "tbody", "tfoot", "tr", "td", "th"], within: ["table"] };
const TERMS: ImpliedEnd = { ends: ["dt", "dd"], within: ["dl"] };
const PARAGRAPHS: ImpliedEnd = { ends: ["p"], within: ["td", "th", "li", "table"] };
const LINKS: ImpliedEnd = { ends: ["a"], within: ["table"] };
/** An element with an optional end tag ends at the next element of its kind, but never outside its container. */
const IMPLIED_ENDS: ReadonlyMap<string, ImpliedEnd> = new Map([
  ["li", { ends: ["li"], within: ["ul", "ol", "menu"] }],
  ["dt", TERMS],
  ["dd", TERMS],
  ["tr", { ends: ["tr", "td", "th"], within: ["table"] }],
  ["td", CELLS],
  ["th", CELLS],
  ["thead", GROUPS],
  ["tbody", GROUPS],
  ["tfoot", GROUPS],
]);
const NEVER_HIDDEN = new Set(["html", "body", "main", "article"]);

/** Reads any page in linear time and memory. */
export function readPageTree(html: string) {
  const builder = new TreeBuilder();
  scanHtml(html, builder);
  return builder.finish();
}

class TreeBuilder {
  readonly #root: PageElement = createElement("body", {}, null);
  #current = this.#root;
  #depth = 0;
  #elements = 0;
  /** The number of open elements that were left out because they are nested too deep. */
  #unbuilt = 0;
  #links = 0;
  #paragraphs = 0;
  #isInTitle = false;
  #title = "";
  #base = "";

  open(name: string, attributes: Attributes, isClosed: boolean): void {
    if (name === "html" || name === "body" || name === "head") return;
    if (name === "title") this.#isInTitle = this.#title === "";
    if (name === "base") this.#base ||= attributes.href ?? "";
    if (VOID.has(name)) {
      if (this.#elements < MAX_ELEMENTS) this.#add(name, attributes);
      return;
    }
    this.#endOpenSiblings(name);
    if (this.#depth >= MAX_DEPTH || this.#elements >= MAX_ELEMENTS) {
      this.#unbuilt += 1;
      return;
    }
    this.#current = this.#add(name, attributes);
    this.#depth += 1;
    if (name === "a") this.#links += 1;
    if (name === "p") this.#paragraphs += 1;
    if (isClosed && name === "a") this.#closeElement();
  }

  close(name: string): void {
    if (name === "title") this.#isInTitle = false;
    if (name === "br" || (name === "p" && !this.#isElementOpen(name))) return;
    if (this.#unbuilt > 0) {
      this.#unbuilt -= 1;
      return;
    }
    if (!this.#isElementOpen(name)) return;
    while (this.#current !== this.#root && this.#current.name !== name) this.#closeElement();
    this.#closeElement();
  }

  text(text: string): void {
    if (this.#isInTitle) {
      this.#title += text;
      return;
    }
    const { children } = this.#current;
    const last = children.length - 1;
    const before = children[last];
    if (typeof before === "string") children[last] = before + text;
    else children.push(text);
    const length = countNonBlank(text);
    this.#current.text += length;
    if (this.#links > 0) this.#current.linked += length;
    if (length > 0) this.#current.commas += countCommas(text);
  }

  /** Returns the tree. `base` is the base of relative links; "" if the page declares none. */
  finish() {
    while (this.#current !== this.#root) this.#closeElement();
    return { body: this.#root, title: this.#title.replace(/\s+/g, " ").trim(), base: this.#base };
  }

  #add(name: string, attributes: Attributes): PageElement {
    const element = createElement(name, attributes, this.#current);
    this.#elements += 1;
    this.#current.children.push(element);
    return element;
  }

  #isElementOpen(name: string): boolean {
    for (let one: PageElement | null = this.#current; one !== null && one !== this.#root; one = one.parent) {
      if (one.name === name) return true;
    }
    return false;
  }

  #endOpenSiblings(name: string): void {
    if (this.#unbuilt > 0) return;
    if (this.#paragraphs > 0 && ENDS_PARAGRAPH.has(name)) this.#closeImpliedElement(PARAGRAPHS);
    const openEnd = IMPLIED_ENDS.get(name);
    if (openEnd !== undefined) this.#closeImpliedElement(openEnd);
    if (name === "a" && this.#links > 0) this.#closeImpliedElement(LINKS);
  }

  /** Ends the outermost open element with one of these names within the nearest container. */
  #closeImpliedElement({ ends, within }: ImpliedEnd): void {
    let found: PageElement | null = null;
    for (let one: PageElement | null = this.#current; one !== null; one = one.parent) {
      if (ends.includes(one.name)) found = one;
      else if (within.includes(one.name)) break;
    }
    while (found !== null && this.#current !== found) this.#closeElement();
    if (found !== null) this.#closeElement();
  }

  #closeElement(): void {
    const left = this.#current;
    const { parent } = left;
    if (parent === null) return;
    this.#depth -= 1;
    if (left.name === "a") this.#links -= 1;
    if (left.name === "p") this.#paragraphs -= 1;
    this.#current = parent;
    if (isHidden(left)) {
      parent.children.pop();
      return;
    }
    parent.text += left.text;
    parent.linked += left.linked;
    parent.commas += left.commas;
  }
}

function createElement(name: string, attributes: Attributes, parent: PageElement | null): PageElement {
  return { name, attributes, children: [], parent, text: 0, linked: 0, commas: 0 };
}

/** Whether an element is hidden: hidden text could contain instructions to a model. */
function isHidden({ name, attributes }: PageElement): boolean {
  if (NEVER_HIDDEN.has(name)) return false;
  const { style, hidden } = attributes;
  if (hidden !== undefined && hidden !== "until-found") return true;
  if (attributes["aria-hidden"] === "true") return true;
  return style !== undefined && /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
}

function countNonBlank(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x20) length += 1;
  return length;
}

function countCommas(text: string): number {
  let count = 0;
  for (let at = text.indexOf(","); at !== -1; at = text.indexOf(",", at + 1)) count += 1;
  return count;
}
