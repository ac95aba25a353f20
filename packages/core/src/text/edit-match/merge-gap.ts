import { countLineFeeds, lineFeeds, miscountsBlankLines, splitGap, withLineEnd } from "./gaps.ts";
import { hasElision } from "./tokens.ts";

/** One gap as the model's old text has it, as its new text has it, and as the file has it. */
export interface ThreeGaps {
  readonly before: string;
  readonly after: string;
  readonly file: string;
}

/** How a gap of the new text is written where the change is made. */
export interface Dress {
  readonly lineEnd: string;
  readonly reindent: (indent: string) => string | undefined;
  /** Whether the new text has the mistaken indentation of the old, so that a look like the file's is chance. */
  readonly shifted: boolean;
  /** Whether the new text may be in the file's own style, so that a look like the old text's is chance. */
  readonly open: boolean;
}

/** Whether more than blanks stands in a gap of the file: a line the old text left out. */
export function holdsText(fileGap: string): boolean {
  return fileGap.replace(/\\[nrt]|[\u200b\u2060\u00ad]/g, "").trim() !== "";
}

export function dressed(gap: string, dress: Dress): string | undefined {
  const { vertical, trail, breaks, indent } = splitGap(gap);
  if (!vertical) return gap;
  const [lines, written] = [dressedBreaks(breaks, dress), dress.reindent(indent)];
  return written === undefined || lines === undefined ? undefined : trail + lines + written;
}

/** Blanks alone on a line: in the file's own kind, but nobody can tell whether they were shifted with the rest. */
function dressedBreaks(breaks: string, dress: Dress): string | undefined {
  const lines = withLineEnd(breaks, "\n").split("\n");
  const dressed = lines.map((blanks) => {
    const written = blanks === "" ? "" : dress.reindent(blanks);
    return written === blanks || written?.includes("\t") !== blanks.includes("\t") ? written : undefined;
  });
  return dressed.includes(undefined) ? undefined : dressed.join(dress.lineEnd);
}

/** The gap between two places of which at least one was kept; undefined when it cannot be told. */
export function mergeGap({ before, after, file }: ThreeGaps, dress: Dress): string | undefined {
  if (before === after) return file;
  const chance = dress.shifted && after.includes("\n");
  if (after === file && !chance) return file;
  if (holdsText(file) || hasElision(before) !== hasElision(after)) return undefined;
  const [o, n, f] = [splitGap(before), splitGap(after), splitGap(file)];
  if (lineFeeds(before) === lineFeeds(file)) return dressed(after, dress);
  if (o.vertical && n.vertical && f.vertical) return mergePieces({ before, after, file }, dress);
  if (!o.vertical && !n.vertical && !f.vertical) return undefined;
  if (o.vertical !== f.vertical && n.vertical !== f.vertical) return undefined;
  return dressed(after, dress);
}

function mergePieces({ before, after, file }: ThreeGaps, dress: Dress): string | undefined {
  const [o, n, f] = [splitGap(before), splitGap(after), splitGap(file)];
  const trail = o.trail === n.trail ? f.trail : n.trail;
  const breaks = mergeBreaks(o.breaks, n.breaks, f.breaks);
  const indent =
    !dress.shifted && n.indent === f.indent ? f.indent : mergeIndent([o.indent, n.indent, f.indent], dress);
  if (breaks === undefined || indent === undefined) return undefined;
  return trail + withLineEnd(breaks, dress.lineEnd) + indent;
}

/** An indentation the new text has as the mistaken old text had it: kept, or right by chance. */
function mergeIndent(
  [before, after, file]: readonly [string, string, string],
  dress: Dress,
): string | undefined {
  if (before !== after) return dress.reindent(after);
  return dress.open && after !== file ? undefined : file;
}

function mergeBreaks(before: string, after: string, file: string): string | undefined {
  const [o, n, f] = [before, after, file].map((breaks) => breaks.replace(/[^\n]+/g, ""));
  if (o === n || n === f) return file;
  return o === f ? after : undefined;
}

