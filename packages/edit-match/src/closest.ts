import { lineOf, type Stretch } from "./windows.ts";

/** The part of the file most like the old text, for the answer to a failed edit. */
export interface ClosestRegion {
  readonly startLine: number;
  readonly endLine: number;
  /** The first lines that differ; a side is absent if only the other has the line. */
  readonly differences: readonly LineDifference[];
}

interface LineDifference {
  readonly line: number;
  readonly given?: string;
  readonly file?: string;
}

interface NumberedLine {
  readonly number: number;
  readonly text: string;
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
  const differences: LineDifference[] = [];
  for (const [index, { text: given }] of wanted.entries()) {
    const own = there[start + index];
    if (own?.text === given || differences.length === MOST_DIFFERENCES) continue;
    const line = own?.number ?? region.at(-1)?.number ?? 1;
    differences.push({ line, given, ...(own === undefined ? {} : { file: own.text }) });
  }
  return { startLine: region[0]?.number ?? 1, endLine: region.at(-1)?.number ?? 1, differences };
}

function filled(text: string, first: number): NumberedLine[] {
  return text.split("\n").flatMap((line, at) => {
    const trimmed = line.trim();
    return trimmed === "" ? [] : [{ number: first + at, text: trimmed }];
  });
}

/** Each word that both have suggests where the old text would begin, the more the longer it is. */
function likeliestStart(wanted: readonly NumberedLine[], there: readonly NumberedLine[]): number | undefined {
  const known = new Map<string, Set<number>>();
  for (const [index, { text }] of wanted.slice(0, MOST_COMPARED).entries()) {
    for (const word of wordsIn(text)) known.set(word, (known.get(word) ?? new Set()).add(index));
  }
  const votes = new Map<number, number>();
  let best: number | undefined;
  for (const [index, { text }] of there.entries()) {
    for (const word of wordsIn(text)) {
      const lines = known.get(word);
      for (const own of lines && lines.size <= MOST_TWINS ? lines : []) {
        const start = index - own;
        votes.set(start, (votes.get(start) ?? 0) + word.length);
        if (best === undefined || (votes.get(start) ?? 0) > (votes.get(best) ?? 0)) best = start;
      }
    }
  }
  return best;
}

/** The words of a line, and the line itself, which says as much as all of them. */
const wordsIn = (text: string) => new Set([text, ...(text.slice(0, 500).match(/\w+/g) ?? [])]);
