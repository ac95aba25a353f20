/**
 * Finds where an edit belongs, or says why that cannot be known. Pure strings: `findEdit` takes the content of a file
 * and the two texts that a model sent, and answers with what to write where.
 *
 * 1. A new text with a placeholder (`// ... existing code ...`) for lines of the old one is refused: it would delete them.
 * 2. Where the old text stands letter by letter, as often as expected, it is replaced and nothing else is looked at.
 * 3. Else both texts are *read* without a mistake that goes through them (reading.ts: line numbers, fences, escapes,
 *    entities ...), and compared with the file by their signs alone (fold.ts): white space, look-alike characters and, last,
 *    backslashes and entities do not count. Of the places found so, those with the fewest mistakes must be as many as
 *    expected.
 * 4. The edit is made in the file's own lines (merge.ts): a line that is kept has the file's bytes; one that is changed
 *    or new is written as the new text has it, after one map that was learned from the whole edit (learned.ts). Where
 *    the texts contradict themselves, or not all readings agree, nothing is written.
 * 5. Last come lines left out behind dots (elided.ts) and a single slip (slip.ts): a typo, a line left out.
 *
 * Every mistake is a rule with a name, and `leaveOut` does without it, so that the bench can tell what it buys.
 */
import { isApplied } from "./applied.ts";
import { type ClosestRegion, closestRegion } from "./closest.ts";
import { findElided } from "./elided.ts";
import { findExactly, lineEndAt, type Replacement, withLineEnd } from "./exact.ts";
import type { Depth } from "./fold.ts";
import { commonEnds } from "./learned.ts";
import { isBlank, isOneToOne } from "./lines.ts";
import { type MergedLine, mergeLines } from "./merge.ts";
import { FoldedFile, findPlaces, MOST_PLACES, PART, type Place, type Search, saidLines } from "./place.ts";
import { placeholderIn } from "./placeholder.ts";
import { type Reading, readingsOf, withoutFence, withoutForeign } from "./reading.ts";
import { findSlips } from "./slip.ts";
import { lineOf, Windows } from "./windows.ts";

export type { ClosestRegion, Replacement };

export interface EditRequest {
  readonly content: string;
  readonly oldText: string;
  readonly newText: string;
  /** How many places are to be changed. */
  readonly expected: number;
  /**
   * Whether somebody has changed the content since the model saw it: then a line that is more there or a word that is
   * otherwise is no slip of the model's.
   */
  readonly isOutdated?: boolean;
  /** The names of rules to do without, to see what they buy; docs/edit-matching.md has them all. */
  readonly leaveOut?: readonly string[];
}

export type EditMatch =
  | {
      readonly status: "matched";
      /** "exact", or the mistakes that were seen through. */
      readonly stage: string;
      /** In the order of the file, without overlap; offsets count in the original content. */
      readonly replacements: readonly Replacement[];
      /** The first line of each replacement. */
      readonly lines: readonly number[];
    }
  | { readonly status: "none"; readonly alreadyApplied: boolean; readonly closest?: ClosestRegion }
  | { readonly status: "ambiguous"; readonly found: number; readonly lines: readonly number[] }
  | { readonly status: "omission"; readonly placeholder: string }
  | { readonly status: "no_change" };

export function findEdit(request: EditRequest): EditMatch {
  const { oldText, newText, expected, leaveOut = [] } = request;
  if (oldText === "" || expected < 1) return { status: "none", alreadyApplied: false };
  const placeholder = leaveOut.includes("placeholders") ? undefined : placeholderIn(oldText, newText);
  if (placeholder !== undefined) return { status: "omission", placeholder };
  const bare = leaveOut.includes("code fences") ? undefined : withoutNewFence(request);
  const exact = exactly(bare ?? request, bare ? "code fences" : "exact");
  if (exact !== undefined) return exact;
  const plain = { ...(bare ?? request), oldText: withLineEnd(oldText, "\n") };
  return leniently({ ...plain, newText: withLineEnd(plain.newText, "\n") });
}

/** A fence around the new text alone is not meant to be written, unless the file has fences and the text is another. */
function withoutNewFence(request: EditRequest): EditRequest | undefined {
  const { content, oldText, newText } = request;
  const newBare = newText.includes("```") ? withoutFence(newText) : undefined;
  if (newBare === undefined || withoutFence(oldText) !== undefined) return undefined;
  const [had, has] = [oldText, newBare].map((text) => text.split("\n").map((line) => line.trim()));
  const isLike = has?.some((line) => line !== "" && had?.includes(line));
  const isOnlyFenced = has?.join("\n").trim() === had?.join("\n").trim();
  if (content.includes("```") && (!isLike || isOnlyFenced)) return undefined;
  const fresh = oldText.endsWith("\n") ? `${newBare}\n` : newBare;
  return fresh === oldText ? undefined : { ...request, newText: fresh };
}

