import {
  annotationOf,
  BLOCKS,
  codeSpan,
  holdsBlock,
  languageOf,
  rawText,
  tableRows,
} from "./element-facts.ts";
import { type Mark, MarkdownLines } from "./markdown-lines.ts";
import type { PageElement } from "./page-tree.ts";

export interface MarkdownOptions {
  /** The base of relative links. */
  readonly base: URL;
  readonly isLeftOut: (element: PageElement) => boolean;
  /** The text alone, without links, images and marks. */
  readonly isPlain?: boolean;
}

export function pageMarkdown(root: PageElement, options: MarkdownOptions): string {
  const writer = new PageWriter(options);
  writer.children(root);
  return writer.text();
}

const MARKS: Readonly<Record<string, string>> = {
  ...{ strong: "**", b: "**", dt: "**", summary: "**", legend: "**" },
  ...{ em: "*", i: "*", del: "~~", s: "~~", strike: "~~" },
};

/** The elements that each method writes; of others only the content is written. */
const WRITTEN = {
  block: [...BLOCKS].join(" "),
  heading: "h1 h2 h3 h4 h5 h6",
  boldBlock: "dt summary legend",
  marked: "strong b em i del s strike",
  code: "code kbd samp tt",
  list: "ul ol menu",
  listItem: "li",
  quote: "blockquote",
  preformatted: "pre",
  table: "table",
  link: "a",
  image: "img",
  media: "video audio embed frame",
  refresh: "meta",
  formula: "math",
  checkbox: "input",
  lineBreak: "br",
  rule: "hr",
  // They show controls, not text.
  nothing: "title button datalist progress meter rp",
};
type Way = keyof typeof WRITTEN;
const WAYS: ReadonlyMap<string, Way> = new Map(
  Object.entries(WRITTEN).flatMap(([way, names]) => names.split(" ").map((name) => [name, way as Way])),
);

class PageWriter {
  readonly #options: MarkdownOptions;
  readonly #lines: MarkdownLines;
  #listNumber: number | null = null;
  #isInHeading = false;
  readonly #openMarks = new Set<string>();

  constructor(options: MarkdownOptions) {
    this.#options = options;
    this.#lines = new MarkdownLines(options.isPlain ?? false);
  }

  text(): string {
    return this.#lines.text();
  }

  children(element: PageElement): void {
    for (const child of element.children) {
      if (typeof child === "string") this.#lines.words(child);
      else if (!this.#options.isLeftOut(child)) this[WAYS.get(child.name) ?? "children"](child);
    }
  }

  checkbox({ attributes }: PageElement): void {
    if (attributes.type === "checkbox") {
      this.#lines.words(attributes.checked === undefined ? "[ ] " : "[x] ");
    }
  }

  nothing(): void {}

  lineBreak(): void {
    this.#lines.lineBreak();
  }

  rule(): void {
    this.#lines.block(this.#options.isPlain ? [] : ["---"]);
  }

  block(element: PageElement): void {
    this.#apart(() => this.children(element));
  }

  boldBlock(element: PageElement): void {
    this.#apart(() => this.marked(element));
  }

  heading(element: PageElement): void {
    const mark = this.#options.isPlain ? "" : `${"#".repeat(Number(element.name.slice(1)))} `;
    this.#isInHeading = true;
    this.#apart(() => this.#within(element, mark, ""));
    this.#isInHeading = false;
  }

  quote(element: PageElement): void {
    this.#apart(() => this.#within(element, "> ", "> "));
  }

  #apart(write: () => void): void {
    this.#lines.endBlock();
    write();
    this.#lines.endBlock();
  }

