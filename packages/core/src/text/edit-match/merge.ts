import { gapSlip } from "./agreement.ts";
import { deletion } from "./deletion.ts";
import { alignments, type Kept } from "./diff-tokens.ts";
import {
  changesBlankLines,
  cutsStrings,
  doublesDroppedLine,
  doublesTrail,
  dropsTrail,
  inventsTrail,
  isNearDroppedLine,
  joinsOtherSigns,
  losesLineFeed,
  movesTrail,
  rebreaksNearChange,
  requotesEscapes,
  writesStrangely,
} from "./doubts.ts";
import { Evidence } from "./evidence.ts";
import { lineEndAt, miscountsBlankLines, splitGap, withLineEnd } from "./gaps.ts";
import {
  dressed,
  holdsText,
  mergeDeletion,
  mergeEnd,
  mergeGap,
  mergeInsertion,
  mergeLead,
  squeezed,
} from "./merge-gap.ts";
import { type Change, linePrefix, type Place } from "./place.ts";
import type { Replacement } from "./replacement.ts";
import { gapBefore, lineAround, rawToken } from "./tokens.ts";

/**
 * Three-way: what the model changed between its old and new text is done to the place in the file; whatever it
 * kept stays as the file has it. Undefined when the evidence allows more than one result.
 */
export function mergeAt(change: Change, place: Place): Replacement | undefined {
  if (change.after.keys.length === 0) return deletion(change, place);
  if (writesStrangely(change) || (place.slips.has("lost escapes") && cutsStrings(change, place)))
    return undefined;
  let agreed: Replacement | undefined;
  for (const kept of alignments(change.before, change.after)) {
    const result = new Merge(change, place, kept).result();
    if (result === undefined || (agreed !== undefined && agreed.text !== result.text)) return undefined;
    agreed = result;
  }
  return agreed;
}

class Merge {
  readonly #change: Change;
  readonly #place: Place;
  readonly #kept: readonly Kept[];
  readonly #seen: Evidence;

  constructor(change: Change, place: Place, kept: readonly Kept[]) {
    this.#change = change;
    this.#place = place;
    this.#kept = kept;
    this.#seen = new Evidence(change, place, kept);
  }

