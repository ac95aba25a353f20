import { habits } from "./cell-width.ts";

/** A row as it is written: no wider than the screen, and its width in cells. */
export interface Row {
  readonly bytes: string;
  readonly width: number;
}

/** Where a screen writes to. */
export interface ScreenPort {
  write(bytes: string): void;
  /** As it is at this moment: between two looks the window may have changed. */
  size(): { readonly columns: number; readonly rows: number };
  /** Rows that no longer fit a narrower window are wrapped by the terminal itself. */
  readonly reflows: boolean;
  /** When rows below the caret are wrapped, the caret goes down as many rows. */
  readonly movesCaret: boolean;
}

export interface Caret {
  readonly row: number;
  readonly column: number;
}

const BEGIN_FRAME = "\u001b[?2026h";
const END_FRAME = "\u001b[?2026l";
const HIDE_CARET = "\u001b[?25l";
const SHOW_CARET = "\u001b[?25h";
/** What does not fit into a row is cut off, and not wrapped. */
const CUT = "\u001b[?7l";
const WRAP = "\u001b[?7h";
/** A change of so few bytes is shown at once by any terminal. */
const SMALL = 80;
/** What was written so long ago has come to the terminal. */
const ON_ITS_WAY_MS = 5;

/**
 * The screen of a program that leaves the terminal its scrollback. Rows that are final are written once and never
 * touched again; below them stand the live rows, of which only what has changed is written. All moves are
 * counted from the caret, so that it does not matter where on the screen the program began.
 *
 * The window may change while a frame is on its way, and then the terminal has wrapped rows that we take for one. That
 * does no harm to a caret that is parked at the first live row, where the terminal itself keeps it: what is
 * drawn from there on goes down alone, is cut where it is live, and is taken away as a whole by the next frame.
 */
export class Screen {
  /** The window is being dragged: no row is gone on with, as what was there before may have been wrapped. */
  isMoving = false;
  readonly #port: ScreenPort;
  #drawn: readonly Row[] = [];
  #caret: Caret = { row: 0, column: 0 };
  /** Of the window that was drawn for last. */
  #size = { columns: 0, rows: 0 };
  #isHidden = false;
  #writtenAt = 0;
  /** Nobody knows whether what was written last came before the window changed, or behind that. */
  #isDoubtful = false;

  constructor(port: ScreenPort) {
    this.#port = port;
  }

  /** Whether the window is the one that was drawn for last. */
  get fits(): boolean {
    const { columns, rows } = this.#port.size();
    return this.#size.columns === 0 || (columns === this.#size.columns && rows === this.#size.rows);
  }

