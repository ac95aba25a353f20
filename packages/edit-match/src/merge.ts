import { type FoldDepth, FoldedText } from "./fold.ts";
import {
  countCommonEnds,
  type LearnedStyle,
  type LineTriple,
  learnFileStyle,
  scoreAlikeness,
} from "./learned.ts";
import {
  type AlignedLines,
  hasUnpairedQuote,
  isBlank,
  isSingleLinePair,
  type LineBlock,
  matchKeptLines,
  splitLine,
} from "./lines.ts";
import type { TextRange } from "./windows.ts";

/** A line to write, its line of the new text, and the index of the file's line whose line end it gets. */
export interface MergedLine {
  readonly text: string;
  readonly fresh?: string;
  readonly like?: number | undefined;
}

/** Blocks that are changed together, and the lines of the new text that replace them. */
interface Hunk {
  readonly blocks: readonly LineBlock[];
  readonly newFrom: number;
  readonly newTo: number;
}

/**
 * Makes the edit in the file's own lines. A kept line keeps the file's bytes. A changed or new line is as in the new
 * text, adjusted by what was learned from the whole edit. Returns undefined if it is not clear which lines are kept.
 */
export function mergeLines(sides: AlignedLines): MergedLine[] | undefined {
  const there = sides.oldLines.map((): string | undefined => undefined);
  for (const block of sides.blocks) {
    if (isSingleLinePair(block)) there[block.oldFrom] = sides.fileLines[block.fileFrom];
  }
  const ways = matchKeptLines({ ...sides, there }, sides.depth);
  const [merged, other] = ways.map((kept) => kept && mergeKept(sides, kept));
  const joinMergedLines = (lines: readonly MergedLine[]) => lines.map(({ text }) => text).join("\n");
  return merged && other && joinMergedLines(other) === joinMergedLines(merged) ? merged : undefined;
}

function mergeKept(sides: AlignedLines, kept: Int32Array): MergedLine[] | undefined {
  const newOf = new Int32Array(sides.oldLines.length).fill(-1);
  for (const [fresh, old] of kept.entries()) if (old >= 0) newOf[old] = fresh;
  const steps = listMergeSteps(sides, newOf);
  if (steps === undefined) return undefined;
  const partners = steps.flatMap((step) => ("hunk" in step ? [...findPartners(sides, step.hunk)] : []));
  const partnerOf = new Map(partners);
  const learned = learnFileStyle(buildTriples(sides, newOf, partnerOf), sides);
  const shown = { sides, newOf, partnerOf, learned };
  const merged: MergedLine[] = [];
  for (const step of steps) {
    const lines = "hunk" in step ? mergeChangedLines(shown, step.hunk) : mergeKeptBlock(shown, step.kept);
    if (lines === undefined) return undefined;
    merged.push(...lines);
  }
  return learned.isAsFile || merged.every((line) => shouldKeepFileBytes(sides, line)) ? merged : undefined;
}

/** Whether to write the file's own bytes for a line that both texts have. A line of dots has no bytes in the file. */
function shouldKeepFileBytes(
  { blocks, oldLines, fileLines }: AlignedLines,
  { text, fresh = "" }: MergedLine,
): boolean {
  if (isBlank(fresh)) return true;
  const isBlockOfLine = (block: LineBlock) =>
    (isSingleLinePair(block) || block.isElided) && oldLines[block.oldFrom] === fresh;
  const same = blocks.filter(isBlockOfLine);
  return same.length === 0 || same.some(({ fileFrom }) => fileLines[fileFrom] === text);
}

interface MergeContext {
  readonly sides: AlignedLines;
  readonly newOf: Int32Array;
  readonly partnerOf: ReadonlyMap<number, LineBlock>;
  readonly learned: LearnedStyle;
}

const isOneLine = (block: LineBlock) => isSingleLinePair(block) && block.isElided !== true;

type MergeStep = { readonly kept: LineBlock } | { readonly hunk: Hunk };

