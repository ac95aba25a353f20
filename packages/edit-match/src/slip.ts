import { type FoldDepth, FoldedText } from "./fold.ts";
import { countCommonEnds } from "./learned.ts";
import { buildKey, isBlank } from "./lines.ts";
import { alignPlace, findPlaces, listLines, type MatchPlace, type Search } from "./place.ts";
import { areAdjacent, type TextRange } from "./windows.ts";

interface FilledLine extends TextRange {
  readonly key: string;
  readonly text: string;
}

/** The lines of the file and those of the old text, which may begin at the file's line `first`. */
interface SlipAttempt {
  readonly lines: readonly FilledLine[];
  readonly wanted: readonly FilledLine[];
  readonly first: number;
}

const MAX_STEPS = 2_000_000;
const MIN_CHARACTERS = 12;
/** A longer part of the file, for which no rare word was found, is not searched for slips. */
const MAX_REGION_CHARACTERS = 200_000;

/** Finds the places that match the old text except for one slip: a mistyped word, or a left-out line. */
export function findSlippedPlaces(search: Search): MatchPlace[] {
  const { file, said, depth } = search;
  const text = said.oldLines.join("\n");
  const wanted = listFilledLines(text, { start: 0, end: text.length }, depth);
  if (wanted.map(({ key }) => key).join("").length < MIN_CHARACTERS) return [];
  const tries = file.findMatchingFileRegions(text).flatMap((stretch) => {
    if (stretch.end - stretch.start > MAX_REGION_CHARACTERS) return [];
    const lines = listFilledLines(file.content, stretch, depth);
    if (lines.length * wanted.length > MAX_STEPS) return [];
    return lines.map((_, first) => ({ lines, wanted, first }));
  });
  const slips = tries.flatMap((tried) => findPlaceWithSlip(search, tried) ?? []);
  const isPlaceElsewhere = (tried: SlipAttempt) => slips.some((slip) => existsElsewhere(tried, slip));
  if (!slips.some(({ mistakes }) => mistakes.has("a line left out"))) return slips;
  // If the file already has the new text, the change seems to have been made.
  const done = findPlaces({ ...search, said: { ...said, oldLines: said.newLines } });
  return tries.some(isPlaceElsewhere) || done.length > 0 ? [] : slips;
}

/** Returns the range of this many lines of the file, if it has them. */
function findRegion({ lines, first }: SlipAttempt, count: number): TextRange | undefined {
  const [from, to] = [lines[first], lines[first + count - 1]];
  return from && to && { start: from.start, end: to.end };
}

/** Whether all lines of the text but one occur at another place: that place is as likely as the slip. */
function existsElsewhere(tried: SlipAttempt, slip: TextRange): boolean {
  const { lines, wanted, first } = tried;
  const stretch = findRegion(tried, wanted.length);
  if (wanted.length < 3 || stretch === undefined || areAdjacent(stretch, slip)) return false;
  return wanted.filter(({ key }, at) => lines[first + at]?.key !== key).length === 1;
}

function listFilledLines(whole: string, stretch: TextRange, depth: FoldDepth): FilledLine[] {
  const lines: FilledLine[] = [];
  for (let start = stretch.start; start < stretch.end; ) {
    const feed = whole.indexOf("\n", start);
    const end = feed === -1 ? whole.length : feed;
    const text = whole.slice(start, end);
    if (!isBlank(text)) lines.push({ key: buildKey(text, depth), text, start, end });
    start = end + 1;
  }
  return lines;
}

function findPlaceWithSlip(search: Search, tried: SlipAttempt): MatchPlace | undefined {
  const { lines, wanted, first } = tried;
  let head = 0;
  while (head < wanted.length && lines[first + head]?.key === wanted[head]?.key) head += 1;
  if (head === wanted.length) return undefined;
  const doesRestMatch = (by: number, from: number) =>
    wanted.slice(from).every(({ key }, at) => lines[first + from + at + by]?.key === key);
  const typo = doesRestMatch(0, head + 1) ? findMistyped(search, tried, head) : undefined;
  if (typo !== undefined || !doesRestMatch(1, head)) return typo;
  const at = findFirstAlike(tried, head);
  return at > 0 ? findPlaceWithLeftOutLine(search, tried, at) : undefined;
}

