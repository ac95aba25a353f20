import type { Place } from "./place.ts";
import { gapBefore, hasElision, positionsOf, type Tokens } from "./tokens.ts";

const MAX_SEATS = 40;
const MAX_PLACES = 64;

interface Part {
  readonly first: number;
  readonly count: number;
}

/** Every way in which the parts around the `...` lines of the old text stand in the file, in order, as whole lines. */
export function elidedPlaces(file: Tokens, before: Tokens): Place[] {
  const parts = partsOf(before);
  if (parts.length < 2) return [];
  const seats = parts.map(({ first, count }) => {
    const found = positionsOf(file.keys, before.keys.slice(first, first + count), MAX_SEATS);
    return found.filter((at) => isWholeLines(file, at, count));
  });
  if (seats.some((found) => found.length === 0 || found.length >= MAX_SEATS)) return [];
  let rows: number[][] = [[]];
  for (const [index, found] of seats.entries()) {
    const previous = parts[index - 1];
    rows = rows.flatMap((row) => {
      const end = previous === undefined ? -1 : (row[index - 1] ?? 0) + previous.count;
      return found.filter((at) => at > end).map((at) => [...row, at]);
    });
    if (rows.length > MAX_PLACES) return [];
  }
  return rows.map((row) => placeAt(file, parts, row)).filter((place) => !holdsElision(file.text, place));
}

/** A `...` that the file itself has there stands for nothing. */
function holdsElision(content: string, { starts, ends }: Place): boolean {
  return hasElision(content.slice(starts[0], ends[ends.length - 1]));
}

function partsOf(before: Tokens): Part[] {
  const parts: Part[] = [];
  let first = 0;
  for (let index = 1; index <= before.keys.length; index++) {
    if (index < before.keys.length && !hasElision(gapBefore(before, index))) continue;
    parts.push({ first, count: index - first });
    first = index;
  }
  return parts;
}

function isWholeLines(file: Tokens, at: number, count: number): boolean {
  const opens = at === 0 || gapBefore(file, at).includes("\n");
  return opens && (at + count === file.keys.length || gapBefore(file, at + count).includes("\n"));
}

function placeAt(file: Tokens, parts: readonly Part[], row: readonly number[]): Place {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const [index, { count }] of parts.entries()) {
    for (let step = 0; step < count; step++) {
      starts.push(file.starts[(row[index] ?? 0) + step] ?? 0);
      ends.push(file.ends[(row[index] ?? 0) + step] ?? 0);
    }
  }
  return { starts, ends, slips: new Set(["elided middle"]) };
}
