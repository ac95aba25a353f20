import type { Kept } from "./diff-tokens.ts";
import { countLineFeeds, splitGap } from "./gaps.ts";
import { holdsText, squeezed, type ThreeGaps } from "./merge-gap.ts";
import { type Change, linePrefix, type Place } from "./place.ts";
import { gapBefore, hasElision } from "./tokens.ts";

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
  const own = lines.slice(0, -1).filter(isOwn);
  return own.some((line) => ['"', "'", "`", "/"].some((sign) => line.split(sign).length % 2 === 0));
}

/** At the ends of the place, blank lines that were right before and are now more or fewer. */
export function changesBlankLines({ before, after, file }: ThreeGaps): boolean {
  const [o, n, f] = [before, after, file].map(countLineFeeds);
  if (o === n || o === undefined || n === undefined) return false;
  return o === f ? n > 0 : n > 1 && n !== f;
}

/** Beside what was exchanged, blank lines that the old text has wrong: the edit may be about them as well. */
export function miscountsBlankLines(before: string, file: string): boolean {
  const [o, f] = [before, file].map(countLineFeeds);
  return o !== f && o !== 0 && f !== 0;
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

/** Blank lines the old text has wrong and the new text has otherwise, beside a line that is not the same any more. */
export function recountsNearChange(
  { content, before, after }: Change,
  place: Place,
  kept: readonly Kept[],
): boolean {
  const partner = new Map(kept.map((pair) => [pair.before, pair.after]));
  return before.keys.some((_, index) => {
    const own = partner.get(index);
    if (index === 0 || own === undefined) return false;
    const [gap, next] = [gapBefore(before, index), gapBefore(after, own)];
    const file = content.slice(place.ends[index - 1], place.starts[index]);
    if (!miscountsBlankLines(gap, file) || countLineFeeds(gap) === countLineFeeds(next)) return false;
    const { first, last } = linesAround(content, place, index);
    return !isKeptRun(partner, first, last);
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

function keepsLinesAround(
  { content, before, after }: Change,
  place: Place,
  { index, partner }: { readonly index: number; readonly partner: ReadonlyMap<number, number> },
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

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** Line breaks the old text begins with but not the file, and the new text has otherwise before what it puts there. */
export function losesLineFeed({ before, after, file }: ThreeGaps): boolean {
  const [o, n, f] = [before, after, file].map(countLineFeeds);
  return o !== f && n !== o;
}
