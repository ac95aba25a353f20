import { linesOf } from "./near-places.ts";
import { positionsOf, type Tokens } from "./tokens.ts";

/** The part of the file most like the old text, for the answer to a failed edit. */
export interface ClosestRegion {
  readonly startLine: number;
  readonly endLine: number;
  /** Share of the old text's lines that stand there unchanged, 0 to 1. */
  readonly likeness: number;
  /** The first lines that differ; a side is absent where the other has a line more. */
  readonly differences: readonly LineDifference[];
}

interface LineDifference {
  /** The line's number in the file. */
  readonly line: number;
  readonly given?: string;
  readonly file?: string;
}

const MAX_DIFFERENCES = 6;
const MAX_TWINS = 50;
/** So many of a long text's lines show well enough where it is most alike. */
const MAX_COMPARED = 500;
const MAX_STARTS = 10;

/** Whether the file already has the whole new text somewhere, and that says more than the old text does. */
export function holdsTokens(file: Tokens, after: Tokens, before: Tokens): boolean {
  if (after.keys.length < 4 || positionsOf(before.keys, after.keys, 1).length > 0) return false;
  const same =
    after.keys.length === before.keys.length && after.keys.every((key, i) => key === before.keys[i]);
  return !same && positionsOf(file.keys, after.keys, 1).length > 0;
}

interface NumberedLine {
  readonly number: number;
  readonly text: string;
  readonly raw: string;
}

function numbered(tokens: Tokens): NumberedLine[] {
  let at = 0;
  let number = 1;
  return linesOf(tokens).map(({ first, count, text }) => {
    const start = tokens.starts[first] ?? 0;
    for (; at < start; at++) if (tokens.text.charCodeAt(at) === 10) number++;
    const end = tokens.ends[first + count - 1] ?? start;
    return { number, text, raw: tokens.text.slice(start, end) };
  });
}

export function closestRegion(file: Tokens, before: Tokens): ClosestRegion | undefined {
  const fileLines = numbered(file);
  const oldLines = numbered(before);
  const start = bestStart(fileLines, oldLines);
  if (start === undefined || fileLines.length === 0) return undefined;
  const region = fileLines.slice(Math.max(0, start), Math.max(0, start) + oldLines.length);
  const differences: LineDifference[] = [];
  let equal = 0;
  for (let index = 0; index < oldLines.length; index++) {
    const given = oldLines[index];
    const there = fileLines[start + index];
    if (given !== undefined && given.text === there?.text) equal++;
    else if (differences.length < MAX_DIFFERENCES) {
      differences.push({
        line: there?.number ?? region[region.length - 1]?.number ?? 1,
        ...(given === undefined ? {} : { given: given.raw }),
        ...(there === undefined ? {} : { file: there.raw }),
      });
    }
  }
  const last = region[region.length - 1];
  return {
    startLine: region[0]?.number ?? 1,
    endLine: last?.number ?? 1,
    likeness: equal / oldLines.length,
    differences,
  };
}

/** The start at which the lines are most alike, among those that equal lines and the longest line speak for. */
function bestStart(
  fileLines: readonly NumberedLine[],
  oldLines: readonly NumberedLine[],
): number | undefined {
  let best: number | undefined;
  let most = 0;
  for (const start of [
    ...startsByEqualLines(fileLines, oldLines),
    ...startByLongestLine(fileLines, oldLines),
  ]) {
    let alike = 0;
    oldLines.slice(0, MAX_COMPARED).forEach((line, index) => {
      alike += likeness(line.text, fileLines[start + index]?.text ?? "");
    });
    if (alike > most) [best, most] = [start, alike];
  }
  return best;
}

/** Each line both have votes for where the old text would begin; common lines have no vote. */
function startsByEqualLines(fileLines: readonly NumberedLine[], oldLines: readonly NumberedLine[]): number[] {
  const places = new Map<string, number[]>();
  fileLines.forEach(({ text }, index) => {
    const all = places.get(text);
    if (all === undefined) places.set(text, [index]);
    else if (all.length <= MAX_TWINS) all.push(index);
  });
  const votes = new Map<number, number>();
  oldLines.forEach(({ text }, index) => {
    const all = places.get(text) ?? [];
    if (all.length > MAX_TWINS) return;
    for (const place of all)
      votes.set(place - index, (votes.get(place - index) ?? 0) + text.length / all.length);
  });
  const ranked = [...votes].sort(([, a], [, b]) => b - a).slice(0, MAX_STARTS);
  return ranked.map(([start]) => start);
}

/** Where the old text's longest line is most alike. */
function startByLongestLine(fileLines: readonly NumberedLine[], oldLines: readonly NumberedLine[]): number[] {
  const longest = oldLines.reduce(
    (long, line, index) => (line.text.length > (oldLines[long]?.text.length ?? 0) ? index : long),
    0,
  );
  const wanted = oldLines[longest]?.text ?? "";
  let best: number | undefined;
  let most = 0.3;
  const known = new Map<string, number>();
  fileLines.forEach(({ text }, index) => {
    const alike = known.get(text) ?? likeness(wanted, text);
    known.set(text, alike);
    if (alike > most) [best, most] = [index, alike];
  });
  return best === undefined ? [] : [best - longest];
}

/** Share of the tokens two lines have in common, 0 to 1. */
function likeness(a: string, b: string): number {
  if (a === b) return 1;
  const [own, other] = [new Set(a.split("\u0000")), new Set(b.split("\u0000"))];
  let shared = 0;
  for (const token of own) if (other.has(token)) shared++;
  return (2 * shared) / (own.size + other.size);
}
