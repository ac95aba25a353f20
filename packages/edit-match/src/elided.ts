import { type Block, isBlank } from "./lines.ts";
import {
  findPlaces,
  linesIn,
  NO_EDGE,
  type Place,
  placeAround,
  type Said,
  type Search,
  type SearchedFile,
} from "./place.ts";
import { omission } from "./placeholder.ts";

/** Whether a line stands for others. Dots that are in the file stand for themselves. */
function isDots(line: string, content: string): boolean {
  const isElision = /^(?:\.{3}|…)$/.test(line.trim()) || omission(line) !== null;
  return isElision && !isLineOf(content, line.trim());
}

/** Lines of the old text between those that stand for others. */
interface Part {
  readonly from: number;
  readonly to: number;
}

/**
 * The place of an old text with dots instead of some lines: each part of it must be in the file once, in order. A
 * part before the first dots or after the last that is not changed may occur more often: the nearest one is used.
 */
export function findElided(file: SearchedFile, search: Search): Place[] {
  const { content } = search;
  const said = withoutOuterDots(search.said, content);
  const parts = partsBetween(said.oldLines, content);
  if (parts.length === 0 || (said === search.said && parts.length < 2)) return [];
  const found = parts.map(({ from, to }) => {
    const lines = said.oldLines.slice(from, to);
    const part = { ...search, said: { ...said, oldLines: lines, above: NO_EDGE, below: NO_EDGE } };
    return findPlaces(file, part);
  });
  const places = inOrder(found, staysAtEnds(said, parts));
  const [first, last] = [places?.[0], places?.at(-1)];
  if (places === undefined || first === undefined || last === undefined) return [];
  const stretch = { start: first.start, end: last.end };
  const linesTo = (end: number) => linesIn(content, { start: stretch.start, end }).length;
  const apart = places.slice(1).map(({ start }, at): Block => {
    const [oldFrom, oldTo] = [parts[at]?.to ?? 0, parts[at + 1]?.from ?? 0];
    return {
      oldFrom,
      oldTo,
      fileFrom: linesTo(places[at]?.end ?? 0),
      fileTo: linesTo(start) - 1,
      isElided: true,
    };
  });
  const place = placeAround({ ...search, said }, stretch, { apart, slips: ["left-out lines"] });
  return place === undefined ? [] : [place];
}

/** Dots at the beginning or the end of both texts mean nothing. */
function withoutOuterDots(said: Said, content: string): Said {
  const { oldLines, newLines } = said;
  const isOuter = (line: string) => isBlank(line) || isDots(line, content);
  const from = oldLines.findIndex((line) => !isOuter(line));
  const to = oldLines.findLastIndex((line) => !isOuter(line)) + 1;
  const isShared = (lines: readonly string[], others: readonly string[]) =>
    lines.every((line, at) => line.trim() === others[at]?.trim());
  const head = isShared(oldLines.slice(0, from), newLines) ? from : 0;
  const tail = isShared(oldLines.slice(to).reverse(), newLines.toReversed()) ? oldLines.length - to : 0;
  if (head + tail === 0 || from < 0) return said;
  return {
    ...said,
    oldLines: oldLines.slice(head, oldLines.length - tail),
    newLines: newLines.slice(head, newLines.length - tail),
  };
}

/** Whether the first part, and the last, are in the new text next to the dots. */
function staysAtEnds({ oldLines, newLines }: Said, parts: readonly Part[]): readonly [boolean, boolean] {
  const head = parts[1]?.from ?? 0;
  const tail = oldLines.length - (parts.at(-2)?.to ?? oldLines.length);
  const headStays = head > 0 && oldLines.slice(0, head).every((line, at) => line === newLines[at]);
  const tailStays = tail > 0 && oldLines.slice(-tail).every((line, at) => line === newLines.at(at - tail));
  // Around the same dots nothing could change except the lines that the dots stand for.
  return parts.length === 2 && headStays && tailStays ? [false, false] : [headStays, tailStays];
}

function inOrder(
  found: readonly (readonly Place[])[],
  [headStays, tailStays]: readonly [boolean, boolean],
): Place[] | undefined {
  const last = found.length - 1;
  const places = found.map(([place, ...twins]) => (twins.length === 0 ? place : undefined));
  if (headStays) places[0] ??= found[0]?.findLast(({ end }) => end <= (places[1]?.start ?? -1));
  if (tailStays)
    places[last] ??= found[last]?.find(({ start }) => start >= (places[last - 1]?.end ?? Infinity));
  const known = places.filter((place) => place !== undefined);
  const isAfter = ({ start }: Place, at: number) => start >= (known[at - 1]?.end ?? 0);
  return known.length === found.length && known.every(isAfter) ? known : undefined;
}

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

function partsBetween(lines: readonly string[], content: string): Part[] {
  const cuts = lines.flatMap((line, at) => (isDots(line, content) ? [at] : []));
  const parts: Part[] = [];
  let from = 0;
  for (const cut of [...cuts, lines.length]) {
    if (lines.slice(from, cut).some((line) => line.trim() !== "")) parts.push({ from, to: cut });
    else return [];
    from = cut + 1;
  }
  return parts;
}
