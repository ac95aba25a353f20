import { type FoldDepth, FoldedText, findPositions } from "./fold.ts";
import {
  type AlignedLines,
  alignLines,
  buildKey,
  isBlank,
  isOneToOne,
  type LineBlock,
  splitLine,
} from "./lines.ts";
import type { SearchedFile, TextRange } from "./windows.ts";

/** The two texts of an edit in lines, without blank lines at their beginning or end that both have. */
export interface EditLines {
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
  /** How many blank lines at the beginning and the end only the old text has: a slip if the file has none. */
  readonly above: number;
  readonly below: number;
  /** How many it has there, whatever the new text has. */
  readonly around: readonly [above: number, below: number];
  readonly endsLine: boolean;
  readonly takesEnd: boolean;
}

export function splitEditLines(oldText: string, newText: string): EditLines | undefined {
  if (isBlank(oldText)) return undefined;
  const [old, fresh] = [trimBlankLines(oldText), trimBlankLines(newText)];
  const [oldTail, newTail] = [old.below.length, fresh.below.length];
  const [above, below] = [old.above.length, Math.max(0, oldTail - 1)];
  const known = { oldLines: old.lines, around: [above, below], endsLine: oldTail > 0 } as const;
  if (isBlank(newText)) {
    // What is left of as many blank lines as the old text has around its own ones.
    const blanks = oldTail === 0 ? 1 : Math.max(0, newText.split("\n").length - 1 - above - below);
    return { ...known, newLines: Array(blanks).fill(""), above, below, takesEnd: blanks === 0 };
  }
  const [more, further] = [fresh.above.slice(above).reverse(), fresh.below.slice(oldTail)];
  return {
    ...known,
    newLines: [...more, ...fresh.lines, ...further],
    above: Math.max(0, above - fresh.above.length),
    below: oldTail > newTail ? Math.max(1, oldTail - 1) : 0,
    takesEnd: false,
  };
}

/** Lines, and the blank lines around them, counted from these. */
function trimBlankLines(text: string): Record<"above" | "lines" | "below", readonly string[]> {
  const lines = text.split("\n");
  const isFilled = (line: string) => !isBlank(line);
  const [from, to] = [Math.max(0, lines.findIndex(isFilled)), lines.findLastIndex(isFilled) + 1];
  return { above: lines.slice(0, from).reverse(), lines: lines.slice(from, to), below: lines.slice(to) };
}

/** Where the old text is in the file, line by line. */
export interface MatchPlace extends TextRange {
  readonly sides: AlignedLines;
  /** The differences of the old text there, as the names of rules. */
  readonly mistakes: ReadonlySet<string>;
  /** It is one of the places, but it is unknown what should happen to the blank lines around it. */
  readonly isOpen: boolean;
  /** The old text has more blank lines around its own ones. */
  readonly lacksBlanks: boolean;
  /** Whether lines are removed with their ends, because nothing replaces them. */
  readonly takesEnd: boolean;
}

export interface Search {
  readonly file: SearchedFile;
  readonly said: EditLines;
  readonly depth: FoldDepth;
}

const MAX_PLACES = 50;

/** More places than this are not told apart; of a long text fewer, because to compare their lines takes time. */
export function findPlaceLimit(oldText: string): number {
  return Math.max(4, Math.min(MAX_PLACES, Math.floor(400_000 / oldText.length)));
}

/** The places with the same characters as the old text. */
export function findPlaces(search: Search): MatchPlace[] {
  const { file } = search;
  const text = search.said.oldLines.join("\n");
  const wanted = new FoldedText(text, search.depth);
  const found = file.findRegions(text).flatMap((stretch): TextRange[] => {
    const folded = file.fold(stretch, search.depth);
    return findPositions(wanted, folded, MAX_PLACES).map((at) => ({
      start: stretch.start + (folded.starts[at] ?? 0),
      end: stretch.start + (folded.ends[at + wanted.length - 1] ?? 0),
    }));
  });
  const places: MatchPlace[] = [];
  for (const stretch of found.slice(0, MAX_PLACES)) {
    // Only those that count: the first few may all begin inside a line or word, before the second real one.
    if (places.length === findPlaceLimit(text)) break;
    const place = createPlace(search, stretch, wanted.length);
    if (place !== undefined) places.push(place);
  }
  return places;
}

