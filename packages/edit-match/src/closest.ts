import { placesOf } from "./lines.ts";
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
const MOST_STARTS = 5;

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
  const start = bestStart(wanted, there);
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

/**
 * Each line that both have suggests where the old text would begin; if there is none, the line most similar to the
 * longest one does.
 */
function bestStart(wanted: readonly NumberedLine[], there: readonly NumberedLine[]): number | undefined {
  const known = placesOf(wanted.slice(0, MOST_COMPARED).map(({ text }) => text));
  const votes = new Map<number, number>();
  for (const [index, { text }] of there.entries()) {
    for (const own of known.get(text) ?? []) {
      votes.set(index - own, (votes.get(index - own) ?? 0) + text.length);
    }
  }
  const ranked = [...votes].sort(([, one], [, other]) => other - one).slice(0, MOST_STARTS);
  const starts = [...ranked.map(([start]) => start), ...startByLongest(wanted, there)];
  let [best, most] = [undefined as number | undefined, 0];
  for (const start of starts) {
    let alike = 0;
    for (const [index, { text }] of wanted.slice(0, MOST_COMPARED).entries()) {
      alike += likeness(text, there[start + index]?.text ?? "");
    }
    if (alike > most) [best, most] = [start, alike];
  }
  return best;
}

function startByLongest(wanted: readonly NumberedLine[], there: readonly NumberedLine[]): number[] {
  let longest = 0;
  wanted.forEach(({ text }, index) => {
    if (text.length > (wanted[longest]?.text.length ?? 0)) longest = index;
  });
  let [best, most] = [-1, 0.3];
  there.slice(0, 2000).forEach(({ text }, index) => {
    const alike = likeness(wanted[longest]?.text ?? "", text);
    if (alike > most) [best, most] = [index, alike];
  });
  return best < 0 ? [] : [best - longest];
}

/** The share of words that two lines have in common, 0 to 1. */
function likeness(one: string, other: string): number {
  if (one === other) return 1;
  const [own, foreign] = [one, other].map((text) => new Set(text.slice(0, 500).split(/\b|\s+/)));
  if (own === undefined || foreign === undefined) return 0;
  let shared = 0;
  for (const word of own) if (foreign.has(word)) shared += 1;
  return (2 * shared) / (own.size + foreign.size);
}
