import { measureWidth } from "../terminal/cell-width.ts";
import {
  formatText,
  joinSpans,
  type Line,
  measureLine,
  type Span,
  type Style,
  wrapLine,
} from "../terminal/styled-line.ts";
import { highlightCode, isWordy } from "./highlight.ts";
import { look } from "./look.ts";

const SPECIAL = /[`*_~[\]\\<!]/;
/** The marks within a line, in the order of the groups that `drawInlineMatch` reads. */
const INLINE_MARKS: readonly RegExp[] = [
  /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/,
  /\*\*(?=\S)([\s\S]+?\S?)\*\*/,
  /__(?=\S)([\s\S]+?\S?)__/,
  /(?<![*\w])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?!\w)/,
  /(?<![_\w])_(?=[^\s_])([^_]+?)(?<=\S)_(?!\w)/,
  /~~(?=\S)([^~]+?)~~/,
  /!?\[([^\]]*)\]\(([^)\s]+)(?: "[^"]*")?\)/,
  /\\([\\`*_{}[\]()#+.!|~-])/,
];
const INLINE = new RegExp(INLINE_MARKS.map(({ source }) => source).join("|"), "g");
/**
 * The longest line that is searched for marks: each mark that is never closed would cost a pass over the whole line.
 */
const LONGEST_MARKED = 5000;
const FENCE = /^(\s*)(`{3,}|~{3,})\s*([\w+#-]*)/;
const RULE_ROW = /^\s*(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?$/;
const MAX_TABLE_ROWS = 200;
/** An unfinished line is drawn permanently in pieces of this many rows. */
const ROWS_AT_ONCE = 6;
/** An unfinished line of code that is longer than this is drawn in pieces, too. */
const LONGEST_CODE = 4000;

/** Draws Markdown that arrives in pieces. Each line is drawn permanently, once. */
export class MarkdownStream {
  /** The mark that closes the current code block. */
  #fence: string | null = null;
  #language = "";
  readonly #table: string[] = [];
  /** true if the current line started in an earlier piece. */
  #isWithin = false;
  readonly #keepsMarks: boolean;

  /** Creates the drawing. With `keepsMarks`, the marks themselves stay, for terminals that show no styles. */
  constructor(keepsMarks: boolean) {
    this.#keepsMarks = keepsMarks;
  }

  /**
   * Draws the part of the text that can be drawn permanently, and returns the rest. A line of code is one row of any
   * length: the terminal wraps it, so that it is copied as one line.
   */
  drawFinal(text: string, isWhole: boolean, width: number): { rows: Line[]; rest: string } {
    const rows: Line[] = [];
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      rows.push(...this.#drawSourceLine(text.slice(from, end), width));
      from = end + 1;
    }
    let rest = from === 0 ? text : text.slice(from);
    if (isWhole) {
      if (rest !== "") rows.push(...this.#drawSourceLine(rest, width));
      rows.push(...this.#endTable(width));
      return { rows, rest: "" };
    }
    const max = this.#fence === null ? width * ROWS_AT_ONCE : LONGEST_CODE;
    while (rest.length > max && !this.#isTableRow(rest)) {
      const cut = this.#findCut(rest.slice(0, max), width);
      const piece = this.#fence === null ? rest.slice(0, cut).trimEnd() : rest.slice(0, cut);
      rows.push(...this.#endTable(width), ...this.#drawSource(piece, width));
      this.#isWithin = true;
      rest = rest.slice(cut);
    }
    return { rows, rest };
  }

  /** Draws the line that is still being written and a table that is not complete yet. */
  drawTail(rest: string, width: number): Line[] {
    const table = drawTable(this.#table, width, this.#keepsMarks);
    if (rest === "") return table;
    if (this.#isTableRow(rest)) return [...table, [{ text: formatText(rest).slice(0, width) }]];
    return [...table, ...this.#drawSource(rest, width).flatMap((line) => wrapLine(line, width))];
  }

  /**
   * Returns where to cut an unfinished line: at the end of a row, so that no row is short in the middle of a paragraph.
   * Code has no such rows, because the terminal wraps it.
   */
  #findCut(text: string, width: number): number {
    // The last row is incomplete, and more text may move the last word of the row before it.
    const whole = this.#fence === null ? countCells(this.#drawSource(text, width).slice(0, -2)) : 0;
    let [cut, end] = [0, whole === 0 ? 0 : text.length];
    while (end - cut > 1) {
      const middle = (cut + end) >> 1;
      if (countCells(this.#drawSource(text.slice(0, middle), width)) > whole) end = middle;
      else cut = middle;
    }
    return cut === 0 ? findWordEnd(text, text.length - width) : cut;
  }

  #isTableRow(line: string): boolean {
    return this.#fence === null && !this.#isWithin && /^\s*\|/.test(line);
  }

  #drawSourceLine(line: string, width: number): Line[] {
    const source = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (this.#isTableRow(source) && this.#table.length < MAX_TABLE_ROWS) {
      this.#table.push(source);
      return [];
    }
    const rows = [...this.#endTable(width), ...this.#drawSource(source, width)];
    this.#enterFence(source);
    this.#isWithin = false;
    return rows;
  }

  #enterFence(source: string): void {
    const found = this.#isWithin ? null : FENCE.exec(source);
    if (found === null) return;
    const [, , mark = "", language = ""] = found;
    if (this.#fence === null) {
      this.#fence = mark;
      this.#language = language;
    } else if (mark.startsWith(this.#fence) && language === "") this.#fence = null;
  }

  #endTable(width: number): Line[] {
    return drawTable(this.#table.splice(0), width, this.#keepsMarks);
  }

  #drawSource(source: string, width: number): Line[] {
    const text = formatText(source);
    // Colours distinguish code from words, so its marks are shown only where no colours are seen.
    if (!this.#isWithin && FENCE.test(text))
      return this.#keepsMarks || look.isSpoken ? [[{ text, style: "dim" }]] : [];
    if (this.#fence !== null) return [this.#codeLine(text)];
    if (this.#isWithin) return wrapLine(drawInline(text, this.#keepsMarks), width);
    return drawBlock(text, width, this.#keepsMarks);
  }

  #codeLine(text: string): Line {
    const line = highlightCode(text, this.#language);
    const isPlain = !this.#keepsMarks && line.every(({ style }) => style === undefined);
    return isPlain && isWordy(this.#language) ? line.map((span) => ({ ...span, style: "code" })) : line;
  }
}

/** Draws complete Markdown. */
export function drawMarkdown(text: string, width: number, keepsMarks: boolean): Line[] {
  const { rows } = new MarkdownStream(keepsMarks).drawFinal(text.replace(/(?<!\n)\n+$/, ""), true, width);
  return rows.flatMap((row) => wrapLine(row, width));
}

function countCells(rows: readonly Line[]): number {
  return rows.reduce((sum, row) => sum + measureWidth(joinSpans(row)), 0);
}

/** Returns where to cut a text: after a space if possible, so that no word is split. */
function findWordEnd(text: string, maxCharacters: number): number {
  const blank = text.lastIndexOf(" ", maxCharacters);
  if (blank > maxCharacters / 2) return blank + 1;
  const code = text.charCodeAt(maxCharacters);
  return code >= 0xdc00 && code < 0xe000 ? maxCharacters - 1 : maxCharacters;
}

function drawBlock(text: string, width: number, keepsMarks: boolean): Line[] {
  const [, lead = "", mark = "", rest = ""] = /^(\s*)([#>*+-]{1,6}|\d{1,3}[.)])?(.*)$/s.exec(text) ?? [];
  if (mark === "" || !/^\s/.test(rest)) {
    if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(text) && !look.isSpoken)
      return [[{ text: "─".repeat(Math.min(width, 40)), style: "dim" }]];
    return wrapLine(drawInline(text, keepsMarks), width, lead);
  }
  const words = rest.trimStart();
  if (/^#+$/.test(mark)) {
    const kept = keepsMarks ? `${mark} ` : "";
    return wrapLine([{ text: kept + words.replace(/(?<!\s)\s+#+$/, ""), style: "heading" }], width);
  }
  if (/^>+$/.test(mark)) {
    const bar: Span = { text: `${lead}${look.isSpoken ? ">" : "│"} `, style: "dim" };
    const inner = wrapLine(drawInline(words, keepsMarks), Math.max(width - measureWidth(bar.text), 1));
    return inner.map((line) => [bar, ...line]);
  }
  const bullet = /^[*+-]$/.test(mark) ? "•" : mark;
  const box = { "[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ " }[words.slice(0, 4)];
  const content = box === undefined ? words : box + words.slice(4);
  const head = `${lead}${bullet} `;
  return wrapLine(
    [{ text: head }, ...drawInline(content, keepsMarks)],
    width,
    " ".repeat(measureWidth(head)),
  );
}

function drawInline(text: string, keepsMarks: boolean): Span[] {
  if (keepsMarks || text.length > LONGEST_MARKED || !SPECIAL.test(text)) return [{ text }];
  const spans: Span[] = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > from) spans.push({ text: text.slice(from, found.index) });
    spans.push(...drawInlineMatch(found));
    from = found.index + found[0].length;
  }
  return [...spans, { text: text.slice(from) }].filter((span) => span.text !== "");
}

function drawInlineMatch(found: RegExpMatchArray): Span[] {
  const [, , code, strong, strongToo, emphasis, emphasisToo, struck, label, address, escaped] = found;
  if (code !== undefined) return [{ text: code.replace(/^ (.+) $/, "$1"), style: "code" }];
  const marked: readonly (readonly [string | undefined, Style])[] = [
    [strong ?? strongToo, "strong"],
    [emphasis ?? emphasisToo, "emphasis"],
    [struck, "dim"],
  ];
  for (const [words, outer] of marked) {
    if (words !== undefined)
      return drawInline(words, false).map(({ text, style = outer }) => ({ text, style }));
  }
  if (address !== undefined) {
    const place: Span = { text: address, style: "link" };
    return label === address || label === "" ? [place] : [{ text: `${label} (` }, place, { text: ")" }];
  }
  return [{ text: escaped ?? found[0] }];
}

function drawTable(rows: readonly string[], width: number, keepsMarks: boolean): Line[] {
  const isTable = rows[1] !== undefined && RULE_ROW.test(rows[1]);
  if (!isTable) return rows.flatMap((row) => wrapLine(drawInline(formatText(row), keepsMarks), width));
  const cells = rows
    .filter((_row, index) => index !== 1)
    .map((row) => splitCells(row).map((cell) => drawInline(cell, keepsMarks)));
  const columns = Math.max(...cells.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(1, ...cells.map((row) => measureLine(row[at] ?? []))),
  );
  const areRight = splitCells(rows[1] ?? "").map((cell) => /^[^:].*:$/.test(cell));
  const total = widths.reduce((sum, one) => sum + one, 0) + 3 * (columns - 1);
  // A table that does not fit gets one line per cell, because cut-off cells could not be read. A screen reader gets the
  // same: bars and dashes mean nothing when read aloud.
  if (total > width || look.isSpoken) return drawNarrowTable(cells, width);
  const drawn = cells.map((row, index) =>
    widths.flatMap((one, at): Span[] => {
      const cell = row[at] ?? [];
      const styled = index === 0 ? cell.map(({ text }): Span => ({ text, style: "strong" })) : cell;
      const isLast = at === columns - 1;
      const gap: Span = { text: " ".repeat(one - measureLine(cell)) };
      if (areRight[at]) return [gap, ...styled, ...(isLast ? [] : [BAR])];
      return [...styled, ...(isLast ? [] : [gap, BAR])];
    }),
  );
  const [head = [], ...body] = drawn;
  const rule: Line = [{ text: widths.map((one) => "─".repeat(one)).join("─┼─"), style: "dim" }];
  return [head, rule, ...body];
}

const BAR: Span = { text: " │ ", style: "dim" };

function drawNarrowTable(cells: readonly (readonly Line[])[], width: number): Line[] {
  const [head = [], ...body] = cells;
  return body.flatMap((row) =>
    row.flatMap((cell, at) => {
      const title: Span[] = (head[at] ?? []).map(({ text }) => ({ text, style: "strong" }));
      return wrapLine([{ text: at === 0 ? "• " : "  " }, ...title, { text: ": " }, ...cell], width, "  ");
    }),
  );
}

function splitCells(row: string): string[] {
  const inner = formatText(row).trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/\\\|/g, "|"));
}
