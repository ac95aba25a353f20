import { type FoldDepth, FoldedText, findPositions } from "./fold.ts";
import {
  type AlignedLines,
  alignLines,
  buildKey,
  isBlank,
  isSingleLinePair,
  type LineBlock,
  splitLine,
} from "./lines.ts";
import type { SearchedFile, TextRange } from "./windows.ts";

/** The lines of an edit's two texts, without leading and trailing blank lines that both texts have. */
export interface EditLines {
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
  /** How many more blank lines the old text has above and below. They are a slip if the file has none. */
  readonly above: number;
  readonly below: number;
  /** How many blank lines the old text has above and below, whatever the new text has. */
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
    // A blank new text: keep as many blank lines as remain after subtracting those around the old text's lines.
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

/** Splits a text into its lines and the blank lines above and below, each counted from the lines outwards. */
function trimBlankLines(text: string): Record<"above" | "lines" | "below", readonly string[]> {
  const lines = text.split("\n");
  const isFilled = (line: string) => !isBlank(line);
  const [from, to] = [Math.max(0, lines.findIndex(isFilled)), lines.findLastIndex(isFilled) + 1];
  return { above: lines.slice(0, from).reverse(), lines: lines.slice(from, to), below: lines.slice(to) };
}

/** A place where the old text is in the file, line by line. */
export interface MatchPlace extends TextRange {
  readonly sides: AlignedLines;
  /** The names of the rules that were needed because the old text differs from the file. */
  readonly mistakes: ReadonlySet<string>;
  /** true if the place is certain, but not what should happen to the blank lines around it. */
  readonly isOpen: boolean;
  /** The old text has more blank lines around it than the file. */
  readonly lacksBlanks: boolean;
  /** Whether the lines are removed with their line ends, because nothing replaces them. */
  readonly takesEnd: boolean;
}

export interface Search {
  readonly file: SearchedFile;
  readonly said: EditLines;
  readonly depth: FoldDepth;
}

const MAX_PLACES = 50;

/** The maximum number of places that are told apart. A long text has fewer, because comparing their lines takes time. */
export function findPlaceLimit(oldText: string): number {
  return Math.max(4, Math.min(MAX_PLACES, Math.floor(400_000 / oldText.length)));
}

/** Finds the places with the same characters as the old text. */
export function findPlaces(search: Search): MatchPlace[] {
  const { file } = search;
  const text = search.said.oldLines.join("\n");
  const wanted = new FoldedText(text, search.depth);
  const found = file.findMatchingFileRegions(text).flatMap((stretch): TextRange[] => {
    const folded = file.fold(stretch, search.depth);
    return findPositions(wanted, folded, MAX_PLACES).map((at) => ({
      start: stretch.start + (folded.starts[at] ?? 0),
      end: stretch.start + (folded.ends[at + wanted.length - 1] ?? 0),
    }));
  });
  const places: MatchPlace[] = [];
  for (const stretch of found.slice(0, MAX_PLACES)) {
    // Count only real places: the first matches may all begin inside a line or word.
    if (places.length === findPlaceLimit(text)) break;
    const place = createPlace(search, stretch, wanted.length);
    if (place !== undefined) places.push(place);
  }
  return places;
}

const MIN_PART_CHARACTERS = 12;
const MAX_LINE_PART = 200;
/** The maximum white space at either end of a line, which is checked for every place. */
const MAX_INDENT = 500;

function createPlace(search: Search, { start, end }: TextRange, size: number): MatchPlace | undefined {
  const { said, depth } = search;
  const { content } = search.file;
  const lineStart = content.lastIndexOf("\n", start - 1) + 1;
  const feed = content.indexOf("\n", end);
  const lineEnd = feed === -1 ? content.length : feed;
  const containsOnlyIgnored = (from: number, to: number) =>
    to - from <= MAX_INDENT && buildKey(content.slice(from, to), depth) === "";
  const [isFromStart, isToEnd] = [containsOnlyIgnored(lineStart, start), containsOnlyIgnored(end, lineEnd)];
  if (isFromStart && isToEnd) return alignPlace(search, { start: lineStart, end: lineEnd });
  const [first, last] = [said.oldLines[0] ?? "", said.oldLines.at(-1) ?? ""];
  const isLongEnough = (line: string) =>
    size >= MIN_PART_CHARACTERS && (said.oldLines.length === 1 || line.trim().length > 20);
  const cutsWord = [start, end].some((at) => isInsideWord(content, at));
  // Only a model that sees a part of a very long line begins in the middle of a word.
  const isOfEndless = said.oldLines.length === 1 && lineEnd - lineStart >= MAX_LINE_PART;
  if (cutsWord && !(isOfEndless && size >= MIN_PART_CHARACTERS)) return undefined;
  // An indented text begins a line.
  if ((!isFromStart && /^\s/.test(first)) || (!isToEnd && endsLine(said, isOfEndless))) return undefined;
  if ((!isFromStart && !isLongEnough(first)) || (!isToEnd && !isLongEnough(last))) return undefined;
  const inside = trimToLine(said, { isFromStart, isToEnd });
  if (inside === undefined) return undefined;
  const part = { start: isFromStart ? lineStart : start, end: isToEnd ? lineEnd : end };
  return alignPlace({ ...search, said: inside }, part);
}

/** Whether the old text ends a line. A part of a very long line, which a model may see as a line, does not. */
function endsLine(said: EditLines, isOfEndless: boolean): boolean {
  return said.endsLine && !(isOfEndless && said.below === 0);
}

/** Whether a position is between two letters of a word, or between two equal characters. */
function isInsideWord(content: string, at: number): boolean {
  return /^(?:\w\w|(\S)\1)$/.test(content.slice(Math.max(0, at - 1), at + 1));
}

/** Trims the texts if the edit begins or ends inside a line, because the rest of that line does not belong to it. */
function trimToLine(
  said: EditLines,
  { isFromStart, isToEnd }: { isFromStart: boolean; isToEnd: boolean },
): EditLines | undefined {
  const [oldLines, newLines] = [[...said.oldLines], [...said.newLines]];
  // A part of a line shows neither how further lines are indented, nor to which of them the rest of the line belongs.
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

/** Returns the place if its lines match the old text's, apart from the slips in `apart`. */
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
  const measureLines = (lines: readonly string[]) => lines.map((line) => buildKey(line, depth).length);
  const [oldSizes, fileSizes] = [measureLines(oldLines), measureLines(fileLines)];
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
  // Blank lines that are in the old text and also in the file may be meant to be removed.
  const isOpen = (said.above > 0 && above >= said.above) || (said.below > 0 && below >= said.below);
  // The edit adds lines and then a blank line, where the file has no blank line above: the old text lacks a line there.
  const comes = isBlank(content.slice(0, stretch.start)) ? 0 : newLines.indexOf(oldLines[0] ?? "");
  const isApart = above < said.around[0] && comes > 0 && isBlank(newLines[comes - 1] ?? "");
  const lacksBlanks = above < said.around[0] || below < said.around[1];
  const mistakes = new Set([...slips, ...(lacksBlanks ? ["blank lines"] : []), ...listMistakes(sides)]);
  return { ...stretch, sides, isOpen: isOpen || isApart, lacksBlanks, takesEnd: said.takesEnd, mistakes };
}

/** Counts the blank lines above and below a part of the file. */
function countBlankLines(content: string, { start, end }: TextRange): [above: number, below: number] {
  const before = content.slice(Math.max(0, start - 200), start).split("\n");
  const after = content.slice(end, end + 200).split("\n");
  const countLeadingBlankLines = (lines: readonly string[]) =>
    [...lines, "a"].findIndex((line) => !isBlank(line));
  return [countLeadingBlankLines(before.slice(0, -1).reverse()), countLeadingBlankLines(after.slice(1, -1))];
}

function listMistakes({ oldLines, fileLines, blocks, depth }: AlignedLines): Set<string> {
  const mistakes = new Set<string>();
  for (const block of blocks) {
    if (block.isElided === true) continue;
    const lines = [oldLines.slice(block.oldFrom, block.oldTo), fileLines.slice(block.fileFrom, block.fileTo)];
    if (!isSingleLinePair(block)) mistakes.add(lines.flat().every(isBlank) ? "blank lines" : "line breaks");
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
