import { formatPath } from "@burin/contract/text/shown-path";
import type { FileDiff } from "@burin/contract/tools";
import { diffArrays, FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from "diff";

/** The diff algorithm has no limit of its own; after this time the change is described in one sentence. */
const MAX_MILLISECONDS = 200;
/** So few lines never reach the time limit, however different they are, so the clock is not needed. */
const MAX_UNTIMED_LINES = 1000;
const MAX_COMPARED = 2_000_000;
const CONTEXT_LINES = 3;
const MIN_UNLIKE_CHARACTERS = 2000;
const PARTIAL_DIFF_NOTE = "Only the lines around the change are shown: the file is large.\n";

export interface DiffSides {
  readonly fileName: string;
  /** null when the file is new. */
  readonly before: string | null;
  readonly after: string;
  /** When the texts are only a part of a large file: the number of their first line. */
  readonly firstLine?: number | undefined;
  /** The replacements in the order of the text, if they are known. Then nothing else has to be compared. */
  readonly changes?: readonly Change[];
}

interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Returns the difference between two texts. Equal lines at either end cost almost nothing. */
export function buildFileDiff(sides: DiffSides): FileDiff {
  const { fileName, before: originalContent, after: newContent, firstLine } = sides;
  const place = firstLine === undefined ? {} : { firstLine };
  return { kind: "file_diff", fileName, originalContent, newContent, ...diffTexts(sides), ...place };
}

type Difference = Pick<FileDiff, "fileDiff" | "addedLines" | "removedLines">;

function diffTexts({ fileName, before: original, after, firstLine = 0, changes }: DiffSides): Difference {
  const before = original ?? "";
  if (before === after) return { fileDiff: "", addedLines: 0, removedLines: 0 };
  const oldName = original === null ? "/dev/null" : fileName;
  const whole = findChangedPart(before, after);
  const known =
    countChangedPartLines(whole) > MAX_COMPARED ? findChangedParts(before, after, changes ?? []) : [];
  const hunks: StructuredPatchHunk[] = [];
  let [lines, added, at] = [Math.max(0, firstLine - 1), 0, 0];
  for (const { start, startAfter, endBefore, endAfter } of known.length > 0 ? known : [whole]) {
    const [old, fresh] = [before.slice(start, endBefore), after.slice(startAfter, endAfter)];
    const found = diffLines(old, fresh);
    if (found === undefined) return describeRewrite([oldName, fileName].map(formatPath), old, fresh);
    lines += countNewlines(before.slice(at, start));
    at = start;
    for (const hunk of found) {
      hunks.push({ ...hunk, oldStart: hunk.oldStart + lines, newStart: hunk.newStart + lines + added });
    }
    added += found.reduce((sum, { newLines, oldLines }) => sum + newLines - oldLines, 0);
  }
  const names = { oldFileName: oldName, newFileName: fileName, oldHeader: undefined, newHeader: undefined };
  const words = firstLine === 0 ? "" : PARTIAL_DIFF_NOTE;
  return {
    fileDiff: words + formatPatch({ ...names, hunks }, FILE_HEADERS_ONLY),
    ...countChangedLines(hunks),
  };
}

function diffLines(old: string, fresh: string): readonly StructuredPatchHunk[] | undefined {
  if (old.length + fresh.length > MAX_COMPARED || areMostlyDifferent(old, fresh)) return undefined;
  const options = { context: CONTEXT_LINES, timeout: findTimeLimit(countLines(old) + countLines(fresh)) };
  return structuredPatch("", "", old, fresh, undefined, undefined, options)?.hunks;
}

/** Long texts with almost no common lines: a diff would only waste time. */
function areMostlyDifferent(before: string, after: string): boolean {
  const old = before.split("\n");
  if (old.length < MIN_UNLIKE_CHARACTERS) return false;
  const fresh = after.split("\n");
  const known = new Set(old);
  const shared = fresh.filter((line) => known.has(line)).length;
  return fresh.length >= MIN_UNLIKE_CHARACTERS && shared * 20 < Math.min(old.length, fresh.length);
}

function describeRewrite([oldName, newName]: readonly string[], before: string, after: string): Difference {
  const removedLines = countLines(before);
  const addedLines = countLines(after);
  const words = `The file is rewritten: ${removedLines} lines become ${addedLines}.`;
  return { fileDiff: `--- ${oldName}\n+++ ${newName}\n${words}\n`, addedLines, removedLines };
}

function countChangedLines(hunks: readonly StructuredPatchHunk[]): {
  addedLines: number;
  removedLines: number;
} {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const countLinesWithSign = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { addedLines: countLinesWithSign("+"), removedLines: countLinesWithSign("-") };
}

interface ChangedPart {
  readonly start: number;
  readonly endBefore: number;
  readonly startAfter: number;
  readonly endAfter: number;
}

function countChangedPartLines({ start, endBefore, startAfter, endAfter }: ChangedPart): number {
  return endBefore - start + endAfter - startAfter;
}

/** Returns the whole lines around all differences, with a few lines of context. */
function findChangedPart(before: string, after: string): ChangedPart {
  const shorter = Math.min(before.length, after.length);
  const same = countEqualStart(before, after, shorter);
  const tail = countEqualEnd(before, after, shorter - same);
  const [start, endBefore] = expandToContext(before, same, before.length - tail);
  return { start, endBefore, startAfter: start, endAfter: after.length - (before.length - endBefore) };
}

/**
 * Returns the whole lines around each change, or around each group of nearby changes. Empty if that would compare just
 * as much.
 */
function findChangedParts(before: string, after: string, changes: readonly Change[]): ChangedPart[] {
  const parts: ChangedPart[] = [];
  let shift = 0;
  for (const { start: from, end, text } of changes) {
    const [start, endBefore] = expandToContext(before, from, end);
    const startAfter = start + shift;
    shift += text.length - (end - from);
    const part = { start, endBefore, startAfter, endAfter: endBefore + shift };
    const last = parts.at(-1);
    if (last === undefined || start > last.endBefore) parts.push(part);
    else parts[parts.length - 1] = { ...part, start: last.start, startAfter: last.startAfter };
  }
  const isLess = parts.reduce((sum, part) => sum + countChangedPartLines(part), 0) <= MAX_COMPARED;
  return isLess && before.length + shift === after.length ? parts : [];
}

function expandToContext(text: string, from: number, to: number): [start: number, end: number] {
  let [start, end] = [from, to];
  for (let line = 0; line <= CONTEXT_LINES && start > 0; line += 1)
    start = text.slice(0, start - 1).lastIndexOf("\n") + 1;
  for (let line = 0; line <= CONTEXT_LINES && end < text.length; line += 1) {
    const newline = text.indexOf("\n", end);
    end = newline === -1 ? text.length : newline + 1;
  }
  return [start, end];
}

/** Compares whole blocks first, then ever smaller ones, which is many times faster than unit by unit. */
function countEqualUnits(maxUnits: number, isEqual: (from: number, to: number) => boolean): number {
  let same = 0;
  for (const block of [4096, 512, 64, 8, 1])
    while (same + block <= maxUnits && isEqual(same, same + block)) same += block;
  return same;
}

export function countEqualStart(one: string, other: string, maxUnits: number): number {
  return countEqualUnits(maxUnits, (from, to) => one.slice(from, to) === other.slice(from, to));
}

export function countEqualEnd(one: string, other: string, maxUnits: number): number {
  const sliceFromEnd = (text: string, from: number, to: number) =>
    text.slice(text.length - to, text.length - from);
  return countEqualUnits(
    maxUnits,
    (from, to) => sliceFromEnd(one, from, to) === sliceFromEnd(other, from, to),
  );
}

/**
 * Returns, for each new line, the index of the matching old line, in order, or -1. Equal lines at either end are
 * matched first. If the lines between are too many or too different, none of those is matched.
 */
export function matchLines(before: readonly string[], after: readonly string[]): number[] {
  const match = new Array<number>(after.length).fill(-1);
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) {
    match[head] = head;
    head += 1;
  }
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) {
    tail += 1;
    match[after.length - tail] = before.length - tail;
  }
  const old = before.slice(head, before.length - tail);
  const fresh = after.slice(head, after.length - tail);
  if (old.length === 0 || fresh.length === 0) return match;
  const options = { timeout: findTimeLimit(old.length + fresh.length) };
  let oldAt = head;
  let newAt = head;
  for (const { added, removed, count } of diffArrays(old, fresh, options) ?? []) {
    for (let index = 0; !added && !removed && index < count; index += 1) match[newAt + index] = oldAt + index;
    if (!added) oldAt += count;
    if (!removed) newAt += count;
  }
  return match;
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function findTimeLimit(lines: number): number {
  return lines > MAX_UNTIMED_LINES ? MAX_MILLISECONDS : Number.POSITIVE_INFINITY;
}

function countLines(text: string): number {
  return countNewlines(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
}
