/** A line of a unified diff, with its number in the new file, or in the old file if it was removed. */
export interface DiffLine {
  readonly sign: "+" | "-" | " ";
  readonly number: number;
  readonly text: string;
  /** The characters that differ from the line that this one replaces or that replaced it. */
  readonly changed?: { readonly from: number; readonly to: number };
}

/** Lines that belong together: one unchanged line, once for each side, or removed lines and their replacement. */
interface DiffBlock {
  readonly removed: readonly DiffLine[];
  readonly added: readonly DiffLine[];
}

export interface DiffHunk {
  /** How many unchanged lines are left out above it. */
  readonly folded: number;
  readonly blocks: readonly DiffBlock[];
}

/** The changes of one file in a patch. */
export interface FilePatch {
  readonly name: string;
  readonly hunks: readonly DiffHunk[];
}

/** The maximum number of characters of two lines that are compared word by word. */
const LONGEST_COMPARED = 400;
const WORDS = /[\p{L}\p{N}_]+|\s+|[^\s\p{L}\p{N}_]/gu;

/** Reads the unified diff of one file for a front end to draw. */
export function readDiff(fileDiff: string): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  let next = 1;
  for (const lines of readHunkLines(fileDiff)) {
    const first = lines[0]?.number ?? next;
    const last = lines.findLast(({ sign }) => sign !== "-");
    hunks.push({ folded: Math.max(first - next, 0), blocks: [...splitBlocks(lines)] });
    next = (last?.number ?? first - 1) + 1;
  }
  return hunks;
}

/** Reads a patch of git, file by file. */
export function readPatch(patch: string): FilePatch[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const [, name = ""] = /^diff --git .* b\/(.*)$/m.exec(part) ?? [];
      return { name, hunks: readDiff(part) };
    });
}

interface NumberedLine extends DiffLine {
  /** The line's number before the change, if it is in both files. */
  readonly before: number;
}

function readHunkLines(fileDiff: string): NumberedLine[][] {
  const hunks: NumberedLine[][] = [];
  let before = 0;
  let after = 0;
  for (const line of fileDiff.split("\n")) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (head !== null) {
      before = Number(head[1]);
      after = Number(head[2]);
      hunks.push([]);
      continue;
    }
    const sign = line[0];
    const hunk = hunks.at(-1);
    if (hunk === undefined || (sign !== "+" && sign !== "-" && sign !== " ")) continue;
    hunk.push({ sign, number: sign === "-" ? before : after, before, text: line.slice(1) });
    if (sign !== "+") before += 1;
    if (sign !== "-") after += 1;
  }
  return hunks;
}

function* splitBlocks(hunk: readonly NumberedLine[]): Generator<DiffBlock> {
  for (let at = 0; at < hunk.length; ) {
    const removed = takeRun(hunk, at, "-");
    const added = takeRun(hunk, at + removed.length, "+");
    const same = hunk[at];
    if (removed.length + added.length === 0 && same !== undefined) {
      const { sign, number, before, text } = same;
      yield { removed: [{ sign, number: before, text }], added: [{ sign, number, text }] };
      at += 1;
      continue;
    }
    yield markChanges(removed, added);
    at += removed.length + added.length;
  }
}

function takeRun(hunk: readonly NumberedLine[], from: number, sign: "+" | "-"): DiffLine[] {
  let end = from;
  while (hunk[end]?.sign === sign) end += 1;
  return hunk.slice(from, end).map(({ number, text }) => ({ sign, number, text }));
}

function markChanges(removed: readonly DiffLine[], added: readonly DiffLine[]): DiffBlock {
  if (removed.length !== added.length) return { removed, added };
  const marks = removed.map(({ text }, index) => findChange(text, added[index]?.text ?? ""));
  const mark = (lines: readonly DiffLine[], side: 0 | 1) =>
    lines.map((line, index): DiffLine => {
      const changed = marks[index]?.[side];
      return changed === undefined ? line : { ...line, changed };
    });
  return { removed: mark(removed, 0), added: mark(added, 1) };
}

type Range = NonNullable<DiffLine["changed"]>;

/** Finds the words that differ between two lines. If most of a line changed, nothing is marked. */
function findChange(before: string, after: string): readonly [Range, Range] | null {
  if (before.length + after.length > LONGEST_COMPARED) return null;
  const one: string[] = before.match(WORDS) ?? [];
  const two: string[] = after.match(WORDS) ?? [];
  let head = 0;
  while (head < one.length && head < two.length && one[head] === two[head]) head += 1;
  let tail = 0;
  const max = Math.min(one.length, two.length) - head;
  while (tail < max && one[one.length - 1 - tail] === two[two.length - 1 - tail]) tail += 1;
  const [first, last] = [one.slice(0, head).join(""), one.slice(one.length - tail).join("")];
  const same = (first + last).trim().length;
  if (same * 4 < Math.min(before.trim().length, after.trim().length)) return null;
  const findRange = (text: string): Range => ({ from: first.length, to: text.length - last.length });
  return [findRange(before), findRange(after)];
}
