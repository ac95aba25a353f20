/** A set of code points as sorted ranges that do not touch: first, last, first, last, ... */
export type CharSet = readonly number[];

const LAST_CODE_POINT = 0x10ffff;

export const NOTHING: CharSet = [];
export const ANYTHING: CharSet = [0, LAST_CODE_POINT];
export const DIGITS: CharSet = [0x30, 0x39];
export const WORD: CharSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
/** White space as JavaScript's `\s` defines it. */
export const SPACE: CharSet = [
  0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f,
  0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
];

/** The sets that `[:name:]` stands for inside brackets. */
export const POSIX: ReadonlyMap<string, CharSet> = new Map(
  Object.entries({
    alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
    alpha: [0x41, 0x5a, 0x61, 0x7a],
    blank: [0x09, 0x09, 0x20, 0x20],
    cntrl: [0x00, 0x1f, 0x7f, 0x7f],
    digit: DIGITS,
    graph: [0x21, 0x7e],
    lower: [0x61, 0x7a],
    print: [0x20, 0x7e],
    punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
    space: [0x09, 0x0d, 0x20, 0x20],
    upper: [0x41, 0x5a],
    xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
  }),
);

/** Returns the range from one character to another; an empty set when they are out of order. */
export function range(first: string, last = first): CharSet {
  const from = first.codePointAt(0) ?? 0;
  const to = last.codePointAt(0) ?? 0;
  return to < from ? NOTHING : [from, to];
}

export function union(sets: readonly CharSet[]): CharSet {
  const ranges: [number, number][] = [];
  for (const set of sets) ranges.push(...listRanges(set));
  ranges.sort((a, b) => a[0] - b[0]);
  const joined: number[] = [];
  for (const [first, last] of ranges) {
    const end = joined.at(-1);
    if (end !== undefined && first <= end + 1) joined[joined.length - 1] = Math.max(end, last);
    else joined.push(first, last);
  }
  return joined;
}

export function complement(set: CharSet): CharSet {
  const others: number[] = [];
  let next = 0;
  for (const [first, last] of listRanges(set)) {
    if (first > next) others.push(next, first - 1);
    next = last + 1;
  }
  if (next <= LAST_CODE_POINT) others.push(next, LAST_CODE_POINT);
  return others;
}

export function subtract(set: CharSet, removed: CharSet): CharSet {
  return complement(union([complement(set), removed]));
}

export function listRanges(set: CharSet): [number, number][] {
  const ranges: [number, number][] = [];
  for (let at = 0; at < set.length; at += 2) ranges.push([set[at] ?? 0, set[at + 1] ?? 0]);
  return ranges;
}

export function countCharacters(set: CharSet): number {
  return listRanges(set).reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

/** Larger ranges outside ASCII are not folded: going through them would cost more than it gains. */
const MAX_FOLDED = 0x3000;
const LAST_ASCII = 0x7f;

/**
 * Adds the other case of each letter in the set. An ASCII letter has only an ASCII counterpart, so `k` never matches
 * the Kelvin sign. A letter whose other case is several letters has no counterpart.
 */
export function foldCase(set: CharSet): CharSet {
  const added: CharSet[] = [set];
  for (const [first, last] of listRanges(set)) {
    const isLarge = last - Math.max(first, LAST_ASCII + 1) > MAX_FOLDED;
    for (let point = first; point <= (isLarge ? LAST_ASCII : last); point += 1) {
      for (const other of listOtherCases(point)) added.push([other, other]);
    }
  }
  return added.length === 1 ? set : union(added);
}

function listOtherCases(point: number): number[] {
  const character = String.fromCodePoint(point);
  return [character.toLowerCase(), character.toUpperCase()].flatMap((other) => {
    const found = other.codePointAt(0) ?? point;
    const isOne = other.length === String.fromCodePoint(found).length;
    return isOne && found !== point && found > LAST_ASCII === point > LAST_ASCII ? [found] : [];
  });
}
