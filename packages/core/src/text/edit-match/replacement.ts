import { lineEndAt, withLineEnd } from "./gaps.ts";

/** A stretch of the original content and what is written in its stead. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The same replacement without what it would write unchanged at either end. */
export function trimmed({ start, end, text }: Replacement, content: string): Replacement {
  let head = 0;
  const most = Math.min(end - start, text.length);
  while (head < most && content[start + head] === text[head]) head++;
  let tail = 0;
  while (tail < most - head && content[end - 1 - tail] === text[text.length - 1 - tail]) tail++;
  return { start: start + head, end: end - tail, text: text.slice(head, text.length - tail) };
}

export function inLineEndsOf(text: string, content: string, at: number): string {
  return withLineEnd(text, lineEndAt(content, at));
}
