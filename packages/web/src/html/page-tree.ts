import { type Attributes, scanHtml } from "./scan-html.ts";

/** An element with the amount of its text, so that no part of a page has to be walked again. */
export interface PageElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: (PageElement | string)[];
  readonly parent: PageElement | null;
  /** Characters of text in it, not counting white space. */
  text: number;
  /** Of these, the ones inside links. */
  linked: number;
  commas: number;
}

/** Deeper elements are read without their tags: no page for readers nests this deep. */
const MOST_DEPTH = 200;
const MOST_ELEMENTS = 400_000;

const VOID = new Set("area base br col embed frame hr img input link meta param source track wbr".split(" "));
/** An open paragraph ends where one of these begins. */
const ENDS_PARAGRAPH = new Set(
  "address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr main menu nav ol p pre section table ul".split(
    " ",
  ),
);
interface OpenEnd {
  readonly ends: readonly string[];
  readonly within: readonly string[];
}

const CELLS: OpenEnd = { ends: ["td", "th"], within: ["tr", "table"] };
const GROUPS: OpenEnd = { ends: ["thead", "tbody", "tfoot", "tr", "td", "th"], within: ["table"] };
const TERMS: OpenEnd = { ends: ["dt", "dd"], within: ["dl"] };
const PARAGRAPHS: OpenEnd = { ends: ["p"], within: ["td", "th", "li", "table"] };
const LINKS: OpenEnd = { ends: ["a"], within: ["table"] };
/** An element with an optional end tag ends at the next of its kind, but never outside its container. */
const OPEN_ENDS: ReadonlyMap<string, OpenEnd> = new Map([
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

/** Reads any page in time and memory that are linear in its length. */
export function readPageTree(html: string) {
  const builder = new TreeBuilder();
  scanHtml(html, builder);
  return builder.finish();
}

class TreeBuilder {
  readonly #root: PageElement = newElement("body", {}, null);
  #current = this.#root;
  #depth = 0;
  #elements = 0;
  /** Open elements that were left out for their depth. */
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
      if (this.#elements < MOST_ELEMENTS) this.#add(name, attributes);
      return;
    }
    this.#endOpenSiblings(name);
    if (this.#depth >= MOST_DEPTH || this.#elements >= MOST_ELEMENTS) {
      this.#unbuilt += 1;
      return;
    }
    this.#current = this.#add(name, attributes);
    this.#depth += 1;
    if (name === "a") this.#links += 1;
    if (name === "p") this.#paragraphs += 1;
    if (isClosed && name === "a") this.#leave();
  }

  close(name: string): void {
    if (name === "title") this.#isInTitle = false;
    if (name === "br" || (name === "p" && !this.#isOpen(name))) return;
    if (this.#unbuilt > 0) {
      this.#unbuilt -= 1;
      return;
    }
    if (!this.#isOpen(name)) return;
    while (this.#current !== this.#root && this.#current.name !== name) this.#leave();
    this.#leave();
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
    const length = lengthWithoutBlanks(text);
    this.#current.text += length;
    if (this.#links > 0) this.#current.linked += length;
    if (length > 0) this.#current.commas += commasIn(text);
  }

  /** `base` is that of relative links, empty if the page declares none. */
  finish() {
    while (this.#current !== this.#root) this.#leave();
    return { body: this.#root, title: this.#title.replace(/\s+/g, " ").trim(), base: this.#base };
  }

  #add(name: string, attributes: Attributes): PageElement {
    const element = newElement(name, attributes, this.#current);
    this.#elements += 1;
    this.#current.children.push(element);
    return element;
  }

  #isOpen(name: string): boolean {
    for (let one: PageElement | null = this.#current; one !== null && one !== this.#root; one = one.parent) {
      if (one.name === name) return true;
    }
    return false;
  }

  #endOpenSiblings(name: string): void {
    if (this.#unbuilt > 0) return;
    if (this.#paragraphs > 0 && ENDS_PARAGRAPH.has(name)) this.#endNearest(PARAGRAPHS);
    const openEnd = OPEN_ENDS.get(name);
    if (openEnd !== undefined) this.#endNearest(openEnd);
    if (name === "a" && this.#links > 0) this.#endNearest(LINKS);
  }

  /** Ends the outermost element with one of these names that is open inside the nearest of the containers. */
  #endNearest({ ends, within }: OpenEnd): void {
    let found: PageElement | null = null;
    for (let one: PageElement | null = this.#current; one !== null; one = one.parent) {
      if (ends.includes(one.name)) found = one;
      else if (within.includes(one.name)) break;
    }
    while (found !== null && this.#current !== found) this.#leave();
    if (found !== null) this.#leave();
  }

  #leave(): void {
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

function newElement(name: string, attributes: Attributes, parent: PageElement | null): PageElement {
  return { name, attributes, children: [], parent, text: 0, linked: 0, commas: 0 };
}

/** Hidden text is a place for instructions to a model. */
function isHidden({ name, attributes }: PageElement): boolean {
  if (NEVER_HIDDEN.has(name)) return false;
  const { style, hidden } = attributes;
  if (hidden !== undefined && hidden !== "until-found") return true;
  if (attributes["aria-hidden"] === "true") return true;
  return style !== undefined && /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style);
}

function lengthWithoutBlanks(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x20) length += 1;
  return length;
}

function commasIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf(","); at !== -1; at = text.indexOf(",", at + 1)) count += 1;
  return count;
}
