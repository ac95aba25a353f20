import type { FileDiff } from "@burin/core";
import { type DiffHunk, type DiffLine, readDiff } from "@burin/core/internal";
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

/** The minimum width for two columns: in a narrower window, they would be wrapped too much. */
const MIN_BESIDE = 90;
/** From this width on, changes are shown side by side unless the user chose otherwise. */
const BESIDE_BY_ITSELF = 138;
const BAR = { text: " │ ", style: "dim" as const };

/**
 * Shared by sessions: the rows drawn last, with everything they depend on as the key. A large change would otherwise be
 * computed again for each key press.
 */
let last = { key: "", rows: [] as readonly Line[] };

/** Whether a change is shown side by side in a window of that width. */
export function isSideBySide(width: number): boolean {
  return width >= MIN_BESIDE && !look.isSpoken && (look.isSideBySide ?? width >= BESIDE_BY_ITSELF);
}

/** Draws a change or some of its hunks, with syntax colours and with the changed words marked. */
export function drawDiff(fileDiff: string, width: number, fileName = ""): readonly Line[] {
  const key = `${width} ${isSideBySide(width)} ${fileName} ${fileDiff}`;
  if (last.key !== key) {
    const hunks = readDiff(fileDiff);
    last = { key, rows: drawHunks(hunks, { width, gutter: measureGutter(hunks) }, fileName) };
  }
  return last.rows;
}

/** Draws the parts of a change one by one, all with their code in the same column. */
export function drawDiffParts(parts: readonly string[], width: number, fileName: string): Line[][] {
  const read = parts.map(readDiff);
  const gutter = measureGutter(read.flat());
  return read.map((hunks) => drawHunks(hunks, { width, gutter }, fileName));
}

/** Returns how many cells the line numbers take. */
function measureGutter(hunks: readonly DiffHunk[]): number {
  const lasts = hunks
    .map(({ blocks }) => blocks.at(-1))
    .map((block) => (block?.added ?? []).at(-1) ?? block?.removed.at(-1));
  return Math.max(1, ...lasts.map((line) => String(line?.number ?? 0).length));
}

/** Returns the name of the language for a code block: usually the file's extension. */
function detectLanguage(fileName: string): string {
  const name = fileName.split(/[/\\]/).at(-1) ?? "";
  const ending = /\.([^.]+)$/.exec(name)?.[1] ?? name;
  return ending === "" ? "text" : ending.toLowerCase();
}

function drawHunks(
  hunks: readonly DiffHunk[],
  { width, gutter }: Omit<Room, "language">,
  fileName: string,
): Line[] {
  const language = detectLanguage(fileName);
  // If one side is empty, half of the window would be, too.
  const hasLine = (sign: DiffLine["sign"]) =>
    hunks.some(({ blocks }) =>
      blocks.some(({ removed, added }) => [...removed, ...added].some((line) => line.sign === sign)),
    );
  const isWide = isSideBySide(width) && hasLine("+") && hasLine("-");
  const rows: Line[] = [];
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0) {
      const words = hunk.folded > 0 ? ` ${say("diff.folded", { count: hunk.folded })}` : "";
      rows.push([{ text: `${" ".repeat(gutter)} ⋯${words}`, style: "dim" }]);
    }
    rows.push(...(isWide ? drawHunkColumns : drawHunk)(hunk, { gutter, width, language }));
  }
  return rows;
}

export function drawDiffSummary({
  addedLines,
  removedLines,
}: Pick<FileDiff, "addedLines" | "removedLines">): Span[] {
  const parts: Span[] = [];
  if (addedLines + removedLines === 0) return [{ text: say("call.same"), style: "dim" }];
  if (addedLines > 0) parts.push({ text: `+${addedLines}`, style: "added" });
  if (removedLines > 0) parts.push({ text: `-${removedLines}`, style: "removed" });
  return parts.flatMap((part, index) => (index === 0 ? [part] : [{ text: " " }, part]));
}

interface Room {
  /** The width of the line numbers. */
  readonly gutter: number;
  readonly width: number;
  readonly language: string;
}

function drawHunk({ blocks }: DiffHunk, room: Room): Line[] {
  return blocks.flatMap(({ removed, added }) =>
    [...removed.filter(({ sign }) => sign !== " "), ...added].flatMap((line) => drawLine(line, room)),
  );
}

/** Draws the old text on the left and the new text on the right. */
function drawHunkColumns({ blocks }: DiffHunk, { gutter, width, language }: Room): Line[] {
  const column = Math.floor((width - BAR.text.length) / 2);
  const rows: Line[] = [];
  const drawSide = (line: DiffLine | undefined): Line[] =>
    line === undefined ? [] : drawLine(line, { gutter, width: column, language });
  for (const { removed, added } of blocks) {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      const [left, right] = [drawSide(removed[index]), drawSide(added[index])];
      for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
        const before = left[at] ?? [];
        const gap = { text: " ".repeat(Math.max(column - measureLine(before), 0)) };
        rows.push([...before, gap, BAR, ...(right[at] ?? [])]);
      }
    }
  }
  return rows;
}

/** Draws one line. Its tint reaches from the number to the end of the column. */
function drawLine({ sign, number, text, changed }: DiffLine, { gutter, width, language }: Room): Line[] {
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

/** Splits a line's spans where the changed words begin and end. */
function markWords(
  spans: readonly Span[],
  changed: DiffLine["changed"],
  back: (typeof BACKS)[DiffLine["sign"]],
): Span[] {
  if (back === undefined) return spans.map((one) => ({ ...one, text: formatText(one.text) }));
  const { from, to } = changed ?? { from: 0, to: 0 };
  let start = 0;
  return spans.flatMap(({ text, style }) => {
    const cuts = [0, from - start, to - start, text.length].map((at) =>
      Math.min(Math.max(at, 0), text.length),
    );
    start += text.length;
    return [0, 1, 2].flatMap((index): Span[] => {
      const piece = text.slice(cuts[index], cuts[index + 1]);
      const isWord = index === 1;
      return piece === "" ? [] : [{ text: formatText(piece), style, back: isWord ? back.word : back.line }];
    });
  });
}
