import type { EditMatch, EditRequest, Replacement } from "./edit.ts";
import { isBlank, isOneToOne } from "./lines.ts";
import { type MergedLine, mergeLines } from "./merge.ts";
import { MOST_PLACES, type Place } from "./place.ts";
import type { Reading } from "./reading.ts";
import { lineOf } from "./windows.ts";
import { matched, replacementOf } from "./write.ts";

/** A place where the old text may belong, and the mistakes that were ignored to find it. */
export interface Candidate {
  readonly place: Place;
  readonly reading: Reading;
  readonly mistakes: ReadonlySet<string>;
  readonly takesEnd: boolean;
}

/**
 * The edit at the places with the fewest mistakes, if these are as many as expected and all readings write the same
 * there. Nothing if the places are clear, but not what to write.
 */
export function chosen(
  { content, expected }: EditRequest,
  candidates: readonly Candidate[],
): EditMatch | undefined {
  const isTooMany = candidates.length >= MOST_PLACES;
  const best = candidates.filter((one) => isTooMany || !candidates.some((other) => isSurer(other, one)));
  const places = new Map<string, Candidate[]>();
  for (const candidate of best) {
    const { start, end } = candidate.place;
    places.set(`${start} ${end}`, [...(places.get(`${start} ${end}`) ?? []), candidate]);
  }
  const sorted = [...places.values()].sort(
    ([one], [other]) => (one?.place.start ?? 0) - (other?.place.start ?? 0),
  );
  const starts = sorted.map(([one]) => one?.place.start ?? 0);
  const overlap = sorted.some(
    ([one], at) => (sorted[at - 1]?.[0]?.place.end ?? -1) > (one?.place.start ?? 0),
  );
  if (places.size !== expected || overlap || isTooMany) {
    const lines = starts.slice(0, 20).map((at) => lineOf(content, at));
    return { status: "ambiguous", found: places.size === expected ? expected + 1 : places.size, lines };
  }
  const replacements = sorted.map((readings) => agreed(content, readings));
  if (replacements.some((one) => one === undefined)) return undefined;
  const mistakes = new Set(sorted.flatMap(([one]) => [...(one?.mistakes ?? [])]));
  const stage = mistakes.size === 0 ? "line endings" : [...mistakes].join(", ");
  return matched(
    content,
    stage,
    replacements.flatMap((one) => one ?? []),
  );
}

/** By the number of mistakes, or of lines that have some. */
function isSurer(one: Candidate, other: Candidate): boolean {
  const isSamePlace = one.place.start === other.place.start && one.place.end === other.place.end;
  if (!isSamePlace && one.reading === other.reading && !isSlip(one) && !isSlip(other)) {
    const [lines, more] = [linesApart(one.place), linesApart(other.place)];
    if (lines.size < more.size && [...lines].every((at) => more.has(at))) return true;
  }
  return (
    one.mistakes.size < other.mistakes.size && [...one.mistakes].every((name) => other.mistakes.has(name))
  );
}

const isSlip = ({ mistakes }: Candidate) => mistakes.has("a typo") || mistakes.has("a line left out");

/** The lines of the old text that differ in the file; those with other line breaks count as one. */
function linesApart({ lacksBlanks, sides: { oldLines, fileLines, blocks } }: Place): Set<number> {
  const lines = new Set(lacksBlanks ? [-1] : []);
  for (const block of blocks) {
    const isSame = isOneToOne(block) && oldLines[block.oldFrom] === fileLines[block.fileFrom];
    if (!isSame) lines.add(block.oldFrom);
  }
  return lines;
}

function agreed(content: string, candidates: readonly Candidate[]): Replacement | undefined {
  const texts = new Map<string, Replacement | undefined>();
  for (const { place, takesEnd } of candidates) {
    const merged = place.isOpen ? undefined : mergeLines(place.sides);
    const replacement =
      merged === undefined || doublesLine(content, place, merged)
        ? undefined
        : replacementOf(content, place, { merged, takesEnd });
    texts.set(JSON.stringify(replacement), replacement);
  }
  return texts.size === 1 ? [...texts.values()][0] : undefined;
}

/**
 * Whether a line at the edge of what is written is already next to the place, and the place has another one there:
 * then the old text lacks a line.
 */
function doublesLine(content: string, { start, end, sides }: Place, merged: readonly MergedLine[]): boolean {
  const filled = (lines: readonly string[]) =>
    lines.flatMap((line) => (isBlank(line) ? [] : [line.trimEnd()]));
  const above = filled(content.slice(Math.max(0, start - 1000), start).split("\n")).at(-1);
  const below = filled(content.slice(end, end + 1000).split("\n"))[0];
  const [file, lines] = [filled(sides.fileLines), filled(merged.map(({ text }) => text))];
  const isDoubled = (beside: string | undefined, edge: number) =>
    beside !== undefined && lines.at(edge) === beside && file.at(edge) !== beside;
  return isDoubled(above, 0) || isDoubled(below, -1);
}
