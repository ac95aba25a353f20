import type { Place } from "./place.ts";
import { cut, gapBefore, PLAIN, type Tokens } from "./tokens.ts";

/** A place that has all lines of the old text but for one slip in it. */
export interface NearPlace {
  readonly place: Place;
  /** Whether the slip is of a kind that people make by mistake, and not another thing said on purpose. */
  readonly believable: boolean;
}

interface Line {
  readonly first: number;
  readonly count: number;
  readonly text: string;
}

export function linesOf(tokens: Tokens): Line[] {
  const lines: Line[] = [];
  let first = 0;
  for (let index = 1; index <= tokens.keys.length; index++) {
    if (index < tokens.keys.length && !gapBefore(tokens, index).includes("\n")) continue;
    lines.push({ first, count: index - first, text: tokens.keys.slice(first, index).join("\u0000") });
    first = index;
  }
  return lines;
}

/** So many line comparisons at most; a text that needs more is not searched for slips. */
const MAX_STEPS = 2_000_000;
const MAX_FOUND = 8;
const FEWEST_LINES = 3;
const FEWEST_TOKENS = 6;

export function nearPlaces(file: Tokens, before: Tokens, newText: string): NearPlace[] {
  if (before.keys.length < FEWEST_TOKENS) return [];
  const search = new NearSearch(file, before, cut(newText, PLAIN));
  return search.run();
}

interface Slip {
  /** The line of the file that the old text leaves out. */
  readonly dropped?: number;
  /** The token of the old text that the file spells otherwise. */
  readonly mistyped?: number;
}

interface Walk {
  readonly at: number;
  readonly from: number;
  readonly slip: Slip;
}

class NearSearch {
  readonly #file: Tokens;
  readonly #before: Tokens;
  readonly #after: Tokens;
  readonly #fileLines: Line[];
  readonly #oldLines: Line[];
  readonly #words: ReadonlySet<string>;
  readonly #countOf = new Map<string, number>();
  readonly #numbers = new Map<string, number>();
  /** Equal lines have equal numbers: cheaper to compare by the million. */
  readonly #fileIds: Int32Array;
  readonly #oldIds: Int32Array;
  #steps = 0;

  constructor(file: Tokens, before: Tokens, after: Tokens) {
    this.#file = file;
    this.#before = before;
    this.#after = after;
    this.#fileLines = linesOf(file);
    this.#oldLines = linesOf(before);
    this.#words = new Set(file.keys);
    for (const { text } of this.#fileLines) this.#countOf.set(text, (this.#countOf.get(text) ?? 0) + 1);
    this.#fileIds = this.#numbered(this.#fileLines);
    this.#oldIds = this.#numbered(this.#oldLines);
  }

  #numbered(lines: readonly Line[]): Int32Array {
    return Int32Array.from(lines, ({ text }) => {
      const known = this.#numbers.get(text);
      if (known === undefined) this.#numbers.set(text, this.#numbers.size);
      return known ?? this.#numbers.size - 1;
    });
  }

