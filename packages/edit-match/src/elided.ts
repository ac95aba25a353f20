import { alignLines, type Block, shifted } from "./lines.ts";
import { omission } from "./omission-placeholder.ts";
import { type FoldedFile, findPlaces, linesIn, type Place, placeOf, type Search } from "./place.ts";
import type { Windows } from "./windows.ts";

function isElision(line: string): boolean {
  return /^(?:\.{3}|…)$/.test(line.trim()) || omission(line) !== null;
}

/**
 * The place of an old text that has dots instead of some lines: each part of it must be in the file once, and one
 * after the other.
 */
export function findElided(file: FoldedFile, search: Search, windows: Windows): Place[] {
  const { said, content, depth } = search;
  const parts = partsBetween(said.oldLines, content);
  if (parts.length < 2) return [];
  let [start, end] = [-1, -1];
  const blocks: Block[] = [];
  const ranges: { start: number; end: number }[] = [];
  for (const { from, to } of parts) {
    const lines = said.oldLines.slice(from, to);
    const part = { ...search, said: { ...said, oldLines: lines, above: 0, below: 0 } };
    const [place, twin] = findPlaces(file, part, windows.around(lines.join("\n")));
    if (place === undefined || twin !== undefined || place.start < end) return [];
    if (start === -1) start = place.start;
    end = place.end;
    ranges.push(place);
  }
  const fileLines = linesIn(content, { start, end });
  for (const [index, range] of ranges.entries()) {
    const first = linesIn(content, { start, end: range.start }).length - 1;
    const part = parts[index];
    const own = linesIn(content, range);
    const aligned = alignLines(said.oldLines.slice(part?.from, part?.to), own, depth);
    if (aligned === undefined || part === undefined) return [];
    const before = blocks.at(-1);
    if (before !== undefined) {
      blocks.push({
        oldFrom: before.oldTo,
        oldTo: part.from,
        fileFrom: before.fileTo,
        fileTo: first,
        isElided: true,
      });
    }
    blocks.push(...aligned.map((block) => shifted(block, part.from, first)));
  }
  return [placeOf(search, { start, end }, { fileLines, blocks, slips: ["left-out lines"] })];
}

/** Dots that the file has stand for themselves. */
function isLineOf(content: string, line: string): boolean {
  for (let at = content.indexOf(line); at >= 0; at = content.indexOf(line, at + 1)) {
    const before = content.slice(content.lastIndexOf("\n", at - 1) + 1, at);
    if (
      before.trim() === "" &&
      /^[ \t\r]*(?:\n|$)/.test(content.slice(at + line.length, at + line.length + 80))
    )
      return true;
  }
  return false;
}

/** The lines between those that stand for others. */
function partsBetween(
  lines: readonly string[],
  content: string,
): { readonly from: number; readonly to: number }[] {
  const cuts = lines.flatMap((line, at) => (isElision(line) && !isLineOf(content, line.trim()) ? [at] : []));
  const parts: { from: number; to: number }[] = [];
  let from = 0;
  for (const cut of [...cuts, lines.length]) {
    if (lines.slice(from, cut).some((line) => line.trim() !== "")) parts.push({ from, to: cut });
    else return [];
    from = cut + 1;
  }
  return parts;
}
