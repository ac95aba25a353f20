import { shownPath } from "@burin/contract/text/shown-path";
import type { FileDiff } from "@burin/contract/tools";
import { diffArrays, FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from "diff";

/** The diff algorithm has no limit of its own; after this time the change is described in one sentence. */
const MOST_MILLISECONDS = 200;
/** So few take less time than that, however unlike they are; the clock of a busy machine is not asked. */
const FEW_LINES = 1000;
const MOST_COMPARED = 2_000_000;
const CONTEXT = 3;
const FEWEST_UNLIKE = 2000;
const PART_ONLY = "Only the lines around the change are shown: the file is large.\n";

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

/** Returns the difference of two texts. Equal lines at both ends cost almost nothing. */
export function fileDiff(sides: DiffSides): FileDiff {
  const { fileName, before: originalContent, after: newContent, firstLine } = sides;
  const place = firstLine === undefined ? {} : { firstLine };
  return { kind: "file_diff", fileName, originalContent, newContent, ...difference(sides), ...place };
}

type Difference = Pick<FileDiff, "fileDiff" | "addedLines" | "removedLines">;

function difference({ fileName, before: original, after, firstLine = 0, changes }: DiffSides): Difference {
  const before = original ?? "";
  if (before === after) return { fileDiff: "", addedLines: 0, removedLines: 0 };
  const oldName = original === null ? "/dev/null" : fileName;
  const whole = changedPart(before, after);
  const known = sizeOf(whole) > MOST_COMPARED ? changedParts(before, after, changes ?? []) : [];
  const hunks: StructuredPatchHunk[] = [];
  let [lines, added, at] = [Math.max(0, firstLine - 1), 0, 0];
  for (const { start, startAfter, endBefore, endAfter } of known.length > 0 ? known : [whole]) {
    const [old, fresh] = [before.slice(start, endBefore), after.slice(startAfter, endAfter)];
    const found = lineHunks(old, fresh);
    if (found === undefined) return rewritten([oldName, fileName].map(shownPath), old, fresh);
    lines += countNewlines(before.slice(at, start));
    at = start;
    for (const hunk of found) {
      hunks.push({ ...hunk, oldStart: hunk.oldStart + lines, newStart: hunk.newStart + lines + added });
    }
    added += found.reduce((sum, { newLines, oldLines }) => sum + newLines - oldLines, 0);
  }
  const names = { oldFileName: oldName, newFileName: fileName, oldHeader: undefined, newHeader: undefined };
  const words = firstLine === 0 ? "" : PART_ONLY;
  return { fileDiff: words + formatPatch({ ...names, hunks }, FILE_HEADERS_ONLY), ...counts(hunks) };
}

function lineHunks(old: string, fresh: string): readonly StructuredPatchHunk[] | undefined {
  if (old.length + fresh.length > MOST_COMPARED || areUnlike(old, fresh)) return undefined;
  const options = { context: CONTEXT, timeout: mostTime(countLines(old) + countLines(fresh)) };
  return structuredPatch("", "", old, fresh, undefined, undefined, options)?.hunks;
}

/** Long texts that share almost no line: a diff would only use up its time. */
function areUnlike(before: string, after: string): boolean {
  const old = before.split("\n");
  if (old.length < FEWEST_UNLIKE) return false;
  const fresh = after.split("\n");
  const known = new Set(old);
  const shared = fresh.filter((line) => known.has(line)).length;
  return fresh.length >= FEWEST_UNLIKE && shared * 20 < Math.min(old.length, fresh.length);
}

function rewritten([oldName, newName]: readonly string[], before: string, after: string): Difference {
  const removedLines = countLines(before);
  const addedLines = countLines(after);
  const words = `The file is rewritten: ${removedLines} lines become ${addedLines}.`;
  return { fileDiff: `--- ${oldName}\n+++ ${newName}\n${words}\n`, addedLines, removedLines };
}

function counts(hunks: readonly StructuredPatchHunk[]): { addedLines: number; removedLines: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const starting = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { addedLines: starting("+"), removedLines: starting("-") };
}

interface ChangedPart {
  readonly start: number;
  readonly endBefore: number;
  readonly startAfter: number;
  readonly endAfter: number;
}

function sizeOf({ start, endBefore, startAfter, endAfter }: ChangedPart): number {
  return endBefore - start + endAfter - startAfter;
}

/** The whole lines around all differences, with a few more lines of context. */
function changedPart(before: string, after: string): ChangedPart {
  const shorter = Math.min(before.length, after.length);
  const same = equalStart(before, after, shorter);
  const tail = equalEnd(before, after, shorter - same);
  const [start, endBefore] = withContext(before, same, before.length - tail);
  return { start, endBefore, startAfter: start, endAfter: after.length - (before.length - endBefore) };
}

/** The same for each change, or for groups of close changes. Empty when that would compare just as much. */
function changedParts(before: string, after: string, changes: readonly Change[]): ChangedPart[] {
  const parts: ChangedPart[] = [];
  let shift = 0;
  for (const { start: from, end, text } of changes) {
    const [start, endBefore] = withContext(before, from, end);
    const startAfter = start + shift;
    shift += text.length - (end - from);
    const part = { start, endBefore, startAfter, endAfter: endBefore + shift };
    const last = parts.at(-1);
    if (last === undefined || start > last.endBefore) parts.push(part);
    else parts[parts.length - 1] = { ...part, start: last.start, startAfter: last.startAfter };
  }
  const isLess = parts.reduce((sum, part) => sum + sizeOf(part), 0) <= MOST_COMPARED;
  return isLess && before.length + shift === after.length ? parts : [];
}

function withContext(text: string, from: number, to: number): [start: number, end: number] {
  let [start, end] = [from, to];
  for (let line = 0; line <= CONTEXT && start > 0; line += 1)
    start = text.slice(0, start - 1).lastIndexOf("\n") + 1;
  for (let line = 0; line <= CONTEXT && end < text.length; line += 1) {
    const newline = text.indexOf("\n", end);
    end = newline === -1 ? text.length : newline + 1;
  }
  return [start, end];
}

/** Whole blocks are compared at once, then ever smaller ones, which is many times faster than unit by unit. */
function equalUnits(most: number, isEqual: (from: number, to: number) => boolean): number {
  let same = 0;
  for (const block of [4096, 512, 64, 8, 1])
    while (same + block <= most && isEqual(same, same + block)) same += block;
  return same;
}

export function equalStart(one: string, other: string, most: number): number {
  return equalUnits(most, (from, to) => one.slice(from, to) === other.slice(from, to));
}

export function equalEnd(one: string, other: string, most: number): number {
  const atEnd = (text: string, from: number, to: number) => text.slice(text.length - to, text.length - from);
  return equalUnits(most, (from, to) => atEnd(one, from, to) === atEnd(other, from, to));
}

/**
 * Returns, for each new line, the index of the same old line, in order, or -1. Equal lines at both ends are matched
 * first; when the lines between are too many or too different, none of them is matched.
 */
export function matchingLines(before: readonly string[], after: readonly string[]): number[] {
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
  const options = { timeout: mostTime(old.length + fresh.length) };
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

function mostTime(lines: number): number {
  return lines > FEW_LINES ? MOST_MILLISECONDS : Number.POSITIVE_INFINITY;
}

function countLines(text: string): number {
  return countNewlines(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
}