const MIN_PART_CHARACTERS = 12;
const MAX_LINE_PART = 200;
/** The most white space at either side of a line, which is checked for each place. */
const MAX_INDENT = 500;

function createPlace(search: Search, { start, end }: TextRange, size: number): MatchPlace | undefined {
  const { said, depth } = search;
  const { content } = search.file;
  const lineStart = content.lastIndexOf("\n", start - 1) + 1;
  const feed = content.indexOf("\n", end);
  const lineEnd = feed === -1 ? content.length : feed;
  const isBare = (from: number, to: number) =>
    to - from <= MAX_INDENT && buildKey(content.slice(from, to), depth) === "";
  const [isFromStart, isToEnd] = [isBare(lineStart, start), isBare(end, lineEnd)];
  if (isFromStart && isToEnd) return alignPlace(search, { start: lineStart, end: lineEnd });
  const [first, last] = [said.oldLines[0] ?? "", said.oldLines.at(-1) ?? ""];
  const isLong = (line: string) =>
    size >= MIN_PART_CHARACTERS && (said.oldLines.length === 1 || line.trim().length > 20);
  const cutsWord = [start, end].some((at) => isInsideWord(content, at));
  // Only a model that is shown a part of a very long line begins in the middle of a word.
  const isOfEndless = said.oldLines.length === 1 && lineEnd - lineStart >= MAX_LINE_PART;
  if (cutsWord && !(isOfEndless && size >= MIN_PART_CHARACTERS)) return undefined;
  // What is indented begins a line.
  if ((!isFromStart && /^\s/.test(first)) || (!isToEnd && endsLine(said, isOfEndless))) return undefined;
  if ((!isFromStart && !isLong(first)) || (!isToEnd && !isLong(last))) return undefined;
  const inside = trimToLine(said, { isFromStart, isToEnd });
  if (inside === undefined) return undefined;
  const part = { start: isFromStart ? lineStart : start, end: isToEnd ? lineEnd : end };
  return alignPlace({ ...search, said: inside }, part);
}

/** What has a line break behind it ends a line; of a very long one a model sees a part as if it were a line. */
function endsLine(said: EditLines, isOfEndless: boolean): boolean {
  return said.endsLine && !(isOfEndless && said.below === 0);
}

/** Between two letters of a word, or two equal characters in a row. */
function isInsideWord(content: string, at: number): boolean {
  return /^(?:\w\w|(\S)\1)$/.test(content.slice(Math.max(0, at - 1), at + 1));
}

/** If the edit begins or ends inside a line, the rest of that line does not belong to it. */
function trimToLine(
  said: EditLines,
  { isFromStart, isToEnd }: { isFromStart: boolean; isToEnd: boolean },
): EditLines | undefined {
  const [oldLines, newLines] = [[...said.oldLines], [...said.newLines]];
  // A part of a line does not show how further lines must be indented, or before which of them its rest belongs.
  if (newLines.length > oldLines.length) return undefined;
  if (!isFromStart) {
    for (const lines of [oldLines, newLines]) lines[0] = lines[0]?.trimStart() ?? "";
  }
  if (!isToEnd) {
    for (const lines of [oldLines, newLines]) lines.push(lines.pop()?.trimEnd() ?? "");
  }
  return { ...said, oldLines, newLines };
}

export function listLines(content: string, { start, end }: TextRange): string[] {
  return content.slice(start, end).replaceAll("\r\n", "\n").replace(/\r$/, "").split("\n");
}

