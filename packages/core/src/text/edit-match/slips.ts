import { type Gap, splitGap } from "./gaps.ts";
import { leadOf, linePrefix, type Place } from "./place.ts";
import { gapBefore, rawToken, type Tokens } from "./tokens.ts";

type Seen = (given: Gap, file: Gap) => boolean;

const bothVertical = (given: Gap, file: Gap) => given.vertical && file.vertical;
const feeds = (breaks: string) => breaks.replace(/[^\n]+/g, "");
const blanksOnly = (breaks: string) => breaks.replace(/[\r\n]+/g, "\n");

/** The mistakes there are in writing blanks, and how each shows in the blanks between two tokens. */
const GAP_SLIPS: readonly { readonly name: string; readonly seen: Seen }[] = [
  {
    name: "line endings",
    seen: (a, b) => bothVertical(a, b) && a.breaks.includes("\r") !== b.breaks.includes("\r"),
  },
  {
    name: "trailing blanks",
    seen: (a, b) =>
      bothVertical(a, b) && (a.trail !== b.trail || blanksOnly(a.breaks) !== blanksOnly(b.breaks)),
  },
  { name: "indentation", seen: (a, b) => bothVertical(a, b) && a.indent !== b.indent },
  { name: "blank lines", seen: (a, b) => bothVertical(a, b) && feeds(a.breaks) !== feeds(b.breaks) },
  { name: "inner blanks", seen: (a, b) => !a.vertical && !b.vertical && a.indent !== b.indent },
  { name: "reflowed lines", seen: (a, b) => a.vertical !== b.vertical },
];

/** Which mistakes make the old text differ from the file at a place whose tokens all agree. */
export function slipsAt(content: string, before: Tokens, place: Place): Set<string> {
  const slips = new Set<string>();
  const startsLine = linePrefix(content, place.starts[0] ?? 0) !== undefined;
  if (!startsLine && gapBefore(before, 0) !== "") slips.add("reflowed lines");
  for (let index = 0; index < before.keys.length; index++) {
    const written = content.slice(place.starts[index], place.ends[index]);
    if (rawToken(before, index) !== written && !place.slips.has("mistyped word"))
      slips.add("look-alike signs");
    const file = index === 0 ? leadGap(content, before, place) : inner(content, place, index);
    const opens = index === 0 ? "\n" : "";
    for (const slip of gapSlips(opens + gapBefore(before, index), opens + file)) slips.add(slip);
  }
  return slips;
}

function gapSlips(given: string, file: string): string[] {
  if (file === given || file.trim() !== "") return [];
  const [a, b] = [splitGap(given), splitGap(file)];
  return GAP_SLIPS.filter(({ seen }) => seen(a, b)).map(({ name }) => name);
}

function inner(content: string, place: Place, index: number): string {
  return content.slice(place.ends[index - 1], place.starts[index]);
}

/** The first line's indentation counts only if the old text gives one. */
function leadGap(content: string, before: Tokens, place: Place): string {
  const lead = gapBefore(before, 0);
  if (lead === "") return lead;
  const { from, to } = leadOf(content, place, before);
  return content.slice(from, to);
}