function listMergeSteps(sides: AlignedLines, newOf: Int32Array): MergeStep[] | undefined {
  const { blocks, newLines } = sides;
  const keptAt = findKeptBlocks(sides, newOf);
  const steps: MergeStep[] = [];
  let changed: LineBlock[] = [];
  let [next, after] = [0, 0];
  const close = (to: number) => {
    if (changed.length > 0 || to > next) steps.push({ hunk: { blocks: changed, newFrom: next, newTo: to } });
    changed = [];
  };
  for (const [index, block] of blocks.entries()) {
    while (after < blocks.length && (after <= index || (keptAt[after]?.from ?? -1) < 0)) after += 1;
    const to = keptAt[after]?.from ?? newLines.length;
    const isBetween = [changed.length > 0, index + 1 < blocks.length && keptAt[index + 1] === undefined];
    const at = keptAt[index] ?? findRestoredLines(sides, block, { from: next, to, isBetween });
    if (at === undefined) changed.push(block);
    else {
      const first = at.from === -1 ? next : at.from;
      close(first);
      steps.push({ kept: block });
      next = first + at.count;
    }
  }
  close(newLines.length);
  return steps.every((step) => "kept" in step || isMergeUnambiguous(sides, step.hunk)) ? steps : undefined;
}

/** The lines of the new text that keep a block; `from` is -1 if it has none there. */
interface KeptRange {
  readonly from: number;
  readonly count: number;
}

const MIN_RESTORED = 4;

/** Returns the blocks that the new text keeps. Blocks with other blank lines count only between kept ones. */
function findKeptBlocks(sides: AlignedLines, newOf: Int32Array): (KeptRange | undefined)[] {
  const { blocks, oldLines, newLines } = sides;
  const isSame = (old: number) => oldLines[old] !== undefined && oldLines[old] === newLines[newOf[old] ?? -1];
  const holds = blocks.map((block) => {
    const first = newOf[block.oldFrom] ?? -1;
    if (isSingleLinePair(block)) return first >= 0;
    for (let old = block.oldFrom; old < block.oldTo; old += 1) {
      if (newOf[old] !== first + old - block.oldFrom || first < 0 || !isSame(old)) return false;
    }
    return true;
  });
  return blocks.map((block, index) => {
    const { oldFrom, oldTo } = block;
    const count = oldTo - oldFrom;
    const kept = { from: count > 0 ? (newOf[oldFrom] ?? -1) : -1, count };
    if (holds[index] !== true) return undefined;
    const isGap = oldLines.slice(oldFrom, oldTo).every(isBlank);
    if (isSingleLinePair(block) || block.isElided === true || !isGap) return kept;
    const isInside =
      holds[index - 1] === true && holds[index + 1] === true && isSame(oldFrom - 1) && isSame(oldTo);
    return isInside && newOf[oldTo] === (newOf[oldFrom - 1] ?? -1) + 1 + count ? kept : undefined;
  });
}

/** Finds lines that the old text lacks or has differently, and that the new text has as in the file. */
function findRestoredLines(
  sides: AlignedLines,
  block: LineBlock,
  { from, to, isBetween }: { from: number; to: number; isBetween: readonly boolean[] },
): KeptRange | undefined {
  if (isSingleLinePair(block) || block.isElided === true) return undefined;
  const lines = sides.fileLines.slice(block.fileFrom, block.fileTo);
  if (lines.join("").replace(/\s/g, "").length < MIN_RESTORED) return undefined;
  const found: number[] = [];
  for (let at = from; at + lines.length <= to; at += 1) {
    if (lines.every((line, index) => line.trimEnd() === sides.newLines[at + index]?.trimEnd()))
      found.push(at);
  }
  const [at = from] = found;
  const ends = [at === from, at + lines.length === to];
  // Lines further away may only look the same. So may lines of which the old text has nothing, next to added ones.
  const isNamed = block.oldFrom < block.oldTo;
  const isBeside = ends.some(Boolean) && ends.every((isEnd, side) => isEnd || isNamed || isBetween[side]);
  return found.length === 1 && isBeside ? { from: at, count: lines.length } : undefined;
}

/** Whether the result is clear: if the file's lines differ, the new text must be exactly those lines. */
function isMergeUnambiguous(sides: AlignedLines, { blocks, newFrom, newTo }: Hunk): boolean {
  if (blocks.every(isOneLine)) return true;
  const there = blocks.flatMap(({ fileFrom, fileTo }) => sides.fileLines.slice(fileFrom, fileTo));
  const fresh = sides.newLines.slice(newFrom, newTo);
  return there.length === fresh.length && there.every((line, at) => line === fresh[at]);
}

const MAX_TRIED = 200;
/** The minimum share of its characters that a changed line must keep at its ends. */
const MIN_ALIKE_SHARE = 0.4;

