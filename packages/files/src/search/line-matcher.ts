import { Automaton } from "@burin/contract/patterns/automaton";
import type { Pattern } from "@burin/contract/patterns/pattern";
import { findRequiredText } from "@burin/contract/patterns/required-text";

/** The position of a matching line in a text, and where its first match ends. */
export interface LineMatch {
  readonly start: number;
  /** The end of the line, without its line end. */
  readonly end: number;
  readonly matchEnd: number;
}

/** Finds the lines that match, whichever program proposed the file. */
export class LineMatcher {
  readonly #automaton: Automaton;
  readonly #hint: RegExp | null;
  readonly #isAsciiHint: boolean;

  constructor(pattern: Pattern, caseSensitive: boolean, stopAt: number) {
    this.#automaton = new Automaton(pattern, { whole: false, stopAt });
    const text = findRequiredText(pattern, caseSensitive);
    const escaped = text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    this.#hint = text === "" ? null : new RegExp(escaped, caseSensitive ? "g" : "gi");
    this.#isAsciiHint = Buffer.byteLength(text) === text.length;
  }

  /** Returns false when no line of a file with these bytes can match, unless it is UTF-16. */
  mayMatch(bytes: Buffer, length: number): boolean {
    if (this.#hint === null || !this.#isAsciiHint) return true;
    this.#hint.lastIndex = 0;
    return this.#hint.test(bytes.toString("latin1", 0, length));
  }

  /** Returns the first matching line at or after a position that is the start of a line. */
  findNext(text: string, from: number): LineMatch | null {
    let at = from;
    while (at < text.length) {
      const start = this.#hint === null ? at : this.#findHintedLine(this.#hint, text, at);
      if (start === -1) return null;
      const newline = text.indexOf("\n", start);
      const lineEnd = newline === -1 ? text.length : newline;
      const isWindows = newline !== -1 && lineEnd > start && text.charCodeAt(lineEnd - 1) === 0x0d;
      const end = isWindows ? lineEnd - 1 : lineEnd;
      const matchEnd = this.#automaton.findMatchEnd(text, start, end);
      if (matchEnd !== -1) return { start, end, matchEnd };
      at = lineEnd + 1;
    }
    return null;
  }

  /** Returns the start of the next line that contains the text that every match must contain. */
  #findHintedLine(hint: RegExp, text: string, from: number): number {
    hint.lastIndex = from;
    const found = hint.exec(text);
    if (found === null) return -1;
    return found.index === from ? from : text.lastIndexOf("\n", found.index - 1) + 1;
  }
}
