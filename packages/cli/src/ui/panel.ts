import { widthOf } from "../terminal/cell-width.ts";
import type { Key } from "../terminal/keys.ts";
import type { Line } from "../terminal/styled-line.ts";
import { look } from "./look.ts";
import type { Theme } from "./theme.ts";

export interface PanelSpace {
  readonly width: number;
  /** The rows that it may take. */
  readonly height: number;
  readonly theme: Theme;
}

export interface PanelView {
  readonly lines: readonly Line[];
  /** The position of the caret. */
  readonly caret?: { readonly row: number; readonly column: number };
}

/** Replaces the prompt and gets the keys: a question, a list to choose from, something to read. */
export interface Panel {
  view(space: PanelSpace): PanelView;
  /** Returns false when the key has no meaning here. */
  key(key: Key): boolean;
}

/** A key meant for something else must not answer a question that has only just appeared. */
const DEAF_MS = 300;

/** A question that accepts keys only after it has been visible for a while. */
export abstract class Standing {
  #since: number | null = null;

  /** Called when it is drawn. */
  protected begin(): void {
    this.#since ??= performance.now();
  }

  /** Whether it has been visible long enough for keys to count. */
  get isHeard(): boolean {
    return this.#since !== null && performance.now() - this.#since >= DEAF_MS;
  }
}

/** Puts rows between two lines to group them; the right side is open, so that nothing is cut. */
export function framed(title: string, lines: readonly Line[], width: number): Line[] {
  if (look.isSpoken) return [[{ text: title }], ...lines];
  const rule = (left: string, words: string): Line => [
    { text: left, style: "accent" },
    { text: words, style: "strong" },
    { text: "─".repeat(Math.max(Math.min(width, 78) - widthOf(left) - widthOf(words), 0)), style: "accent" },
  ];
  const bar = { text: "│ ", style: "accent" as const };
  return [rule("┌ ", `${title} `), ...lines.map((line): Line => [bar, ...line]), rule("└", "")];
}

/** The lines that fit, and the index of the first of them. */
export function scrolled(
  lines: readonly Line[],
  from: number,
  most: number,
): { shown: readonly Line[]; from: number } {
  const first = Math.max(0, Math.min(from, lines.length - most));
  return { shown: lines.slice(first, first + most), from: first };
}
