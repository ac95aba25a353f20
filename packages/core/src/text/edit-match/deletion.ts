import { countLineFeeds, lineEndAt } from "./gaps.ts";
import { type Change, leadOf, linePrefix, type Place, trailOf } from "./place.ts";
import type { Replacement } from "./replacement.ts";
import { gapBefore } from "./tokens.ts";

/** Nothing but blanks is left: whole lines go with their line end. Which blank lines go must not be open. */
export function deletion({ content, before, after }: Change, place: Place): Replacement | undefined {
  const lead = leadOf(content, place, before);
  const trail = trailOf(content, place, before);
  const trailing = gapBefore(before, before.keys.length);
  const said = [gapBefore(before, 0), trailing].map(countLineFeeds);
  const there = [lead, trail].map(({ from, to }) => countLineFeeds(content.slice(from, to)));
  if (String(said) !== String(there)) return undefined;
  const token = place.starts[0] ?? 0;
  const prefix = trailing.includes("\n") ? linePrefix(content, token) : undefined;
  const start = Math.min(lead.from, prefix === undefined ? token : token - prefix.length);
  const lineEnd = lineEndAt(content, token);
  return { start, end: trail.to, text: lineEnd.repeat(countLineFeeds(after.text)) };
}
