import {
  BLOCKS,
  formatCodeSpan,
  hasBlock,
  readAnnotation,
  readLanguage,
  readRawText,
  readTableRows,
} from "./element-facts.ts";
import { type Mark, MarkdownLines } from "./markdown-lines.ts";
import type { PageElement } from "./page-tree.ts";

export interface MarkdownOptions {
  /** The base URL of relative links. */
  readonly base: URL;
  readonly isExcluded: (element: PageElement) => boolean;
  /** true for the plain text, without links, images and marks. */
  readonly isPlain?: boolean;
}

export function renderPageMarkdown(root: PageElement, options: MarkdownOptions): string {
  const writer = new PageWriter(options);
  writer.writeChildren(root);
  return writer.finishText();
}

const MARKS: Readonly<Record<string, string>> = {
  ...{ strong: "**", b: "**", dt: "**", summary: "**", legend: "**" },
  ...{ em: "*", i: "*", del: "~~", s: "~~", strike: "~~" },
};

/** The elements that each method handles. For all others, only the content is written. */
const ELEMENTS_BY_METHOD = {
  writeBlock: [...BLOCKS].join(" "),
  writeHeading: "h1 h2 h3 h4 h5 h6",
  writeBoldBlock: "dt summary legend",
  writeInlineMarks: "strong b em i del s strike",
  writeCode: "code kbd samp tt",
  writeList: "ul ol menu",
  writeListItem: "li",
  writeQuote: "blockquote",
  writePreformatted: "pre",
  writeTable: "table",
  writeLink: "a",
  writeImage: "img",
  writeMedia: "video audio embed frame",
  writeRedirect: "meta",
  writeFormula: "math",
  writeCheckbox: "input",
  writeLineBreak: "br",
  writeRule: "hr",
  // These elements show controls, not text.
  writeNothing: "title button datalist progress meter rp",
};
type WriteMethod = keyof typeof ELEMENTS_BY_METHOD;
const METHOD_BY_ELEMENT: ReadonlyMap<string, WriteMethod> = new Map(
  Object.entries(ELEMENTS_BY_METHOD).flatMap(([way, names]) =>
    names.split(" ").map((name) => [name, way as WriteMethod]),
  ),
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

  finishText(): string {
    return this.#lines.text();
  }

  writeChildren(element: PageElement): void {
    for (const child of element.children) {
      if (typeof child === "string") this.#lines.addText(child);
      else if (!this.#options.isExcluded(child))
        this[METHOD_BY_ELEMENT.get(child.name) ?? "writeChildren"](child);
    }
  }

  writeCheckbox({ attributes }: PageElement): void {
    if (attributes.type === "checkbox") {
      this.#lines.addText(attributes.checked === undefined ? "[ ] " : "[x] ");
    }
  }

  writeNothing(): void {}

  writeLineBreak(): void {
    this.#lines.lineBreak();
  }

  writeRule(): void {
    this.#lines.addBlock(this.#options.isPlain ? [] : ["---"]);
  }

  writeBlock(element: PageElement): void {
    this.#writeAsBlock(() => this.writeChildren(element));
  }

  writeBoldBlock(element: PageElement): void {
    this.#writeAsBlock(() => this.writeInlineMarks(element));
  }

  writeHeading(element: PageElement): void {
    const mark = this.#options.isPlain ? "" : `${"#".repeat(Number(element.name.slice(1)))} `;
    this.#isInHeading = true;
    this.#writeAsBlock(() => this.#writeWithPrefixes(element, mark, ""));
    this.#isInHeading = false;
  }

  writeQuote(element: PageElement): void {
    this.#writeAsBlock(() => this.#writeWithPrefixes(element, "> ", "> "));
  }

  #writeAsBlock(write: () => void): void {
    this.#lines.endBlock();
    write();
    this.#lines.endBlock();
  }

  /** Writes the element's content with these marks at the beginning of its lines. */
  #writeWithPrefixes(element: PageElement, first: string, rest: string): void {
    this.#lines.beginPrefix(first, rest);
    this.writeChildren(element);
    this.#lines.endPrefix();
  }

  writeList(element: PageElement): void {
    const outer = this.#listNumber;
    const start = Number.parseInt(element.attributes.start ?? "1", 10);
    this.#listNumber = element.name === "ol" ? (Number.isSafeInteger(start) ? start : 1) : null;
    // A nested list directly follows the text of its item.
    const endList = () => (element.parent?.name === "li" ? this.#lines.endLine() : this.#lines.endBlock());
    endList();
    this.writeChildren(element);
    endList();
    this.#listNumber = outer;
  }

  writeListItem(element: PageElement): void {
    const number = this.#listNumber;
    const mark = number === null ? "- " : `${number}. `;
    if (number !== null) this.#listNumber = number + 1;
    this.#writeWithPrefixes(element, mark, " ".repeat(mark.length));
  }

  /** Puts marks directly around the text. If a block ended in between, sets none. */
  writeInlineMarks(element: PageElement): void {
    const mark = MARKS[element.name] ?? "";
    if (this.#options.isPlain || this.#openMarks.has(mark)) {
      this.writeChildren(element);
      return;
    }
    const start = this.#lines.mark;
    this.#openMarks.add(mark);
    this.writeChildren(element);
    this.#openMarks.delete(mark);
    this.#wrapTextSince(start, (text) => `${mark}${text}${mark}`);
  }

  #wrapTextSince(start: Mark, wrapped: (text: string) => string): void {
    const inner = this.#lines.takeSince(start);
    if (inner === null) return;
    const text = inner.trim();
    if (text === "") {
      this.#lines.addText(inner);
      return;
    }
    if (/^\s/.test(inner)) this.#lines.addText(" ");
    this.#lines.addVerbatim(wrapped(text));
    if (/\s$/.test(inner)) this.#lines.addText(" ");
  }

  writeCode(element: PageElement): void {
    const text = readRawText(element).replace(/\s+/g, " ").trim();
    if (text === "") return;
    this.#lines.addVerbatim(this.#options.isPlain ? text : formatCodeSpan(text));
  }

  writePreformatted(element: PageElement): void {
    const text = readRawText(element).replace(/^\n/, "").trimEnd().replaceAll("\r", "");
    if (text === "") return;
    if (this.#options.isPlain) {
      this.#lines.addBlock(text.split("\n"));
      return;
    }
    let fence = "```";
    for (const [, ticks = ""] of text.matchAll(/^ {0,3}(`{3,})/gm)) if (ticks >= fence) fence = `${ticks}\``;
    this.#lines.addBlock([`${fence}${readLanguage(element)}`, ...text.split("\n"), fence]);
  }

  writeLink(element: PageElement): void {
    const target = this.#resolveAddress(element.attributes.href);
    if (target === "" || this.#options.isPlain || this.#lines.lineLink !== "") {
      this.writeChildren(element);
      return;
    }
    const start = this.#lines.mark;
    if (hasBlock(element)) {
      this.#lines.endLine();
      this.#lines.lineLink = target;
      this.writeChildren(element);
      this.#lines.endLine();
      this.#lines.lineLink = "";
      return;
    }
    this.writeChildren(element);
    // A heading that links to itself, or contains a small link to itself, is not a useful link.
    const isToHere = target.startsWith("#") && this.#isInHeading;
    this.#wrapTextSince(start, (text) => {
      if (target.startsWith("#") && /^[#¶§🔗]+$/u.test(text)) return "";
      return isToHere ? text : `[${text.replaceAll("\n", " ")}](${target})`;
    });
  }

  writeImage({ attributes }: PageElement): void {
    const alt = (attributes.alt ?? "").replace(/[\s[\]]+/g, " ").trim();
    if (alt === "") return;
    const given = [attributes.src, attributes["data-src"]].find((one) => one && !/^\s*data:/i.test(one));
    const source = this.#resolveAddress(given);
    this.#lines.addVerbatim(source === "" || this.#options.isPlain ? alt : `![${alt}](${source})`);
  }

  writeMedia({ name, attributes }: PageElement): void {
    const source = this.#resolveAddress(attributes.src);
    if (source !== "" && !this.#options.isPlain)
      this.#lines.addVerbatim(`[${attributes.title || name}](${source})${name === "frame" ? " " : ""}`);
  }

  writeRedirect({ attributes }: PageElement): void {
    const place = /^\s*[0-5]\s*[;,]\s*url\s*=[\s"']*([^"']+)/i.exec(attributes.content ?? "")?.[1];
    if (place) this.#lines.addVerbatim(`The page sends on to ${this.#resolveAddress(place)}`);
  }

  writeFormula(element: PageElement): void {
    const tex = readAnnotation(element) || element.attributes.alttext;
    if (tex) this.#lines.addVerbatim(this.#options.isPlain ? tex.trim() : `$${tex.trim()}$`);
    else this.writeChildren(element);
  }

  writeTable(element: PageElement): void {
    const rows = readTableRows(element);
    if (rows === null || this.#options.isPlain) {
      this.writeBlock(element);
      return;
    }
    const lines = rows.map(
      (cells) => `| ${cells.map((cell) => this.#formatElementCell(cell)).join(" | ")} |`,
    );
    const rule = `|${" --- |".repeat(rows[0]?.length ?? 1)}`;
    this.#lines.addBlock([...lines.slice(0, 1), rule, ...lines.slice(1)]);
  }

  #formatElementCell(element: PageElement | null): string {
    const [only = "", more] = element?.children ?? [];
    // Most cells contain only text.
    const isWords = typeof only === "string" && more === undefined;
    if (element === null || isWords) return formatCell(isWords ? only.replace(/\s+/g, " ").trim() : "");
    const lines = renderPageMarkdown(element, this.#options).split("\n");
    return formatCell(lines.filter((line) => line !== "").join("<br>"));
  }

  /** Returns the absolute URL; a target within the page stays short. Returns "" for an invalid target. */
  #resolveAddress(given: string | undefined): string {
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

function formatCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
