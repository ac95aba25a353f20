import type { FileDiff } from "@burin/core";
import { say } from "../../locales/say.ts";
import {
  type Back,
  formatText,
  type Line,
  measureLine,
  type Span,
  wrapLine,
} from "../../terminal/styled-line.ts";
import { highlightCode } from "../highlight.ts";
import { look } from "../look.ts";

/** A line of a unified diff, with its number in the new file, or in the old file if it was removed. */
interface DiffLine {
  readonly sign: "+" | "-" | " ";
  readonly number: number;
  /** The line's number before the change, if it is in both files. */
  readonly before: number;
  readonly text: string;
}

/** The most characters of two lines that are compared word by word. */
const LONGEST_COMPARED = 400;
/** The least width for two columns: in a narrower window, they would be wrapped too much. */
const MIN_BESIDE = 90;
/** From this width on, changes are shown side by side unless the user chose otherwise. */
const BESIDE_BY_ITSELF = 138;
const BAR = { text: " │ ", style: "dim" as const };
const WORDS = /[\p{L}\p{N}_]+|\s+|[^\s\p{L}\p{N}_]/gu;

/**
 * Shared by sessions: the rows drawn last, with everything they depend on as the key. A large change would otherwise be
 * computed again for each key press.
 */
let last = { key: "", rows: [] as readonly Line[] };

/** Whether a change is shown side by side in a window of that width. */
export function isBeside(width: number): boolean {
  return width >= MIN_BESIDE && !look.isSpoken && (look.isSideBySide ?? width >= BESIDE_BY_ITSELF);
}

/** Draws a change or some of its hunks, with syntax colours and with the changed words marked. */
export function drawDiff(fileDiff: string, width: number, fileName = ""): readonly Line[] {
  const hunks = parseHunks(fileDiff);
  // If one side is empty, half of the window would be, too.
  const isTwoSided = ["+", "-"].every((sign) =>
    hunks.some((hunk) => hunk.some((line) => line.sign === sign)),
  );
  const isWide = isBeside(width) && isTwoSided;
  const key = `${width} ${isWide} ${fileName} ${fileDiff}`;
  if (last.key !== key)
    last = { key, rows: drawHunks(hunks, { width, isWide, language: detectLanguage(fileName) }) };
  return last.rows;
}

/** Returns the name of the language for a code block: usually the file's extension. */
function detectLanguage(fileName: string): string {
  const name = fileName.split(/[/\\]/).at(-1) ?? "";
  const ending = /\.([^.]+)$/.exec(name)?.[1] ?? name;
  return ending === "" ? "text" : ending.toLowerCase();
}

function drawHunks(
  hunks: readonly DiffLine[][],
  { width, isWide, language }: { width: number; isWide: boolean; language: string },
): Line[] {
  const rows: Line[] = [];
  const gutter = Math.max(1, ...hunks.map((hunk) => String(hunk.at(-1)?.number ?? 0).length));
  let next = 0;
  for (const [index, hunk] of hunks.entries()) {
    const folded = (hunk[0]?.number ?? 0) - next;
    if (index > 0) {
      const words = folded > 0 ? ` ${say("diff.folded", { count: folded })}` : "";
      rows.push([{ text: `${" ".repeat(gutter)} ⋯${words}`, style: "dim" }]);
    }
    rows.push(...(isWide ? drawHunkColumns : drawHunk)(hunk, { gutter, width, language }));
    next = (hunk.findLast(({ sign }) => sign !== "-")?.number ?? 0) + 1;
  }
  return rows;
}

export function drawDiffSummary({ addedLines, removedLines }: FileDiff): Span[] {
  const parts: Span[] = [];
  if (addedLines + removedLines === 0) return [{ text: say("call.same"), style: "dim" }];
  if (addedLines > 0) parts.push({ text: `+${addedLines}`, style: "added" });
  if (removedLines > 0) parts.push({ text: `-${removedLines}`, style: "removed" });
  return parts.flatMap((part, index) => (index === 0 ? [part] : [{ text: " " }, part]));
}

function parseHunks(fileDiff: string): DiffLine[][] {
  const hunks: DiffLine[][] = [];
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
    const text = line.slice(1);
    const hunk = hunks.at(-1);
    if (hunk === undefined || (sign !== "+" && sign !== "-" && sign !== " ")) continue;
    hunk.push({ sign, number: sign === "-" ? before : after, before, text });
    if (sign !== "+") before += 1;
    if (sign !== "-") after += 1;
  }
  return hunks;
}

interface Room {
  /** The width of the line numbers. */
  readonly gutter: number;
  readonly width: number;
  readonly language: string;
}

/** Lines that belong together: unchanged lines, or removed lines and their replacement with the changed words. */
interface Block {
  readonly removed: readonly DiffLine[];
  readonly added: readonly DiffLine[];
  readonly pairs: readonly [boolean[], boolean[]][];
}

