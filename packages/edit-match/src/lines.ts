import { type Depth, fold, foldedText } from "./fold.ts";

/** A line in the three parts that mistakes are made in. */
export interface LineParts {
  readonly indent: string;
  readonly body: string;
  readonly trail: string;
}

export function partsOf(line: string): LineParts {
  const body = line.trim();
  if (body === "") return { indent: line, body: "", trail: "" };
  const start = line.length - line.trimStart().length;
  return { indent: line.slice(0, start), body, trail: line.slice(start + body.length) };
}

export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** Whether one of the quotes has no other in the line; apostrophes are none. */
export function isHalf(line: string, quote: string): boolean {
  return line.replace(/\w'\w/g, "").split(quote).length % 2 === 0;
}

/** Some lines of the old text and the lines of the file that they are. */
export interface Block {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly fileFrom: number;
  readonly fileTo: number;
  /** Lines that dots in the old text stand for. */
  readonly isElided?: true;
}

export function isOneToOne({ oldFrom, oldTo, fileFrom, fileTo }: Block): boolean {
  return oldTo - oldFrom === 1 && fileTo - fileFrom === 1;
}

/** What makes two lines the same one: their signs, white space apart. */
export function keyOf(line: string, depth: Depth): string {
  return foldedText(fold(line, depth)).replaceAll(" ", "");
}

export function shifted(block: Block, oldBy: number, fileBy: number): Block {
  const { oldFrom, oldTo, fileFrom, fileTo } = block;
  return {
    ...block,
    oldFrom: oldFrom + oldBy,
    oldTo: oldTo + oldBy,
    fileFrom: fileFrom + fileBy,
    fileTo: fileTo + fileBy,
  };
}

/**
 * The lines of the old text beside those of the file, in the smallest blocks that begin and end with a line on both
 * sides. Nothing when they are not the same signs after all.
 */
export function alignLines(
  oldLines: readonly string[],
  fileLines: readonly string[],
  depth: Depth,
): Block[] | undefined {
  const sizesOf = (lines: readonly string[]) => lines.map((line) => keyOf(line, depth).length);
  const [old, file] = [sizesOf(oldLines), sizesOf(fileLines)];
  const blocks: Block[] = [];
  let [oldFrom, fileFrom] = [0, 0];
  while (oldFrom < old.length || fileFrom < file.length) {
    const [oldFilled, fileFilled] = [filledFrom(old, oldFrom), filledFrom(file, fileFrom)];
    if (oldFilled > oldFrom || fileFilled > fileFrom) {
      blocks.push(...blankBlocks({ oldFrom, oldTo: oldFilled, fileFrom, fileTo: fileFilled }));
      [oldFrom, fileFrom] = [oldFilled, fileFilled];
      continue;
    }
    const ends = meetingOf(old, file, { oldTo: oldFrom, fileTo: fileFrom });
    if (ends === undefined) return undefined;
    blocks.push({ oldFrom, fileFrom, ...ends });
    [oldFrom, fileFrom] = [ends.oldTo, ends.fileTo];
  }
  return blocks;
}

function filledFrom(sizes: readonly number[], from: number): number {
  let at = from;
  while (sizes[at] === 0) at += 1;
  return at;
}

/** Where a line ends on both sides after as many signs. */
function meetingOf(
  old: readonly number[],
  file: readonly number[],
  from: Pick<Block, "oldTo" | "fileTo">,
): Pick<Block, "oldTo" | "fileTo"> | undefined {
  let { oldTo, fileTo } = from;
  let ahead = (old[oldTo++] ?? Number.NaN) - (file[fileTo++] ?? Number.NaN);
  while (ahead !== 0) {
    if (Number.isNaN(ahead)) return undefined;
    ahead += ahead < 0 ? (old[oldTo++] ?? Number.NaN) : -(file[fileTo++] ?? Number.NaN);
  }
  return { oldTo, fileTo };
}

/** As many blank lines on both sides are the same ones; otherwise nobody knows which are. */
function blankBlocks(block: Block): Block[] {
  const { oldFrom, oldTo, fileFrom, fileTo } = block;
  if (oldTo - oldFrom !== fileTo - fileFrom) return [block];
  return Array.from({ length: oldTo - oldFrom }, (_, at) => ({
    oldFrom: oldFrom + at,
    oldTo: oldFrom + at + 1,
    fileFrom: fileFrom + at,
    fileTo: fileFrom + at + 1,
  }));
}

const SAME = 3;
const ALIKE = 2;
const MOST_COMPARED = 4_000_000;

export interface Texts {
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
}

/**
 * For each line of the new text the line of the old one that it is, or -1: the most lines that can be kept, and of
 * those as many as can be letter by letter. Nothing when the texts are too long to be compared so.
 */
export function keptLines({ oldLines, newLines }: Texts, depth: Depth): Int32Array | undefined {
  const kept = new Int32Array(newLines.length).fill(-1);
  const [from, to] = [oldLines.length, newLines.length];
  const most = Math.min(from, to);
  let [head, tail] = [0, 0];
  while (head < most && oldLines[head] === newLines[head]) head += 1;
  while (tail < most - head && oldLines[from - 1 - tail] === newLines[to - 1 - tail]) tail += 1;
  for (let at = 0; at < head; at += 1) kept[at] = at;
  for (let back = 1; back <= tail; back += 1) kept[to - back] = from - back;
  const one = oldLines.slice(head, from - tail);
  const other = newLines.slice(head, to - tail);
  if (one.length * other.length > MOST_COMPARED) return undefined;
  const [oneKeys, otherKeys] = [keysOf(one, depth), keysOf(other, depth)];
  const worth = (i: number, j: number) =>
    one[i] === other[j] ? SAME : oneKeys[i] === otherKeys[j] ? ALIKE : 0;
  for (const [oldAt, newAt] of commonLines([one.length, other.length], worth)) {
    kept[head + newAt] = head + oldAt;
  }
  return kept;
}

function keysOf(lines: readonly string[], depth: Depth): string[] {
  return lines.map((line) => keyOf(line, depth));
}

function commonLines(
  [one, other]: readonly [number, number],
  worth: (i: number, j: number) => number,
): [number, number][] {
  const width = other + 1;
  const scores = new Int32Array((one + 1) * width);
  const at = (i: number, j: number) => scores[i * width + j] ?? 0;
  for (let i = one - 1; i >= 0; i -= 1) {
    for (let j = other - 1; j >= 0; j -= 1) {
      const both = worth(i, j);
      const met = both === 0 ? 0 : both + at(i + 1, j + 1);
      scores[i * width + j] = Math.max(met, at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < one && j < other; ) {
    const both = worth(i, j);
    if (both > 0 && at(i, j) === both + at(i + 1, j + 1)) pairs.push([i++, j++]);
    else if (at(i, j) === at(i + 1, j)) i += 1;
    else j += 1;
  }
  return pairs;
}

/**
 * Other lines that may be the ones kept: between those that surely are, each line is the first that it can be, or the
 * last. How many lines are kept so says nothing: two brackets more are no sign.
 */
export function otherwiseKept(texts: Texts, kept: Int32Array, depth: Depth): Int32Array[] {
  const keys = { old: keysOf(texts.oldLines, depth), fresh: keysOf(texts.newLines, depth) };
  const turnedKeys = { old: keys.old.toReversed(), fresh: keys.fresh.toReversed() };
  const sure = surelyKept(keys, turned(kept, keys.old.length));
  const late = firstKept(turnedKeys, mirrored(sure, keys.fresh.length));
  return [firstKept(keys, sure), mirrored(late, keys.fresh.length)].map((newOf) =>
    turned(newOf, keys.fresh.length),
  );
}

interface Keys {
  readonly old: readonly string[];
  readonly fresh: readonly string[];
}

/** The same pairs counted from the end of both sides. */
function mirrored(newOf: Int32Array, count: number): Int32Array {
  return newOf.map((fresh) => (fresh < 0 ? -1 : count - 1 - fresh)).reverse();
}

/**
 * Lines that both texts have once, and those that go on alike from them and from the ends of the texts; but for a line
 * that would be one from above and another from below.
 */
function surelyKept({ old, fresh }: Keys, kept: Int32Array): Int32Array {
  const [oldPlaces, newPlaces] = [placesOf(old), placesOf(fresh)];
  const isOnce = (key = "") => oldPlaces.get(key)?.length === 1 && newPlaces.get(key)?.length === 1;
  const once = kept.map((to, from) => (isOnce(old[from]) ? to : -1));
  const above = goingOn({ old, fresh }, once);
  const turnedKeys = { old: old.toReversed(), fresh: fresh.toReversed() };
  const below = mirrored(goingOn(turnedKeys, mirrored(once, fresh.length)), fresh.length);
  const [newOf, oldOf] = [
    unanimous(above, below),
    unanimous(turned(above, fresh.length), turned(below, fresh.length)),
  ];
  return newOf.map((to, from) => (oldOf[to] === from ? to : -1));
}

/** The pairs, and the lines after each and at the beginning as long as they are alike. */
function goingOn({ old, fresh }: Keys, pairs: Int32Array): Int32Array {
  const newOf = pairs.slice();
  for (let from = 0; from < newOf.length; from += 1) {
    const next = from === 0 ? 0 : (newOf[from - 1] ?? -1) + 1;
    const isAfter = from === 0 || next > 0;
    if (newOf[from] === -1 && isAfter && old[from] === fresh[next]) newOf[from] = next;
  }
  return newOf;
}

function unanimous(one: Int32Array, other: Int32Array): Int32Array {
  return one.map((to, at) => {
    const also = other[at] ?? -1;
    return to < 0 ? also : also < 0 || also === to ? to : -1;
  });
}

function firstKept({ old: oldKeys, fresh: newKeys }: Keys, sure: Int32Array): Int32Array {
  const newOf = sure.slice();
  const newPlaces = placesOf(newKeys);
  const pairs = [...sure.entries()].filter(([, to]) => to >= 0);
  let [old, next] = [0, 0];
  for (const [oldTo, newTo] of [...pairs, [oldKeys.length, newKeys.length] as const]) {
    for (; old < oldTo; old += 1) {
      const places = newPlaces.get(oldKeys[old] ?? "") ?? [];
      while ((places[0] ?? newTo) < next) places.shift();
      const [at = newTo] = oldKeys[old] === "" ? [] : places;
      if (at >= newTo) continue;
      newOf[old] = at;
      next = at + 1;
    }
    [old, next] = [oldTo + 1, newTo + 1];
  }
  keepBlanks({ old: oldKeys, fresh: newKeys }, newOf);
  return newOf;
}

/** The same pairs by their other side. */
export function turned(partners: Int32Array, count: number): Int32Array {
  const others = new Int32Array(count).fill(-1);
  for (const [one, other] of partners.entries()) if (other >= 0) others[other] = one;
  return others;
}

/** Blank lines are those beside a line that is kept. */
function keepBlanks(keys: Keys, newOf: Int32Array): void {
  const taken = new Set(newOf);
  for (const step of [1, -1]) {
    for (let at = 0; at < newOf.length; at += 1) {
      const old = step > 0 ? at : newOf.length - 1 - at;
      const beside = newOf[old - step] ?? -1;
      if (keys.old[old] !== "" || newOf[old] !== -1 || beside < 0) continue;
      if (keys.fresh[beside + step] !== "" || taken.has(beside + step)) continue;
      newOf[old] = beside + step;
      taken.add(beside + step);
    }
  }
}

export function placesOf(keys: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [at, key] of keys.entries()) {
    const known = places.get(key);
    if (known === undefined) places.set(key, [at]);
    else known.push(at);
  }
  return places;
}
