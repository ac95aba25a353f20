import type { EditMatch, EditRequest, Replacement } from "./edit.ts";
import { indexByKey, isSingleLinePair, listFilledLines, readFilledNeighbours } from "./lines.ts";
import { type MergedLine, mergeLines } from "./merge.ts";
import { findPlaceLimit, type MatchPlace } from "./place.ts";
import type { Reading } from "./reading.ts";
import { buildReplacement, createAmbiguous, createMatch } from "./write.ts";

/** A place where the old text may belong, with the reading of both texts that led to it. */
export interface Candidate extends MatchPlace {
  readonly reading: Reading;
}

/**
 * Makes the edit at the places with the fewest mistakes, if there are as many as expected and all readings write the
 * same there. Returns undefined if the places are clear but the text to write is not.
 */
export function chooseEdit(
  { content, oldText, expected }: EditRequest,
  candidates: readonly Candidate[],
): EditMatch | undefined {
  const isTooMany = candidates.length >= findPlaceLimit(oldText);
  const best = candidates
    .filter((one) => isTooMany || !candidates.some((other) => isMoreCertain(other, one)))
    .sort((one, other) => one.start - other.start || one.end - other.end);
  const places = [...indexByKey(best.map(({ start, end }) => `${start} ${end}`)).values()].map((found) =>
    found.flatMap((at) => best[at] ?? []),
  );
  const firsts = places.flatMap(([first]) => first ?? []);
  const overlap = firsts.some(({ start }, at) => (firsts[at - 1]?.end ?? -1) > start);
  if (places.length !== expected || overlap || isTooMany) {
    const starts = firsts.map(({ start }) => start);
    return createAmbiguous(content, places.length === expected ? expected + 1 : places.length, starts);
  }
  const replacements = places.flatMap((readings) => findAgreedReplacement(content, readings) ?? []);
  if (replacements.length < places.length) return undefined;
  const mistakes = new Set(firsts.flatMap((first) => [...first.mistakes]));
  return createMatch(content, mistakes.size === 0 ? "line endings" : [...mistakes].join(", "), replacements);
}

/** Whether one candidate is certainly better: it has only some of the other's mistakes, or on fewer lines. */
function isMoreCertain(one: Candidate, other: Candidate): boolean {
  const isSamePlace = one.start === other.start && one.end === other.end;
  if (
    !isSamePlace &&
    one.reading === other.reading &&
    !hasTypoOrLeftOutLine(one) &&
    !hasTypoOrLeftOutLine(other)
  ) {
    const [lines, more] = [findDifferentLines(one), findDifferentLines(other)];
    const isPart = lines.size < more.size && [...lines].every((at) => more.has(at));
    // A place where all lines are shifted is as good as one where some are.
    const isWhole =
      hasOnlyIndentMistake(one) &&
      hasOnlyIndentMistake(other) &&
      more.size === listFilledLines(other.sides.oldLines.join("\n")).length;
    if (isPart && !isWhole) return true;
  }
  return (
    one.mistakes.size < other.mistakes.size && [...one.mistakes].every((name) => other.mistakes.has(name))
  );
}

const hasOnlyIndentMistake = ({ mistakes }: Candidate) => mistakes.size === 1 && mistakes.has("indentation");
const hasTypoOrLeftOutLine = ({ mistakes }: Candidate) =>
  mistakes.has("a typo") || mistakes.has("a line left out");

/** Returns the lines of the old text that differ from the file. Lines with other line breaks count as one. */
function findDifferentLines({
  lacksBlanks,
  sides: { oldLines, fileLines, blocks },
}: MatchPlace): Set<number> {
  const lines = new Set(lacksBlanks ? [-1] : []);
  for (const block of blocks) {
    const isSame = isSingleLinePair(block) && oldLines[block.oldFrom] === fileLines[block.fileFrom];
    if (!isSame) lines.add(block.oldFrom);
  }
  return lines;
}

function findAgreedReplacement(content: string, candidates: readonly Candidate[]): Replacement | undefined {
  const ways = candidates.map((place) => {
    const merged = place.isOpen ? undefined : mergeLines(place.sides);
    const isClear = merged && !duplicatesLine(content, place, merged);
    return isClear ? buildReplacement(content, place, merged) : undefined;
  });
  return new Set(ways.map((way) => JSON.stringify(way))).size === 1 ? ways[0] : undefined;
}

/**
 * Whether the edit would write something twice, because the old text lacks a line. That is so if the first or last line
 * to write is already next to the place, where the file has another line; if a line that the old text left out, and
 * that occurs once in the file, would be added again; or if the rest of a line after the place would be repeated.
 */
function duplicatesLine(
  content: string,
  { start, end, sides }: MatchPlace,
  merged: readonly MergedLine[],
): boolean {
  const [above, below] = readFilledNeighbours(content, start, end);
  const [file = [], lines = [], old = []] = [
    sides.fileLines,
    merged.map(({ text }) => text),
    sides.oldLines,
  ].map((given) => listFilledLines(given.join("\n")));
  const duplicatesNeighbour = (beside: string, edge: number) => {
    const isSame = file.at(edge) === beside || file.at(edge) === lines.at(edge);
    return beside !== "" && !isSame && [lines, old].some((text) => text.at(edge) === beside);
  };
  const isBack = sides.blocks.some(({ oldFrom, oldTo, fileFrom }) => {
    const line = oldFrom === oldTo ? (sides.fileLines[fileFrom] ?? "").trimEnd() : "";
    const isOnly = /\w/.test(line) && content.split(line).length === 2;
    return isOnly && lines.filter((other) => other === line).length > 1;
  });
  // The place ends inside a line, so check what follows it.
  const next = content.charAt(end).trim();
  const [was = "", is = ""] = [file.at(-1), lines.at(-1)];
  const isSignBack = next !== "" && is.endsWith(next) && !was.endsWith(next);
  const more = is.startsWith(was) ? is.slice(was.length) : "";
  const isEndBack = more !== "" && content.startsWith(more, end);
  return isBack || isSignBack || isEndBack || duplicatesNeighbour(above, 0) || duplicatesNeighbour(below, -1);
}