  /** Writes what is final above the live rows, and makes these the live rows. Without a caret it is hidden, and parked. */
  draw(final: readonly Row[], live: readonly Row[], caret: Caret | null): void {
    const { rows } = this.#port.size();
    const most = Math.max(rows - 1, 1);
    const hidden = Math.max(Math.min(live.length - most, caret?.row ?? live.length), 0);
    const shown = live.slice(hidden, hidden + most);
    const pen = this.#pen();
    if (final.length > 0 && this.#isHidden && this.isMoving) this.#drawn = pen.clear();
    for (const [index, row] of final.entries()) pen.write(index, row, this.#drawn[index]);
    const before = pen.bytes.length;
    for (const [index, row] of shown.entries())
      pen.write(final.length + index, row, this.#drawn[final.length + index]);
    const isWritten = pen.bytes.length > before;
    if (isWritten) pen.bytes = `${pen.bytes.slice(0, before)}${CUT}${pen.bytes.slice(before)}${WRAP}`;
    pen.clearFrom(final.length + shown.length, this.#drawn.length);
    this.#drawn = shown;
    this.#caret = caret === null ? { row: 0, column: 0 } : { ...caret, row: Math.max(caret.row - hidden, 0) };
    pen.moveTo(final.length + this.#caret.row, this.#caret.column);
    this.#write(pen.bytes, caret === null && shown.length > 0);
  }

  /** The window has changed. */
  move(): void {
    this.isMoving = true;
    if (performance.now() - this.#writtenAt < ON_ITS_WAY_MS) this.#isDoubtful = true;
  }

  /** Takes the live rows away, and leaves the caret where they began. */
  clear(): void {
    this.draw([], [], null);
  }

  /** The row of the caret was written over: it has to be drawn again. */
  touch(): void {
    const { row } = this.#caret;
    this.#drawn = this.#drawn.map((each, index) =>
      index === row ? { bytes: "\u001b[K", width: each.width } : each,
    );
  }

  /** What stands on the screen is no longer ours: the next rows begin where the caret is. */
  forget(): void {
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

  /** A pen at the caret; in another window than the last one all live rows are taken away first. */
  #pen(): Pen {
    const isSame = this.fits;
    const { columns } = this.#port.size();
    const isNarrower = columns < this.#size.columns;
    this.#size = this.#port.size();
    if (isSame) return new Pen(this.#caret.row, this.#caret.column, this.#drawn.length);
    const { reflows, movesCaret } = this.#port;
    const height = (width: number): number =>
      reflows && isNarrower ? Math.max(Math.ceil(width / columns), 1) : 1;
    const heightOf = (rows: readonly Row[]) => rows.reduce((sum, { width }) => sum + height(width), 0);
    const { row, column } = this.#caret;
    const above = heightOf(this.#drawn.slice(0, row));
    const below = this.#drawn.slice(row + 1);
    const pushed = heightOf(below) - below.length;
    // Its own row is wrapped only when the caret has been pushed out of it.
    const pushedIn = pushed === 0 ? 0 : pushed + height(this.#drawn[row]?.width ?? 0) - 1;
    const moved = this.#isDoubtful ? 0 : pushedIn;
    const within = movesCaret ? moved : height(column + 1) - 1;
    const pen = new Pen(above + within, this.#caret.column, 1);
    this.#drawn = pen.clear();
    return pen;
  }
}

/** Writes rows from wherever it is, in the fewest bytes. Rows are counted from the first live one. */
class Pen {
  bytes = "";
  #row: number;
  #column: number;
  /** How many rows there are; below them the screen may have to scroll. */
  #height: number;

  constructor(row: number, column: number, height: number) {
    this.#row = row;
    this.#column = column;
    this.#height = height;
  }

  write(index: number, row: Row, before: Row | undefined): void {
    if (index < this.#height && before?.bytes === row.bytes) return;
    const isLonger = before !== undefined && index < this.#height && row.bytes.startsWith(before.bytes);
    if (isLonger && !before.bytes.includes("\u001b")) {
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

  /** Takes all rows away; gives those that are left. */
  clear(): [] {
    if (this.#height > 0) {
      this.moveTo(0, 0);
      this.bytes += "\u001b[J";
    }
    this.#height = 0;
    return [];
  }

  clearFrom(index: number, height: number): void {
    if (index >= height) return;
    this.moveTo(index, 0);
    this.bytes += "\u001b[J";
    this.#height = index;
  }

  moveTo(row: number, column: number): void {
    if (row < this.#row) this.bytes += `\u001b[${this.#row - row}A`;
    if (row > this.#row) {
      // A new line, and not a move: below the last row of the screen only it scrolls.
      this.bytes += "\n".repeat(row - this.#row);
      this.#column = 0;
    }
    this.#row = row;
    if (column === this.#column) return;
    this.bytes += column === 0 ? "\r" : `\u001b[${column + 1}G`;
    this.#column = column;
  }
}

const PROBES = ["\u{1f600}", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}", "\u2764\ufe0f"] as const;

/** Asks the terminal how wide it draws what terminals do not agree on. Its answers are cursor reports. */
export const WIDTH_QUESTION = `\u001b7${PROBES.map((probe) => `\r${probe}\u001b[6n`).join("")}\r\u001b[K\u001b8`;
export const WIDTH_ANSWERS = PROBES.length;

/** Takes the columns that the terminal reported behind each probe; true when they are news. */
export function learnWidths(columns: readonly number[]): boolean {
  const [emoji = 3, joined = 3, selected = 3] = columns;
  const before = JSON.stringify(habits);
  habits.emoji = emoji - 1 === 1 ? 1 : 2;
  habits.joined = joined - 1 === 2 ? 2 : joined - 1;
  habits.selected = selected - 1 === 1 ? 1 : 2;
  return JSON.stringify(habits) !== before;
}
