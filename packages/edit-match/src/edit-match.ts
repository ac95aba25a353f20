/**
 * Finds where an edit belongs, or says why that is uncertain. It works on plain strings; docs/edit-matching.md has the
 * rules. If the old text is not exactly in the file, reading.ts offers *readings* of both texts, without mistakes that
 * affect a whole text, and the STEPS below search for them. Each step ignores more than the one before and adds places
 * that no earlier step has found. The places with the fewest mistakes must be as many as expected (choose.ts). The edit
 * is made in the file's own lines (merge.ts), with what was learned from the whole edit (learned.ts). Every mistake is
 * a rule with a name. `leaveOut` switches rules off, so that the benchmark can measure their effect.
 */
import { type Candidate, chooseEdit } from "./choose.ts";
import { type ClosestRegion, findClosestRegion } from "./closest.ts";
import type { EditMatch, EditRequest, Replacement } from "./edit.ts";
import { findTextWithElisions } from "./elided.ts";
import { findExactly } from "./exact.ts";
import type { FoldDepth } from "./fold.ts";
import { countCommonEnds } from "./learned.ts";
import { indexByKey, isBlank } from "./lines.ts";
import { findPlaceLimit, findPlaces, type MatchPlace, type Search, splitEditLines } from "./place.ts";
import { findPlaceholder } from "./placeholder.ts";
import { listReadings, type Reading, removeForeign, removeNewFence, removeNewPluses } from "./reading.ts";
import { findSlippedPlaces } from "./slip.ts";
import { findStrayEscape } from "./stray-escape.ts";
import { areAdjacent, SearchedFile } from "./windows.ts";
import { convertLineEnds, detectLineEnd } from "./write.ts";

export { applyReplacements } from "./write.ts";
export type { ClosestRegion, EditMatch, EditRequest, Replacement };

interface Step {
  /** The indexes of the readings that this step uses. The first reading is the texts as they were sent. */
  readonly readings: readonly [from: number, to?: number];
  /** What is ignored besides white space and look-alike characters; see fold.ts. */
  readonly depths: readonly FoldDepth[];
  readonly find: (search: Search) => readonly MatchPlace[];
}

const STEPS: readonly Step[] = [
  { readings: [0, 1], depths: ["signs"], find: findPlaces },
  { readings: [1], depths: ["signs"], find: findPlaces },
  { readings: [0], depths: ["backslashes", "escapes", "entities"], find: findPlaces },
  { readings: [0], depths: ["signs"], find: findTextWithElisions },
  { readings: [0], depths: ["signs"], find: findSlippedPlaces },
];

export function findEdit(request: EditRequest): EditMatch {
  const match = findWithoutStrayEscapes(request);
  if (match.status !== "matched" || request.isLiteral === true) return match;
  const stray = findStrayEscape(request, match.replacements);
  return stray === undefined ? match : { status: "escaped", escape: stray };
}

function findWithoutStrayEscapes(request: EditRequest): EditMatch {
  const { content, oldText, newText, expected, leaveOut = [] } = request;
  if (oldText === "" || expected < 1) return { status: "none", alreadyApplied: false };
  const placeholder = findNewPlaceholder(request);
  if (placeholder !== undefined) return { status: "omission", placeholder };
  const { bare, isUnclear = false } = leaveOut.includes("code fences") ? {} : removeNewFence(request);
  if (isUnclear) return { status: "omission", placeholder: "```" };
  const plain = leaveOut.includes("diff markers") ? newText : removeNewPluses(request);
  const meant = { ...request, newText: bare ?? plain };
  const read = bare === undefined ? "diff markers" : "code fences";
  const exact = findExactly(meant, meant.newText === newText ? "exact" : read);
  if (exact !== undefined) return exact;
  // If the text has line breaks at its ends, whole lines may be meant, so leave it as it is.
  const lineEnd = oldText === oldText.trim() ? detectLineEnd(content) : undefined;
  const asFile = lineEnd === undefined ? oldText : convertLineEnds(oldText, lineEnd);
  const ended = asFile === oldText ? undefined : findExactly({ ...meant, oldText: asFile }, "line endings");
  if (ended !== undefined) return ended;
  const inLines = { oldText: convertLineEnds(oldText, "\n"), newText: convertLineEnds(meant.newText, "\n") };
  return findByOtherReadings({ ...request, ...inLines });
}