  /** The content with these marks before its lines. */
  #within(element: PageElement, first: string, rest: string): void {
    this.#lines.enter(first, rest);
    this.children(element);
    this.#lines.leave();
  }

  list(element: PageElement): void {
    const outer = this.#listNumber;
    const start = Number.parseInt(element.attributes.start ?? "1", 10);
    this.#listNumber = element.name === "ol" ? (Number.isSafeInteger(start) ? start : 1) : null;
    // A list inside an item follows its text directly.
    const end = () => (element.parent?.name === "li" ? this.#lines.endLine() : this.#lines.endBlock());
    end();
    this.children(element);
    end();
    this.#listNumber = outer;
  }

  listItem(element: PageElement): void {
    const number = this.#listNumber;
    const mark = number === null ? "- " : `${number}. `;
    if (number !== null) this.#listNumber = number + 1;
    this.#within(element, mark, " ".repeat(mark.length));
  }

  /** The marks are directly around the text; if a block ended in between, nothing is marked. */
  marked(element: PageElement): void {
    const mark = MARKS[element.name] ?? "";
    if (this.#options.isPlain || this.#openMarks.has(mark)) {
      this.children(element);
      return;
    }
    const start = this.#lines.mark;
    this.#openMarks.add(mark);
    this.children(element);
    this.#openMarks.delete(mark);
    this.#wrap(start, (text) => `${mark}${text}${mark}`);
  }

  #wrap(start: Mark, wrapped: (text: string) => string): void {
    const inner = this.#lines.takeSince(start);
    if (inner === null) return;
    const text = inner.trim();
    if (text === "") {
      this.#lines.words(inner);
      return;
    }
    if (/^\s/.test(inner)) this.#lines.words(" ");
    this.#lines.exactly(wrapped(text));
    if (/\s$/.test(inner)) this.#lines.words(" ");
  }

  code(element: PageElement): void {
    const text = rawText(element).replace(/\s+/g, " ").trim();
    if (text === "") return;
    this.#lines.exactly(this.#options.isPlain ? text : codeSpan(text));
  }

  preformatted(element: PageElement): void {
    const text = rawText(element).replace(/^\n/, "").trimEnd().replaceAll("\r", "");
    if (text === "") return;
    if (this.#options.isPlain) {
      this.#lines.block(text.split("\n"));
      return;
    }
    let fence = "```";
    for (const [, ticks = ""] of text.matchAll(/^ {0,3}(`{3,})/gm)) if (ticks >= fence) fence = `${ticks}\``;
    this.#lines.block([`${fence}${languageOf(element)}`, ...text.split("\n"), fence]);
  }

  link(element: PageElement): void {
    const target = this.#addressOf(element.attributes.href);
    if (target === "" || this.#options.isPlain || this.#lines.lineLink !== "") {
      this.children(element);
      return;
    }
    const start = this.#lines.mark;
    if (holdsBlock(element)) {
      this.#lines.endLine();
      this.#lines.lineLink = target;
      this.children(element);
      this.#lines.endLine();
      this.#lines.lineLink = "";
      return;
    }
    this.children(element);
    // Headings that link to themselves, or have a small link to themselves, are no useful links.
    const isToHere = target.startsWith("#") && this.#isInHeading;
    this.#wrap(start, (text) => {
      if (target.startsWith("#") && /^[#¶§🔗]+$/u.test(text)) return "";
      return isToHere ? text : `[${text.replaceAll("\n", " ")}](${target})`;
    });
  }

  image({ attributes }: PageElement): void {
    const alt = (attributes.alt ?? "").replace(/[\s[\]]+/g, " ").trim();
    if (alt === "") return;
    const given = [attributes.src, attributes["data-src"]].find((one) => one && !/^\s*data:/i.test(one));
    const source = this.#addressOf(given);
    this.#lines.exactly(source === "" || this.#options.isPlain ? alt : `![${alt}](${source})`);
  }

  media({ name, attributes }: PageElement): void {
    const source = this.#addressOf(attributes.src);
    if (source !== "" && !this.#options.isPlain)
      this.#lines.exactly(`[${attributes.title || name}](${source})${name === "frame" ? " " : ""}`);
  }

  refresh({ attributes }: PageElement): void {
    const place = /^\s*[0-5]\s*[;,]\s*url\s*=[\s"']*([^"']+)/i.exec(attributes.content ?? "")?.[1];
    if (place) this.#lines.exactly(`The page sends on to ${this.#addressOf(place)}`);
  }

  formula(element: PageElement): void {
    const tex = annotationOf(element) || element.attributes.alttext;
    if (tex) this.#lines.exactly(this.#options.isPlain ? tex.trim() : `$${tex.trim()}$`);
    else this.children(element);
  }

  table(element: PageElement): void {
    const rows = tableRows(element);
    if (rows === null || this.#options.isPlain) {
      this.block(element);
      return;
    }
    const lines = rows.map((cells) => `| ${cells.map((cell) => this.#cell(cell)).join(" | ")} |`);
    const rule = `|${" --- |".repeat(rows[0]?.length ?? 1)}`;
    this.#lines.block([...lines.slice(0, 1), rule, ...lines.slice(1)]);
  }

  #cell(element: PageElement | null): string {
    const [only = "", more] = element?.children ?? [];
    // Most cells contain only text.
    const isWords = typeof only === "string" && more === undefined;
    if (element === null || isWords) return cellText(isWords ? only.replace(/\s+/g, " ").trim() : "");
    const lines = pageMarkdown(element, this.#options).split("\n");
    return cellText(lines.filter((line) => line !== "").join("<br>"));
  }

  /** The full address; a place in the same page stays short. Empty for an invalid target. */
  #addressOf(given: string | undefined): string {
    const text = given?.trim() ?? "";
    if (text === "" || text === "#") return "";
    if (text.startsWith("#")) return text.replaceAll(" ", "%20");
    const { base } = this.#options;
    if (!URL.canParse(text, base.href)) return "";
    const url = new URL(text, base.href);
    if (!/^(?:https?|mailto|tel|ftp):$/.test(url.protocol)) return "";
    return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
  }
}

function cellText(text: string): string {
  return text.replaceAll("|", "\\|");
}