  result(): Replacement | undefined {
    const { before, after } = this.#change;
    if (this.#isReindentedByGuess()) return undefined;
    if (this.#seen.agreement.mixed || this.#seen.indentation.mixed) return undefined;
    if (requotesEscapes(this.#change, this.#place, this.#kept)) return undefined;
    const corrects = this.#seen.indentation.style === "file" || this.#seen.agreement.withFile > 0;
    if (rebreaksNearChange(this.#change, this.#place, { kept: this.#kept, corrects })) return undefined;
    if (isNearDroppedLine(this.#change, this.#place, this.#kept)) return undefined;
    const written: string[] = [];
    let last: Kept = { before: -1, after: -1 };
    for (const next of [...this.#kept, { before: before.keys.length, after: after.keys.length }]) {
      const between = this.#between(last, next);
      if (between === undefined) return undefined;
      written.push(between);
      if (next.before < before.keys.length) written.push(this.#seen.fileToken(next.before));
      last = next;
    }
    const text = written.join("");
    if (doublesDroppedLine(this.#change, this.#place, text) || doublesTrail(this.#change, text))
      return undefined;
    return { start: this.#seen.lead.from, end: this.#seen.trail.to, text };
  }

  /** No line was kept to compare, and lines that were joined do not show how they were indented. */
  #isReindentedByGuess(): boolean {
    if (!this.#place.slips.has("reflowed lines") || this.#seen.indentation.style === "same") return false;
    const { before } = this.#change;
    const kept = new Set(this.#kept.map((pair) => pair.before));
    return before.keys.every((_, index) => {
      const { first, last } = lineAround(before, index);
      for (let at = first; at <= last; at++) if (!kept.has(at)) return true;
      return false;
    });
  }

  /** What comes between two kept tokens (or the ends of the place). */
  #between(last: Kept, next: Kept): string | undefined {
    const taken = next.before - last.before - 1;
    const put = next.after - last.after - 1;
    const inner = last.before >= 0 && next.before < this.#change.before.keys.length;
    if (this.#seen.asWritten && inner && this.#isProven(last, next)) return this.#verbatim(last, next);
    if (put === 0) return taken === 0 ? this.#keptGap(next) : this.#takenOut(last, next);
    return taken === 0 ? this.#putIn(last, next) : this.#exchanged(last, next);
  }

  /** One kind of mistake seen to be put right says nothing about the other kinds. */
  #isProven(last: Kept, next: Kept): boolean {
    const { before, after } = this.#change;
    for (let index = last.after + 1; index < next.after; index++) {
      if (this.#seen.respell(after, index) !== rawToken(after, index)) return false;
    }
    return [last.before + 1, next.before].every((index) => {
      const slip = gapSlip(gapBefore(before, index), this.#seen.fileGap(index));
      return slip === undefined || slip === "text" || this.#seen.agreement.corrected.has(slip);
    });
  }

  #verbatim(last: Kept, next: Kept): string | undefined {
    const { after, content } = this.#change;
    const text = after.text.slice(after.ends[last.after], after.starts[next.after]);
    const file = this.#seen.fileGap(next.before);
    if (next.before === last.before + 1 && holdsText(file) && squeezed(file) === squeezed(text)) return file;
    const trails = [last.before + 1, next.before].some((index) =>
      dropsTrail(this.#seen.fileGap(index), text),
    );
    return trails ? undefined : withLineEnd(text, lineEndAt(content, this.#seen.lead.to));
  }

  #keptGap(next: Kept): string | undefined {
    const { before, after, content } = this.#change;
    const file = this.#seen.fileGap(next.before);
    const gaps = { before: gapBefore(before, next.before), after: gapBefore(after, next.after), file };
    if (next.before === before.keys.length)
      return changesBlankLines(gaps, this.#seen.safeAtEnd()) ? undefined : file;
    if (gaps.before === gaps.after) return this.#isDoubtful(gaps.before, next) ? undefined : file;
    if (next.before > 0) return mergeGap(gaps, this.#seen.dress(next.before));
    if (gaps.before.includes("\n") || gaps.after.includes("\n")) {
      if (changesBlankLines(gaps, this.#seen.safeAtStart())) return undefined;
      return mergeLead(gaps, linePrefix(content, this.#place.starts[0] ?? 0), this.#seen.dress(0));
    }
    if (gaps.before !== "") return mergeGap(gaps, this.#seen.dress(0));
    const prefix = linePrefix(content, this.#place.starts[0] ?? 0);
    if (prefix === undefined) return gaps.after;
    return prefix === this.#seen.indentation.reindent(gaps.after, 0) || prefix === gaps.after
      ? file
      : undefined;
  }

  /**
   * On a line whose blanks the edit changes, blanks that the new text has like the old one may be the mistake repeated
   * or the change itself, unless the new text is seen to repeat mistakes elsewhere.
   */
  #isDoubtful(gap: string, next: Kept): boolean {
    const file = this.#seen.fileGap(next.before);
    const { style } = this.#seen.indentation;
    const open = style === "unclear" || style === "file";
    if (open && gap.includes("\n") && splitGap(gap).indent !== splitGap(file).indent) return true;
    if (gap.includes("\n") || gap === file || next.before === 0 || file.includes("\n")) return false;
    return this.#seen.agreement.withOld === 0 && this.#seen.agreement.onRespacedLine(next.after);
  }

  #takenOut(last: Kept, next: Kept): string | undefined {
    const { before, after } = this.#change;
    if (last.before < 0) return this.#firstLinesTaken(next);
    const left = last.before + 1;
    const atEnd = next.before === before.keys.length;
    if (atEnd && inventsTrail(gapBefore(before, next.before), this.#seen.fileGap(next.before)))
      return undefined;
    const dress = this.#seen.dress(next.before);
    // What follows the last line end is not of this text, so that it is not indented.
    const reindent = (indent: string) => (atEnd && indent === "" ? "" : dress.reindent(indent));
    const merged = mergeDeletion(
      {
        after: gapBefore(after, next.after),
        before: { left: gapBefore(before, left), right: gapBefore(before, next.before) },
        file: { left: this.#seen.fileGap(left), right: this.#seen.fileGap(next.before) },
      },
      { ...dress, reindent },
    );
    const ownTrail =
      atEnd && !this.#seen.fileGap(next.before).includes("\n") && gapBefore(after, next.after) === "";
    return ownTrail ? splitGap(this.#seen.fileGap(left)).trail : merged;
  }

  /** The line that is now the first is indented as it was, not as the one before it. */
  #firstLinesTaken(next: Kept): string | undefined {
    const { before, after } = this.#change;
    const lead = { before: gapBefore(before, 0), after: gapBefore(after, 0), file: this.#seen.fileGap(0) };
    const own = splitGap(gapBefore(before, next.before));
    if (lead.before === lead.after && lead.before === "") return lead.file;
    if (!own.vertical || changesBlankLines(lead, this.#seen.safeAtStart())) return undefined;
    const { indent } = splitGap(lead.after);
    const start = lead.file.slice(0, lead.file.length - splitGap(lead.file).indent.length);
    const written = indent === own.indent ? splitGap(this.#seen.fileGap(next.before)).indent : undefined;
    const plain = written ?? this.#seen.indentation.reindent(indent, next.before);
    return plain === undefined ? undefined : start + plain;
  }

  #putIn(last: Kept, next: Kept): string | undefined {
    const { before, after } = this.#change;
    const tokens = this.#written(last.after + 1, next.after);
    if (tokens === undefined) return undefined;
    const gap = { before: gapBefore(before, next.before), file: this.#seen.fileGap(next.before) };
    const left = gapBefore(after, last.after + 1);
    const right = gapBefore(after, next.after);
    const dress = this.#seen.dress(next.before);
    if (next.before === 0) {
      const end = dressed(right, dress);
      const lead = { ...gap, after: left };
      const start = losesLineFeed(lead) ? undefined : this.#keptGap({ before: 0, after: 0 });
      return start === undefined || end === undefined ? undefined : start + tokens + end;
    }
    if (next.before === before.keys.length) {
      if (changesBlankLines({ ...gap, after: right }, this.#seen.safeAtEnd())) return undefined;
      const around = mergeEnd({ ...gap, after: left }, dress);
      return around === undefined ? undefined : around.left + tokens + around.right;
    }
    if (holdsText(gap.file) && squeezed(gap.file) === squeezed(tokens)) return gap.file;
    const around = mergeInsertion({ ...gap, left, right, inserted: tokens }, dress);
    return around === undefined ? undefined : around.left + tokens + around.right;
  }

  #exchanged(last: Kept, next: Kept): string | undefined {
    const tokens = this.#written(last.after + 1, next.after);
    if (tokens === undefined) return undefined;
    const left = this.#besideExchange({ before: last.before + 1, after: last.after + 1 }, tokens);
    const moves = movesTrail(this.#change, [last, next], this.#seen.fileGap(next.before));
    const right = moves ? undefined : this.#besideExchange(next, tokens);
    return left === undefined || right === undefined ? undefined : left + tokens + right;
  }

  #besideExchange(at: Kept, tokens: string): string | undefined {
    const { before, after } = this.#change;
    const file = this.#seen.fileGap(at.before);
    const inner = at.before > 0 && at.before < before.keys.length;
    if (inner && miscountsBlankLines(gapBefore(before, at.before), file)) return undefined;
    if (joinsOtherSigns(this.#change, at, file)) return undefined;
    const elided = gapBefore(before, at.before).trim() !== "";
    if (!inner || !holdsText(file) || elided) return this.#keptGap(at);
    const repeatsIt = squeezed(tokens).includes(squeezed(file));
    return repeatsIt ? dressed(gapBefore(after, at.after), this.#seen.dress(at.before)) : undefined;
  }

  /** The new text's own tokens, with the blanks between them, as they are written into the file. */
  #written(from: number, to: number): string | undefined {
    const { before, after } = this.#change;
    const near = this.#kept.findLast((kept) => kept.after < from)?.before ?? 0;
    const dress = this.#seen.dress(Math.min(near + 1, before.keys.length));
    const parts: string[] = [];
    for (let index = from; index < to; index++) {
      const gap = index === from ? "" : dressed(gapBefore(after, index), dress);
      const token = this.#seen.respell(after, index);
      if (gap === undefined || token === undefined) return undefined;
      parts.push(gap, token);
    }
    return parts.join("");
  }
}