function* splitBlocks(hunk: readonly DiffLine[]): Generator<Block> {
  for (let at = 0; at < hunk.length; ) {
    const removed = takeRun(hunk, at, "-");
    const added = takeRun(hunk, at + removed.length, "+");
    const same = hunk[at];
    if (removed.length + added.length === 0 && same !== undefined) {
      yield { removed: [{ ...same, number: same.before }], added: [same], pairs: [] };
      at += 1;
      continue;
    }
    const isPaired = removed.length === added.length;
    const pairs = isPaired
      ? removed.map((line, index) => findChangedWords(line.text, added[index]?.text ?? ""))
      : [];
    yield { removed, added, pairs };
    at += removed.length + added.length;
  }
}

function drawHunk(hunk: readonly DiffLine[], room: Room): Line[] {
  return [...splitBlocks(hunk)].flatMap(({ removed, added, pairs }) => [
    ...removed.flatMap((line, index) => (line.sign === " " ? [] : drawLine(line, pairs[index]?.[0], room))),
    ...added.flatMap((line, index) => drawLine(line, pairs[index]?.[1], room)),
  ]);
}

/** Draws the old text on the left and the new text on the right. */
function drawHunkColumns(hunk: readonly DiffLine[], { gutter, width, language }: Room): Line[] {
  const column = Math.floor((width - BAR.text.length) / 2);
  const rows: Line[] = [];
  for (const { removed, added, pairs } of splitBlocks(hunk)) {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      const drawSide = (line: DiffLine | undefined, changed?: readonly boolean[]): Line[] =>
        line === undefined ? [] : drawLine(line, changed, { gutter, width: column, language });
      const left = drawSide(removed[index], pairs[index]?.[0]);
      const right = drawSide(added[index], pairs[index]?.[1]);
      for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
        const before = left[at] ?? [];
        const gap = { text: " ".repeat(Math.max(column - measureLine(before), 0)) };
        rows.push([...before, gap, BAR, ...(right[at] ?? [])]);
      }
    }
  }
  return rows;
}

function takeRun(hunk: readonly DiffLine[], from: number, sign: "+" | "-"): DiffLine[] {
  let end = from;
  while (hunk[end]?.sign === sign) end += 1;
  return hunk.slice(from, end);
}

/** Draws one line. Its tint reaches from the number to the end of the column. */
function drawLine(
  { sign, number, text }: DiffLine,
  changed: readonly boolean[] = [],
  { gutter, width, language }: Room,
): Line[] {
  const head = `${String(number).padStart(gutter)} ${sign} `;
  const back = BACKS[sign];
  const clean = text.endsWith("\r") ? text.slice(0, -1) : text;
  const spans = markWords(highlightCode(clean, language), changed, back);
  const lead: Line = [{ text: head, style: back?.line === undefined ? "dim" : undefined, back: back?.line }];
  const room = Math.max(width - head.length, 8);
  return wrapLine(spans, room).map((row, index) => {
    const line: Line = [
      ...(index === 0 ? lead : [{ text: " ".repeat(head.length), back: back?.line }]),
      ...row,
    ];
    const rest = head.length + room - measureLine(line);
    return back === undefined || rest <= 0 ? line : [...line, { text: " ".repeat(rest), back: back.line }];
  });
}

const BACKS: Readonly<Partial<Record<DiffLine["sign"], { readonly line: Back; readonly word: Back }>>> = {
  "+": { line: "added", word: "addedWord" },
  "-": { line: "removed", word: "removedWord" },
};

/** Splits a line's spans where a changed word begins or ends. */
function markWords(
  spans: readonly Span[],
  changed: readonly boolean[],
  back: (typeof BACKS)[DiffLine["sign"]],
): Span[] {
  if (back === undefined) return spans.map((one) => ({ ...one, text: formatText(one.text) }));
  const marks = splitWords(spans.map(({ text }) => text).join("")).flatMap((word, at) =>
    Array<boolean>(word.length).fill(changed[at] === true),
  );
  let from = 0;
  return spans.flatMap(({ text, style }) => {
    const pieces: Span[] = [];
    for (let at = 0; at < text.length; ) {
      const isWord = marks[from + at] === true;
      let end = at;
      while (end < text.length && (marks[from + end] === true) === isWord) end += 1;
      pieces.push({ text: formatText(text.slice(at, end)), style, back: isWord ? back.word : back.line });
      at = end;
    }
    from += text.length;
    return pieces;
  });
}

function splitWords(text: string): string[] {
  return text.match(WORDS) ?? [];
}

/** Says for each word of two lines whether it changed. If most of a line changed, nothing is marked. */
function findChangedWords(before: string, after: string): [boolean[], boolean[]] {
  if (before.length + after.length > LONGEST_COMPARED) return [[], []];
  const [one, two] = [splitWords(before), splitWords(after)];
  let head = 0;
  while (head < one.length && head < two.length && one[head] === two[head]) head += 1;
  let tail = 0;
  const most = Math.min(one.length, two.length) - head;
  while (tail < most && one[one.length - 1 - tail] === two[two.length - 1 - tail]) tail += 1;
  const same = [...one.slice(0, head), ...one.slice(one.length - tail)].join("").trim().length;
  if (same * 4 < Math.min(before.trim().length, after.trim().length)) return [[], []];
  const markChanged = (words: readonly string[]) =>
    words.map((_, at) => at >= head && at < words.length - tail);
  return [markChanged(one), markChanged(two)];
}
