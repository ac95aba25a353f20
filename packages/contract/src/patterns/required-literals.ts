import { type CharSet, rangesOf, sizeOf } from "./char-set.ts";
import type { Pattern } from "./pattern.ts";

interface Known {
  /** All texts that the pattern can match, if there are few. */
  readonly exact: readonly string[] | null;
  /** Every match contains one of these. */
  readonly required: readonly string[] | null;
}

const MOST_TEXTS = 24;
const NOTHING_KNOWN: Known = { exact: null, required: null };

/**
 * Texts of which every match contains at least one, for a quick first check; null when nothing is certain. With
 * `ignoreCase` they are in lower case and stand for every spelling in ASCII letters.
 */
export function requiredLiterals(pattern: Pattern, caseSensitive: boolean) {
  const known = knownOf(pattern, !caseSensitive);
  const texts = better(known.exact, known.required);
  return texts === null || shortest(texts) === 0 ? null : { texts, ignoreCase: !caseSensitive };
}

function knownOf(pattern: Pattern, ignoreCase: boolean): Known {
  switch (pattern.kind) {
    case "one":
      return { exact: charactersOf(pattern.set, ignoreCase), required: null };
    case "assert":
      return { exact: [""], required: null };
    case "sequence":
      return ofSequence(pattern.parts.map((part) => knownOf(part, ignoreCase)));
    case "choice":
      return ofChoice(pattern.options.map((option) => knownOf(option, ignoreCase)));
    case "repeat": {
      if (pattern.least === 0) return NOTHING_KNOWN;
      const once = knownOf(pattern.of, ignoreCase);
      const isExact = pattern.least === 1 && pattern.most === 1;
      return isExact ? once : { exact: null, required: better(once.exact, once.required) };
    }
  }
}

function charactersOf(set: CharSet, ignoreCase: boolean): string[] | null {
  if (sizeOf(set) > 8) return null;
  const texts = new Set<string>();
  for (const [first, last] of rangesOf(set)) {
    for (let point = first; point <= last; point += 1) {
      const text = foldedText(point, ignoreCase);
      if (text === null) return null;
      texts.add(text);
    }
  }
  return [...texts];
}

/** Outside ASCII only characters without case are certain. */
function foldedText(point: number, ignoreCase: boolean): string | null {
  const text = String.fromCodePoint(point);
  if (!ignoreCase) return text;
  if (point >= 0x80) return text.toLowerCase() === text && text.toUpperCase() === text ? text : null;
  return text.toLowerCase();
}

function ofSequence(parts: readonly Known[]): Known {
  let run: readonly string[] = [""];
  let best: readonly string[] | null = null;
  let isExact = true;
  for (const part of parts) {
    const longer: string[] | null =
      part.exact === null || run.length * part.exact.length > MOST_TEXTS
        ? null
        : run.flatMap((head) => (part.exact ?? []).map((tail) => head + tail));
    if (longer !== null) {
      run = longer;
      continue;
    }
    isExact = false;
    best = better(better(best, run), part.required);
    run = part.exact ?? [""];
  }
  return isExact ? { exact: run, required: best } : { exact: null, required: better(best, run) };
}

function ofChoice(options: readonly Known[]): Known {
  const exact = unionOf(options.map((option) => option.exact));
  if (exact !== null && exact.length <= MOST_TEXTS) return { exact, required: null };
  const required = unionOf(options.map((option) => better(option.exact, option.required)));
  return { exact: null, required: required !== null && required.length <= MOST_TEXTS ? required : null };
}

/** The texts of all, each once; null when one of them is not known. */
function unionOf(lists: readonly Known["exact"][]): string[] | null {
  return lists.includes(null) ? null : [...new Set(lists.flatMap((texts) => texts ?? []))];
}

/** The more selective of the two. */
function better(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null || b === null) return a ?? b;
  return shortest(b) > shortest(a) ? b : a;
}

function shortest(texts: readonly string[]): number {
  return Math.min(...texts.map((text) => text.length));
}
