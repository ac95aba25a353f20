import { say } from "../locales/say.ts";
import { type Key, normalizeCommandKey } from "../terminal/keys.ts";
import type { Caret } from "../terminal/screen.ts";
import { joinColumns, type Line, measureLine, type Span, wrapLine } from "../terminal/styled-line.ts";
import { look } from "./look.ts";

export interface PanelSpace {
  readonly width: number;
  /** The maximum number of rows that the panel may have. */
  readonly height: number;
}

export interface PanelView {
  readonly title: string;
  /** A warning that must not be overlooked, shown at the right end of the title. */
  readonly warning?: Line;
  readonly lines: readonly Line[];
  /** The caret's place in the lines. */
  readonly caret?: Caret | undefined;
}

/** Replaces the prompt and receives the keys: a question, a list to choose from, or a text to read. */
export interface Panel {
  /** Returns what the panel shows in the space inside its frame. */
  view(space: PanelSpace): PanelView;
  key(key: Key): void;
  /** Whether the panel accepts a key; false while the user may still be typing something else. */
  acceptsKey?(key: Key): boolean;
}

/** How long a question that has just appeared ignores keys, because they were meant for something else. */
const DEAF_MS = 300;

/** A question that accepts keys only after it has been visible for a while without other typing. */
export abstract class KeyGuard {
  #since: number | null = null;
  #last = "";

  /** Called when the question is drawn. */
  protected startGuard(): void {
    this.#since ??= performance.now();
  }

  acceptsKey({ text }: Key): boolean {
    if (this.#since === null) return false;
    if (performance.now() - this.#since >= DEAF_MS) return true;
    // A user who repeats one key answers the question; other letters are the rest of a sentence.
    if (text !== this.#last) this.#since = performance.now();
    this.#last = text;
    return false;
  }
}

/** Draws a panel below a line as wide as the window. The sides have no frame, so that text can be copied. */
export function framePanel(panel: Panel, { width, height }: PanelSpace): Omit<PanelView, "title"> {
  const space = { width: Math.max(width - 2, 8), height: height - 2 };
  const { title, warning = [], lines, caret } = panel.view(space);
  if (look.isSpoken) {
    const head: Line[] = [[{ text: title }], ...(warning.length > 0 ? [warning] : [])];
    const { row, column } = caret ?? { row: lines.length - 1, column: 0 };
    return { lines: [...head, ...lines], caret: { row: row + head.length, column } };
  }
  const rule: Line = [{ text: "─".repeat(width), style: "accent" }];
  const head = drawTitle(title, warning, width);
  // A warning below the title takes one row from the content.
  const taken = head.length === 1 ? lines : panel.view({ ...space, height: height - 1 - head.length }).lines;
  if (1 + head.length + taken.length + ROOM_FOR_AIR <= height) head.push([]);
  return {
    lines: [rule, ...head, ...taken.map((line) => [EDGE, ...line])],
    caret: caret && { row: caret.row + 1 + head.length, column: caret.column + EDGE.text.length },
  };
}

/** The rows that must be free before a panel gets an empty one below its title. */
const ROOM_FOR_AIR = 2;

const EDGE: Span = { text: " " };

/** In a wider window, a warning at its end would be too far away from the question. */
const WIDEST_TITLE = 120;

/** Puts the warning at the right end of the title if there is room, otherwise on its own line. */
function drawTitle(title: string, warning: Line, width: number): Line[] {
  const head: Line = [EDGE, { text: title, style: "strong" }];
  const gap = Math.min(width, WIDEST_TITLE) - 1 - measureLine(head) - measureLine(warning);
  if (warning.length === 0) return wrapLine(head, width, EDGE.text);
  return gap > 2
    ? [[...head, { text: " ".repeat(gap) }, ...warning]]
    : [...wrapLine(head, width, EDGE.text), ...wrapLine([EDGE, ...warning], width, "   ")];
}

/** Formats a panel's key hints, which are separated by three or more spaces. */
export function drawKeyHints(hints: string, width: number): Line[] {
  const pieces = hints.split(/ {3,}/).map((text): Line => [{ text, style: "dim" }]);
  return joinColumns(pieces, width);
}

/** Lines of which only one page is visible. */
export class Scroll {
  from = 0;
  page = 10;
  #count = 0;

  /** Returns the visible lines. */
  cutToPage(lines: readonly Line[], page: number): readonly Line[] {
    this.#count = lines.length;
    this.page = Math.max(page, 2);
    this.from = Math.max(0, Math.min(this.from, this.#count - this.page));
    return lines.slice(this.from, this.from + this.page);
  }

  /** Which lines are visible, for a text that says so. */
  get place() {
    return { from: this.from + 1, to: Math.min(this.from + this.page, this.#count), all: this.#count };
  }

  /** Scrolls if the key is one for scrolling; returns whether it was. */
  key(name: string, steps: Readonly<Record<string, number>> = {}): boolean {
    const step = { pageup: -this.page, pagedown: this.page, ...steps }[name];
    if (step !== undefined) this.from = Math.max(this.from + step, 0);
    return step !== undefined;
  }
}

interface TextOptions {
  readonly title: string;
  readonly lines: (width: number) => readonly Line[];
  /** Where to start reading: "end" for a log, "top" for a page. */
  readonly from?: "top" | "end";
  readonly close: () => void;
}

/** Shows a long text, one page at a time. */
export function createTextPanel({ title, lines: draw, from = "end", close }: TextOptions): Panel {
  const scroll = new Scroll();
  if (from === "end") scroll.from = Number.MAX_SAFE_INTEGER;
  return {
    view: ({ width, height }) => {
      const lines = draw(width);
      const shown = scroll.cutToPage(lines, height - 1);
      const hint = shown.length < lines.length ? `${say("question.scroll", scroll.place)} · ` : "";
      return { title, lines: [...shown, [{ text: `${hint}${say("panel.close")}`, style: "dim" }]] };
    },
    key: (key) => {
      const command = normalizeCommandKey(key);
      const steps = { up: -1, down: 1, home: -Number.MAX_SAFE_INTEGER, end: Number.MAX_SAFE_INTEGER };
      if (scroll.key(command === " " ? "pagedown" : key.name, steps)) return;
      if (["escape", "ctrl+o", "enter"].includes(key.name) || command === "q") close();
    },
  };
}
