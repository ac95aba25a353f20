import { isBlank, type LineBlock } from "./lines.ts";
import { alignPlace, findPlaces, listLines, type MatchPlace, type Search } from "./place.ts";
import { classifyOmission } from "./placeholder.ts";

/** Whether a line stands for left-out lines. Dots that are also in the file stand for themselves. */
function isElision(line: string, content: string): boolean {
  const dots = line.trim();
  const isMarker = /^(?:\.{3}|…)$/.test(dots) || classifyOmission(dots) !== null;
  return isMarker && !(content.includes(dots) && content.split("\n").some((other) => other.trim() === dots));
}

/**
 * Finds an old text with dots in place of some lines. Its parts must be in the file in order, each exactly once. A part
 * that the edit keeps may occur several times: whichever is meant, the result is the same.
 */
export function findTextWithElisions(search: Search): MatchPlace[] {
  const { content } = search.file;
  const { oldLines, newLines } = search.said;
  if (!oldLines.some((line) => isElision(line, content))) return [];
  // Lines beyond dots at either end could belong anywhere.
  const isEdgeKept = (at: number) =>
    !isElision(oldLines.at(at) ?? "", content) || newLines.at(at) === oldLines.at(at);
  if (!isEdgeKept(0) || !isEdgeKept(-1)) return [];
  const parts = splitAtDots(oldLines, content);
  const found = parts.map(({ from, to }) => {
    const part = { ...search.said, oldLines: oldLines.slice(from, to), above: 0, below: 0 };
    return findPlaces({ ...search, said: part });
  });
  const places = findNearestPlaces(found, findUnchangedParts(search, parts));
  const isInOrder = places.every(({ start }, at) => start >= (places[at - 1]?.end ?? 0));
  const [first, last] = [places[0], places.at(-1)];
  if (places.length < parts.length || !isInOrder || !first || !last) return [];
  const stretch = { start: first.start, end: last.end };
  const countLinesTo = (end: number) => listLines(content, { start: stretch.start, end }).length;
  const apart = [...parts, undefined].flatMap((part, at): LineBlock[] => {
    const [before, place] = [places[at - 1], places[at]];
    const [oldFrom, oldTo] = [parts[at - 1]?.to ?? 0, part?.from ?? oldLines.length];
    const fileFrom = before === undefined ? 0 : countLinesTo(before.end);
    const fileTo = before && place ? countLinesTo(place.start) - 1 : fileFrom;
    return oldFrom === oldTo ? [] : [{ oldFrom, oldTo, fileFrom, fileTo, isElided: true }];
  });
  const place = alignPlace(search, stretch, { apart, slips: ["left-out lines"] });
  return place === undefined ? [] : [place];
}

type Part = Record<"from" | "to", number>;

/** Says for each part of the old text whether the new text has the same part next to the same dots. */
function findUnchangedParts(
  { file: { content }, said: { oldLines, newLines } }: Search,
  parts: readonly Part[],
): boolean[] {
  const fresh = splitAtDots(newLines, content);
  const joinPart = (lines: readonly string[], part: Part | undefined) =>
    part && lines.slice(part.from, part.to).join("\n");
  return parts.map(
    (part, at) => fresh.length === parts.length && joinPart(oldLines, part) === joinPart(newLines, fresh[at]),
  );
}

/** Returns each part's place: the only one or, for a kept part, the nearest, because nothing is written there. */
function findNearestPlaces(
  found: readonly (readonly MatchPlace[])[],
  stays: readonly boolean[],
): MatchPlace[] {
  const only = found.map((places) => (places.length === 1 ? places[0] : undefined));
  const first = only.findIndex((place) => place !== undefined);
  if (first === -1) return [];
  const chosen = [...only];
  for (let at = first + 1; at < found.length; at += 1) {
    const end = chosen[at - 1]?.end ?? Number.POSITIVE_INFINITY;
    if (stays[at]) chosen[at] ??= found[at]?.find((place) => place.start >= end);
  }
  for (let at = first - 1; at >= 0; at -= 1) {
    const start = chosen[at + 1]?.start ?? -1;
    if (stays[at]) chosen[at] ??= found[at]?.findLast((place) => place.end <= start);
  }
  return chosen.flatMap((place) => place ?? []);
}

/** Returns the parts of a text between the lines that stand for left-out lines. */
function splitAtDots(lines: readonly string[], content: string): Part[] {
  const cuts = lines.flatMap((line, at) => (isElision(line, content) ? [at] : []));
  return [...cuts, lines.length].flatMap((to, at) => {
    const from = (cuts[at - 1] ?? -1) + 1;
    return lines.slice(from, to).every(isBlank) ? [] : [{ from, to }];
  });
}