  run(): NearPlace[] {
    const found: NearPlace[] = [];
    for (let start = 0; start < this.#fileLines.length; start++) {
      found.push(...this.#follow({ at: 0, from: start, slip: {} }));
      if (found.length > MAX_FOUND || this.#steps > MAX_STEPS) return [];
    }
    const complete = found.some(({ place, believable }) => believable && !place.slips.has("mistyped word"));
    return complete ? found.filter(({ believable }) => believable) : found;
  }

  /** Goes along both texts line by line; at a difference it tries each slip that was not used yet. */
  #follow({ at, from, slip }: Walk): NearPlace[] {
    const skipped = slip.dropped === undefined ? 0 : 1;
    let line = at;
    const [oldIds, fileIds] = [this.#oldIds, this.#fileIds];
    while (line < oldIds.length && oldIds[line] === fileIds[from + line + skipped]) line++;
    this.#steps += 1 + line - at;
    if (line === this.#oldLines.length) return [this.#accept(from, slip)].flatMap((place) => place ?? []);
    const [own, other] = [this.#oldLines[line], this.#fileLines[from + line + skipped]];
    if (own === undefined || other === undefined) return [];
    const found: NearPlace[] = [];
    const mistyped = slip.mistyped === undefined ? this.#oneWordOff(own, other) : undefined;
    if (mistyped !== undefined)
      found.push(...this.#follow({ at: line + 1, from, slip: { ...slip, mistyped } }));
    if (slip.dropped === undefined && line > 0 && line < this.#oldLines.length) {
      const dropped = from + line;
      if (fileIds[dropped + 1] === oldIds[line]) {
        found.push(...this.#follow({ at: line, from, slip: { ...slip, dropped } }));
      }
    }
    return found;
  }

  #oneWordOff(own: Line, other: Line): number | undefined {
    if (own.count !== other.count) return undefined;
    let off: number | undefined;
    for (let index = 0; index < own.count; index++) {
      if (this.#before.keys[own.first + index] === this.#file.keys[other.first + index]) continue;
      if (off !== undefined) return undefined;
      off = own.first + index;
    }
    return off;
  }

  #accept(from: number, slip: Slip): NearPlace | undefined {
    if (slip.dropped === undefined && slip.mistyped === undefined) return undefined;
    const starts: number[] = [];
    const ends: number[] = [];
    this.#oldLines.forEach((line, index) => {
      const shift = slip.dropped !== undefined && from + index >= slip.dropped ? 1 : 0;
      const first = this.#fileLines[from + index + shift]?.first ?? 0;
      for (let step = 0; step < line.count; step++) {
        starts.push(this.#file.starts[first + step] ?? 0);
        ends.push(this.#file.ends[first + step] ?? 0);
      }
    });
    const slips = new Set<string>();
    if (slip.dropped !== undefined) slips.add("dropped line");
    if (slip.mistyped !== undefined) slips.add("mistyped word");
    const believable =
      this.#mayBeDropped(slip.dropped, from) && this.#mayBeMistyped(slip.mistyped, starts, ends);
    return { place: { starts, ends, slips }, believable };
  }

  #mayBeDropped(dropped: number | undefined, from: number): boolean {
    if (dropped === undefined) return true;
    const [line, previous] = [this.#fileLines[dropped], this.#fileLines[dropped - 1]];
    if (this.#oldLines.length < FEWEST_LINES || line?.text === previous?.text) return false;
    if (this.#isRestored(dropped)) return true;
    return !this.#setsApart(line) && this.#isSure(dropped - from);
  }

  /** A line that more places have may be what tells this one from its like: a text without it may mean another. */
  #setsApart(line: Line | undefined): boolean {
    return line !== undefined && WORD.test(line.text) && this.#countOf.get(line.text) !== 1;
  }

  /**
   * The place may be another one much like it. Both sides of the gap must be telling, or else most of what the old
   * text says must be found nowhere else.
   */
  #isSure(above: number): boolean {
    const isUnique = ({ text }: Line) => this.#countOf.get(text) === 1;
    const sides = [this.#oldLines.slice(0, above), this.#oldLines.slice(above)];
    if (sides.every((side) => side.some(isUnique))) return true;
    const worded = this.#oldLines.filter(({ text }) => WORD.test(text));
    return worded.length > 0 && worded.filter(isUnique).length * 2 > worded.length;
  }

  /** Whether the new text has the dropped line. */
  #isRestored(dropped: number): boolean {
    const line = this.#fileLines[dropped]?.text ?? "";
    return linesOf(this.#after).some(({ text }) => text === line);
  }

  #mayBeMistyped(token: number | undefined, starts: ArrayLike<number>, ends: ArrayLike<number>): boolean {
    if (token === undefined) return true;
    const typed = this.#before.keys[token] ?? "";
    const meant = this.#file.text.slice(starts[token], ends[token]);
    const newWords = new Set(this.#after.keys);
    if (this.#words.has(typed)) return false;
    return newWords.has(meant) && !newWords.has(typed) ? isSlipOf(typed, meant) : isPlainSlipOf(typed, meant);
  }
}

const WORD = /[\p{L}\p{N}]{2}/u;
const LETTERS = /^\p{L}+$/u;

/** A slip within a word of which the new text shows the right spelling. */
function isSlipOf(typed: string, meant: string): boolean {
  return (
    Math.min(typed.length, meant.length) >= 3 && editsBetween(typed, meant) <= (meant.length > 7 ? 2 : 1)
  );
}

/**
 * Without that witness only what hardly ever makes another word: two letters swapped, or one letter too many,
 * too few or wrong inside a longer word. `left2`, `items` and `Item` are other words, not slips.
 */
function isPlainSlipOf(typed: string, meant: string): boolean {
  if (typed.length < 4 || meant.length < 4 || typed.toLowerCase() === meant.toLowerCase()) return false;
  if (editsBetween(typed, meant) !== 1) return false;
  let head = 0;
  while (typed[head] === meant[head]) head++;
  let tail = 0;
  while (typed[typed.length - 1 - tail] === meant[meant.length - 1 - tail]) tail++;
  const changed = typed.slice(head, typed.length - tail) + meant.slice(head, meant.length - tail);
  const swapped = typed.length === meant.length && changed.length > 2;
  return LETTERS.test(changed || (typed[head] ?? "")) && (swapped || (head > 0 && tail > 0));
}

/** Letters put in, left out, exchanged, or swapped with their neighbour. */
function editsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2 || a.length > 200) return Number.POSITIVE_INFINITY;
  let above: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const exchanged = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(exchanged, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (above[j - 2] ?? 0) + 1);
      }
      next.push(least);
    }
    above = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
