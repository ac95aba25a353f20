import type { Tokens } from "./tokens.ts";

/** One way to cut a text into tokens. */
export type Cut = (text: string) => Tokens;

const ASCII_WORD = /^[A-Za-z0-9_$]+$/;
const WORDS_TRIED = 8;

/** The content, cut in each way at most once, and only when there is something to be found in it. */
export class CutFile {
  readonly #content: string;
  readonly #cuts = new Map<Cut, Tokens>();

  constructor(content: string) {
    this.#content = content;
  }

  cutBy(by: Cut): Tokens {
    const tokens = this.#cuts.get(by) ?? by(this.#content);
    this.#cuts.set(by, tokens);
    return tokens;
  }

  /** Whether the longest words of a text are there, as they are in every place that has all of its tokens. */
  mayHold({ keys }: Tokens): boolean {
    const words = [...new Set(keys)].filter((key) => ASCII_WORD.test(key));
    const longest = words.sort((a, b) => b.length - a.length).slice(0, WORDS_TRIED);
    return longest.every((word) => this.#content.includes(word));
  }
}
