import type { DiffOfFile } from "@burin/machine/files/diff";
import type { FailureReport } from "./edit-report.ts";
import { type ChangedRegion, regionDiff } from "./region-diff.ts";

const MOST_LINES = 40;
const MOST_LINE_CHARACTERS = 300;

/** What became of looking for a text in a file that is too large to be held. */
export interface LargeSearch {
  readonly bytes: number;
  readonly found: number;
  /** The first of them. */
  readonly lines: readonly number[];
  readonly alreadyApplied: boolean;
  readonly regions: readonly ChangedRegion[];
  readonly isShownWhole: boolean;
}

export interface LargeFailure {
  readonly search: LargeSearch;
  readonly expected: number;
  /** The model was shown an older content of the file. */
  readonly isOutdated: boolean;
}

/** Why a large file was not edited; null when it can be. */
export function largeFailure({ search, expected, isOutdated }: LargeFailure): FailureReport | null {
  const again = isOutdated
    ? " The file has changed since it was read: read it again with read_file before the next try."
    : "";
  const { found, lines, regions, alreadyApplied, bytes } = search;
  const rule = `The file has ${bytes} bytes; in one so large only exact matches are looked for.`;
  if (found === 0) {
    const done = alreadyApplied ? "The file already holds new_string: the change seems to be done.\n" : "";
    const message = `Failed to edit, 0 occurrences found for old_string. Nothing was written.\n${done}${rule} Copy old_string from the file as it is now, blanks included.${again}`;
    return { type: "no_occurrence", message };
  }
  if (found !== expected) {
    const places = `lines ${lines.join(", ")}${found > lines.length ? ", ..." : ""}`;
    const message = `Failed to edit, expected ${expected} occurrences but found ${found} (${places}). Nothing was written. ${rule} Put more of the surrounding lines into old_string so that it means one place, or set "expected_replacements" to ${found} to change them all.${again}`;
    return { type: "wrong_count", message };
  }
  if (regions.some(({ before, after }) => before !== after)) return null;
  const message = `Failed to edit, the file would stay as it is: new_string is what already stands there.${again}`;
  return { type: "no_change", message };
}

/** The change of a large file for a person: only the lines around it. */
export function largeDiff(
  fileName: string,
  { bytes, found, regions, isShownWhole }: LargeSearch,
): DiffOfFile {
  const left = isShownWhole ? "" : ` of the first places; ${found} are changed in all`;
  const words = `Only the lines around the change are shown${left}: the file has ${bytes} bytes.`;
  return regionDiff({ fileName, words, regions });
}

/** The changed places as they stand now, with their line numbers. */
export function largeChangedLines({ regions, isShownWhole, found }: LargeSearch): string {
  let shift = 0;
  const blocks = regions.map(({ line, before, after }) => {
    const lines = after.replace(/\n$/, "").split("\n");
    const first = line + shift;
    shift += after.split("\n").length - before.split("\n").length;
    const shown = lines.slice(0, MOST_LINES).map((text, index) => `L${first + index}: ${cutLine(text)}`);
    return [
      ...shown,
      ...(lines.length > MOST_LINES ? [`[${lines.length - MOST_LINES} more lines]`] : []),
    ].join("\n");
  });
  if (!isShownWhole) blocks.push(`[more of the ${found} places]`);
  return blocks.join("\n...\n");
}

function cutLine(line: string): string {
  const text = line.replace(/\r$/, "");
  return text.length > MOST_LINE_CHARACTERS ? `${text.slice(0, MOST_LINE_CHARACTERS)}... [line cut]` : text;
}