function exactly(request: EditRequest, stage: string): EditMatch | undefined {
  const { content, expected, oldText, newText } = request;
  const exact = findExactly(request);
  if (exact.found === 0) return undefined;
  if (exact.found !== expected) {
    return { status: "ambiguous", found: exact.found, lines: exact.starts.map((at) => lineOf(content, at)) };
  }
  return newText === oldText ? { status: "no_change" } : matched(content, stage, exact.replacements);
}

function matched(content: string, stage: string, replacements: readonly Replacement[]): EditMatch {
  const real = replacements.filter(({ start, end, text }) => content.slice(start, end) !== text);
  if (real.length === 0) return { status: "no_change" };
  const lines: number[] = [];
  let [line, at] = [1, 0];
  for (const { start } of replacements) {
    line += lineOf(content.slice(at, start), start) - 1;
    at = start;
    lines.push(line);
  }
  return { status: "matched", stage, replacements, lines };
}

interface Candidate {
  readonly place: Place;
  readonly reading: Reading;
  readonly mistakes: ReadonlySet<string>;
  readonly takesEnd: boolean;
}

type Find = (search: Search) => readonly Place[];

/** A text is at most so many times as long as what it is in the file. */
const MOST_TIMES_LONGER = 8;

function leniently(request: EditRequest): EditMatch {
  const { content, leaveOut = [] } = request;
  const isBare = leaveOut.includes("invisible characters");
  const { oldText, newText, repairs } = isBare
    ? { ...request, repairs: [] }
    : withoutForeign(content, request);
  const windows = new Windows(content);
  const fail = (alreadyApplied: boolean): EditMatch => {
    const closest = closestRegion(content, oldText, windows.around(oldText, true));
    return { status: "none", alreadyApplied, ...(closest === undefined ? {} : { closest }) };
  };
  if (isApplied(content, oldText, newText)) return fail(true);
  const readings = readingsOf({ oldText, newText, repairs }, leaveOut);
  const file = new FoldedFile(content);
  const around = ({ said }: Search) => windows.around(said.oldLines.join("\n"));
  const signs: Find = (search) => findPlaces(file, search, around(search));
  const elided: Find = (search) => findElided(file, search, windows);
  const slip: Find = (search) => findSlips(search, around(search));
  const slips = () =>
    request.isOutdated === true ? [] : candidatesOf(request, { readings, depth: "signs", find: slip });
  const depths = (["backslashes", "escapes", "entities"] as const).filter((depth) =>
    hasDepth(content, oldText, depth),
  );
  const tiers: readonly (() => Candidate[])[] = [
    () => candidatesOf(request, { readings: readings.slice(0, 1), depth: "signs", find: signs }),
    () => candidatesOf(request, { readings: readings.slice(1), depth: "signs", find: signs }),
    () => depths.flatMap((depth) => candidatesOf(request, { readings, depth, find: signs })),
    () => candidatesOf(request, { readings, depth: "signs", find: elided }),
    slips,
  ];
  for (const [index, tier] of tiers.entries()) {
    const candidates = tier();
    if (candidates.length === 0) continue;
    // Another place with other mistakes may be as near, where there is room for one.
    const isNear = ({ mistakes }: Candidate) => [...mistakes].every((name) => name === "trailing spaces");
    const room = content.length - candidates.reduce((sum, { place }) => sum + place.end - place.start, 0);
    const isAlone = room * MOST_TIMES_LONGER < oldText.length || candidates.some(isNear);
    const later = isAlone ? [] : tiers.slice(Math.max(2, index + 1));
    const isElsewhere = ({ place }: Candidate) =>
      candidates.every((one) => one.place.end < place.start || place.end < one.place.start);
    const others = later.flatMap((find) => find()).filter(isElsewhere);
    return chosen(request, [...candidates, ...others]) ?? fail(false);
  }
  return fail(false);
}

/** A text without backslashes, and a file without them, fold the same with and without. */
function hasDepth(content: string, oldText: string, depth: Depth): boolean {
  const sign = depth === "entities" ? "&" : "\\";
  return oldText.includes(sign) || content.includes(sign);
}

interface Way {
  readonly readings: readonly Reading[];
  readonly depth: Depth;
  readonly find: Find;
}

function candidatesOf({ content, leaveOut = [] }: EditRequest, { readings, depth, find }: Way): Candidate[] {
  return readings.flatMap((reading) => {
    const said = saidLines(reading.oldText, reading.newText);
    if (said === undefined) return [];
    const candidates = find({ content, said, depth }).map((place) => {
      const mistakes = new Set([...reading.repairs, ...place.mistakes]);
      return { place, reading, mistakes, takesEnd: said.takesEnd };
    });
    return candidates.filter(({ mistakes }) => !leaveOut.some((name) => mistakes.has(name)));
  });
}