/** What is written before and after text that was put into one gap. */
export interface Surround {
  readonly left: string;
  readonly right: string;
}

export interface Insertion {
  readonly before: string;
  readonly file: string;
  /** The new text's gaps before and after what it put in. */
  readonly left: string;
  readonly right: string;
  readonly inserted: string;
}

export function mergeInsertion(insertion: Insertion, dress: Dress): Surround | undefined {
  const { before, file, left, right } = insertion;
  const plainly = surround(dressed(left, dress), dressed(right, dress));
  if (before === file) return plainly;
  if (holdsText(file)) return mergeBesideText(insertion, dress);
  const [o, f, l, r] = [splitGap(before), splitGap(file), splitGap(left), splitGap(right)];
  if (!o.vertical && !f.vertical) {
    if (l.vertical || r.vertical) return plainly;
    return left === file && right === file ? surround(left, right) : undefined;
  }
  if (!o.vertical || !f.vertical) return l.vertical && r.vertical ? plainly : undefined;
  if (l.vertical && r.vertical) return putLines(insertion, dress);
  const joins = !l.vertical && !r.vertical && o.trail + o.breaks === f.trail + f.breaks;
  return joins ? plainly : atLineEdge(insertion, dress);
}

/** Lines put between two lines: the blanks at the end of the first stay its own. */
function putLines({ before, file, left, right }: Insertion, dress: Dress): Surround | undefined {
  const [o, f, l, r] = [splitGap(before), splitGap(file), splitGap(left), splitGap(right)];
  if (mergeBreaks(o.breaks, "?", f.breaks) === undefined) return undefined;
  const inner = dress.reindent(l.indent);
  const outer = mergeIndent([o.indent, r.indent, f.indent], dress);
  const [above, below] = [dressedBreaks(l.breaks, dress), dressedBreaks(r.breaks, dress)];
  if (inner === undefined || outer === undefined || above === undefined || below === undefined)
    return undefined;
  return {
    left: (l.trail === o.trail ? f.trail : l.trail) + above + inner,
    right: r.trail + below + outer,
  };
}

/** A line break more or less at the old text's beginning is no reason to join or part the file's lines. */
export function mergeLead(
  { before, after, file }: ThreeGaps,
  prefix: string | undefined,
  dress: Dress,
): string | undefined {
  const [o, n] = [splitGap(before), splitGap(after)];
  const said = n.vertical && o.vertical;
  if (o.indent === n.indent || (n.indent === "" && !said)) return file;
  if (prefix === dress.reindent(n.indent) || prefix === n.indent) return file;
  const written = dress.reindent(n.indent);
  if (!said || prefix !== o.indent || written === undefined) return undefined;
  return file.slice(0, file.length - prefix.length) + written;
}

/** At the end of a line that changes there, blanks that neither text has may be a slip, or gone on purpose. */
function hidesTrail({ before, after, file }: ThreeGaps): boolean {
  const [o, n, f] = [before, after, file].map((gap) => splitGap(gap));
  return f?.vertical === true && f.trail !== o?.trail && f.trail !== n?.trail;
}

/** Lines put after the last one, of which the blanks at its end stay its own. */
export function mergeEnd({ before, after, file }: ThreeGaps, dress: Dress): Surround | undefined {
  const start = dressed(after, dress);
  if (start === undefined || !after.includes("\n")) return surround(start, file);
  const [o, n, f] = [before, after, file].map((gap) => /^[^\S\r\n]*/.exec(gap)?.[0] ?? "");
  if (n === undefined || f === undefined || (o !== n && n !== f)) return undefined;
  return { left: f + start.slice(n.length), right: file.slice(f.length) };
}

/** Something put at the end of one line or the beginning of the next. */
function atLineEdge({ before, file, left, right }: Insertion, dress: Dress): Surround | undefined {
  if (left.includes("\n") === right.includes("\n") || miscountsBlankLines(before, file)) return undefined;
  if (right.includes("\n") && hidesTrail({ before, after: right, file })) return undefined;
  const gapAfter = (after: string) => mergeGap({ before, after, file }, dress);
  return left.includes("\n") ? surround(gapAfter(left), right) : surround(left, gapAfter(right));
}

