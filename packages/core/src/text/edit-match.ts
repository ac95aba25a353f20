/**
 * The ladder, from the strictest rung to the most lenient:
 *
 * | rung                | the old text is the file's but for                                | rung is in          |
 * |---------------------|-------------------------------------------------------------------|---------------------|
 * | exact               | nothing                                                           | exact.ts            |
 * | line endings        | CRLF and LF                                                       | exact.ts            |
 * | same tokens         | blanks, indentation, blank lines, line breaks, look-alike signs   | samePlaces below    |
 * | lost escapes        | backslashes or entities the model left out                        | samePlaces, a fold  |
 * | elided middle       | lines it wrote as `...`                                           | elided-places.ts    |
 * | near                | one line left out, one word mistyped                              | near-places.ts      |
 *
 * Every rung also tries the text without the mistakes that readings.ts names. A rung only finds places; choose.ts
 * picks among them and refuses when they do not agree, merge.ts does the change there and refuses (doubts.ts) what it
 * cannot prove. A new rung is a row here and a function that finds places.
 */
import { type Candidate, chooseReplacements } from "./edit-match/choose.ts";
import { type ClosestRegion, closestRegion, holdsTokens } from "./edit-match/closest-region.ts";
import { type Cut, CutFile } from "./edit-match/cut-file.ts";
import { elidedPlaces } from "./edit-match/elided-places.ts";
import { findExactly, lineOf } from "./edit-match/exact.ts";
import { withLineEnd } from "./edit-match/gaps.ts";
import { nearPlaces } from "./edit-match/near-places.ts";
import { cutsLines, isLineOff, type Place } from "./edit-match/place.ts";
import { type ReadPair, readingsOf } from "./edit-match/readings.ts";
import type { Replacement } from "./edit-match/replacement.ts";
import { slipsAt } from "./edit-match/slips.ts";
import {
  BACKSLASH_BLIND,
  BREAK_BLIND,
  cut,
  cutAroundElisions,
  ENTITY_BLIND,
  ESCAPE_BLIND,
  type Fold,
  hasElision,
  LINE_END_BLIND,
  PLAIN,
  positionsOf,
  TAB_BLIND,
  type Tokens,
} from "./edit-match/tokens.ts";

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
  | { readonly status: "no_change" };

interface Stage {
  readonly name: string;
  /** A sign of which the old text must have fewer than the place in the file. */
  readonly lost: string;
  readonly cut: Cut;
  /** How the file is cut, if otherwise. */
  readonly cutFile?: Cut;
  /** Whether what is in the old text may be nowhere in the file. */
  readonly guesses?: true;
  /** Whether it has to know the whole file, so that it is not for a large one. */
  readonly needsWhole?: true;
  readonly places: (file: Tokens, before: Tokens, newText: string) => readonly Found[];
}

interface Found {
  readonly place: Place;
  readonly believable: boolean;
}

function byFold(fold: Fold): Cut {
  return (text) => cut(text, fold);
}

const plainly = byFold(PLAIN);
const blindToEscapes = byFold(ESCAPE_BLIND);

/**
 * The first tier that finds anything decides, for better or worse, and all its rows must agree; nor may a guess of the
 * last tier lead elsewhere with other mistakes. Line ends, blanks, indentation, blank lines and look-alike signs are
 * what `slips.ts` names within a row.
 */
const TIERS: readonly (readonly Stage[])[] = [
  [
    { name: "", lost: "", cut: plainly, places: samePlaces },
    { name: "lost escapes", lost: "\\", cut: blindToEscapes, places: samePlaces },
    { name: "lost escapes", lost: "\\", cut: plainly, cutFile: byFold(BACKSLASH_BLIND), places: samePlaces },
    { name: "lost escapes", lost: "\\", cut: plainly, cutFile: blindToEscapes, places: samePlaces },
    { name: "lost escapes", lost: "\\", cut: plainly, cutFile: byFold(BREAK_BLIND), places: samePlaces },
    { name: "lost escapes", lost: "\\t", cut: plainly, cutFile: byFold(TAB_BLIND), places: samePlaces },
    { name: "lost escapes", lost: "\\n", cut: plainly, cutFile: byFold(LINE_END_BLIND), places: samePlaces },
    { name: "HTML entities", lost: "&", cut: byFold(ENTITY_BLIND), places: samePlaces },
  ],
  [{ name: "elided middle", lost: "", cut: cutAroundElisions, needsWhole: true, places: elided }],
  [{ name: "", lost: "", cut: plainly, guesses: true, needsWhole: true, places: nearPlaces }],
];

/** More places than this, or a long text at more than a few, are no longer told apart: none of them is taken. */
const MAX_PLACES = 200;
const MAX_PLACED_TOKENS = 40_000;

/**
 * Finds what `oldText` means in `content` and what to write there. It answers "matched" only when every way to
 * read the request leads to the same change, at exactly `expected` places; no other text is ever touched.
 */
export function findEdit(request: EditRequest): EditMatch {
  const { content, oldText, newText, expected } = request;
  if (oldText === "" || expected < 1) return { status: "none", alreadyApplied: false };
  const exact = exactly(request, "exact");
  if (exact !== undefined) return exact;
  const lineFeeds = { oldText: withLineEnd(oldText, "\n"), newText: withLineEnd(newText, "\n") };
  const otherEnds = oldText.includes("\r\n")
    ? lineFeeds
    : { oldText: withLineEnd(oldText, "\r\n"), newText: withLineEnd(newText, "\r\n") };
  if (
    content.includes("\r\n") === otherEnds.oldText.includes("\r\n") &&
    outerBlanks(oldText) === outerBlanks(newText)
  ) {
    const byLineEnds = exactly({ content, expected, ...otherEnds }, "line endings");
    if (byLineEnds !== undefined) return byLineEnds;
  }
  return leniently({ ...request, ...lineFeeds });
}

