import { measureGrapheme, splitGraphemes, terminalWidths } from "./cell-width.ts";

/** A row as written, and its width in cells. Only a final row may exceed the screen: the terminal wraps it. */
export interface Row {
  readonly bytes: string;
  readonly width: number;
}

export interface ScreenPort {
  write(bytes: string): void;
  /** Returns the current size: the window may change between two calls. */
  size(): { readonly columns: number; readonly rows: number };
  /** The terminal itself wraps rows that no longer fit when the window becomes narrower. */
  readonly reflows: boolean;
  /**
   * true if the terminal never wraps the row with the caret. If it wraps a row below that row, it moves the caret down
   * with it.
   */
  readonly sparesCaretLine: boolean;
}

export interface Caret {
  readonly row: number;
  readonly column: number;
}

const BEGIN_FRAME = "\u001b[?2026h";
const END_FRAME = "\u001b[?2026l";
const HIDE_CARET = "\u001b[?25l";
const SHOW_CARET = "\u001b[?25h";
/** Makes the terminal cut off text that does not fit into a row, instead of wrapping it. */
const CUT = "\u001b[?7l";
const WRAP = "\u001b[?7h";
/** Moves to the last column, whatever width the window has by now. */
const EDGE = "\u001b[999G";
/** A space of two cells: it never fits behind or into the last column, so the terminal wraps it. */
const WIDE = "\u3000";
const NARROWEST_JOINED = 4;
/** A change of at most this many bytes is shown at once by any terminal. */
const SMALL = 80;
/** Output that is older than this has reached the terminal. */
const ON_ITS_WAY_MS = 5;

/**
 * Draws the screen of a program that keeps the terminal's scrollback. Final rows are written once and never changed.
 * Below them are the live rows, of which only changes are written. All moves are relative to the caret, so it does not
 * matter where on the screen the program started. The window may change while a frame is on its way; the terminal then
 * wraps rows that this class counts as one. That does no harm if the caret is parked at the first live row and the
 * terminal keeps it there: what is drawn from there on only moves down, is cut off if it is live, and is cleared as a
 * whole by the next frame. Some terminals do not keep the caret there, but never wrap the line with the caret. In
 * these, the live rows form one line, each continuing the row above it, so none of them is ever wrapped.
 */
export class Screen {
  /**
   * true while the window is being resized. Rows are not continued then, because their earlier part may have been
   * wrapped.
   */
  isMoving = false;
  readonly #port: ScreenPort;
  #drawn: readonly Row[] = [];
  #caret: Caret = { row: 0, column: 0 };
  /** The window's size at the last drawing. */
  #size = { columns: 0, rows: 0 };
  #isHidden = false;
  #isJoined = false;
  /** true when the live rows on the screen are no longer as they were drawn. */
  #isStale = false;
  #writtenAt = 0;
  /** true while it is unknown whether the last output arrived before or after the window changed. */
  #isDoubtful = false;

  constructor(port: ScreenPort) {
    this.#port = port;
  }

  /** Whether the window has the size that it had at the last drawing. */
  get fits(): boolean {
    const { columns, rows } = this.#port.size();
    return this.#size.columns === 0 || (columns === this.#size.columns && rows === this.#size.rows);
  }

