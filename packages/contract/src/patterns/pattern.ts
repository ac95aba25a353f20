import type { CharSet } from "./char-set.ts";

/** The meaning of a pattern, independent of its dialect. */
export type Pattern =
  | { readonly kind: "one"; readonly set: CharSet }
  | { readonly kind: "sequence"; readonly parts: readonly Pattern[] }
  | { readonly kind: "choice"; readonly options: readonly Pattern[] }
  | {
      readonly kind: "repeat";
      readonly of: Pattern;
      readonly least: number;
      /** null: no limit. */
      readonly most: number | null;
    }
  | { readonly kind: "assert"; readonly what: Assertion };

export type Assertion = "start" | "end" | "word edge" | "no word edge";

/** A pattern that cannot be used; the message says what is wrong and what to write instead. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** What is wrong with patterns that the work reads, in words; null when nothing is. */
export function patternFault(work: () => unknown): string | null {
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

export function repeat(of: Pattern, least: number, most: number | null): Pattern {
  return { kind: "repeat", of, least, most };
}
