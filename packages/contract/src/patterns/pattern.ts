import type { CharSet } from "./char-set.ts";

/** What a pattern means, independent of its dialect. */
export type Pattern =
  | { readonly kind: "one"; readonly set: CharSet }
  | { readonly kind: "sequence"; readonly parts: readonly Pattern[] }
  | { readonly kind: "choice"; readonly options: readonly Pattern[] }
  | {
      readonly kind: "repeat";
      readonly of: Pattern;
      readonly min: number;
      /** null means no limit. */
      readonly max: number | null;
    }
  | { readonly kind: "assert"; readonly what: Assertion };

export type Assertion = "start" | "end" | "word edge" | "no word edge";

/** A pattern that cannot be used. The message says what is wrong and what to write instead. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** Runs `work` and returns what is wrong with a pattern in it, as a sentence, or null. */
export function findPatternFault(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

export const EMPTY: Pattern = { kind: "sequence", parts: [] };

export function one(set: CharSet): Pattern {
  return { kind: "one", set };
}

export function sequence(parts: readonly Pattern[]): Pattern {
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "sequence", parts };
}

export function choice(options: readonly Pattern[]): Pattern {
  return options.length === 1 && options[0] !== undefined ? options[0] : { kind: "choice", options };
}

export function repeat(of: Pattern, min: number, max: number | null): Pattern {
  return { kind: "repeat", of, min, max };
}

/** The text of a pattern, for a parser that reads it character by character. */
export class PatternText {
  readonly points: readonly string[];
  at = 0;

  constructor(text: string) {
    this.points = [...text];
  }

  peek(): string | undefined {
    return this.points[this.at];
  }

  /** Returns the next character and moves past it; an empty string at the end. */
  next(): string {
    const character = this.peek() ?? "";
    this.at += 1;
    return character;
  }

  /** Moves past the character if it is the next one. */
  takeIf(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }

  /** Moves past the hyphen of a range in brackets. Before the closing bracket, a hyphen is a plain character. */
  takeRangeSign(): boolean {
    const following = this.points[this.at + 1];
    return following !== "]" && following !== undefined && this.takeIf("-");
  }

  /** Matches the expression at the current position, moves past the match and returns it. */
  takeMatch(expression: RegExp, maxCharacters = 24): RegExpExecArray | null {
    const found = expression.exec(this.peekText(maxCharacters));
    this.at += found?.[0].length ?? 0;
    return found;
  }

  peekText(maxCharacters: number): string {
    return this.points.slice(this.at, this.at + maxCharacters).join("");
  }
}
