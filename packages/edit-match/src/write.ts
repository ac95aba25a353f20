import type { EditMatch, Replacement } from "./edit.ts";
import { countCommonEnds } from "./learned.ts";
import type { MergedLine } from "./merge.ts";
import type { MatchPlace } from "./place.ts";
import { findLineNumber } from "./windows.ts";

/** Returns the result of an edit whose places are known; "no_change" if it changes nothing. */
export function createMatch(content: string, stage: string, replacements: readonly Replacement[]): EditMatch {
  const real = replacements.filter(({ start, end, text }) => content.slice(start, end) !== text);
  if (real.length === 0) return { status: "no_change" };
  const lines: number[] = [];
  let [line, at] = [1, 0];
  for (const { start } of replacements) {
    line += findLineNumber(content.slice(at, start), start) - 1;
    at = start;
    lines.push(line);
  }
  return { status: "matched", stage, replacements, lines };
}

export function createAmbiguous(content: string, found: number, starts: readonly number[]): EditMatch {
  return { status: "ambiguous", found, lines: starts.slice(0, 20).map((at) => findLineNumber(content, at)) };
}

/** Builds the replacement: the lines with their line ends, without what stays the same at either end. */
export function buildReplacement(
  content: string,
  place: MatchPlace,
  merged: readonly MergedLine[],
): Replacement {
  const { start, end, takesEnd } = place;
  const ends = content.slice(start, end).match(/\r?\n/g) ?? [];
  let lineEnd = detectLineEndNear(content, start);
  let text = "";
  for (const [at, line] of merged.entries()) {
    lineEnd = ends[line.like ?? -1] ?? lineEnd;
    text += line.text + (at === merged.length - 1 ? "" : lineEnd);
  }
  const close = takesEnd ? (/^\r?\n/.exec(content.slice(end, end + 2))?.[0].length ?? 0) : 0;
  const carriage = content[end - 1] === "\r" && content[end] === "\n" && close === 0 ? "\r" : "";
  const whole = text + carriage;
  const { head, tail } = countCommonEnds(content.slice(start, end + close), whole);
  return { start: start + head, end: end + close - tail, text: whole.slice(head, whole.length - tail) };
}

/** Returns the content with the replacements made. Everything else stays as it is. */
export function applyReplacements(content: string, replacements: readonly Replacement[]): string {
  let [whole, at] = ["", 0];
  for (const { start, end, text } of replacements) {
    whole += content.slice(at, start) + text;
    at = end;
  }
  return whole + content.slice(at);
}

/** Returns the line end of the file if it has only one kind. */
export function detectLineEnd(content: string): "\n" | "\r\n" | undefined {
  if (!content.includes("\n")) return undefined;
  if (!content.includes("\r\n")) return "\n";
  return /(?<!\r)\n/.test(content) ? undefined : "\r\n";
}

/** Returns the line end that is used near `at`, so that the new text does not mix kinds. */
export function detectLineEndNear(content: string, at: number): string {
  const after = content.indexOf("\n", at);
  const near = after >= 0 ? after : content.lastIndexOf("\n", at);
  return near > 0 && content[near - 1] === "\r" ? "\r\n" : "\n";
}

export function convertLineEnds(text: string, lineEnd: string): string {
  return text.includes("\n") ? text.replace(/\r?\n/g, lineEnd) : text;
}