/** The file has text in the gap: the order is known only if the new text says where its own goes. */
function mergeBesideText(
  { before, file, left, right, inserted }: Insertion,
  dress: Dress,
): Surround | undefined {
  if (hasElision(before) && hasElision(left) !== hasElision(right)) {
    // Blank lines put in or taken out beside the dots: nobody knows where those of the file are to go.
    if (countLineFeeds(hasElision(left) ? left : right) !== countLineFeeds(before)) return undefined;
    return hasElision(left) ? surround(file, dressed(right, dress)) : surround(dressed(left, dress), file);
  }
  const repeatsIt = squeezed(left + inserted + right).includes(squeezed(file));
  return repeatsIt ? surround(dressed(left, dress), dressed(right, dress)) : undefined;
}

export function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}

function surround(left: string | undefined, right: string | undefined): Surround | undefined {
  return left === undefined || right === undefined ? undefined : { left, right };
}

export interface Deletion {
  readonly after: string;
  /** The gaps around what was taken out, in the old text and in the file. */
  readonly before: Surround;
  readonly file: Surround;
}

export function mergeDeletion({ after, before, file }: Deletion, dress: Dress): string | undefined {
  if (holdsText(file.left) || holdsText(file.right)) return undefined;
  if (before.left === file.left && before.right === file.right) return dressed(after, dress);
  const [ol, or, n] = [splitGap(before.left), splitGap(before.right), splitGap(after)];
  const [fl, fr] = [splitGap(file.left), splitGap(file.right)];
  const allVertical = [ol, or, n, fl, fr].every((gap) => gap.vertical);
  if (!allVertical) return mergeInlineDeletion({ after, before, file }, dress);
  const trail = n.trail === ol.trail ? fl.trail : n.trail;
  const indent = mergeIndent([or.indent, n.indent, fr.indent], dress);
  const breaks = deletedBreaks(n.breaks, [ol.breaks, fl.breaks], [or.breaks, fr.breaks]);
  if (indent === undefined || breaks === undefined) return undefined;
  return trail + withLineEnd(breaks, dress.lineEnd) + indent;
}

type BreakPair = readonly [before: string, file: string];

/** The line break that stays of the two around a deletion, as the file has it. */
function deletedBreaks(after: string, left: BreakPair, right: BreakPair): string | undefined {
  const feeds = (text: string) => text.replace(/[^\n]+/g, "");
  const sound = [left, right].every(([before, file]) => feeds(before) === feeds(file));
  const stays = new Set([left, right].filter(([before]) => before === after).map(([, file]) => file));
  if (!sound || stays.size > 1) return undefined;
  return [...stays][0] ?? after;
}

/** Taken out at the beginning or end of a line, or within it. */
function mergeInlineDeletion({ after, before, file }: Deletion, dress: Dress): string | undefined {
  if (miscountsBlankLines(before.left, file.left) || miscountsBlankLines(before.right, file.right))
    return undefined;
  // A line break that the old text has wrong may be what the edit is about.
  if (rebreaks(before.left, after, file.left) || rebreaks(before.right, after, file.right)) return undefined;
  const byLeft = after === before.left ? file.left : undefined;
  const byRight = after === before.right ? file.right : undefined;
  if (byLeft !== undefined && byRight !== undefined) return byLeft === byRight ? byLeft : undefined;
  if (byLeft !== undefined || byRight !== undefined) return byLeft ?? byRight;
  const [leftBreaks, rightBreaks] = [before.left.includes("\n"), before.right.includes("\n")];
  if (leftBreaks === rightBreaks || !after.includes("\n")) return undefined;
  const stays = leftBreaks ? "left" : "right";
  return mergeGap({ before: before[stays], after, file: file[stays] }, dress);
}

function rebreaks(before: string, after: string, file: string): boolean {
  return after !== file && before.includes("\n") !== file.includes("\n");
}
