import { measureGrapheme, measureWidth, splitGraphemes } from "./cell-width.ts";
import { escapeKeepingJoiners } from "./joined-text.ts";

/** The styles of text, and what they look like in the user's sixteen colours. A theme may define others. */
export const LOOKS = {
  strong: "bold",
  emphasis: "italic",
  dim: "dim",
  heading: "bold underline",
  code: "cyan",
  link: "underline",
  user: "bold",
  good: "green",
  bad: "red",
  warning: "yellow",
  accent: "cyan",
  shell: "magenta",
  added: "green",
  removed: "red",
  addedWord: "green reverse",
  removedWord: "red reverse",
  comment: "dim",
  string: "green",
  keyword: "magenta",
  number: "yellow",
  chosen: "reverse",
  addedLine: "",
  removedLine: "",
  addedPart: "",
  removedPart: "",
};

export type Style = keyof typeof LOOKS;

/** How a text belongs to a change. It is tinted if the theme has tints; otherwise it gets a style. */
export type Back = "added" | "removed" | "addedWord" | "removedWord";

export interface Span {
  readonly text: string;
  readonly style?: Style | undefined;
  readonly back?: Back | undefined;
}

/** A line of the screen, or a longer one that still has to be wrapped. Its texts have no control characters. */
export type Line = readonly Span[];

/** Turns text from outside into a span that is safe for the terminal. */
export function createSpan(text: string, style?: Style): Span {
  return { text: formatText(text), style };
}

/** Makes text from outside safe to show, as a plain string, for texts that are examined first. */
export function formatText(text: string): string {
  const shown = escapeKeepingJoiners(text);
  return /[\t\n]/.test(shown) ? shown.replace(/\t/g, "    ").replace(/\n/g, " ") : shown;
}

/** Splits a text from outside into lines that are safe to show. */
export function splitLines(text: string, style?: Style): Line[] {
  return text
    .replace(/\r\n/g, "\n")
    .split("\n")
    .map((line) => [createSpan(line, style)]);
}

/** Returns the line's text without trailing spaces, which are invisible. */
export function joinSpans(line: Line): string {
  return line.reduce((all, { text }) => all + text, "").trimEnd();
}

export function measureLine(line: Line): number {
  let width = 0;
  for (const { text } of line) width += measureWidth(text);
  return width;
}

/** Cuts a line to the given width, and marks the cut. */
export function cutLine(line: Line, width: number): Line {
  if (measureLine(line) <= width) return line;
  const kept: Span[] = [];
  let left = width - 1;
  for (const { text, style, back } of line) {
    let end = "";
    for (const grapheme of splitGraphemes(text)) {
      const cells = measureGrapheme(grapheme);
      if (cells > left) return width < 1 ? [] : [...kept, { text: `${end}…`, style, back }];
      left -= cells;
      end += grapheme;
    }
    kept.push({ text: end, style, back });
  }
  return kept;
}

/** Characters that stay together unless they are wider than a line. */
interface Word {
  readonly spans: Span[];
  width: number;
  readonly isBlank: boolean;
}

/** Splits a line into rows of at most `width` cells, at spaces if possible. Further rows start with `hang`. */
export function wrapLine(line: Line, width: number, hang = ""): Line[] {
  if (measureLine(line) <= width) return [line];
  const first = measureWidth(hang) * 2 > width ? 0 : measureWidth(hang);
  const rows: Span[][] = [[]];
  let used = 0;
  const beginRow = (): void => {
    rows.push(first === 0 ? [] : [{ text: hang }]);
    used = first;
  };
  const appendSpans = (spans: readonly Span[], cells: number): void => {
    rows.at(-1)?.push(...spans);
    used += cells;
  };
  for (const { spans, width: cells, isBlank } of splitWords(line)) {
    if (used + cells <= width) appendSpans(spans, cells);
    else if (isBlank) beginRow();
    else if (cells <= width - first) {
      beginRow();
      appendSpans(spans, cells);
    } else {
      for (const one of spans.flatMap(splitSpan)) {
        const cell = measureGrapheme(one.text);
        if (used + cell > width && used > first) beginRow();
        appendSpans([one], cell);
      }
    }
  }
  return rows.map(mergeSpans);
}

/** Fits the rows of a table to the terminal. What does not fit continues below, in the last column if possible. */
export function fitRows(rows: readonly string[], isTerminal: boolean): readonly string[] {
  const width = isTerminal ? process.stdout.columns : 0;
  if (!width) return rows;
  return rows.flatMap((text) => {
    const column = /^(?:.*\S)? {2,}/.exec(text)?.[0].length ?? 0;
    const hang = column * 2 > width ? text.search(/\S/) + 4 : column;
    const fitted = wrapLine([{ text }], width, " ".repeat(hang));
    return fitted.map(joinSpans);
  });
}

/** Puts the pieces into as few rows as possible. A piece that needs several rows does not share them. */
export function joinColumns(pieces: readonly Line[], width: number): Line[] {
  const rows: Line[] = [];
  let isWide = false;
  for (const piece of pieces) {
    const row = isWide ? undefined : rows.at(-1);
    isWide = measureLine(piece) > width;
    const longer: Line = [...(row ?? []), { text: "   " }, ...piece];
    if (row !== undefined && measureLine(longer) <= width) rows[rows.length - 1] = longer;
    else rows.push(...wrapLine(piece, width, "  "));
  }
  return rows;
}

function splitSpan({ text, ...look }: Span): Span[] {
  return splitGraphemes(text).map((grapheme) => ({ text: grapheme, ...look }));
}

const PIECE = / +|[^ ]+/g;

function splitWords(line: Line): Word[] {
  const words: Word[] = [];
  const addPiece = (text: string, look: Omit<Span, "text">, isApart: boolean): void => {
    const isBlank = text.startsWith(" ");
    const last = words.at(-1);
    const width = measureWidth(text);
    if (last === undefined || last.isBlank || isBlank || isApart)
      words.push({ spans: [{ text, ...look }], width, isBlank });
    else {
      last.spans.push({ text, ...look });
      last.width += width;
    }
  };
  for (const { text, ...look } of line) {
    for (const [piece] of text.matchAll(PIECE)) {
      // Scripts without spaces may be split after any character.
      if (measureWidth(piece) === piece.length) addPiece(piece, look, false);
      else
        for (const grapheme of splitGraphemes(piece))
          addPiece(grapheme, look, measureGrapheme(grapheme) === 2);
    }
  }
  return words;
}

/** Joins neighbouring spans with the same style. */
function mergeSpans(row: readonly Span[]): Line {
  const spans: (Omit<Span, "text"> & { text: string })[] = [];
  for (const { text, ...look } of row) {
    const last = spans.at(-1);
    if (last && last.style === look.style && last.back === look.back) last.text += text;
    else spans.push({ text, ...look });
  }
  return spans;
}
