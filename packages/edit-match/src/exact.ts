import type { EditMatch, EditRequest, Replacement } from "./edit.ts";
import { startsOf } from "./windows.ts";
import { ambiguous, lineEndAt, lineEndOf, matched, withLineEnd } from "./write.ts";

/** The edit if the old text occurs exactly; no result if it does not occur at all. */
export function findExactly(request: EditRequest, stage: string): EditMatch | undefined {
  const { content, expected, oldText } = request;
  // Nothing begins inside a line end.
  const isWhole = (start: number) => !oldText.startsWith("\n") || content[start - 1] !== "\r";
  const all = startsOf(content, oldText).filter(isWhole);
  if (all.length === 0) return undefined;
  const starts = withoutOverlaps(all, oldText.length);
  const fromEnd = withoutOverlaps(all.toReversed(), oldText.length).reverse();
  if (starts.length !== expected || starts.some((start, at) => start !== fromEnd[at])) {
    // If it matters which of overlapping places are used, all count: the number must not match by chance.
    const found = starts.length === expected ? all.length : starts.length;
    return ambiguous(content, found, starts);
  }
  const lineEnd = lineEndOf(content);
  const replacements = starts.map((start) => replaced(request, start, lineEnd));
  return matched(content, stage, replacements);
}

function withoutOverlaps(starts: readonly number[], length: number): number[] {
  const apart: number[] = [];
  for (const start of starts) {
    if (Math.abs(start - (apart.at(-1) ?? Number.NEGATIVE_INFINITY)) >= length) apart.push(start);
  }
  return apart;
}

/** New lines end as the file's do; in a file that has both kinds, only those inside one line of it. */
function replaced({ content, oldText, newText }: EditRequest, start: number, lineEnd?: string): Replacement {
  const end = start + oldText.length;
  const isInside = !oldText.includes("\n") && !newText.includes("\r");
  const own = lineEnd ?? (isInside ? lineEndAt(content, end) : undefined);
  return { start, end, text: own === undefined ? newText : withLineEnd(newText, own) };
}
