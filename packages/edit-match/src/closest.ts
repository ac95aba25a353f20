import { lineOf, type Stretch } from "./windows.ts";

/** The part of the file most like the old text, for the answer to a failed edit. */
export interface ClosestRegion {
  readonly startLine: number;
  readonly endLine: number;
  /** The first lines that differ; a side is absent if only the other has the line. */
  readonly differences: readonly { readonly line: number; readonly given?: string; readonly file?: string }[];
}

const MOST_DIFFERENCES = 6;
const MOST_LINES = 20_000;
const MOST_COMPARED = 200;
/** A word that the old text has in more lines says too little. */
const MOST_TWINS = 5;

export function closestRegion(
  content: string,
  oldText: string,
  stretches: readonly Stretch[],
): ClosestRegion | undefined {
  const wanted = filled(oldText, 1);
  const there = stretches
    .flatMap(({ start, end }) => {
      const from = content.lastIndexOf("\n", start - 1) + 1;
      return filled(content.slice(from, end), lineOf(content, from));
    })
    .slice(0, MOST_LINES);
  const start = likeliestStart(wanted, there);
  if (start === undefined) return undefined;
  const region = there.slice(Math.max(0, start), start + wanted.length);
  const endLine = region.at(-1)?.number ?? 1;
  const differences = wanted.flatMap(({ text: given }, index) => {
    const own = there[start + index];
    if (own?.text === given) return [];
    return [{ line: own?.number ?? endLine, given, ...(own && { file: own.text }) }];
  });
  return { startLine: region[0]?.number ?? 1, endLine, differences: differences.slice(0, MOST_DIFFERENCES) };
}

type NumberedLine = ReturnType<typeof filled>[number];

function filled(text: string, first: number) {
  return text.split("\n").flatMap((line, at) => {
    const trimmed = line.trim();
    return trimmed === "" ? [] : [{ number: first + at, text: trimmed }];
  });
}

/** Each word that both have suggests where the old text would begin, the more the longer it is. */
function likeliestStart(wanted: readonly NumberedLine[], there: readonly NumberedLine[]): number | undefined {
  const known = new Map<string, number[]>();
  for (const [word, index] of wordsIn(wanted.slice(0, MOST_COMPARED))) {
    known.set(word, [...(known.get(word) ?? []), index].slice(0, MOST_TWINS + 1));
  }
  const votes = new Map<number, number>();
  let [best, most] = [undefined as number | undefined, 0];
  for (const [word, index] of wordsIn(there)) {
    const lines = known.get(word) ?? [];
    for (const own of lines.length > MOST_TWINS ? [] : lines) {
      const sum = (votes.get(index - own) ?? 0) + word.length;
      votes.set(index - own, sum);
      if (sum > most) [best, most] = [index - own, sum];
    }
  }
  return best;
}

/** The words of each line, and the line itself, which says as much as all of them. */
function* wordsIn(lines: readonly NumberedLine[]): Generator<[word: string, index: number]> {
  for (const [index, { text }] of lines.entries()) {
    for (const word of new Set([text, ...(text.slice(0, 500).match(/\w+/g) ?? [])])) yield [word, index];
  }
}
