import { gapBefore, rawToken, type Tokens } from "./tokens.ts";

/** Token `before` of the old text came over unchanged as token `after` of the new one. */
export interface Kept {
  readonly before: number;
  readonly after: number;
}

/** Beyond this many comparisons a stretch counts as rewritten as a whole. */
const MAX_CELLS = 1_000_000;

/**
 * What of the old text the new text keeps: every answer that is about as short as another. A change that depends on
 * which of them is meant is no safe change.
 */
export function alignments(before: Tokens, after: Tokens): Kept[][] {
  const a = withLines(before);
  const b = withLines(after);
  const fromEnd = diff(a.toReversed(), b.toReversed(), keptInStretch);
  const flipped = fromEnd.map((kept) => ({
    before: a.length - 1 - kept.before,
    after: b.length - 1 - kept.after,
  }));
  const plain = diff(a, b, keptInStretch);
  const inLines = diff(a, b, keptInLines);
  return [plain, flipped.reverse(), ...(inLines.length < plain.length ? [] : [inLines])];
}

interface Item {
  readonly raw: string;
  readonly line: number;
}

function withLines(tokens: Tokens): Item[] {
  let line = 0;
  return tokens.keys.map((_, index) => {
    if (gapBefore(tokens, index).includes("\n")) line++;
    return { raw: rawToken(tokens, index), line };
  });
}

interface Stretch {
  readonly a: readonly Item[];
  readonly b: readonly Item[];
  readonly a0: number;
  readonly b0: number;
}

/** Whole lines first: a brace that happens to recur must not tie two unrelated lines together. */
function diff(a: readonly Item[], b: readonly Item[], keptIn: (stretch: Stretch) => Kept[]): Kept[] {
  const aLines = linesOf(a);
  const bLines = linesOf(b);
  const kept: Kept[] = [];
  let [aAt, bAt] = [0, 0];
  for (const [i, j] of commonOf(
    aLines.map((line) => line.text),
    bLines.map((line) => line.text),
  )) {
    const aLine = aLines[i];
    const bLine = bLines[j];
    if (aLine === undefined || bLine === undefined) continue;
    kept.push(...keptIn(part([a, b], [aAt, aLine.first, bAt, bLine.first])));
    for (let step = 0; step < aLine.count; step++) {
      kept.push({ before: aLine.first + step, after: bLine.first + step });
    }
    aAt = aLine.first + aLine.count;
    bAt = bLine.first + bLine.count;
  }
  kept.push(...keptIn(part([a, b], [aAt, a.length, bAt, b.length])));
  return kept;
}

interface Line {
  readonly first: number;
  readonly count: number;
  readonly text: string;
}

function linesOf(items: readonly Item[]): Line[] {
  const lines: Line[] = [];
  let first = 0;
  while (first < items.length) {
    let end = first + 1;
    while (end < items.length && items[end]?.line === items[first]?.line) end++;
    const text = items.slice(first, end).map((item) => item.raw);
    lines.push({ first, count: end - first, text: text.join("\u0000") });
    first = end;
  }
  return lines;
}

type Bounds = readonly [aFrom: number, aTo: number, bFrom: number, bTo: number];

function part(
  [a, b]: readonly [readonly Item[], readonly Item[]],
  [aFrom, aTo, bFrom, bTo]: Bounds,
): Stretch {
  return { a: a.slice(aFrom, aTo), b: b.slice(bFrom, bTo), a0: aFrom, b0: bFrom };
}

function keptInStretch(stretch: Stretch): Kept[] {
  const pairs = commonOf(
    stretch.a.map((item) => item.raw),
    stretch.b.map((item) => item.raw),
  );
  return withoutChance(pairs, stretch).map(([i, j]) => ({
    before: stretch.a0 + i,
    after: stretch.b0 + j,
  }));
}

/** The same, with each line of the old text kept in one line of the new text: the one it has the most in common with. */
function keptInLines(stretch: Stretch): Kept[] {
  const [aLines, bLines] = [linesOf(stretch.a), linesOf(stretch.b)];
  if (stretch.a.length * stretch.b.length > MAX_CELLS) return [];
  const within = (i: number, j: number) => {
    const [a, b] = [aLines[i], bLines[j]];
    if (a === undefined || b === undefined) return [];
    const bounds: Bounds = [a.first, a.first + a.count, b.first, b.first + b.count];
    return keptInStretch(part([stretch.a, stretch.b], bounds));
  };
  const likeness = (i: number, j: number) => within(i, j).length;
  return mostAlike(aLines.length, bLines.length, likeness).flatMap(([i, j]) =>
    within(i, j).map((kept) => ({ before: stretch.a0 + kept.before, after: stretch.b0 + kept.after })),
  );
}

/** Drops short runs of mere signs between two changes: they are equal by chance, not kept. */
function withoutChance(pairs: [number, number][], stretch: Stretch): [number, number][] {
  const result: [number, number][] = [];
  let run: [number, number][] = [];
  const close = () => {
    const [first, last] = [run[0], run[run.length - 1]];
    const atEdge =
      (first?.[0] === 0 && first[1] === 0) ||
      (last?.[0] === stretch.a.length - 1 && last[1] === stretch.b.length - 1);
    const endsLine =
      last !== undefined &&
      stretch.a[last[0]]?.line !== stretch.a[last[0] + 1]?.line &&
      stretch.b[last[1]]?.line !== stretch.b[last[1] + 1]?.line;
    const hasWord = run.some(([i]) => /[\p{L}\p{N}]{2}/u.test(stretch.a[i]?.raw ?? ""));
    if (atEdge || endsLine || hasWord || run.length > 3) result.push(...run);
    run = [];
  };
  for (const pair of pairs) {
    const last = run[run.length - 1];
    if (last !== undefined && (pair[0] !== last[0] + 1 || pair[1] !== last[1] + 1)) close();
    run.push(pair);
  }
  close();
  return result;
}

/** Pairs of equal items in the same order, as many as there can be, what begins and ends alike first. */
function commonOf(a: readonly string[], b: readonly string[]): [number, number][] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  const room = Math.min(a.length, b.length) - head;
  while (tail < room && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const pairs: [number, number][] = [];
  for (let i = 0; i < head; i++) pairs.push([i, i]);
  const middle = longestCommon(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  pairs.push(...middle.map(([i, j]): [number, number] => [i + head, j + head]));
  for (let i = tail; i > 0; i--) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

function longestCommon(a: readonly string[], b: readonly string[]): [number, number][] {
  if (a.length * b.length > MAX_CELLS) return [];
  return mostAlike(a.length, b.length, (i, j) => (a[i] === b[j] ? 1 : 0));
}

/** Pairs in the same order on both sides that have the most in common in sum. */
function mostAlike(
  aCount: number,
  bCount: number,
  likeness: (i: number, j: number) => number,
): [number, number][] {
  const width = bCount + 1;
  const best = new Uint32Array((aCount + 1) * width);
  const at = (i: number, j: number) => best[i * width + j] ?? 0;
  for (let i = aCount - 1; i >= 0; i--) {
    for (let j = bCount - 1; j >= 0; j--) {
      const paired = at(i + 1, j + 1) + likeness(i, j);
      best[i * width + j] = Math.max(paired, at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  let [i, j] = [0, 0];
  while (i < aCount && j < bCount) {
    const own = likeness(i, j);
    if (own > 0 && at(i, j) === at(i + 1, j + 1) + own) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}
