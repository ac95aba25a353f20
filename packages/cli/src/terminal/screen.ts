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
}

export interface Caret {
  readonly row: number;
  readonly column: number;
}

const BEGIN_FRAME = "\u001b[?2026h\u001b[?25l";
const END_FRAME = "\u001b[?25h\u001b[?2026l";
/** A change of so few bytes is shown at once by any terminal. */
const SMALL = 80;

/**
 * The screen of a program that leaves the terminal its scrollback. Rows that are final are written once and never
 * touched again; below them stand the live rows, of which only what has changed is written. All moves are
 * counted from the caret, so that it does not matter where on the screen the program began.
 */
export class Screen {
  readonly #port: ScreenPort;
  #drawn: readonly Row[] = [];
  #caret: Caret = { row: 0, column: 0 };
  #columns = 0;

  constructor(port: ScreenPort) {
    this.#port = port;
  }

  /** Writes what is final above the live rows, and makes these the live rows. */
  draw(final: readonly Row[], live: readonly Row[], caret: Caret | null): void {
    const { columns, rows } = this.#port.size();
    const most = Math.max(rows - 1, 1);
    const hidden = Math.max(Math.min(live.length - most, caret?.row ?? live.length), 0);
    const shown = live.slice(hidden, hidden + most);
    const pen = this.#pen(columns);
    const next = [...final, ...shown];
    for (const [index, row] of next.entries()) pen.write(index, row, this.#drawn[index]);
    pen.clearFrom(next.length, this.#drawn.length);
    this.#drawn = shown;
    const place = caret ?? { row: live.length - 1, column: 0 };
    this.#caret = { row: Math.max(place.row - hidden, 0), column: place.column };
    pen.moveTo(final.length + this.#caret.row, this.#caret.column);
    const { bytes } = pen;
    if (bytes === "") return;
    this.#port.write(bytes.length > SMALL ? `${BEGIN_FRAME}${bytes}${END_FRAME}` : bytes);
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
  }

  /** A pen at the caret; in another window than the last one all live rows are taken away first. */
  #pen(columns: number): Pen {
    const isSame = columns === this.#columns || this.#columns === 0;
    const isNarrower = columns < this.#columns;
    this.#columns = columns;
    if (isSame) return new Pen(this.#caret.row, this.#caret.column, this.#drawn.length);
    const height = (width: number): number =>
      this.#port.reflows && isNarrower ? Math.max(Math.ceil(width / columns), 1) : 1;
    const above = this.#drawn.slice(0, this.#caret.row).reduce((sum, { width }) => sum + height(width), 0);
    const within = height(this.#caret.column + 1) - 1;
    const pen = new Pen(above + within, this.#caret.column, 0);
    pen.clearFrom(0, 1);
    this.#drawn = [];
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