/** Blanks that only one of the texts begins or ends with are a slip, not the wish to join lines. */
function outerBlanks(text: string): string {
  const [lead, trail] = [
    text.slice(0, text.length - text.trimStart().length),
    text.slice(text.trimEnd().length),
  ];
  return JSON.stringify([lead, trail]).replaceAll("\\r", "");
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
  const real = replacements.some(({ start, end, text }) => content.slice(start, end) !== text);
  if (!real) return { status: "no_change" };
  return {
    status: "matched",
    stage,
    replacements,
    lines: replacements.map(({ start }) => lineOf(content, start)),
  };
}

function leniently(request: EditRequest): EditMatch {
  const { content, expected, newText } = request;
  const readings = readingsOf(request);
  const file = new CutFile(content);
  for (const tier of TIERS) {
    if (request.isOutdated === true && tier.some((stage) => stage.guesses)) continue;
    if (file.isLarge && tier.some((stage) => stage.needsWhole)) continue;
    const candidates = tier.flatMap((stage) => candidatesOf(stage, readings, file));
    if (candidates.length === 0) continue;
    const guesses = tier.some((stage) => stage.guesses) || file.isLarge ? [] : guessesOf(readings, file);
    const choice = chooseReplacements(content, [...candidates, ...guesses], expected);
    if (choice.status === "ambiguous") {
      return { ...choice, lines: choice.starts.map((at) => lineOf(content, at)) };
    }
    if (choice.status === "unclear") break;
    const after = plainly(newText);
    const there = file.around(plainly, after);
    const done = there !== undefined && holdsTokens(there, after, choice.before);
    if (done && holdsText(content, newText)) break;
    return matched(content, choice.stage, choice.replacements);
  }
  return failure(request, file);
}

/** Other places that a reading may mean: they cast doubt on a place that was found with other mistakes. */
function guessesOf(readings: readonly ReadPair[], file: CutFile): Candidate[] {
  const guesses = TIERS.flat().filter((stage) => stage.guesses);
  return guesses
    .flatMap((stage) => candidatesOf(stage, readings, file))
    .filter(({ believable }) => believable);
}

function candidatesOf(stage: Stage, readings: readonly ReadPair[], file: CutFile): Candidate[] {
  if (!file.content.includes(stage.lost)) return [];
  return readings.flatMap((reading) => candidatesOfReading(stage, reading, file));
}

function candidatesOfReading(stage: Stage, reading: ReadPair, file: CutFile): Candidate[] {
  const before = stage.cut(reading.oldText);
  const by = stage.cutFile ?? stage.cut;
  const tokens = stage.guesses === true ? file.alike(by, before) : file.around(by, before);
  if (tokens === undefined) return [];
  const after = stage.cut(reading.newText);
  const found = stage.places(tokens, before, reading.newText);
  return found
    .filter(({ place }) => hasLost(stage.lost, before, spanned(tokens.text, place)))
    .map(({ place, believable }) => {
      const slips = [...reading.repairs, ...(stage.name === "" ? [] : [stage.name]), ...place.slips];
      const own = slipsAt(tokens.text, before, place);
      return { before, after, believable, place: { ...place, slips: new Set([...slips, ...own]) } };
    });
}

function hasLost(sign: string, before: Tokens, there: string): boolean {
  return sign === "" || before.text.split(sign).length < there.split(sign).length;
}

function spanned(content: string, { starts, ends }: Place): string {
  return content.slice(starts[0], ends[ends.length - 1]);
}

/** Every token of the old text, in one stretch: only blanks and ways of writing a sign may differ. */
function samePlaces(file: Tokens, before: Tokens): Found[] {
  const most = Math.max(2, Math.min(MAX_PLACES, Math.floor(MAX_PLACED_TOKENS / before.keys.length)));
  const found = positionsOf(file.keys, before.keys, most);
  return found.map((at) => {
    const end = at + before.keys.length;
    const place = {
      starts: file.starts.slice(at, end),
      ends: file.ends.slice(at, end),
      slips: new Set<string>(),
    };
    const isWhole = !cutsLines(file.text, before, place) && !isLineOff(file.text, before, place);
    return { place, believable: found.length < most && isWhole };
  });
}

function elided(file: Tokens, before: Tokens): Found[] {
  if (!hasElision(before.text)) return [];
  return elidedPlaces(file, before).map((place) => ({ place, believable: true }));
}

function failure({ oldText, newText, content }: EditRequest, file: CutFile): EditMatch {
  const [before, after] = [plainly(oldText), plainly(newText)];
  const [alike, there] = [file.alike(plainly, before), file.around(plainly, after)];
  const alreadyApplied =
    (there !== undefined && holdsTokens(there, after, before)) ||
    (newText.trim() !== "" && content.includes(newText));
  const closest = alike === undefined ? undefined : closestRegion(alike, before);
  return { status: "none", alreadyApplied, ...(closest === undefined ? {} : { closest }) };
}

function holdsText(content: string, newText: string): boolean {
  return withLineEnd(content, "\n").includes(newText.trim());
}

/** The content with the replacements made; everything outside of them is kept as it is. */
export function applyReplacements(content: string, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text } of replacements) {
    parts.push(content.slice(at, start), text);
    at = end;
  }
  return parts.join("") + content.slice(at);
}
