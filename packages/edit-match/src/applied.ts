import { commonEnds } from "./learned.ts";
import { isBlank, placesOf } from "./lines.ts";

/**
 * Whether the file certainly has the change already: the new text is there, with lines that the old text does not
 * have, the lines that it replaces are gone, and the edit does more than leave something out.
 */
export function isApplied(content: string, oldText: string, newText: string): boolean {
  const trimmedLines = (text: string) => text.split("\n").map((line) => line.trimEnd());
  const [oldLines, newLines] = [trimmedLines(oldText), trimmedLines(newText)];
  const [had, has] = [placesOf(oldLines), placesOf(newLines)];
  const added = [...has.keys()].filter(
    (line) => !isBlank(line) && (has.get(line)?.length ?? 0) > (had.get(line)?.length ?? 0),
  );
  const removed = [...had.keys()].filter((line) => !isBlank(line) && !has.has(line));
  const [was, is] = [oldText, newText].map((text) => text.replace(/\s/g, ""));
  if (added.length === 0 || was === is || (is ?? "").length < 8) return false;
  if (added.some((line) => isShortened(line, removed))) return false;
  const fresh = newLines.join("\n").trimEnd().replace(/^\n+/, "");
  const there = trimmedLines(content.replaceAll("\r\n", "\n"));
  if (!`\n${there.join("\n")}\n`.includes(`\n${fresh}\n`)) return false;
  // With lines around it the place itself is known; a single line may also occur elsewhere.
  const isKnown = newLines.some((line) => !isBlank(line) && had.has(line));
  const looks = (line: string) => (isKnown ? line : line.replace(/\s/g, ""));
  const still = new Set(there.map(looks));
  return removed.every((line) => !still.has(looks(line)));
}

/** The line is a part of another line that is removed: that it is in the file means nothing. */
function isShortened(line: string, removed: readonly string[]): boolean {
  return removed.some((old) => {
    const { head, tail } = commonEnds(old.trim(), line.trim());
    return head + tail >= line.trim().length;
  });
}
