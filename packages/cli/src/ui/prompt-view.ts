import { currentLanguage, say } from "../locales/say.ts";
import type { TextBuffer } from "../state/text-buffer.ts";
import { measureWidth, splitGraphemes, terminalWidths } from "../terminal/cell-width.ts";
import type { Caret } from "../terminal/screen.ts";
import { formatText, type Line, type Span } from "../terminal/styled-line.ts";

/** A row, and the part of the text that it shows. */
interface PromptRow {
  readonly from: number;
  readonly end: number;
  readonly spans: readonly Span[];
}

/** Draws the text that is being edited: as many rows as fit, around the caret. */
export function drawPrompt(buffer: TextBuffer, width: number, maxRows: number) {
  const { rows, caret } = layOutPrompt(buffer, width);
  const from = Math.max(0, Math.min(caret.row, rows.length - maxRows));
  const isShell = isShellPrompt(buffer.text);
  const mark: Span = isShell ? { text: "$ ", style: "shell" } : { text: "> ", style: "accent" };
  const lines = rows.slice(from, from + maxRows).map(({ spans }, index): Line => {
    const first: Span = from + index === 0 ? mark : { text: "  " };
    return [first, ...(isShell ? spans.map((one): Span => ({ style: "shell", ...one })) : spans)];
  });
  return { lines, caret: { row: caret.row - from, column: caret.column + 2 } };
}

/** Whether enter runs the prompt as a shell command. */
export function isShellPrompt(text: string): boolean {
  return /^!(?!\[.*\]\()/.test(text);
}

/** Returns the position in the row above or below, in the caret's column; null if there is no such row. */
export function findCaretInRow(buffer: TextBuffer, width: number, by: -1 | 1): number | null {
  const { rows, caret } = layOutPrompt(buffer, width);
  const row = rows[caret.row + by];
  if (row === undefined) return null;
  let column = 0;
  let at = row.from;
  for (const grapheme of splitGraphemes(buffer.text.slice(row.from, row.end))) {
    column += drawGrapheme(grapheme, buffer).width;
    if (column > caret.column) break;
    at += grapheme.length;
  }
  return at;
}

/** The rows of each line as laid out last, so that a key in a long text lays out only the line that it changes. */
const laidOut = new WeakMap<TextBuffer, { ground: string; lines: Map<string, readonly PromptRow[]> }>();

function layOutPrompt(buffer: TextBuffer, width: number): { rows: PromptRow[]; caret: Caret } {
  const room = Math.max(width - 3, 1);
  // The character widths and the language may change while the text is on the screen.
  const ground = JSON.stringify([room, terminalWidths, currentLanguage()]);
  const last = laidOut.get(buffer);
  const lines = new Map<string, readonly PromptRow[]>();
  const rows: PromptRow[] = [];
  let start = 0;
  for (const line of buffer.text.split("\n")) {
    const known = lines.get(line) ?? (last?.ground === ground ? last.lines.get(line) : undefined);
    const own = known ?? splitRows(line, room, buffer);
    lines.set(line, own);
    for (const { from, end, spans } of own) rows.push({ from: from + start, end: end + start, spans });
    start += line.length + 1;
  }
  laidOut.set(buffer, { ground, lines });
  const row = rows.findLastIndex(({ from }) => from <= buffer.caret);
  const before = splitGraphemes(buffer.text.slice(rows[row]?.from, buffer.caret));
  const column = before.reduce((sum, grapheme) => sum + drawGrapheme(grapheme, buffer).width, 0);
  return { rows, caret: { row, column } };
}

function splitRows(line: string, room: number, buffer: TextBuffer): PromptRow[] {
  const rows: PromptRow[] = [];
  let row = { from: 0, spans: [] as Span[], text: "", column: 0 };
  let at = 0;
  const endRow = (): void => {
    if (row.text !== "") row.spans.push({ text: row.text });
    rows.push({ from: row.from, end: at, spans: row.spans });
    row = { from: at, spans: [], text: "", column: 0 };
  };
  for (const grapheme of splitGraphemes(line)) {
    const { shown, width, isMark } = drawGrapheme(grapheme, buffer);
    if (row.column + width > room && row.column > 0) endRow();
    row.column += width;
    if (isMark) {
      row.spans.push({ text: row.text }, { text: shown, style: "code" });
      row.text = "";
    } else row.text += shown;
    at += grapheme.length;
  }
  endRow();
  return rows;
}

function drawGrapheme(
  grapheme: string,
  buffer: TextBuffer,
): { shown: string; width: number; isMark: boolean } {
  const folded = buffer.findPaste(grapheme);
  const isMark = folded !== undefined;
  const count = folded?.split(/\n(?!$)/).length ?? 0;
  const shown = isMark ? say("prompt.pasted", { count }) : formatText(grapheme);
  return { shown, width: measureWidth(shown), isMark };
}