/** Nothing when the places are clear, but not what is to be written there. */
function chosen({ content, expected }: EditRequest, candidates: readonly Candidate[]): EditMatch | undefined {
  const best = candidates.filter((one) => !candidates.some((other) => isSurer(other, one)));
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
  if (places.size !== expected || overlap || candidates.length >= MOST_PLACES) {
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

/** By its mistakes, or by the lines that have some; blanks at a line's end tell no two places apart. */
function isSurer(one: Candidate, other: Candidate): boolean {
  const isSamePlace = one.place.start === other.place.start && one.place.end === other.place.end;
  if (!isSamePlace && one.reading === other.reading && !isSlip(one) && !isSlip(other)) {
    const [lines, more] = [linesApart(one.place), linesApart(other.place)];
    if (lines.size < more.size && [...lines].every((at) => more.has(at))) return true;
  }
  const counted = ({ mistakes }: Candidate) =>
    [...mistakes].filter((name) => isSamePlace || name !== "trailing spaces");
  const [own, foreign] = [counted(one), counted(other)];
  return own.length < foreign.length && own.every((name) => other.mistakes.has(name));
}

const isSlip = ({ mistakes }: Candidate) => mistakes.has("a typo") || mistakes.has("a line left out");

/** The lines of the old text that are otherwise in the file; those that are broken otherwise count as one. */
function linesApart({ sides: { oldLines, fileLines, blocks }, mistakes }: Place): Set<number> {
  const lines = new Set(mistakes.has(PART) ? [-1] : []);
  for (const block of blocks) {
    const isSame =
      isOneToOne(block) && oldLines[block.oldFrom]?.trimEnd() === fileLines[block.fileFrom]?.trimEnd();
    if (!isSame) lines.add(block.oldFrom);
  }
  return lines;
}

/** What all readings write at one place. */
function agreed(content: string, candidates: readonly Candidate[]): Replacement | undefined {
  const texts = new Map<string, Replacement | undefined>();
  for (const { place, takesEnd } of candidates) {
    const merged = place.isOpen ? undefined : mergeLines(place.sides);
    const replacement =
      merged === undefined || doublesLine(content, place, merged)
        ? undefined
        : written(content, place, { merged, takesEnd });
    texts.set(JSON.stringify(replacement), replacement);
  }
  return texts.size === 1 ? [...texts.values()][0] : undefined;
}

/**
 * Whether a line at the edge of what is written stands next to the place already, and the place has another one there:
 * then the old text lacks a line. So it may where its own edge stands there, and the two lines at the edge do not stay.
 */
function doublesLine(content: string, { start, end, sides }: Place, merged: readonly MergedLine[]): boolean {
  const filled = (lines: readonly string[]) =>
    lines.flatMap((line) => (isBlank(line) ? [] : [line.trimEnd()]));
  const above = filled(content.slice(Math.max(0, start - 1000), start).split("\n")).at(-1);
  const below = filled(content.slice(end, end + 1000).split("\n"))[0];
  const [old, file] = [filled(sides.oldLines), filled(sides.fileLines)];
  const lines = filled(merged.map(({ text }) => text));
  const isDoubled = (beside: string | undefined, [edge, next]: readonly [number, number]) => {
    if (beside === undefined || file.at(edge) === beside) return false;
    const stays = lines.at(edge) === file.at(edge) && lines.at(next) === file.at(next);
    return lines.at(edge) === beside || (old.at(edge) === beside && old.at(next) === file.at(next) && !stays);
  };
  return isDoubled(above, [0, 1]) || isDoubled(below, [-1, -2]);
}

/** The lines with their ends, without what stays as it is at either side. */
function written(
  content: string,
  { start, end }: Place,
  { merged, takesEnd }: { readonly merged: readonly MergedLine[]; readonly takesEnd: boolean },
): Replacement {
  const ends = content.slice(start, end).match(/\r?\n/g) ?? [];
  let lineEnd = lineEndAt(content, start);
  let text = "";
  for (const [at, line] of merged.entries()) {
    lineEnd = ends[line.like ?? -1] ?? lineEnd;
    text += line.text + (at === merged.length - 1 ? "" : lineEnd);
  }
  const close = takesEnd ? (/^\r?\n/.exec(content.slice(end, end + 2))?.[0].length ?? 0) : 0;
  const carriage = content[end - 1] === "\r" && content[end] === "\n" && close === 0 ? "\r" : "";
  const whole = text + carriage;
  const { head, tail } = commonEnds(content.slice(start, end + close), whole);
  return { start: start + head, end: end + close - tail, text: whole.slice(head, whole.length - tail) };
}

/** The content with the replacements made; everything outside of them is kept as it is. */
export function applyReplacements(content: string, replacements: readonly Replacement[]): string {
  let [whole, at] = ["", 0];
  for (const { start, end, text } of replacements) {
    whole += content.slice(at, start) + text;
    at = end;
  }
  return whole + content.slice(at);
}
