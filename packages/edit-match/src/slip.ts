import { type Depth, Folded } from "./fold.ts";
import { commonEnds } from "./learned.ts";
import { isBlank, keyOf } from "./lines.ts";
import { findPlaces, linesIn, type Place, placeAround, type Search } from "./place.ts";
import { areBeside, type Stretch } from "./windows.ts";

interface FilledLine extends Stretch {
  readonly key: string;
  readonly text: string;
}

/** Lines of the file and those of the old text, which may begin with the one at `first`. */
interface Try {
  readonly lines: readonly FilledLine[];
  readonly wanted: readonly FilledLine[];
  readonly first: number;
}

const MOST_STEPS = 2_000_000;
const LEAST_SIGNS = 12;
/** A longer part of the file without a rare word to look for is not searched for slips. */
const LONGEST_STRETCH = 200_000;

/** The places that match the old text except for one slip: a mistyped word, or a line left out. */
export function findSlips(search: Search): Place[] {
  const { file, said, depth } = search;
  const text = said.oldLines.join("\n");
  const wanted = filledLines(text, { start: 0, end: text.length }, depth);
  if (wanted.map(({ key }) => key).join("").length < LEAST_SIGNS) return [];
  const tries = file.around(text).flatMap((stretch) => {
    if (stretch.end - stretch.start > LONGEST_STRETCH) return [];
    const lines = filledLines(file.content, stretch, depth);
    if (lines.length * wanted.length > MOST_STEPS) return [];
    return lines.map((_, first) => ({ lines, wanted, first }));
  });
  const slips = tries.flatMap((tried) => slipAt(search, tried) ?? []);
  const isRival = (tried: Try) => slips.some((slip) => isOtherwise(tried, slip));
  if (!slips.some(({ mistakes }) => mistakes.has("a line left out"))) return slips;
  // Where the new text is already, the change seems to be done.
  const done = findPlaces({ ...search, said: { ...said, oldLines: said.newLines } });
  return tries.some(isRival) || done.length > 0 ? [] : slips;
}

/** So many lines of the file, if it has them. */
function stretchOf({ lines, first }: Try, count: number): Stretch | undefined {
  const [from, to] = [lines[first], lines[first + count - 1]];
  return from && to && { start: from.start, end: to.end };
}

/** Whether all lines of the text but one occur elsewhere as they are; that place is as near as a slip. */
function isOtherwise(tried: Try, slip: Stretch): boolean {
  const { lines, wanted, first } = tried;
  const stretch = stretchOf(tried, wanted.length);
  if (wanted.length < 3 || stretch === undefined || areBeside(stretch, slip)) return false;
  return wanted.filter(({ key }, at) => lines[first + at]?.key !== key).length === 1;
}

function filledLines(whole: string, stretch: Stretch, depth: Depth): FilledLine[] {
  const lines: FilledLine[] = [];
  for (let start = stretch.start; start < stretch.end; ) {
    const feed = whole.indexOf("\n", start);
    const end = feed === -1 ? whole.length : feed;
    const text = whole.slice(start, end);
    if (!isBlank(text)) lines.push({ key: keyOf(text, depth), text, start, end });
    start = end + 1;
  }
  return lines;
}

function slipAt(search: Search, tried: Try): Place | undefined {
  const { lines, wanted, first } = tried;
  let head = 0;
  while (head < wanted.length && lines[first + head]?.key === wanted[head]?.key) head += 1;
  if (head === wanted.length) return undefined;
  const restFits = (by: number, from: number) =>
    wanted.slice(from).every(({ key }, at) => lines[first + from + at + by]?.key === key);
  const typo = restFits(0, head + 1) ? mistyped(search, tried, head) : undefined;
  if (typo !== undefined || !restFits(1, head)) return typo;
  const at = firstLike(tried, head);
  return at > 0 ? leftOut(search, tried, at) : undefined;
}

/** Of like lines one is left out: not the one that is written as the old text has it. */
function firstLike({ lines, wanted, first }: Try, at: number): number {
  let left = at;
  while (left > 0 && lines[first + left]?.text === wanted[left - 1]?.text) left -= 1;
  return left;
}

/** A slip is inside a word, and does not produce another word of the file. */
const WORD = /^[A-Za-z]{4,}$/;
const LEAST_WORD = 5;

function mistyped(search: Search, tried: Try, at: number): Place | undefined {
  const [there, given] = [tried.lines[tried.first + at], tried.wanted[at]];
  // One letter more or less; checked first, because it takes no time.
  if (!there || !given || Math.abs(there.key.length - given.key.length) > 1) return undefined;
  const { file, said, depth } = search;
  const [wrong = "", correct = ""] = [given, there].map(({ text }) => new Folded(text, depth).text);
  const [word, right = ""] = mistypedWord(wrong, correct);
  const stretch = stretchOf(tried, tried.wanted.length);
  if (word === undefined || stretch === undefined || file.content.includes(word)) return undefined;
  // A word that the new text has more often may be meant.
  if (said.newLines.join("\n").split(word).length > 2) return undefined;
  const spelled = (line: string) => line.replace(word, right);
  const oldLines = said.oldLines.map(spelled);
  // The file may have the correction already.
  const trimmed = (lines: readonly string[]) => lines.map((line) => line.trimEnd()).join("\n");
  if (trimmed(oldLines) === trimmed(said.newLines)) return undefined;
  const read = { ...search, said: { ...said, oldLines, newLines: said.newLines.map(spelled) } };
  return placeAround(read, stretch, { slips: ["a typo"] });
}

/** The only word that differs, by a letter inside or by two in the wrong order. */
function mistypedWord(given: string, there: string): readonly string[] {
  const { head, tail } = commonEnds(given, there);
  const from = given.slice(0, head).search(/[A-Za-z]*$/);
  const after = /^[A-Za-z]*/.exec(given.slice(given.length - tail))?.[0].length ?? 0;
  const [word = "", right = ""] = [given, there].map((line) => line.slice(from, line.length - tail + after));
  if (![word, right].every((one) => WORD.test(one)) || right.length < LEAST_WORD) return [];
  if (word[0] !== right[0] || word.at(-1) !== right.at(-1)) return [];
  const at = head - from;
  const apart = Math.max(word.length, right.length) - at - after;
  const isSwapped = apart === 2 && word[at] === right[at + 1] && word[at + 1] === right[at];
  return apart < 2 || isSwapped ? [word, right] : [];
}

/** The lines before the one left out, and those after it, must be the file's; so must the blank lines around it. */
function leftOut(search: Search, tried: Try, at: number): Place | undefined {
  const stretch = stretchOf(tried, tried.wanted.length + 1);
  if (tried.wanted.length < 3 || stretch === undefined) return undefined;
  const { said } = search;
  const fileLines = linesIn(search.file.content, stretch);
  const fileAt = filledAt(fileLines, at);
  const [above, below] = [filledAt(fileLines, at - 1) + 1, filledAt(fileLines, at + 1)];
  const oldAbove = filledAt(said.oldLines, at - 1) + 1;
  if (filledAt(said.oldLines, at) - oldAbove !== below - above - 1) return undefined;
  const oldAt = oldAbove + fileAt - above;
  const slip = { oldFrom: oldAt, oldTo: oldAt, fileFrom: fileAt, fileTo: fileAt + 1 };
  return placeAround(search, stretch, { apart: [slip], slips: ["a line left out"] });
}

/** The index of a line, not counting blank ones. */
function filledAt(lines: readonly string[], at: number): number {
  let left = at;
  return lines.findIndex((line) => !isBlank(line) && left-- === 0);
}
