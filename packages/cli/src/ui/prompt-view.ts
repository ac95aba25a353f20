import { say } from "../locales/say.ts";
import type { TextBuffer } from "../state/text-buffer.ts";
import { graphemesOf, widthOf } from "../terminal/cell-width.ts";
import type { Caret } from "../terminal/screen.ts";
import { type Line, type Span, shownText } from "../terminal/styled-line.ts";

export interface PromptView {
  readonly lines: readonly Line[];
  readonly caret: Caret;
}

/** A row, and where it starts and ends in the text. */
interface PromptRow {
  readonly from: number;
  readonly end: number;
  readonly spans: readonly Span[];
}

/** The text as it is edited: as many rows as fit, around the caret. */
export function promptView(buffer: TextBuffer, width: number, most: number): PromptView {
  const { rows, caret } = layOut(buffer, width);
  const from = Math.max(
    0,
    Math.min(caret.row - most + 1, rows.length - most),
    Math.min(caret.row, rows.length - most),
  );
  const lines = rows.slice(from, from + most).map(({ spans }, index): Line => {
    return [{ text: from + index === 0 ? "> " : "  ", style: "accent" }, ...spans];
  });
  return { lines, caret: { row: caret.row - from, column: caret.column + 2 } };
}

/** The place in the row above or below at the caret's column; null when there is no such row. */
export function placeBeside(buffer: TextBuffer, width: number, by: -1 | 1): number | null {
  const { rows, caret } = layOut(buffer, width);
  const row = rows[caret.row + by];
  if (row === undefined) return null;
  let column = 0;
  let at = row.from;
  for (const grapheme of graphemesOf(buffer.text.slice(row.from, row.end))) {
    column += shownAs(grapheme, buffer).width;
    if (column > caret.column) break;
    at += grapheme.length;
  }
  return at;
}

function layOut(buffer: TextBuffer, width: number): { rows: PromptRow[]; caret: Caret } {
  const room = Math.max(width - 3, 1);
  const rows: PromptRow[] = [];
  let caret = { row: 0, column: 0 };
  let row = { from: 0, spans: [] as Span[], text: "", column: 0 };
  let at = 0;
  const end = (next: number): void => {
    if (row.text !== "") row.spans.push({ text: row.text });
    rows.push({ from: row.from, end: at, spans: row.spans });
    row = { from: next, spans: [], text: "", column: 0 };
  };
  for (const grapheme of graphemesOf(buffer.text)) {
    const { shown, width, isMark } = shownAs(grapheme, buffer);
    if (grapheme !== "\n" && row.column + width > room && row.column > 0) end(at);
    if (at === buffer.caret) caret = { row: rows.length, column: row.column };
    if (grapheme === "\n") end(at + 1);
    else {
      row.column += width;
      if (isMark) {
        row.spans.push({ text: row.text }, { text: shown, style: "code" });
        row.text = "";
      } else row.text += shown;
    }
    at += grapheme.length;
  }
  if (at === buffer.caret) caret = { row: rows.length, column: row.column };
  end(at);
  return { rows, caret };
}

function shownAs(grapheme: string, buffer: TextBuffer): { shown: string; width: number; isMark: boolean } {
  const folded = buffer.foldedBy(grapheme);
  const isMark = folded !== undefined;
  const count = folded?.split(/\n(?!$)/).length ?? 0;
  const shown = isMark ? say("prompt.pasted", { count }) : shownText(grapheme);
  return { shown, width: widthOf(shown), isMark };
}
