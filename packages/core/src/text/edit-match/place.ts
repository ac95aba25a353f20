import { gapBefore, type Tokens } from "./tokens.ts";

/** Where in the file each token of the old text was found. */
export interface Place {
  readonly starts: ArrayLike<number>;
  readonly ends: ArrayLike<number>;
  /** The names of the mistakes one has to believe in for this to be the place. */
  readonly slips: ReadonlySet<string>;
}

/** What is to be done to which content: the model's two texts. */
export interface Change {
  readonly content: string;
  readonly before: Tokens;
  readonly after: Tokens;
}

/** A stretch of the file. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const BLANKS_BEFORE = /[^\S\r\n]*$/;

/** The blanks of the line before `at`, or undefined when something else stands there. */
export function linePrefix(content: string, at: number): string | undefined {
  const line = content.slice(content.lastIndexOf("\n", at - 1) + 1, at);
  return line.trim() === "" ? line : undefined;
}

const WORD = /[\p{L}\p{N}]{2}/u;

/**
 * Whether the place begins or ends amid a line although the old text's own line is whole there, or holds mere signs,
 * as when the line after `*` was left out and the `*` of the next line is taken for it.
 */
export function cutsLines(content: string, before: Tokens, { starts, ends }: Place): boolean {
  const lines = before.text.trim().split("\n");
  const [from, to] = [starts[0] ?? 0, ends[ends.length - 1] ?? 0];
  const rest = /[^\r\n]*/y;
  rest.lastIndex = to;
  const mayCut = (line: string | undefined) => lines.length === 1 || WORD.test(line ?? "");
  const startsAmid = linePrefix(content, from) === undefined;
  const endsAmid = (rest.exec(content)?.[0] ?? "").trim() !== "";
  const opens = gapBefore(before, 0).includes("\n") || !mayCut(lines[0]);
  const closes = gapBefore(before, before.keys.length).includes("\n") || !mayCut(lines[lines.length - 1]);
  return (startsAmid && opens) || (endsAmid && closes);
}

/**
 * Whether the old text's first or last line, not quite the one in the place, is exactly the one beyond it: a line
 * between the two was left out then, and the place is one line off.
 */
export function isLineOff(content: string, before: Tokens, { starts, ends }: Place): boolean {
  const lines = before.text.trim().split("\n");
  const [first, last] = [lines[0]?.trim(), lines[lines.length - 1]?.trim()];
  const [top, bottom] = [lineAt(content, starts[0] ?? 0), lineAt(content, (ends[ends.length - 1] ?? 1) - 1)];
  const above = lineAt(content, top.from - 1);
  const below = lineAt(content, bottom.to + 1);
  return (first !== top.text && first === above.text) || (last !== bottom.text && last === below.text);
}

/** The line that `at` is on, without the blanks around it. */
function lineAt(content: string, at: number): Span & { readonly text: string } {
  const from = at <= 0 ? 0 : content.lastIndexOf("\n", at - 1) + 1;
  const end = content.indexOf("\n", at);
  const to = end === -1 ? content.length : end;
  return { from, to, text: at < 0 ? "" : content.slice(from, to).trim() };
}

/** What of the file answers to the blanks the old text begins with. */
export function leadOf(content: string, place: Place, before: Tokens): Span {
  const to = place.starts[0] ?? 0;
  const lead = gapBefore(before, 0);
  if (lead === "") return { from: to, to };
  const blanks = (end: number) =>
    BLANKS_BEFORE.exec(content.slice(Math.max(0, end - 400), end))?.[0].length ?? 0;
  let from = to - blanks(to);
  for (const sign of lead) {
    if (sign !== "\n" || content[from - 1] !== "\n") continue;
    from -= content[from - 2] === "\r" ? 2 : 1;
    const next = from - blanks(from);
    if (content[next - 1] === "\n") from = next;
  }
  return { from, to };
}

/** What of the file answers to the blanks the old text ends with; blanks at the line's end always do. */
export function trailOf(content: string, place: Place, before: Tokens): Span {
  const from = place.ends[place.ends.length - 1] ?? 0;
  const trail = gapBefore(before, before.keys.length);
  const blankLine = /[^\S\r\n]*(\r?\n|$)/y;
  const endsLine = (at: number) => {
    blankLine.lastIndex = at;
    return blankLine.exec(content);
  };
  const first = endsLine(from);
  if (first === null) return { from, to: from + (trail === "" ? 0 : blanksAfter(content, from)) };
  let to = from + first[0].length - (first[1]?.length ?? 0);
  for (const sign of trail) {
    if (sign !== "\n") continue;
    const line = endsLine(to);
    if (line === null || line[1] === "") break;
    to += line[0].length;
  }
  if (/\n[^\S\n]+$/.test(trail)) to += blanksAfter(content, to);
  return { from, to };
}

function blanksAfter(content: string, at: number): number {
  const blanks = /[^\S\r\n]*/y;
  blanks.lastIndex = at;
  return blanks.exec(content)?.[0].length ?? 0;
}