/** The place, if its lines match those of the old text except for slips, which set lines apart. */
export function alignPlace(
  { said, depth, file: { content } }: Search,
  stretch: TextRange,
  {
    apart = [],
    slips = [],
  }: { readonly apart?: readonly LineBlock[]; readonly slips?: readonly string[] } = {},
): MatchPlace | undefined {
  const { oldLines, newLines } = said;
  const fileLines = listLines(content, stretch);
  const sizesOf = (lines: readonly string[]) => lines.map((line) => buildKey(line, depth).length);
  const [oldSizes, fileSizes] = [sizesOf(oldLines), sizesOf(fileLines)];
  const blocks: LineBlock[] = [];
  const [oldEnd, fileEnd] = [oldLines.length, fileLines.length];
  let [oldFrom, fileFrom] = [0, 0];
  for (const block of [...apart, { oldFrom: oldEnd, oldTo: oldEnd, fileFrom: fileEnd, fileTo: fileEnd }]) {
    const between = { oldFrom, oldTo: block.oldFrom, fileFrom, fileTo: block.fileFrom };
    const aligned = alignLines(oldSizes, fileSizes, between);
    if (aligned === undefined) return undefined;
    for (const one of aligned) blocks.push(one);
    if (block.oldFrom < oldEnd || block.fileFrom < fileEnd) blocks.push(block);
    [oldFrom, fileFrom] = [block.oldTo, block.fileTo];
  }
  const sides = { oldLines, newLines, fileLines, blocks, depth };
  const [above, below] = countBlankLines(content, stretch);
  // Blank lines of the old text that are also in the file may be meant to be removed.
  const isOpen = (said.above > 0 && above >= said.above) || (said.below > 0 && below >= said.below);
  // Lines come, and a blank one behind them, where the file has none above: it has a line there that is left out.
  const comes = isBlank(content.slice(0, stretch.start)) ? 0 : newLines.indexOf(oldLines[0] ?? "");
  const isApart = above < said.around[0] && comes > 0 && isBlank(newLines[comes - 1] ?? "");
  const lacksBlanks = above < said.around[0] || below < said.around[1];
  const mistakes = new Set([...slips, ...(lacksBlanks ? ["blank lines"] : []), ...listMistakes(sides)]);
  return { ...stretch, sides, isOpen: isOpen || isApart, lacksBlanks, takesEnd: said.takesEnd, mistakes };
}

/** How many blank lines are above and below a part of the file. */
function countBlankLines(content: string, { start, end }: TextRange): [above: number, below: number] {
  const before = content.slice(Math.max(0, start - 200), start).split("\n");
  const after = content.slice(end, end + 200).split("\n");
  const count = (lines: readonly string[]) => [...lines, "a"].findIndex((line) => !isBlank(line));
  return [count(before.slice(0, -1).reverse()), count(after.slice(1, -1))];
}

function listMistakes({ oldLines, fileLines, blocks, depth }: AlignedLines): Set<string> {
  const mistakes = new Set<string>();
  for (const block of blocks) {
    if (block.isElided === true) continue;
    const lines = [oldLines.slice(block.oldFrom, block.oldTo), fileLines.slice(block.fileFrom, block.fileTo)];
    if (!isOneToOne(block)) mistakes.add(lines.flat().every(isBlank) ? "blank lines" : "line breaks");
    else for (const mistake of listLineMistakes(lines.flat(), depth)) mistakes.add(mistake);
  }
  return mistakes;
}

const MISTAKES_BY_DEPTH: Readonly<Record<FoldDepth, string>> = {
  signs: "look-alike characters",
  backslashes: "lost escapes",
  escapes: "lost escapes",
  entities: "HTML entities",
};

function* listLineMistakes([old = "", file = ""]: readonly string[], depth: FoldDepth): Generator<string> {
  if (old === file) return;
  const [said, there] = [splitLine(old), splitLine(file)];
  if (said.trail !== there.trail) yield "trailing spaces";
  if (said.body === "") yield "trailing spaces";
  else if (said.indent !== there.indent) yield "indentation";
  if (said.body === there.body) return;
  if (said.body.replace(/\s+/g, "") === there.body.replace(/\s+/g, "")) yield "spaces";
  else yield MISTAKES_BY_DEPTH[buildKey(old, "signs") === buildKey(file, "signs") ? "signs" : depth];
}