function findByOtherReadings(request: EditRequest): EditMatch {
  const { content, oldText, newText } = request;
  const leaveOut = [
    ...(request.leaveOut ?? []),
    ...(request.isLiteral === true ? ["escapes", "lost escapes"] : []),
  ];
  const texts = leaveOut.includes("invisible characters")
    ? { oldText, newText, repairs: [] }
    : removeForeign(content, request);
  const file = new SearchedFile(content);
  const createNotFound = (alreadyApplied: boolean): EditMatch => {
    const closest = findClosestRegion(
      content,
      texts.oldText,
      file.findMatchingFileRegions(texts.oldText, true),
    );
    return { status: "none", alreadyApplied, ...(closest === undefined ? {} : { closest }) };
  };
  if (isEditApplied(content, texts.oldText, texts.newText)) return createNotFound(true);
  const readings = listReadings(content, texts, leaveOut);
  const found: Candidate[] = [];
  for (const step of STEPS) {
    // Stop if the rest of the file is too small for another place, which needs at least an eighth of the text's length.
    const room = found.reduce((left, { start, end }) => left + start - end, content.length);
    const isFilled = room < content.length && room * 8 < texts.oldText.length;
    if (found.length >= findPlaceLimit(texts.oldText) || isFilled) break;
    if (step.find === findSlippedPlaces && request.isOutdated === true) continue;
    const known = [...found];
    const isNewCandidate = (one: Candidate) =>
      !leaveOut.some((name) => one.mistakes.has(name)) && !known.some((other) => areAdjacent(one, other));
    found.push(...listCandidates(file, readings.slice(...step.readings), step).filter(isNewCandidate));
  }
  // The placeholder may have been hidden by escapes or line numbers.
  const used = [...new Set(found.map(({ reading }) => reading))];
  const [placeholder] = used.flatMap((reading) => findNewPlaceholder({ ...reading, leaveOut }) ?? []);
  if (placeholder !== undefined) return { status: "omission", placeholder };
  return (
    (found.length > 0 ? chooseEdit({ ...request, ...texts }, found) : undefined) ??
    createNotFound(hasNewTextAlready(content, texts))
  );
}

/** The minimum length of a text whose occurrence in the file means something: shorter texts may occur by chance. */
const MIN_HELD = 20;

/** Whether the file already has the whole new text, which adds lines: then the edit was made already. */
function hasNewTextAlready(
  content: string,
  { oldText, newText }: Pick<EditRequest, "oldText" | "newText">,
): boolean {
  const lines = splitTrimmed(newText);
  const had = new Set(splitTrimmed(oldText));
  if (lines.every((line) => had.has(line))) return false;
  const [from, to] = [lines.findIndex(Boolean), lines.findLastIndex(Boolean) + 1];
  const wanted = lines.slice(from, to).join("\n");
  return wanted.length >= MIN_HELD && `\n${splitTrimmed(content).join("\n")}\n`.includes(`\n${wanted}\n`);
}

function findNewPlaceholder({ oldText, newText, leaveOut = [] }: Omit<EditRequest, "content" | "expected">) {
  return leaveOut.includes("placeholders") ? undefined : findPlaceholder(oldText, newText);
}

function listCandidates(
  file: SearchedFile,
  readings: readonly Reading[],
  { depths, find }: Step,
): Candidate[] {
  return depths.flatMap((depth) =>
    readings.flatMap((reading) => {
      const said = splitEditLines(reading.oldText, reading.newText);
      if (said === undefined || !containsFoldableCharacter(depth, [file.content, reading.oldText])) return [];
      const joinMistakes = (place: MatchPlace) => new Set([...reading.repairs, ...place.mistakes]);
      return find({ file, said, depth }).map((place) => ({
        ...place,
        reading,
        mistakes: joinMistakes(place),
      }));
    }),
  );
}

/** Whether this depth can find more: without the ignored character, all texts are the same as before. */
function containsFoldableCharacter(depth: FoldDepth, texts: readonly string[]): boolean {
  const sign = depth === "signs" ? "" : depth === "entities" ? "&" : "\\";
  return texts.some((text) => text.includes(sign));
}

const splitTrimmed = (text: string) => text.split("\n").map((line) => line.trimEnd());

/**
 * Whether the file certainly has the change already. The new text must be there with lines that the old text does not
 * have, the lines that it replaces must be gone, and the edit must do more than remove something.
 */
export function isEditApplied(content: string, oldText: string, newText: string): boolean {
  const [oldLines, newLines] = [splitTrimmed(oldText), splitTrimmed(newText)];
  const [had, has] = [indexByKey(oldLines), indexByKey(newLines)];
  const added = [...has.keys()].filter(
    (line) => !isBlank(line) && (has.get(line)?.length ?? 0) > (had.get(line)?.length ?? 0),
  );
  const removed = [...had.keys()].filter((line) => !isBlank(line) && !has.has(line));
  const [was, is] = [oldText, newText].map((text) => text.replace(/\s/g, ""));
  if (added.length === 0 || was === is || (is ?? "").length < 8) return false;
  if (added.some((line) => isPartOfRemovedLine(line, removed))) return false;
  const fresh = newLines.join("\n").trimEnd().replace(/^\n+/, "");
  const there = splitTrimmed(content.replaceAll("\r\n", "\n"));
  if (!`\n${there.join("\n")}\n`.includes(`\n${fresh}\n`)) return false;
  // If lines around the change are known, so is the place. A single line may also occur elsewhere.
  const isKnown = newLines.some((line) => !isBlank(line) && had.has(line));
  const formatForComparison = (line: string) => (isKnown ? line : line.replace(/\s/g, ""));
  const still = new Set(there.map(formatForComparison));
  return removed.every((line) => !still.has(formatForComparison(line)));
}

/** Whether the line is a part of a line that is removed. That it is in the file then means nothing. */
function isPartOfRemovedLine(line: string, removed: readonly string[]): boolean {
  return removed.some((old) => {
    const { head, tail } = countCommonEnds(old.trim(), line.trim());
    return head + tail >= line.trim().length;
  });
}