/** Yields lines of the new text in a hunk, each with the old line that was changed to it. */
function* findPartners(
  sides: AlignedLines,
  { blocks, newFrom, newTo }: Hunk,
): Generator<[number, LineBlock]> {
  const lines = blocks.filter(isSingleLinePair);
  // If there is only one line on each side, one became the other, however little they have in common.
  const min = lines.length === 1 && newTo - newFrom === 1 ? 0 : MIN_ALIKE_SHARE;
  let next = 0;
  for (let fresh = newFrom; fresh < newTo && fresh - newFrom < MAX_TRIED; fresh += 1) {
    const tried = lines.slice(next, next + MAX_TRIED);
    let [best, max] = [-1, min];
    tried.forEach((block, at) => {
      const alike = scoreLikeness(sides.oldLines[block.oldFrom] ?? "", sides.newLines[fresh] ?? "");
      if (alike > max) [best, max] = [at, alike];
    });
    const partner = tried[best];
    if (partner === undefined) continue;
    yield [fresh, partner];
    next += best + 1;
  }
}

function scoreLikeness(old: string, fresh: string): number {
  const [one, other] = [old.trim(), fresh.trim()];
  // A line of only signs did not become one with words.
  if (/\w/.test(one) !== /\w/.test(other)) return 0;
  return scoreAlikeness(one, other) / Math.min(one.length, other.length);
}

/** Lists for each line of the old text the same line in the file, and what the new text made of it. */
function buildTriples(
  sides: AlignedLines,
  newOf: Int32Array,
  partnerOf: ReadonlyMap<number, LineBlock>,
): LineTriple[] {
  const freshOf = new Map([...partnerOf].map(([fresh, { oldFrom }]) => [oldFrom, fresh]));
  return sides.blocks.filter(isOneLine).map(({ oldFrom, fileFrom }) => {
    const paired = newOf[oldFrom] ?? -1;
    const fresh = sides.newLines[paired >= 0 ? paired : (freshOf.get(oldFrom) ?? -1)];
    return {
      old: splitLine(sides.oldLines[oldFrom] ?? ""),
      file: splitLine(sides.fileLines[fileFrom] ?? ""),
      fresh: fresh === undefined ? undefined : splitLine(fresh),
    };
  });
}

function mergeKeptBlock(shown: MergeContext, block: LineBlock): MergedLine[] | undefined {
  const { sides, newOf } = shown;
  const { fileFrom, fileTo } = block;
  const fresh = sides.newLines[newOf[block.oldFrom] ?? -1];
  if (!isOneLine(block) || fresh === undefined) {
    return sides.fileLines.slice(fileFrom, fileTo).map((text, at) => ({ text, like: fileFrom + at }));
  }
  const text = mergeLine(shown, fresh, block);
  return text === undefined ? undefined : [{ text, fresh, like: fileFrom }];
}

function mergeChangedLines(shown: MergeContext, { newFrom, newTo }: Hunk): MergedLine[] | undefined {
  const { sides, partnerOf } = shown;
  const merged: MergedLine[] = [];
  for (let at = newFrom; at < newTo; at += 1) {
    const fresh = sides.newLines[at] ?? "";
    const partner = findMovedBlock(shown, fresh) ?? partnerOf.get(at);
    const text = mayContinueString(sides, fresh) ? undefined : mergeLine(shown, fresh, partner);
    if (text === undefined) return undefined;
    merged.push({ text, fresh, like: partner?.fileFrom });
  }
  return merged;
}

/** Finds the line of the old text that was moved here: an equal line with words that is kept nowhere else. */
function findMovedBlock(
  { sides: { blocks, oldLines }, newOf }: MergeContext,
  fresh: string,
): LineBlock | undefined {
  if (!/\w/.test(fresh)) return undefined;
  return blocks.find(
    (block) => isOneLine(block) && oldLines[block.oldFrom] === fresh && (newOf[block.oldFrom] ?? -1) < 0,
  );
}

function mayContinueString({ depth, fileLines }: AlignedLines, fresh: string): boolean {
  // A string with a line break that has lost its escape may continue at the beginning of the next line.
  const isRest = /^\S/.test(fresh) && !fileLines.some((line) => /^\S/.test(line));
  return depth === "escapes" && (isRest || ['"', "'", "`"].some((quote) => hasUnpairedQuote(fresh, quote)));
}

/**
 * Returns a line as it should be written. What it keeps of the file's line is the file's, unless spelled a third way.
 */
