import { type Agreement, agreementOf } from "./agreement.ts";
import { learnSpelling, type Respell } from "./characters.ts";
import type { Kept } from "./diff-tokens.ts";
import { countLineFeeds, lineEndAt } from "./gaps.ts";
import { indentSamples, indentsOf } from "./indent-samples.ts";
import { type Indentation, learnIndentation } from "./indentation.ts";
import type { Dress } from "./merge-gap.ts";
import { type Change, leadOf, type Place, type Span, trailOf } from "./place.ts";

/** What the place in the file, beside the old and the new text, shows of the model's mistakes. */
export class Evidence {
  readonly lead: Span;
  readonly trail: Span;
  readonly indentation: Indentation;
  readonly agreement: Agreement;
  /** The new text is right in all that the old text got wrong, so it is taken as it is. */
  readonly asWritten: boolean;
  readonly respell: Respell;
  readonly #change: Change;
  readonly #place: Place;

  constructor(change: Change, place: Place, kept: readonly Kept[]) {
    this.#change = change;
    this.#place = place;
    const { before, after, content } = change;
    this.lead = leadOf(content, place, before);
    this.trail = trailOf(content, place, before);
    this.indentation = learnIndentation(indentSamples(change, place, kept), indentsOf(after));
    this.agreement = agreementOf({
      before,
      after,
      kept,
      fileGap: (index) => this.fileGap(index),
      fileToken: (index) => this.fileToken(index),
    });
    const { withFile, withOld } = this.agreement;
    const { style } = this.indentation;
    const right = withFile > 0 || style === "file";
    this.asWritten = right && withOld === 0 && (style === "file" || style === "same");
    const partner = new Map(kept.map((pair) => [pair.before, pair.after]));
    const samples = before.keys.map((_, index) => ({
      index,
      file: this.fileToken(index),
      after: partner.get(index),
    }));
    this.respell = learnSpelling(content, before, samples);
  }

  /** What the file has for a token of the old text. */
  fileToken(index: number): string {
    return this.#change.content.slice(this.#place.starts[index], this.#place.ends[index]);
  }

  /** What the file has before a token of the old text, or after the last one. */
  fileGap(index: number): string {
    const { content, before } = this.#change;
    if (index === 0) return content.slice(this.lead.from, this.lead.to);
    if (index === before.keys.length) return content.slice(this.trail.from, this.trail.to);
    return content.slice(this.#place.ends[index - 1], this.#place.starts[index]);
  }

  /** How many line ends less are a slip: where the file begins or ends, nothing beyond would show it. */
  safeAtStart(): number {
    return this.#change.content.slice(0, this.lead.from).trim() === "" ? 0 : Number.POSITIVE_INFINITY;
  }

  safeAtEnd(): number {
    const end = this.#change.content.slice(this.trail.from);
    if (end.slice(this.trail.to - this.trail.from).trim() !== "") return Number.POSITIVE_INFINITY;
    // Of the blank lines at the end of a file, one less may be what was meant.
    return countLineFeeds(end) > 1 ? -1 : 1;
  }

  /** How what is written before a token of the old text is dressed. */
  dress(index: number): Dress {
    const at = this.#place.ends[index - 1] ?? this.lead.from;
    const { style } = this.indentation;
    return {
      lineEnd: lineEndAt(this.#change.content, at),
      reindent: (indent) => this.indentation.reindent(indent, index),
      shifted: style === "model",
      open: style === "file" || style === "unclear",
    };
  }
}
