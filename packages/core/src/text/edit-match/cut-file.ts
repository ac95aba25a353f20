import type { Tokens } from "./tokens.ts";

/** One way to cut a text into tokens. */
export type Cut = (text: string) => Tokens;

/** Of a larger file only what is around a rare word of the old text is cut: memory and time stay bounded. */
const LARGE_CHARACTERS = 2_000_000;
const MOST_CUT_CHARACTERS = 1_000_000;
const MOST_SEATS = 300;
const LEAST_REACH = 4_000;

const ASCII_WORD = /^[A-Za-z0-9_$]+$/;
const WORDS_TRIED = 8;
const WHOLE = "";

/** The content, cut in each way at most once, and only where there is something to be found in it. */
export class CutFile {
  readonly isLarge: boolean;
  readonly content: string;
  readonly #cuts = new Map<Cut, Map<string, Tokens>>();

  constructor(content: string) {
    this.content = content;
    this.isLarge = content.length > LARGE_CHARACTERS;
  }

  /** At least every place that has all tokens of a text; undefined when there is none, or too much to look at. */
  around(by: Cut, text: Tokens): Tokens | undefined {
    const words = longestWords(text);
    if (!words.every((word) => this.content.includes(word))) return undefined;
    return this.#cutAround(by, text, words);
  }

  /** Where a text may be most alike. */
  alike(by: Cut, text: Tokens): Tokens | undefined {
    return this.#cutAround(by, text, longestWords(text));
  }

  #cutAround(by: Cut, text: Tokens, words: readonly string[]): Tokens | undefined {
    if (!this.isLarge) return this.#cached(by, WHOLE, () => by(this.content));
    const rarest = this.#rarestOf(words);
    if (rarest === undefined) return undefined;
    const spans = this.#spansAround(rarest.seats, LEAST_REACH + 3 * text.text.length);
    const characters = spans.reduce((sum, { from, to }) => sum + to - from, 0);
    if (characters > MOST_CUT_CHARACTERS) return undefined;
    return this.#cached(by, rarest.word, () => joined(this.content, spans, by));
  }

  #cached(by: Cut, word: string, make: () => Tokens): Tokens {
    const known = this.#cuts.get(by) ?? new Map<string, Tokens>();
    const tokens = known.get(word) ?? make();
    this.#cuts.set(by, known.set(word, tokens));
    return tokens;
  }

  #rarestOf(words: readonly string[]): { word: string; seats: readonly number[] } | undefined {
    const all = words.map((word) => ({ word, seats: seatsOf(this.content, word) }));
    const few = all.filter(({ seats }) => seats.length > 0 && seats.length < MOST_SEATS);
    return few.sort((a, b) => a.seats.length - b.seats.length)[0];
  }

  /** Whole lines around the seats; those that touch are one. */
  #spansAround(seats: readonly number[], reach: number): Span[] {
    const spans: Span[] = [];
    for (const seat of seats) {
      const from = this.content.lastIndexOf("\n", Math.max(0, seat - reach)) + 1;
      const end = this.content.indexOf("\n", seat + reach);
      const to = end === -1 ? this.content.length : end;
      const last = spans[spans.length - 1];
      if (last !== undefined && from <= last.to) spans[spans.length - 1] = { from: last.from, to };
      else spans.push({ from, to });
    }
    return spans;
  }
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function longestWords({ keys }: Tokens): string[] {
  const words = [...new Set(keys)].filter((key) => ASCII_WORD.test(key));
  return words.sort((a, b) => b.length - a.length).slice(0, WORDS_TRIED);
}

function seatsOf(content: string, word: string): number[] {
  const seats: number[] = [];
  for (let at = content.indexOf(word); at >= 0; at = content.indexOf(word, at + 1)) {
    const isPart =
      ASCII_WORD.test(content[at - 1] ?? " ") || ASCII_WORD.test(content[at + word.length] ?? " ");
    if (!isPart && seats.push(at) >= MOST_SEATS) break;
  }
  return seats;
}

/** The tokens of all spans, with one between them that nothing is equal to. */
function joined(content: string, spans: readonly Span[], by: Cut): Tokens {
  const [starts, ends, keys]: [number[], number[], string[]] = [[], [], []];
  for (const { from, to } of spans) {
    const part = by(content.slice(from, to));
    starts.push(from);
    ends.push(from);
    keys.push("");
    part.keys.forEach((key, index) => {
      starts.push(from + (part.starts[index] ?? 0));
      ends.push(from + (part.ends[index] ?? 0));
      keys.push(key);
    });
  }
  return { text: content, starts: Int32Array.from(starts), ends: Int32Array.from(ends), keys };
}
