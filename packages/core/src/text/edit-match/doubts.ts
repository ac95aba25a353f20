import { gapSlip } from "./agreement.ts";
import type { Kept } from "./diff-tokens.ts";
import { countLineFeeds, miscountsBlankLines, splitGap } from "./gaps.ts";
import { holdsText, squeezed, type ThreeGaps } from "./merge-gap.ts";
import { type Change, leadOf, linePrefix, type Place } from "./place.ts";
import { gapBefore, hasElision, lineAround, rawToken, type Tokens } from "./tokens.ts";

const STRANGE = [/[‘’“”]/, /&(?:lt|gt|amp|quot|#39);/];

/** The old text had a mistake; signs that only the new text has, and nothing in the file, may be another one. */
export function writesStrangely({ content, before, after }: Change): boolean {
  return STRANGE.some((sign) => sign.test(after.text) && !sign.test(before.text) && !sign.test(content));
}

/** Where escapes were lost, a tab amid a new line, or the end of one within a string or pattern, may be another. */
export function cutsStrings({ content, before, after }: Change, { starts, ends }: Place): boolean {
  const there = content.slice(starts[0], ends[ends.length - 1]);
  const known = new Set(before.text.split("\n"));
  const isOwn = (line: string) => !known.has(line);
  const lines = after.text.split("\n");
  if (there.includes("\\t") && lines.filter(isOwn).some((line) => line.trim().includes("\t"))) return true;
  if (countLineFeeds(before.text.trim()) <= countLineFeeds(there)) return false;
  return lines
    .slice(0, -1)
    .filter(isOwn)
    .map(withoutWholes)
    .some((rest) => /["'`/]/.test(rest));
}

const COMMENT_LINE = /^\s*(?:\/\/|\/\*|\*|#|<!--).*/;
const WHOLE = /"[^"\n]*"|'[^'\n]*'|`[^`\n]*`|\/\*.*?\*\/|\/\/ .*|\/[^/\n]*\//g;

/** What is left of a line without its comments, strings and patterns: their signs only where one has no end. */
function withoutWholes(line: string): string {
  return line.replace(COMMENT_LINE, "").replace(WHOLE, "");
}

const QUOTE = /^["'`/]$/;

/** Whether a lost escape is kept on a line whose quotes are others now: it may be right without it there. */
export function requotesEscapes(
  { content, before, after }: Change,
  place: Place,
  kept: readonly Kept[],
): boolean {
  const [keptBefore, keptAfter] = [new Set(kept.map((at) => at.before)), new Set(kept.map((at) => at.after))];
  const requoted = (tokens: Tokens, own: ReadonlySet<number>, index: number) => {
    const { first, last } = lineAround(tokens, index);
    for (let at = first; at <= last; at++) if (!own.has(at) && QUOTE.test(tokens.keys[at] ?? "")) return true;
    return false;
  };
  return kept.some((at) => {
    const file = content.slice(place.starts[at.before], place.ends[at.before]);
    if (!file.startsWith("\\") || file === rawToken(before, at.before)) return false;
    return requoted(before, keptBefore, at.before) || requoted(after, keptAfter, at.after);
  });
}

/**
 * At the ends of the place, line ends that were right before and are now more, and otherwise than the file has them; or
 * less of them than the file has, where that are more than `safe`, or where several blank lines stand there; any change
 * of them, where `safe` is negative.
 */
export function changesBlankLines({ before, after, file }: ThreeGaps, safe: number): boolean {
  const [o, n, f] = [before, after, file].map(countLineFeeds);
  if (o === undefined || n === undefined || f === undefined || o === n) return false;
  if (safe < 0) return true;
  return n !== f && (f > safe || n > (o === f || f > 2 ? 0 : 1));
}

/** Whether the old text has other blanks at a line's end than the file, as where the blank line after it was left out. */
export function inventsTrail(before: string, file: string): boolean {
  const [o, f] = [splitGap(before), splitGap(file)];
  return o.trail !== "" && o.trail !== f.trail;
}

/** Whether a text leaves out blanks at a line's end that the gap of the file has. */
export function dropsTrail(file: string, text: string): boolean {
  const count = (all: string) => all.match(/[^\S\r\n](?=\r?\n)/g)?.length ?? 0;
  return count(file) > count(text);
}

/**
 * A line that the old text leaves out may be somebody else's new line. It is believed to be a slip only where the
 * new text has it, or where the lines above and below it stay as they are and together.
 */
export function isNearDroppedLine(change: Change, place: Place, kept: readonly Kept[]): boolean {
  const { content, before, after } = change;
  const [oldText, newText] = [squeezed(before.text), squeezed(after.text)];
  const partner = new Map(kept.map((pair) => [pair.before, pair.after]));
  return before.keys.some((_, index) => {
    const file = index === 0 ? "" : content.slice(place.ends[index - 1], place.starts[index]);
    if (!holdsText(file) || hasElision(gapBefore(before, index))) return false;
    const line = squeezed(file);
    return (
      countOf(newText, line) <= countOf(oldText, line) && !keepsLinesAround(change, place, { index, partner })
    );
  });
}

/**
 * Line breaks or blank lines that the old text has wrong, beside a line that is not the same any more: the edit may be
 * about them as well, all the more where the new text corrects other mistakes.
 */
export function rebreaksNearChange(
  change: Change,
  place: Place,
  { kept, corrects }: { readonly kept: readonly Kept[]; readonly corrects: boolean },
): boolean {
  const { content, before, after } = change;
  const partner = new Map(kept.map((pair) => [pair.before, pair.after]));
  if (correctsLead(change, place, partner.get(0) === 0)) return true;
  return before.keys.some((_, index) => {
    const own = partner.get(index);
    if (index === 0 || own === undefined) return false;
    const [gap, next] = [gapBefore(before, index), gapBefore(after, own)];
    const file = content.slice(place.ends[index - 1], place.starts[index]);
    if (holdsText(file) || hasElision(gap)) return false;
    const reflowed = gap.includes("\n") !== file.includes("\n");
    if (reflowed ? countLineFeeds(next) === countLineFeeds(file) : !miscountsBlankLines(gap, file))
      return false;
    const seam = { index, partner };
    if (!keepsLayout(change, place, seam)) return true;
    const { first, last } = linesAround(content, place, index);
    const [o, n, f] = [gap, next, file].map(countLineFeeds);
    const fewer = o !== undefined && f !== undefined && o > 1 && f > o;
    if (o !== n && !keepsIndents(change, [first, index], partner)) return true;
    const open =
      corrects || reflowed || fewer || o !== n || correctsIndent({ before: gap, after: next, file });
    return open && !keepsLines(change, seam, { first, last });
  });
}

/** A line whose indentation only the new text has right: what it says of the blank lines above may be right too. */
function correctsIndent({ before, after, file }: ThreeGaps): boolean {
  const [o, n, f] = [before, after, file].map((gap) => splitGap(gap));
  return o?.vertical === true && o.indent !== f?.indent && n?.indent === f?.indent;
}

/** The same for the blank lines above the first line, of which the file has more than the old text says. */
function correctsLead(change: Change, place: Place, isFirstKept: boolean): boolean {
  const { content, before, after } = change;
  const { from, to } = leadOf(content, place, before);
  const gaps = { before: gapBefore(before, 0), after: gapBefore(after, 0), file: content.slice(from, to) };
  const isMore =
    gaps.before.includes("\n") && /\n[^\S\n]*\n[^\S\n]*$/.test(content.slice(Math.max(0, from - 400), from));
  return isMore && !isFirstKept && correctsIndent(gaps);
}

/** Whether the lines above and below are the same, blanks included. */
function keepsLines({ before, after }: Change, { index, partner }: Seam, { first, last }: Run): boolean {
  if (!isKeptRun(partner, first, last)) return false;
  const from = partner.get(first) ?? 0;
  for (let at = first + 1; at <= last; at++) {
    if (at !== index && gapBefore(before, at) !== gapBefore(after, from + at - first)) return false;
  }
  return true;
}

/** Whether the lines that begin with these tokens are indented as they were. */
function keepsIndents(
  { before, after }: Change,
  lines: readonly number[],
  partner: ReadonlyMap<number, number>,
): boolean {
  return lines.every((token) => {
    const own = partner.get(token);
    if (own === undefined) return false;
    return splitGap(gapBefore(before, token)).indent === splitGap(gapBefore(after, own)).indent;
  });
}

interface Run {
  readonly first: number;
  readonly last: number;
}

/** The tokens of the line that ends before token `index` and of the one that begins with it. */
function linesAround(content: string, { starts }: Place, index: number): Run {
  const opensLine = (token: number) => linePrefix(content, starts[token] ?? 0) !== undefined;
  let [first, last] = [index - 1, index];
  while (first > 0 && !opensLine(first)) first--;
  while (last + 1 < starts.length && !opensLine(last + 1)) last++;
  return { first, last };
}

function isKeptRun(partner: ReadonlyMap<number, number>, first: number, last: number): boolean {
  for (let at = first; at <= last; at++) {
    const own = partner.get(at);
    if (own === undefined || (at > first && partner.get(at - 1) !== own - 1)) return false;
  }
  return true;
}

interface Seam {
  /** The token after it. */
  readonly index: number;
  /** The token of the new text for each one kept of the old. */
  readonly partner: ReadonlyMap<number, number>;
}

/** Whether the lines above and below begin and end as they did and are no more lines, whatever was exchanged in them. */
function keepsLayout({ content, before, after }: Change, place: Place, { index, partner }: Seam): boolean {
  const { first, last } = linesAround(content, place, index);
  const [from, own, to] = [first, index, last].map((token) => partner.get(token));
  if (from === undefined || own === undefined || to === undefined) return false;
  const opens = first === 0 || breaksIn(before, first, first) > 0 === breaksIn(after, from, from) > 0;
  const isLast = last + 1 === before.keys.length;
  const closes = isLast || breaksIn(before, last + 1, last + 1) > 0 === breaksIn(after, to + 1, to + 1) > 0;
  const above = breaksIn(before, first + 1, index - 1) === breaksIn(after, from + 1, own - 1);
  const below = breaksIn(before, index + 1, last) === breaksIn(after, own + 1, to);
  return partner.get(index - 1) === own - 1 && opens && above && below && closes;
}

/** How many lines end before the tokens from `first` to `last`. */
function breaksIn(tokens: Tokens, first: number, last: number): number {
  return last < first
    ? 0
    : countLineFeeds(tokens.text.slice(tokens.ends[first - 1] ?? 0, tokens.starts[last]));
}

function keepsLinesAround(
  { content, before, after }: Change,
  place: Place,
  { index, partner }: Seam,
): boolean {
  const { first, last } = linesAround(content, place, index);
  if (!isKeptRun(partner, first, last)) return false;
  const [from, to] = [partner.get(first) ?? 0, (partner.get(last) ?? 0) + 1];
  for (let at = first; at <= last; at++) {
    const [o, n] = [gapBefore(before, at), gapBefore(after, from + at - first)];
    if (at === first ? splitGap(o).indent !== splitGap(n).indent : o !== n) return false;
  }
  const [own, other] = [gapBefore(before, last + 1), gapBefore(after, to)];
  if (splitGap(own).trail !== splitGap(other).trail) return false;
  const opens = from === 0 || gapBefore(after, from).includes("\n");
  return opens && (to === after.keys.length || other.includes("\n"));
}

/** Whether a line that the old text left out and the new text has would stand there more often than it says. */
export function doublesDroppedLine(change: Change, place: Place, result: string): boolean {
  const { content, before, after } = change;
  const [oldText, newText, all] = [before.text, after.text, result].map(squeezed);
  return before.keys.some((_, index) => {
    const file = index === 0 ? "" : squeezed(content.slice(place.ends[index - 1], place.starts[index]));
    if (file === "" || !holdsText(file)) return false;
    const said = countOf(newText ?? "", file);
    return said > countOf(oldText ?? "", file) && countOf(all ?? "", file) !== said;
  });
}

/** Whether blanks at a line's end that only the new text has would stand at more lines' ends than it says. */
export function doublesTrail({ before, after }: Change, result: string): boolean {
  const [o, n, all] = [before.text, after.text, result].map(
    (text) => text.match(/[^\s][^\S\r\n]+(?=\r?\n)/g)?.length ?? 0,
  );
  return o !== undefined && n !== undefined && n > o && all !== n;
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** Line breaks the old text begins with but not the file, and the new text has otherwise before what it puts there. */
export function losesLineFeed({ before, after, file }: ThreeGaps): boolean {
  const [o, n, f] = [before, after, file].map(countLineFeeds);
  return o !== f && n !== o;
}

/** With more or fewer lines exchanged than there were, it is open which of them has the blanks at its end. */
export function movesTrail(
  { before, after }: Change,
  [last, next]: readonly [Kept, Kept],
  fileGap: string,
): boolean {
  const gap = splitGap(gapBefore(before, next.before));
  if (!gap.vertical || gap.trail === splitGap(fileGap).trail) return false;
  const taken = before.text.slice(before.ends[last.before] ?? 0, before.starts[next.before]);
  const put = after.text.slice(after.ends[last.after] ?? 0, after.starts[next.after]);
  return countLineFeeds(taken) !== countLineFeeds(put);
}

/** Whether blanks the old text has wrong stand where other signs meet now: they say nothing of what is to be there. */
export function joinsOtherSigns({ before, after }: Change, at: Kept, file: string): boolean {
  const slip = gapSlip(gapBefore(before, at.before), file);
  if ((slip !== "inner" && slip !== "lines") || gapBefore(after, at.after) === file) return false;
  return [0, 1].some((step) => kindOf(before.keys[at.before - step]) !== kindOf(after.keys[at.after - step]));
}

/** Words are all alike in what stands around them; signs are not. */
function kindOf(key: string | undefined): string | undefined {
  return key !== undefined && /^[\p{L}\p{N}_$]/u.test(key) ? "word" : key;
}