/** Among equal lines, finds the one that was left out: not one that is spelled exactly as in the old text. */
function findFirstAlike({ lines, wanted, first }: SlipAttempt, at: number): number {
  let left = at;
  while (left > 0 && lines[first + left]?.text === wanted[left - 1]?.text) left -= 1;
  return left;
}

/** A slip is inside a word, and does not result in another word of the file. */
const WORD = /^[A-Za-z]{4,}$/;
const MIN_WORD_LENGTH = 5;

function findMistyped(search: Search, tried: SlipAttempt, at: number): MatchPlace | undefined {
  const [there, given] = [tried.lines[tried.first + at], tried.wanted[at]];
  // At most one letter more or less. Checked first, because it is cheap.
  if (!there || !given || Math.abs(there.key.length - given.key.length) > 1) return undefined;
  const { file, said, depth } = search;
  const [wrong = "", correct = ""] = [given, there].map(({ text }) => new FoldedText(text, depth).text);
  const [word, right = ""] = findMistypedWord(wrong, correct);
  const stretch = findRegion(tried, tried.wanted.length);
  if (word === undefined || stretch === undefined || file.content.includes(word)) return undefined;
  // A word that is in the new text more than once may be intended.
  if (said.newLines.join("\n").split(word).length > 2) return undefined;
  const correctSpelling = (line: string) => line.replace(word, right);
  const oldLines = said.oldLines.map(correctSpelling);
  // The file may already have the correction.
  const joinTrimmed = (lines: readonly string[]) => lines.map((line) => line.trimEnd()).join("\n");
  if (joinTrimmed(oldLines) === joinTrimmed(said.newLines)) return undefined;
  const read = { ...search, said: { ...said, oldLines, newLines: said.newLines.map(correctSpelling) } };
  return alignPlace(read, stretch, { slips: ["a typo"] });
}

/** Returns the only word that differs, in one letter inside or two swapped ones, and its correction. */
function findMistypedWord(given: string, there: string): readonly string[] {
  const { head, tail } = countCommonEnds(given, there);
  const from = given.slice(0, head).search(/[A-Za-z]*$/);
  const after = /^[A-Za-z]*/.exec(given.slice(given.length - tail))?.[0].length ?? 0;
  const [word = "", right = ""] = [given, there].map((line) => line.slice(from, line.length - tail + after));
  if (![word, right].every((one) => WORD.test(one)) || right.length < MIN_WORD_LENGTH) return [];
  if (word[0] !== right[0] || word.at(-1) !== right.at(-1)) return [];
  const at = head - from;
  const apart = Math.max(word.length, right.length) - at - after;
  const isSwapped = apart === 2 && word[at] === right[at + 1] && word[at + 1] === right[at];
  return apart < 2 || isSwapped ? [word, right] : [];
}

/** Returns the place with one line left out. All other lines and the blank lines around it must be as in the file. */
function findPlaceWithLeftOutLine(search: Search, tried: SlipAttempt, at: number): MatchPlace | undefined {
  const stretch = findRegion(tried, tried.wanted.length + 1);
  if (tried.wanted.length < 3 || stretch === undefined) return undefined;
  const { said } = search;
  const fileLines = listLines(search.file.content, stretch);
  const fileAt = findFilledIndex(fileLines, at);
  const [above, below] = [findFilledIndex(fileLines, at - 1) + 1, findFilledIndex(fileLines, at + 1)];
  const oldAbove = findFilledIndex(said.oldLines, at - 1) + 1;
  if (findFilledIndex(said.oldLines, at) - oldAbove !== below - above - 1) return undefined;
  const oldAt = oldAbove + fileAt - above;
  const slip = { oldFrom: oldAt, oldTo: oldAt, fileFrom: fileAt, fileTo: fileAt + 1 };
  return alignPlace(search, stretch, { apart: [slip], slips: ["a line left out"] });
}

/** Returns the index of the non-blank line with this number. */
function findFilledIndex(lines: readonly string[], at: number): number {
  let left = at;
  return lines.findIndex((line) => !isBlank(line) && left-- === 0);
}
