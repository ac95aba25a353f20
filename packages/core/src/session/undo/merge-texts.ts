import { matchLines } from "@burin/files/workspace/diff";

/** A change that replaces the lines from `start` up to (not including) `end` of the base. */
interface Change {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Merges the changes of both sides into the base. Returns null if they changed the same or adjacent places. */
export function mergeTexts({ base, one, other }: Record<"base" | "one" | "other", string>): string | null {
  const lines = splitLines(base);
  const mine = findChanges(lines, splitLines(one));
  const theirs = findChanges(lines, splitLines(other)).filter(
    (change) => !mine.some((known) => isSameChange(known, change)),
  );
  if (mine.some((change) => theirs.some((its) => change.start <= its.end && its.start <= change.end))) {
    return null;
  }
  let merged = "";
  let at = 0;
  for (const { start, end, lines: fresh } of [...mine, ...theirs].sort((a, b) => a.start - b.start)) {
    merged += lines.slice(at, start).join("") + fresh.join("");
    at = end;
  }
  return merged + lines.slice(at).join("");
}

/** Splits the text into lines with their line ends, so that a last line without one counts as different. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function findChanges(base: readonly string[], lines: readonly string[]): Change[] {
  const changes: Change[] = [];
  let baseAt = 0;
  let at = 0;
  const upTo = (baseEnd: number, end: number) => {
    if (baseEnd > baseAt || end > at)
      changes.push({ start: baseAt, end: baseEnd, lines: lines.slice(at, end) });
    baseAt = baseEnd + 1;
    at = end + 1;
  };
  for (const [index, matched] of matchLines(base, lines).entries()) if (matched >= 0) upTo(matched, index);
  upTo(base.length, lines.length);
  return changes;
}

function isSameChange(one: Change, other: Change): boolean {
  return one.start === other.start && one.end === other.end && one.lines.join("") === other.lines.join("");
}
