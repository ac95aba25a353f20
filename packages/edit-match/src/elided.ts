import type { Block } from "./lines.ts";
import { findPlaces, linesIn, type Place, placeAround, type Search, type SearchedFile } from "./place.ts";
import { omission } from "./placeholder.ts";

/** Whether a line stands for others. Dots that are in the file stand for themselves. */
function isDots(line: string, content: string): boolean {
  const dots = line.trim();
  const isElision = /^(?:\.{3}|…)$/.test(dots) || omission(dots) !== null;
  return isElision && !(content.includes(dots) && content.split("\n").some((other) => other.trim() === dots));
}

/** Lines of the old text between those that stand for others. */
interface Part {
  readonly from: number;
  readonly to: number;
}

/** The place of an old text with dots instead of some lines: each part of it must be in the file once, in order. */
export function findElided(file: SearchedFile, search: Search): Place[] {
  const { content, said } = search;
  const parts = partsBetween(said.oldLines, content);
  if (parts.length < 2) return [];
  const found = parts.map(({ from, to }) => {
    const lines = said.oldLines.slice(from, to);
    const part = { ...search, said: { ...said, oldLines: lines, above: 0, below: 0 } };
    return findPlaces(file, part);
  });
  const places = inOrder(found);
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
  const place = placeAround(search, stretch, { apart, slips: ["left-out lines"] });
  return place === undefined ? [] : [place];
}

function inOrder(found: readonly (readonly Place[])[]): Place[] | undefined {
  const places = found.flatMap(([place, ...twins]) => (place && twins.length === 0 ? [place] : []));
  const isAfter = ({ start }: Place, at: number) => start >= (places[at - 1]?.end ?? 0);
  return places.length === found.length && places.every(isAfter) ? places : undefined;
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