  /** Writes final rows above the live rows, and replaces those. Without a caret, hides it at the first live row. */
  draw(final: readonly Row[], live: readonly Row[], caret: Caret | null): void {
    const { rows } = this.#port.size();
    const max = Math.max(rows - 1, 1);
    const hidden = Math.max(Math.min(live.length - max, caret?.row ?? live.length), 0);
    const pen = this.#createPen();
    const shown = live
      .slice(hidden, hidden + max)
      .map((row) => (this.#isJoined && row.width === 0 ? BLANK : row));
    if (final[0] !== undefined)
      pen.clearUnlessContinued(this.#isHidden && this.isMoving ? null : final[0], this.#drawn[0]);
    for (const [index, row] of final.entries()) pen.write(index, row, this.#drawn[index]);
    this.#caret = caret === null ? { row: 0, column: 0 } : { ...caret, row: Math.max(caret.row - hidden, 0) };
    const before = pen.bytes.length;
    if (this.#isJoined) pen.writeJoined(final.length, shown, { before: this.#drawn, caret: this.#caret.row });
    else
      for (const [index, row] of shown.entries())
        pen.write(final.length + index, row, this.#drawn[final.length + index]);
    const isWritten = pen.bytes.length > before;
    if (isWritten) pen.bytes = `${pen.bytes.slice(0, before)}${CUT}${pen.bytes.slice(before)}${WRAP}`;
    pen.clearBelow(final.length + shown.length, this.#drawn.length);
    this.#drawn = shown;
    pen.moveTo(final.length + this.#caret.row, this.#caret.column);
    this.#write(pen.bytes, caret === null && shown.length > 0);
  }

  noteResize(): void {
    this.isMoving = true;
    // The window may be back at its former size, but what was cut off in between is gone.
    this.#isStale = true;
    if (performance.now() - this.#writtenAt < ON_ITS_WAY_MS) this.#isDoubtful = true;
  }

  /** Removes the live rows and leaves the caret where they started. */
  clear(): void {
    this.draw([], [], null);
  }

  /** Called when something was written over the live rows; they are drawn again. */
  markStale(): void {
    this.#isStale = true;
  }

  /** Called when the screen was overwritten; the next rows start at the caret. */
  forgetRows(): void {
    this.#drawn = [];
    this.#caret = { row: 0, column: 0 };
    this.#isHidden = false;
  }

  #write(bytes: string, isHidden: boolean): void {
    const wasHidden = this.#isHidden;
    this.#isHidden = isHidden;
    if (bytes === "" && isHidden === wasHidden) return;
    this.#writtenAt = performance.now();
    this.#isDoubtful = false;
    const isLarge = bytes.length > SMALL;
    const hide = !wasHidden && (isHidden || isLarge) ? HIDE_CARET : "";
    const show = !isHidden && (wasHidden || isLarge) ? SHOW_CARET : "";
    const frame = `${hide}${bytes}${show}`;
    this.#port.write(isLarge ? `${BEGIN_FRAME}${frame}${END_FRAME}` : frame);
  }

  /** Returns a pen at the caret. If the window has changed, removes all live rows first. */
  #createPen(): Pen {
    const { columns } = this.#port.size();
    const { reflows } = this.#port;
    const isJoined = this.#port.sparesCaretLine && columns >= NARROWEST_JOINED;
    const isSame = this.fits && !this.#isStale && this.#isJoined === isJoined;
    const isWrapped = reflows && !this.#isJoined && columns < this.#size.columns && !this.#isDoubtful;
    this.#size = this.#port.size();
    this.#isStale = false;
    this.#isJoined = isJoined;
    const { row, column } = this.#caret;
    if (isSame) return new Pen({ row, column }, this.#drawn.length, columns);
    const countTerminalRows = (width: number): number =>
      isWrapped ? Math.max(Math.ceil(width / columns), 1) : 1;
    const above = this.#drawn.slice(0, row).reduce((sum, { width }) => sum + countTerminalRows(width), 0);
    const pen = new Pen({ row: above + countTerminalRows(column + 1) - 1, column }, 1, columns);
    this.#drawn = pen.clear();
    return pen;
  }
}

/** An empty row within joined rows, which must print something. */
const BLANK: Row = { bytes: " ", width: 1 };

/** Writes rows in the fewest bytes, starting from the current position. Rows are counted from the first live row. */
class Pen {
  bytes = "";
  #row: number;
  #column: number;
  /** The number of rows so far. To go below them, the screen may have to scroll. */
  #height: number;
  readonly #columns: number;

  constructor({ row, column }: Caret, height: number, columns: number) {
    this.#row = row;
    this.#column = column;
    this.#height = height;
    this.#columns = columns;
  }

  write(index: number, row: Row, before: Row | undefined): void {
    if (index < this.#height && before?.bytes === row.bytes) return;
    if (before !== undefined && index < this.#height && isContinued(before, row)) {
      this.moveTo(index, before.width);
      this.bytes += row.bytes.slice(before.bytes.length);
    } else {
      this.moveTo(index, 0);
      this.bytes += row.bytes;
      if (before !== undefined && index < this.#height && row.width < before.width) this.bytes += "\u001b[K";
    }
    this.#column = row.width;
    this.#height = Math.max(this.#height, index + 1);
  }

  /**
   * Writes rows as one long line, down to the caret's row at least. It reaches the next row only by printing: that
   * scrolls if necessary, and the terminal takes what is printed as a continuation of the line.
   */
  writeJoined(
    first: number,
    rows: readonly Row[],
    { before, caret }: { before: readonly Row[]; caret: number },
  ): void {
    const isRowChanged = (row: Row, index: number): boolean =>
      first > 0 || index >= this.#height || before[index]?.bytes !== row.bytes;
    const found = rows.findIndex(isRowChanged);
    const at = Math.max(this.#row - first, 0);
    const from = found < 0 ? at : Math.min(found, at);
    const end = before.length > rows.length ? rows.length - 1 : rows.findLastIndex(isRowChanged);
    const last = Math.max(end, caret > from ? caret : -1);
    if (from === last) this.write(first + last, rows[last] ?? BLANK, before[first + last]);
    else
      for (const [index, row] of rows.slice(from, last + 1).entries()) {
        if (index === 0) this.moveTo(first + from, 0);
        else this.bytes += `${WIDE}\r${CUT}`;
        this.#putWhole(first + from + index, row, { before, isLast: from + index === last });
      }
  }

  #putWhole(index: number, row: Row, { before, isLast }: { before: readonly Row[]; isLast: boolean }): void {
    const old = index < this.#height ? (before[index]?.width ?? 0) : 0;
    const [text, end] = isLast ? [row.bytes, ""] : splitAtEnd(row, this.#columns);
    this.bytes += `${text}${row.width < old ? "\u001b[K" : ""}`;
    if (!isLast) this.bytes += `${WRAP}${EDGE}${end}`;
    this.#row = index;
    this.#column = row.width;
    this.#height = Math.max(this.#height, index + 1);
  }

  /** Clears everything except the row that this one continues; what is below it would be in the wrong place. */
  clearUnlessContinued(row: Row | null, before: Row | undefined): void {
    const isKept = row !== null && row.width <= this.#columns && before !== undefined;
    if (!isKept || !isContinued(before, row)) this.clear();
    else if (before.width >= this.#columns) this.clearBelow(1, this.#height);
    else if (this.#height > 0) {
      this.moveTo(0, before.width);
      this.bytes += "\u001b[J";
      this.#height = 1;
    }
  }

  /** Clears all rows. Returns the rows that remain, which are none. */
  clear(): [] {
    this.clearBelow(0, this.#height);
    return [];
  }

  clearBelow(index: number, height: number): void {
    if (index >= height) return;
    this.moveTo(index, 0);
    this.bytes += "\u001b[J";
    this.#height = index;
  }

  moveTo(row: number, column: number): void {
    if (row < this.#row) this.bytes += `\u001b[${this.#row - row}A`;
    if (row > this.#row) {
      // A line break instead of a move: below the last row of the screen, only a line break scrolls.
      this.bytes += "\n".repeat(row - this.#row);
      this.#column = 0;
    }
    this.#row = row;
    if (column === this.#column) return;
    this.bytes += column === 0 ? "\r" : `\u001b[${column + 1}G`;
    this.#column = column;
  }
}

/** Whether the row equals `before` or continues it. */
function isContinued(before: Row, row: Row): boolean {
  return (
    row.bytes === before.bytes || (row.bytes.startsWith(before.bytes) && !before.bytes.includes("\u001b"))
  );
}

const LAST_STYLES = new RegExp(`(?:${"\u001b"}\\[[\\d;]*m)*$`);

/** Splits off the character at the edge of the window, with the styles after it. */
function splitAtEnd({ bytes, width }: Row, columns: number): [text: string, end: string] {
  if (width < columns) return [bytes, ""];
  const styles = LAST_STYLES.exec(bytes)?.[0] ?? "";
  const text = bytes.slice(0, bytes.length - styles.length);
  const last = splitGraphemes(text).at(-1) ?? "";
  const back = measureGrapheme(last) === 2 ? "\u001b[D" : "";
  return [text.slice(0, text.length - last.length), `${back}${last}${styles}`];
}

const PROBES = ["\u{1f600}", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}", "\u2764\ufe0f"] as const;

/** Asks the terminal how wide it draws characters whose width is uncertain. It answers with cursor reports. */
export const WIDTH_QUESTION = `\u001b7${PROBES.map((probe) => `\r${probe}\u001b[6n`).join("")}\r\u001b[K\u001b8`;
export const WIDTH_ANSWERS = PROBES.length;

/** Stores the widths, from the columns that the terminal reported. Returns true if a width has changed. */
export function learnWidths(columns: readonly number[]): boolean {
  const [emoji = 3, joined = 3, selected = 3] = columns;
  const before = JSON.stringify(terminalWidths);
  terminalWidths.emoji = emoji - 1 === 1 ? 1 : 2;
  terminalWidths.joined = joined - 1 === 2 ? 2 : joined - 1;
  terminalWidths.selected = selected - 1 === 1 ? 1 : 2;
  return JSON.stringify(terminalWidths) !== before;
}