function mergeLine(
  { sides, learned }: MergeContext,
  line: string,
  from: LineBlock | undefined,
): string | undefined {
  const fresh = splitLine(line);
  const oldLine = sides.oldLines[from?.oldFrom ?? -1];
  if (fresh.body === "" && line !== oldLine) {
    const indent = line && learned.indent(line);
    // A line of only white space may not be shifted together with the others.
    const isShown = indent === line || line.includes("\t") !== indent?.includes("\t");
    return isShown ? indent : undefined;
  }
  const old = from && splitLine(oldLine ?? "");
  const file = from && splitLine(sides.fileLines[from.fileFrom] ?? "");
  const indent = learned.indent(fresh.indent, old && file && { old: old.indent, file: file.indent });
  const body =
    old && file
      ? mergeBody({ old: old.body, file: file.body, fresh: fresh.body }, learned, sides.depth)
      : learned.signs(fresh.body);
  const isKept = fresh.body === old?.body && fresh.trail === old.trail && indent === file?.indent;
  const trail = isKept ? file?.trail : learned.trail(fresh.trail);
  return indent === undefined || body === undefined ? undefined : indent + body + trail;
}

/** Merges a changed line. What it keeps of the old line is written as in the file. */
function mergeBody(
  { old, file, fresh }: Readonly<Record<"old" | "file" | "fresh", string>>,
  learned: LearnedStyle,
  depth: FoldDepth,
): string | undefined {
  // A change of the Unicode normal form is never intended.
  if (fresh === old || fresh.normalize() === file.normalize()) return file;
  if (scoreAlikeness(file, fresh) > scoreAlikeness(old, fresh)) {
    return learned.signs(fresh) === fresh ? fresh : undefined;
  }
  const folded = { old: new FoldedText(old, depth), file: new FoldedText(file, depth), fresh };
  if (folded.old.length !== folded.file.length) return undefined;
  return mergeChangedBody(folded, learned);
}

function mergeChangedBody(
  { old, file, fresh }: { old: FoldedText; file: FoldedText; fresh: string },
  learned: LearnedStyle,
): string | undefined {
  const { head, tail } = countCommonEnds(old.source, fresh);
  const oldTail = old.source.length - tail;
  let from = 0;
  while (from < old.length && (old.ends[from] ?? 0) <= head) from += 1;
  let to = old.length;
  while (to > from && (old.starts[to - 1] ?? 0) >= oldTail) to -= 1;
  while (old.isWithinCharacter(to)) to += 1;
  const before = findSpacesBefore(old, file, { unit: from, isWithin: from === to });
  const findLastCharacter = (text: string, end: number) => text.slice(0, end).trimEnd().at(-1) ?? "";
  const [was, is] = [findLastCharacter(old.source, oldTail), findLastCharacter(fresh, fresh.length - tail)];
  // Spaces after a bracket say nothing about spaces after a comma.
  const isWithin = was !== is && /[([{]/.test(was);
  const after = from === to ? before : findSpacesBefore(old, file, { unit: to, isWithin });
  if (before === undefined || after === undefined) return undefined;
  const keepsBefore = head >= before.old.end;
  const keepsAfter = oldTail <= after.old.start && !(keepsBefore && from === to);
  const [cut, resume] = [keepsBefore ? "end" : "start", keepsAfter ? "start" : "end"] as const;
  const end = fresh.length - (old.source.length - after.old[resume]);
  const middle = learned.signs(fresh.slice(before.old[cut], end));
  if (middle === undefined) return undefined;
  return file.source.slice(0, before.file[cut]) + middle + file.source.slice(after.file[resume]);
}

/**
 * Returns the spaces before a character on both sides. Returns undefined if it is unclear whether they are meant: if
 * only the file has spaces, or if only the old text has some and the new text inserts something there.
 */
function findSpacesBefore(
  old: FoldedText,
  file: FoldedText,
  { unit, isWithin }: { readonly unit: number; readonly isWithin: boolean },
): Record<"old" | "file", TextRange> | undefined {
  if (file.isWithinCharacter(unit)) return undefined;
  const findSpaceRange = ({ starts, ends, length, source }: FoldedText) => ({
    start: unit === 0 ? 0 : (ends[unit - 1] ?? 0),
    end: unit === length ? source.length : (starts[unit] ?? 0),
  });
  const seam = { old: findSpaceRange(old), file: findSpaceRange(file) };
  const [isInOld, isInFile] = [seam.old.start < seam.old.end, seam.file.start < seam.file.end];
  return (isInFile && !isInOld) || (isWithin && isInOld && !isInFile) ? undefined : seam;
}
