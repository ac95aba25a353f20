import { type FoldDepth, FoldedText } from "./fold.ts";

/** A line in three parts, in which different mistakes are made. */
export type LineParts = Readonly<Record<"indent" | "body" | "trail", string>>;

export function splitLine(line: string): LineParts {
  const body = line.trim();
  if (body === "") return { indent: line, body: "", trail: "" };
  const start = line.length - line.trimStart().length;
  return { indent: line.slice(0, start), body, trail: line.slice(start + body.length) };
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Returns the lines that are not blank, without trailing spaces. */
export function listFilledLines(text: string): string[] {
  return text.split("\n").flatMap((line) => (isBlank(line) ? [] : [line.trimEnd()]));
}

/** The longest distance from a place at which a line still counts as next to it. */
const MAX_DISTANCE = 1000;

/** Returns the parts of the line before and after the given range. Very long parts are cut. */
export function splitBeforeAfter(
  content: string,
  start: number,
  end: number,
): [before: string, after: string] {
  const before = content.slice(Math.max(0, start - 2 * MAX_DISTANCE), start);
  const [after = ""] = content.slice(end, end + 2 * MAX_DISTANCE).split("\n", 1);
  return [before.slice(before.lastIndexOf("\n") + 1), after];
}

/** Returns the nearest non-blank lines above and below; "" if there is none. */
export function readFilledNeighbours(
  content: string,
  start: number,
  end: number,
): [above: string, below: string] {
  const above = content.slice(Math.max(0, start - MAX_DISTANCE), start).trimEnd();
  const behind = content.slice(end, end + MAX_DISTANCE);
  const [below = ""] = behind.slice(behind.lastIndexOf("\n", behind.search(/\S|$/)) + 1).split("\n", 1);
  return [above.slice(above.lastIndexOf("\n") + 1), below.trimEnd()];
}

/** Whether a quote in the line has no counterpart. Apostrophes, and quotes within others, do not count. */
export function hasUnpairedQuote(line: string, quote: string): boolean {
  const bare = line.replace(/\w'\w/g, "").replace(/(["'`]).*?\1/g, "");
  return bare.includes(quote);
}

/** Some lines of the old text and the matching lines in the file. */
export interface LineBlock {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly fileFrom: number;
  readonly fileTo: number;
  /** The file's lines for which dots in the old text stand. */
  readonly isElided?: true;
}

export interface AlignedLines {
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
  /** The file's lines at the place, without line ends. */
  readonly fileLines: readonly string[];
  readonly blocks: readonly LineBlock[];
  readonly depth: FoldDepth;
}

export function isSingleLinePair({ oldFrom, oldTo, fileFrom, fileTo }: LineBlock): boolean {
  return oldTo - oldFrom === 1 && fileTo - fileFrom === 1;
}

/** Returns a line's characters without white space. Lines with the same key are the same line. */
export function buildKey(line: string, depth: FoldDepth): string {
  return new FoldedText(line, depth).text.replaceAll(" ", "");
}

/**
 * Aligns the old text's lines with the file's by their number of characters, in the smallest blocks that begin and end
 * with a line on both sides. Returns undefined if the totals differ.
 */
export function alignLines(oldSizes: readonly number[], fileSizes: readonly number[], whole: LineBlock) {
  const [old, file] = [oldSizes.slice(0, whole.oldTo), fileSizes.slice(0, whole.fileTo)];
  const blocks: LineBlock[] = [];
  let { oldFrom, fileFrom } = whole;
  while (oldFrom < old.length || fileFrom < file.length) {
    let [oldTo, fileTo] = [oldFrom, fileFrom];
    while (old[oldTo] === 0) oldTo += 1;
    while (file[fileTo] === 0) fileTo += 1;
    if (oldTo === oldFrom && fileTo === fileFrom) {
      const meeting = findCommonLineEnd(old, file, [oldTo, fileTo]);
      if (meeting === undefined) return undefined;
      [oldTo, fileTo] = meeting;
    } else if (oldTo - oldFrom === fileTo - fileFrom) {
      // If both sides have the same number of blank lines, they correspond. Otherwise it is unknown which ones do.
      for (; oldFrom + 1 < oldTo; oldFrom += 1, fileFrom += 1)
        blocks.push({ oldFrom, oldTo: oldFrom + 1, fileFrom, fileTo: fileFrom + 1 });
    }
    blocks.push({ oldFrom, oldTo, fileFrom, fileTo });
    [oldFrom, fileFrom] = [oldTo, fileTo];
  }
  return blocks;
}

/** Finds where a line ends on both sides after the same number of characters. */
function findCommonLineEnd(
  old: readonly number[],
  file: readonly number[],
  from: [oldTo: number, fileTo: number],
) {
  let [oldTo, fileTo] = from;
  let ahead = 0;
  do {
    if (ahead <= 0) ahead += old[oldTo++] ?? Number.NaN;
    if (ahead > 0) ahead -= file[fileTo++] ?? Number.NaN;
  } while (ahead < 0 || ahead > 0);
  return ahead === 0 ? ([oldTo, fileTo] as const) : undefined;
}

const SCORE_SAME = 3;
const SCORE_ALIKE = 2;
/** A line with words counts as much as this many lines of brackets. */
const SCORE_WORDS = 4;
const MAX_COMPARED = 4_000_000;

export interface Texts {
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
  /** For each line of the old text, the exact line in the file. */
  readonly there?: readonly (string | undefined)[];
}

/**
 * For each line of the new text, returns the same line of the old text, or -1. Keeps as many lines as possible and,
 * among these, as many exact ones as possible; without a depth only exact ones. The first result keeps the first of
 * several equal lines, the second result the last one. The results are undefined if the texts are too long.
 */
export function matchKeptLines(texts: Texts, depth?: FoldDepth): (Int32Array | undefined)[] {
  const { oldLines, newLines, there = oldLines } = texts;
  const turned = {
    oldLines: oldLines.toReversed(),
    newLines: newLines.toReversed(),
    there: there.toReversed(),
  };
  const reverseLineIndex = (line: number) => (line < 0 ? -1 : oldLines.length - 1 - line);
  return [matchFromStart(texts, depth), matchFromStart(turned, depth)?.map(reverseLineIndex).reverse()];
}

function matchFromStart({ oldLines, newLines, there = oldLines }: Texts, depth?: FoldDepth) {
  const kept = new Int32Array(newLines.length).fill(-1);
  const [from, to] = [oldLines.length, newLines.length];
  const max = Math.min(from, to);
  const [had, has] = [indexByKey(oldLines), indexByKey(newLines)];
  const isRepeated = (line: string) => [had, has].some((lines) => (lines.get(line)?.length ?? 0) > 1);
  // A line that occurs twice in the old text may stand for two different lines of the file. Never take it for a kept line.
  const doubted = new Set(oldLines.filter((line, at) => there[at] !== line && isRepeated(line)));
  const isSame = (old: number, at: number) => {
    const [line = "", file = line] = [oldLines[old], there[old]];
    return line === newLines[at] && !doubted.has(line) && (file === line || !has.has(file));
  };
  let [head, tail] = [0, 0];
  while (head < max && isSame(head, head)) head += 1;
  while (tail < max - head && isSame(from - 1 - tail, to - 1 - tail)) tail += 1;
  for (let at = 0; at < head; at += 1) kept[at] = at;
  for (let back = 1; back <= tail; back += 1) kept[to - back] = from - back;
  const one = oldLines.slice(head, from - tail);
  const other = newLines.slice(head, to - tail);
  if (one.length * other.length > MAX_COMPARED) return undefined;
  const [oneKeys, otherKeys] = [one, other].map(
    (lines) => depth && lines.map((line) => buildKey(line, depth)),
  );
  const times = other.map((line) => (/\w/.test(line) ? SCORE_WORDS : 1));
  const scorePair = (i: number, j: number) => {
    if (one[i] === other[j] || there[head + i] === other[j]) return SCORE_SAME * (times[j] ?? 1);
    return oneKeys && otherKeys && oneKeys[i] === otherKeys[j] ? SCORE_ALIKE * (times[j] ?? 1) : 0;
  };
  for (const [oldAt, newAt] of findCommonLines(one.length, other.length, scorePair)) {
    kept[head + newAt] = head + oldAt;
  }
  return kept;
}

function findCommonLines(one: number, other: number, worth: (i: number, j: number) => number) {
  const width = other + 1;
  const scores = new Int32Array((one + 1) * width);
  const getScore = (i: number, j: number) => scores[i * width + j] ?? 0;
  for (let i = one - 1; i >= 0; i -= 1) {
    for (let j = other - 1; j >= 0; j -= 1) {
      const both = worth(i, j);
      const met = both === 0 ? 0 : both + getScore(i + 1, j + 1);
      scores[i * width + j] = Math.max(met, getScore(i + 1, j), getScore(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < one && j < other; ) {
    const both = worth(i, j);
    if (both > 0 && getScore(i, j) === both + getScore(i + 1, j + 1)) pairs.push([i++, j++]);
    else if (getScore(i, j) === getScore(i + 1, j)) i += 1;
    else j += 1;
  }
  return pairs;
}

export function indexByKey(keys: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [at, key] of keys.entries()) {
    const known = places.get(key);
    if (known === undefined) places.set(key, [at]);
    else known.push(at);
  }
  return places;
}
