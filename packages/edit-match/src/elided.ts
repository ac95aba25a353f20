import { type Block, isBlank } from "./lines.ts";
import { findPlaces, linesIn, type Place, placeAround, type Search } from "./place.ts";
import { omission } from "./placeholder.ts";

/** Whether a line stands for others. Dots that are in the file stand for themselves. */
function isDots(line: string, content: string): boolean {
  const dots = line.trim();
  const isElision = /^(?:\.{3}|…)$/.test(dots) || omission(dots) !== null;
  return isElision && !(content.includes(dots) && content.split("\n").some((other) => other.trim() === dots));
}

/** The place of an old text with dots instead of some lines: each part of it must be in the file once, in order. */
export function findElided(search: Search): Place[] {
  const { content } = search.file;
  const { oldLines, newLines } = search.said;
  if (!oldLines.some((line) => isDots(line, content))) return [];
  // What comes beyond dots at an edge may belong anywhere.
  const isKept = (at: number) =>
    !isDots(oldLines.at(at) ?? "", content) || newLines.at(at) === oldLines.at(at);
  if (!isKept(0) || !isKept(-1)) return [];
  const parts = partsBetween(oldLines, content);
  const found = parts.map(({ from, to }) => {
    const part = { ...search.said, oldLines: oldLines.slice(from, to), above: 0, below: 0 };
    return findPlaces({ ...search, said: part });
  });
  const places = found.flatMap(([place, ...twins]) => (place && twins.length === 0 ? [place] : []));
  const isInOrder = places.every(({ start }, at) => start >= (places[at - 1]?.end ?? 0));
  const [first, last] = [places[0], places.at(-1)];
  if (places.length < parts.length || !isInOrder || !first || !last) return [];
  const stretch = { start: first.start, end: last.end };
  const linesTo = (end: number) => linesIn(content, { start: stretch.start, end }).length;
  const apart = [...parts, undefined].flatMap((part, at): Block[] => {
    const [before, place] = [places[at - 1], places[at]];
    const [oldFrom, oldTo] = [parts[at - 1]?.to ?? 0, part?.from ?? oldLines.length];
    const fileFrom = before === undefined ? 0 : linesTo(before.end);
    const fileTo = before && place ? linesTo(place.start) - 1 : fileFrom;
    return oldFrom === oldTo ? [] : [{ oldFrom, oldTo, fileFrom, fileTo, isElided: true }];
  });
  const place = placeAround(search, stretch, { apart, slips: ["left-out lines"] });
  return place === undefined ? [] : [place];
}

/** The lines of the old text between those that stand for others. */
function partsBetween(lines: readonly string[], content: string) {
  const cuts = lines.flatMap((line, at) => (isDots(line, content) ? [at] : []));
  return [...cuts, lines.length].flatMap((to, at) => {
    const from = (cuts[at - 1] ?? -1) + 1;
    return lines.slice(from, to).every(isBlank) ? [] : [{ from, to }];
  });
}
