import type { Kept } from "./diff-tokens.ts";
import { countLineFeeds, lineFeeds, splitGap } from "./gaps.ts";
import { holdsText, squeezed } from "./merge-gap.ts";
import { gapBefore, rawToken, type Tokens } from "./tokens.ts";

/** The three texts side by side: `kept` ties old to new, the two functions tie old to the file. */
export interface Alignment {
  readonly before: Tokens;
  readonly after: Tokens;
  readonly kept: readonly Kept[];
  readonly fileGap: (index: number) => string;
  readonly fileToken: (index: number) => string;
}

/** Whose side the new text takes where the old text is not what the file has. */
export interface Agreement {
  /** It has the file's text: only the old text was mistaken. */
  readonly withFile: number;
  /** It repeats the old text's mistake. */
  readonly withOld: number;
  /** The kinds of slip in the old text's blanks that the new text is seen to have right. */
  readonly corrected: ReadonlySet<GapSlip>;
  /** Whether it has some slips of a kind right and repeats others: then nothing tells which it does at the change. */
  readonly mixed: boolean;
  /** Whether the edit changes blanks on the line that a token of the new text stands on. */
  readonly onRespacedLine: (after: number) => boolean;
}

type GapSlip = "text" | "lines" | "breaks" | "trail" | "inner";

/** In what way a gap of the old text is not the file's; undefined where at most the indentation differs. */
export function gapSlip(before: string, file: string): GapSlip | undefined {
  if (holdsText(file)) return "text";
  const [o, f] = [splitGap(lineFeeds(before)), splitGap(lineFeeds(file))];
  if (o.vertical !== f.vertical) return "lines";
  if (!o.vertical) return before === file ? undefined : "inner";
  if (countLineFeeds(o.breaks) !== countLineFeeds(f.breaks)) return "breaks";
  return o.trail === f.trail && o.breaks === f.breaks ? undefined : "trail";
}

export function agreementOf(alignment: Alignment): Agreement {
  const { before, after, kept, fileToken } = alignment;
  const lines = lineNumbers(after);
  const respaced = respacedLines(alignment, lines);
  const onRespacedLine = (index: number) => respaced.has(lines[index] ?? -1);
  let [withFile, withOld] = [0, 0];
  const seen: SeenSlips = { corrected: new Set(), repeated: new Set() };
  let last: Kept = { before: -1, after: -1 };
  for (const next of kept) {
    if (rawToken(before, next.before) !== fileToken(next.before)) withOld++;
    const adjacent = next.before === last.before + 1 && next.after === last.after + 1 && next.before > 0;
    if (adjacent) {
      const side = sideAt(alignment, next, seen);
      const vertical = gapBefore(after, next.after).includes("\n");
      if (side === "file") withFile++;
      if (side === "old" && (vertical || !onRespacedLine(next.after))) withOld++;
    } else {
      withFile += restored(alignment, last, next);
      withOld += repeatedAround(alignment, last, next);
    }
    last = next;
  }
  const { corrected, repeated } = seen;
  return {
    withFile,
    withOld,
    corrected,
    mixed: WEIGHED.some((slip) => corrected.has(slip) && repeated.has(slip)),
    onRespacedLine,
  };
}

interface SeenSlips {
  readonly corrected: Set<GapSlip>;
  readonly repeated: Set<GapSlip>;
}

/** Blanks at the lines' ends are never meant, so it says nothing that some are right and others not. */
const WEIGHED: readonly GapSlip[] = ["lines", "breaks", "inner"];

function sideAt(
  { before, after, fileGap }: Alignment,
  at: Kept,
  seen: SeenSlips,
): "file" | "old" | undefined {
  const gap = gapBefore(before, at.before);
  const side = sideOf(gap, gapBefore(after, at.after), fileGap(at.before));
  const slip = gapSlip(gap, fileGap(at.before));
  if (slip !== undefined && side === "file") seen.corrected.add(slip);
  if (slip !== undefined && side === "old") seen.repeated.add(slip);
  return side;
}

/** Indentation is weighed elsewhere: a change of nesting can look like a correction. */
function sideOf(before: string, after: string, file: string): "file" | "old" | undefined {
  if (holdsText(file)) return before === after ? "old" : undefined;
  const [o, n, f] = [before, after, file].map(withoutIndent);
  if (o === f) return undefined;
  return n === f ? "file" : n === o ? "old" : undefined;
}

function withoutIndent(gap: string): string {
  const { vertical, trail, breaks } = splitGap(lineFeeds(gap));
  return vertical ? trail + breaks : gap;
}

/** Line breaks and blanks at the lines' ends beside what was exchanged, mistaken in both texts. */
function repeatedAround({ before, after, fileGap }: Alignment, last: Kept, next: Kept): number {
  if (next.before === last.before + 1 || next.after === last.after + 1) return 0;
  const sides: Kept[] = [{ before: last.before + 1, after: last.after + 1 }, next];
  return sides.filter((at) => {
    const gap = gapBefore(after, at.after);
    return gap.includes("\n") && sideOf(gapBefore(before, at.before), gap, fileGap(at.before)) === "old";
  }).length;
}

/** Whether the new text puts in what the file has there, and the old text had not or had otherwise. */
function restored({ before, after, fileGap, fileToken }: Alignment, last: Kept, next: Kept): number {
  const put = after.text.slice(after.starts[last.after + 1], after.ends[next.after - 1]);
  const taken = next.before - last.before - 1;
  const file = fileGap(next.before);
  if (taken === 0) return holdsText(file) && squeezed(put) === squeezed(file) ? 1 : 0;
  if (taken !== next.after - last.after - 1) return 0;
  let corrected = 0;
  for (let step = 1; step <= taken; step++) {
    const [own, other] = [rawToken(before, last.before + step), rawToken(after, last.after + step)];
    if (other === fileToken(last.before + step) && other !== own) corrected++;
  }
  return corrected;
}

function lineNumbers(tokens: Tokens): number[] {
  let line = 0;
  return tokens.keys.map((_, index) => {
    if (gapBefore(tokens, index).includes("\n")) line++;
    return line;
  });
}

/** Lines on which the edit changes the blanks between tokens it keeps. */
function respacedLines({ before, after, kept }: Alignment, lines: readonly number[]): Set<number> {
  const respaced = new Set<number>();
  let last: Kept = { before: -1, after: -1 };
  for (const next of kept) {
    const gap = gapBefore(after, next.after);
    const adjacent = next.before === last.before + 1 && next.after === last.after + 1;
    if (adjacent && !gap.includes("\n") && gap !== gapBefore(before, next.before)) {
      respaced.add(lines[next.after] ?? -1);
    }
    last = next;
  }
  return respaced;
}
