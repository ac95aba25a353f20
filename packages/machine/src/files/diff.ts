import { shownPath } from "@burin/contract/text/shown-path";
import { diffArrays, FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from "diff";

/** The search for a small diff has no bound of its own; after this the change is told in one sentence. */
const MOST_MILLISECONDS = 200;
const MOST_COMPARED = 2_000_000;
const CONTEXT = 3;
const FEWEST_UNLIKE = 2000;

export interface DiffSides {
  readonly fileName: string;
  /** null when the file is new. */
  readonly before: string | null;
  readonly after: string;
}

/** The shape of a FileDiff: a unified diff, empty when nothing differs, and the two texts. */
export interface DiffOfFile {
  readonly kind: "file_diff";
  readonly fileName: string;
  readonly fileDiff: string;
  readonly originalContent: string | null;
  readonly newContent: string;
  readonly addedLines: number;
  readonly removedLines: number;
  /** Where the two texts are only the part of a large file that begins with this line. */
  readonly firstLine?: number;
}

/** The difference of two texts. Lines that are equal at both ends cost nothing but a look. */
export function fileDiff(sides: DiffSides): DiffOfFile {
  const { fileName, before: originalContent, after: newContent } = sides;
  return { kind: "file_diff", fileName, originalContent, newContent, ...difference(sides) };
}

type Difference = Pick<DiffOfFile, "fileDiff" | "addedLines" | "removedLines">;

function difference({ fileName, before: original, after }: DiffSides): Difference {
  const before = original ?? "";
  if (before === after) return { fileDiff: "", addedLines: 0, removedLines: 0 };
  const { start, endBefore, endAfter } = changedPart(before, after);
  const old = before.slice(start, endBefore);
  const fresh = after.slice(start, endAfter);
  const oldName = original === null ? "/dev/null" : fileName;
  const options = { context: CONTEXT, timeout: MOST_MILLISECONDS };
  const isWorthASearch = old.length + fresh.length <= MOST_COMPARED && !areUnlike(old, fresh);
  const patch = isWorthASearch
    ? structuredPatch(oldName, fileName, old, fresh, undefined, undefined, options)
    : undefined;
  if (patch === undefined) return rewritten([oldName, fileName].map(shownPath), old, fresh);
  const linesBefore = countNewlines(before, start);
  for (const hunk of patch.hunks) {
    hunk.oldStart += linesBefore;
    hunk.newStart += linesBefore;
  }
  return { fileDiff: formatPatch(patch, FILE_HEADERS_ONLY), ...counts(patch.hunks) };
}

/** Long texts that share next to no line: the search would only use up its time. */
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

/** Whole lines around all that differs, with a few more for context. */
function changedPart(before: string, after: string): { start: number; endBefore: number; endAfter: number } {
  const shorter = Math.min(before.length, after.length);
  const same = equalStart(before, after, shorter);
  let start = same;
  for (let line = 0; line <= CONTEXT && start > 0; line += 1) start = before.lastIndexOf("\n", start - 2) + 1;
  const tail = equalEnd(before, after, shorter - same);
  let endBefore = before.length - tail;
  for (let line = 0; line <= CONTEXT && endBefore < before.length; line += 1) {
    const newline = before.indexOf("\n", endBefore);
    endBefore = newline === -1 ? before.length : newline + 1;
  }
  return { start, endBefore, endAfter: after.length - (before.length - endBefore) };
}

/** Whole blocks are compared in one go each, which takes a small part of the time of a look at each unit. */
const BLOCK = 4096;

function equalStart(one: string, other: string, most: number): number {
  let same = 0;
  while (same + BLOCK <= most && one.slice(same, same + BLOCK) === other.slice(same, same + BLOCK))
    same += BLOCK;
  while (same < most && one.charCodeAt(same) === other.charCodeAt(same)) same += 1;
  return same;
}

function equalEnd(one: string, other: string, most: number): number {
  let same = 0;
  const block = (text: string) => text.slice(text.length - same - BLOCK, text.length - same);
  while (same + BLOCK <= most && block(one) === block(other)) same += BLOCK;
  while (same < most && one.charCodeAt(one.length - 1 - same) === other.charCodeAt(other.length - 1 - same)) {
    same += 1;
  }
  return same;
}

/**
 * For each new line the old line that it is, in order, or -1. Equal lines at both ends are found first; when
 * the lines between are too many or too different, none of them is matched.
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
  const options = { timeout: MOST_MILLISECONDS };
  const old = before.slice(head, before.length - tail);
  const fresh = after.slice(head, after.length - tail);
  if (old.length === 0 || fresh.length === 0) return match;
  let oldAt = head;
  let newAt = head;
  for (const { added, removed, count } of diffArrays(old, fresh, options) ?? []) {
    for (let index = 0; !added && !removed && index < count; index += 1) match[newAt + index] = oldAt + index;
    if (!added) oldAt += count;
    if (!removed) newAt += count;
  }
  return match;
}

function countNewlines(text: string, end = text.length): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function countLines(text: string): number {
  return countNewlines(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
}
