import type { Kept } from "./diff-tokens.ts";
import { splitGap } from "./gaps.ts";
import type { IndentSample } from "./indentation.ts";
import { type Change, linePrefix, type Place } from "./place.ts";
import { gapBefore, type Tokens } from "./tokens.ts";

/** How each line of the old text is indented, there, in the file, and in the new text if it kept the line. */
export function indentSamples(change: Change, place: Place, kept: readonly Kept[]): IndentSample[] {
  const { content, before, after } = change;
  const keptAfter = new Map(kept.map((pair) => [pair.before, pair.after]));
  const samples: IndentSample[] = [];
  for (let token = 0; token < before.keys.length; token++) {
    const gap = splitGap(gapBefore(before, token));
    const file = linePrefix(content, place.starts[token] ?? 0);
    if (file === undefined || !(gap.vertical || token === 0)) continue;
    if (!gap.vertical && gap.indent === "" && file !== "") continue;
    const partner = keptAfter.get(token) ?? exchangedFor(token, keptAfter);
    const newGap = partner === undefined ? undefined : splitGap(gapBefore(after, partner));
    const known = newGap !== undefined && (newGap.vertical || partner === 0);
    samples.push({ before: gap.indent, file, token, ...(known ? { after: newGap.indent } : {}) });
  }
  return samples;
}

/** The token that stands first where `token`, the first of a rewritten stretch, stood. */
function exchangedFor(token: number, keptAfter: ReadonlyMap<number, number>): number | undefined {
  if (token === 0) return 0;
  const previous = keptAfter.get(token - 1);
  return previous === undefined ? undefined : previous + 1;
}

/** The indentation of each line of a text. */
export function indentsOf(tokens: Tokens): string[] {
  const gaps = tokens.keys.map((_, index) => splitGap(gapBefore(tokens, index)));
  return gaps.filter((gap, index) => gap.vertical || index === 0).map((gap) => gap.indent);
}
