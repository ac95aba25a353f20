import { widthOf } from "../terminal/cell-width.ts";
import type { Key } from "../terminal/keys.ts";
import type { Line } from "../terminal/styled-line.ts";
import { look } from "./look.ts";
import type { Theme } from "./theme.ts";

export interface PanelSpace {
  readonly width: number;
  /** Rows that it may take. */
  readonly height: number;
  readonly theme: Theme;
}

export interface PanelView {
  readonly lines: readonly Line[];
  /** Where words are written in it. */
  readonly caret?: { readonly row: number; readonly column: number };
}

/** What stands in place of the prompt and has the keys: a question, a list to choose from, something to look at. */
export interface Panel {
  view(space: PanelSpace): PanelView;
  /** false when the key means nothing here. */
  key(key: Key): boolean;
}

/** A key that was meant for something else must not answer what has only just come up. */
const DEAF_MS = 300;

/** A question that takes keys only when it has stood for a while. */
export abstract class Standing {
  #since: number | null = null;

  /** It is drawn. */
  protected begin(): void {
    this.#since ??= performance.now();
  }

  /** Whether it has stood long enough for keys to count. */
  get isHeard(): boolean {
    return this.#since !== null && performance.now() - this.#since >= DEAF_MS;
  }
}

/** Rows between two lines, so that it is plain what belongs together; the right side is open, so that nothing is cut. */
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

/** The part of the lines that there is room for, and what to say of the rest. */
export function scrolled(
  lines: readonly Line[],
  from: number,
  most: number,
): { shown: readonly Line[]; from: number } {
  const first = Math.max(0, Math.min(from, lines.length - most));
  return { shown: lines.slice(first, first + most), from: first };
}
