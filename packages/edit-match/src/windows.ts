import { type FoldDepth, FoldedText, findPositions, type Units } from "./fold.ts";

/** A range of the file. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

export function areAdjacent(one: TextRange, other: TextRange): boolean {
  return one.start <= other.end && other.start <= one.end;
}

const WORD = /[A-Za-z0-9_]{3,}/g;
const MAX_WORDS = 24;
export const MAX_WORD_LENGTH = 32;
/** A word that occurs more often than this says too little. */
const MAX_TWINS = 40;
const ANCHORS = 2;

/** A file together with search results that several readings share. */
export class SearchedFile {
  readonly content: string;
  readonly #known = new Map<string, readonly number[]>();
  readonly #folded = new Map<string, FoldedText>();

  constructor(content: string) {
    this.content = content;
  }

  fold({ start, end }: TextRange, depth: FoldDepth): FoldedText {
    const key = `${start} ${end} ${depth}`;
    const folded = this.#folded.get(key) ?? new FoldedText(this.content.slice(start, end), depth);
    this.#folded.set(key, folded);
    return folded;
  }

  /**
   * Returns the parts of the file where the text can be: around its rarest words, taken from different lines because
   * one may be mistyped. Returns the whole file if its words are everywhere or if there are none. With `mustShareWords`,
   * returns only the surroundings of words that exist, to show the most similar text.
   */
  findMatchingFileRegions(text: string, mustShareWords = false): readonly TextRange[] {
    const { content } = this;
    const anchors = this.#findAnchors(text, mustShareWords ? 1 : 0);
    const whole = [{ start: 0, end: content.length }];
    if (anchors === undefined) return whole;
    const stretches = anchors.flatMap(({ at, places }) =>
      places.map((place) => ({
        start: Math.max(0, place - 4 * at - 2000),
        end: Math.min(content.length, place + 4 * (text.length - at) + 2000),
      })),
    );
    const joined = joinRanges(stretches);
    const size = joined.reduce((sum, { start, end }) => sum + end - start, 0);
    return size * 2 > content.length ? whole : joined;
  }

  /** Returns the rarest words of the text; undefined if there are too few words. */
  #findAnchors(text: string, min: number) {
    const words = [...text.slice(0, 100_000).matchAll(WORD)].filter(({ 0: word, index }) => {
      const [before, after] = [text.charCodeAt(index - 1), text.charCodeAt(index + word.length)];
      return !(before >= 0x80 || after >= 0x80 || before === 0x5c);
    });
    words.sort((one, other) => other[0].length - one[0].length);
    const found: { at: number; line: number; places: readonly number[] }[] = [];
    let tried = 0;
    for (const { 0: word, index } of words) {
      if (found.length === ANCHORS || tried === MAX_WORDS) break;
      const line = findLineNumber(text, index);
      if (found.some((anchor) => anchor.line === line) && text.trim().includes("\n")) continue;
      tried += 1;
      const part = word.slice(0, MAX_WORD_LENGTH);
      const places = this.#known.get(part) ?? findOccurrences(this.content, part, MAX_TWINS + 1);
      this.#known.set(part, places);
      if (places.length >= min && places.length <= MAX_TWINS) found.push({ at: index, line, places });
    }
    return found.length === 0 ? undefined : found;
  }
}

function joinRanges(stretches: TextRange[]): TextRange[] {
  const joined: TextRange[] = [];
  for (const { start, end } of stretches.sort((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last === undefined || start > last.end) joined.push({ start, end });
    else joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, end) };
  }
  return joined;
}

/** Returns the number of the line that contains `at`, counted from 1. */
export function findLineNumber(text: string, at: number): number {
  let line = 1;
  for (let feed = text.indexOf("\n"); feed >= 0 && feed < at; feed = text.indexOf("\n", feed + 1)) line += 1;
  return line;
}

/** Finds where the part begins in the text, at most `maxCount` times, including overlaps. */
export function findOccurrences(text: string, part: string, maxCount = Number.POSITIVE_INFINITY): number[] {
  // The engine's own search is slow for a part that repeats itself: it takes the part's length for each place.
  if (part.length >= 2000) return findPositions(toCodeUnits(part), toCodeUnits(text), maxCount);
  const starts: number[] = [];
  for (let at = text.indexOf(part); at >= 0 && starts.length < maxCount; at = text.indexOf(part, at + 1))
    starts.push(at);
  return starts;
}

function toCodeUnits(text: string): Units {
  const codes = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at += 1) codes[at] = text.charCodeAt(at);
  return { codes, length: text.length };
}
