import { mergeAt } from "./merge.ts";
import type { Change, Place } from "./place.ts";
import { type Replacement, trimmed } from "./replacement.ts";
import type { Tokens } from "./tokens.ts";

/** One way to read the request: at this place, with these mistakes. */
export interface Candidate {
  readonly before: Tokens;
  readonly after: Tokens;
  readonly place: Place;
  /** Whether the place may be taken; if not, it only casts doubt on others. */
  readonly believable: boolean;
}

export type Choice =
  | {
      readonly status: "chosen";
      readonly stage: string;
      readonly replacements: readonly Replacement[];
      readonly before: Tokens;
    }
  | { readonly status: "ambiguous"; readonly found: number; readonly starts: readonly number[] }
  | { readonly status: "unclear" };

/** All readings of one stretch of the file; those that need a mistake more than another are left out. */
interface Seat {
  readonly start: number;
  readonly end: number;
  readonly candidates: readonly Candidate[];
  readonly slips: ReadonlySet<string>;
}

/**
 * Picks the places that need the fewest mistakes. A place is passed over only if it needs every mistake of a
 * chosen one and another besides; where that does not single out `expected` places, there is no choice unless
 * all lead to the same content.
 */
export function chooseReplacements(
  content: string,
  candidates: readonly Candidate[],
  expected: number,
): Choice {
  const seats = seatsOf(candidates);
  const chosen = seats.slice(0, expected);
  const others = seats.slice(expected);
  const clear = others.every((other) => chosen.every((seat) => mayPass(other.slips, seat.slips)));
  if (seats.length < expected || (!clear && expected > 1)) return ambiguous(seats, expected);
  const wanted = clear ? chosen : seats;
  if (!clear && wanted.length > 64) return ambiguous(seats, expected);
  const replacements: Replacement[] = [];
  for (const seat of wanted) {
    const replacement = replacementAt(content, seat);
    if (replacement === undefined) return clear ? { status: "unclear" } : ambiguous(seats, expected);
    replacements.push(replacement);
  }
  if (!clear && !replacements.every((one) => isSame(one, replacements[0]))) return ambiguous(seats, expected);
  const inOrder = (clear ? replacements : replacements.slice(0, 1)).sort((a, b) => a.start - b.start);
  const apart = inOrder.every(({ start }, index) => start >= (inOrder[index - 1]?.end ?? 0));
  const first = seats[0]?.candidates[0];
  if (!apart || first === undefined) return ambiguous(seats, expected);
  const slips = new Set(chosen.flatMap((seat) => [...seat.slips]));
  return { status: "chosen", stage: [...slips].join(", "), replacements: inOrder, before: first.before };
}

function ambiguous(seats: readonly Seat[], expected: number): Choice {
  const starts = seats.map((seat) => seat.start).sort((a, b) => a - b);
  if (seats.length === expected) return { status: "unclear" };
  return { status: "ambiguous", found: seats.length, starts: starts.slice(0, 20) };
}

function seatsOf(candidates: readonly Candidate[]): Seat[] {
  const byStretch = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const key = `${startOf(candidate.place)}:${endOf(candidate.place)}`;
    byStretch.set(key, [...(byStretch.get(key) ?? []), candidate]);
  }
  const seats = [...byStretch.values()].map((all): Seat => {
    const least = all.filter(({ place }) => !all.some((other) => needsMore(place.slips, other.place.slips)));
    const place = least[0]?.place ?? { starts: [], ends: [], slips: new Set<string>() };
    const slips = new Set(least.flatMap((candidate) => [...candidate.place.slips]));
    return { start: startOf(place), end: endOf(place), candidates: least, slips };
  });
  return seats.sort((a, b) => a.slips.size - b.slips.size || a.start - b.start);
}

function startOf(place: Place): number {
  return place.starts[0] ?? 0;
}

function endOf(place: Place): number {
  return place.ends[place.ends.length - 1] ?? 0;
}

/**
 * Nobody sees blanks at a line's end, so they alone do not tell two places apart; nor do any blanks where a line was left
 * out.
 */
function mayPass(slips: ReadonlySet<string>, chosen: ReadonlySet<string>): boolean {
  if (!needsMore(slips, chosen) || chosen.has("dropped line")) return false;
  return [...slips].some((slip) => !chosen.has(slip) && slip !== "trailing blanks");
}

function needsMore(slips: ReadonlySet<string>, than: ReadonlySet<string>): boolean {
  return slips.size > than.size && [...than].every((slip) => slips.has(slip));
}

/** What all readings of a stretch agree on. */
function replacementAt(content: string, seat: Seat): Replacement | undefined {
  let agreed: Replacement | undefined;
  for (const { before, after, place, believable } of seat.candidates) {
    const change: Change = { content, before, after };
    const merged = believable ? mergeAt(change, place) : undefined;
    if (merged === undefined) return undefined;
    const next = trimmed(merged, content);
    if (agreed !== undefined && !isSame(agreed, next)) return undefined;
    agreed = next;
  }
  return agreed;
}

function isSame(a: Replacement, b: Replacement | undefined): boolean {
  return b !== undefined && a.start === b.start && a.end === b.end && a.text === b.text;
}
