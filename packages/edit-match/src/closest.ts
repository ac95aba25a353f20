import { findLineNumber, type TextRange } from "./windows.ts";

/** The part of the file that is most like the old text, for reporting a failed edit. */
export interface ClosestRegion {
  readonly startLine: number;
  readonly endLine: number;
  /** The first lines that differ. A side is absent if only the other one has the line. */
  readonly differences: readonly { readonly line: number; readonly given?: string; readonly file?: string }[];
}

const MAX_DIFFERENCES = 6;
const MAX_LINES = 20_000;
const MAX_COMPARED = 200;
/** A word that is in more lines of the old text than this says too little. */
const MAX_REPEATS = 5;

export function findClosestRegion(
  content: string,
  oldText: string,
  stretches: readonly TextRange[],
): ClosestRegion | undefined {
  const wanted = numberLines(oldText, 1);
  const there = stretches
    .flatMap(({ start, end }) => {
      const from = content.lastIndexOf("\n", start - 1) + 1;
      return numberLines(content.slice(from, end), findLineNumber(content, from));
    })
    .slice(0, MAX_LINES);
  const start = guessStart(wanted, there);
  if (start === undefined) return undefined;
  const region = there.slice(Math.max(0, start), start + wanted.length);
  const endLine = region.at(-1)?.number ?? 1;
  const differences = wanted.flatMap(({ text: given }, index) => {
    const own = there[start + index];
    if (own?.text === given) return [];
    return [{ line: own?.number ?? endLine, given, ...(own && { file: own.text }) }];
  });
  return { startLine: region[0]?.number ?? 1, endLine, differences: differences.slice(0, MAX_DIFFERENCES) };
}

type NumberedLine = ReturnType<typeof numberLines>[number];

function numberLines(text: string, first: number) {
  return text.split("\n").flatMap((line, at) => {
    const trimmed = line.trim();
    return trimmed === "" ? [] : [{ number: first + at, text: trimmed }];
  });
}

/** Finds the most likely first line. Each word that both texts have suggests one; longer words count more. */
function guessStart(wanted: readonly NumberedLine[], there: readonly NumberedLine[]): number | undefined {
  const known = new Map<string, number[]>();
  for (const [word, index] of listWords(wanted.slice(0, MAX_COMPARED))) {
    known.set(word, [...(known.get(word) ?? []), index].slice(0, MAX_REPEATS + 1));
  }
  const votes = new Map<number, number>();
  let [best, max] = [undefined as number | undefined, 0];
  for (const [word, index] of listWords(there)) {
    const lines = known.get(word) ?? [];
    for (const own of lines.length > MAX_REPEATS ? [] : lines) {
      const sum = (votes.get(index - own) ?? 0) + word.length;
      votes.set(index - own, sum);
      if (sum > max) [best, max] = [index - own, sum];
    }
  }
  return best;
}

/** Yields the words of each line, and the line itself, which counts as much as all of them. */
function* listWords(lines: readonly NumberedLine[]): Generator<[word: string, index: number]> {
  for (const [index, { text }] of lines.entries()) {
    for (const word of new Set([text, ...(text.slice(0, 500).match(/\w+/g) ?? [])])) yield [word, index];
  }
}
