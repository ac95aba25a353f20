import type { EditMatch, EditRequest, Replacement } from "./edit.ts";
import { lineOf } from "./windows.ts";
import { lineEndAt, matched, withLineEnd } from "./write.ts";

interface ExactPlaces {
  readonly found: number;
  /** The offsets of the first ones. */
  readonly starts: readonly number[];
  /** Set when `found` is the expected number. */
  readonly replacements: readonly Replacement[];
}

/** The edit if the old text occurs exactly; no result if it does not occur at all. */
export function findExactly(request: EditRequest, stage: string): EditMatch | undefined {
  const { content, expected, oldText, newText } = request;
  const { found, starts, replacements } = exactPlaces(request);
  if (found === 0) return undefined;
  if (found !== expected) {
    return { status: "ambiguous", found, lines: starts.map((at) => lineOf(content, at)) };
  }
  return newText === oldText ? { status: "no_change" } : matched(content, stage, replacements);
}

const MAX_SHOWN = 20;

/**
 * Counts the exact occurrences. If they overlap and it matters which ones are used, all of them count, so that the
 * number cannot match by chance.
 */
function exactPlaces(search: EditRequest): ExactPlaces {
  const { content, oldText, expected } = search;
  const starts: number[] = [];
  let found = 0;
  let overlaps = 0;
  let end = 0;
  const first = lacksLine(content, oldText) ? -1 : content.indexOf(oldText);
  for (let at = first; at >= 0; at = content.indexOf(oldText, at + 1)) {
    if (at < end) {
      overlaps++;
      continue;
    }
    found++;
    end = at + oldText.length;
    if (starts.length < Math.max(expected, MAX_SHOWN)) starts.push(at);
  }
  const replacements = found === expected ? starts.map((start) => replaced(search, start)) : [];
  const doubtful = found === expected && overlaps > 0 && !tiles(search, starts);
  const shown = starts.slice(0, MAX_SHOWN);
  return doubtful
    ? { found: found + overlaps, starts: shown, replacements: [] }
    : { found, starts: shown, replacements };
}

/** A longer text can be slow to search among many similar lines; one missing line gives the answer at once. */
const LONG = 2000;
const LINES_TRIED = 12;

function lacksLine(content: string, oldText: string): boolean {
  if (oldText.length < LONG) return false;
  const lines = [...new Set(oldText.split("\n"))].slice(0, LINES_TRIED);
  return lines.some((line) => !content.includes(line));
}

/** New lines inside one line of the file end as that line does. */
function replaced({ content, oldText, newText }: EditRequest, start: number): Replacement {
  const end = start + oldText.length;
  const isForeign = newText.includes("\r\n") && content.includes("\n") && !content.includes("\r\n");
  const isOneLine = !oldText.includes("\n") && newText.includes("\n") && !newText.includes("\r");
  const mixes = isForeign || isOneLine;
  return { start, end, text: mixes ? withLineEnd(newText, lineEndAt(content, end)) : newText };
}

function tiles({ content, oldText }: EditRequest, starts: readonly number[]): boolean {
  let limit = content.length;
  for (const start of starts.toReversed()) {
    if (content.lastIndexOf(oldText, limit - oldText.length) !== start) return false;
    limit = start;
  }
  return true;
}
