import type { DiffOfFile } from "@burin/machine/files/diff";
import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from "diff";

const CONTEXT = 3;

/** A part of a file before and after a change, beginning with a line of that number. */
export interface ChangedRegion {
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

export interface RegionSides {
  readonly fileName: string;
  /** What stands above the diff, in words. */
  readonly words: string;
  readonly regions: readonly ChangedRegion[];
}

const BETWEEN_REGIONS = "\n[...]\n";

/** The difference of parts of a file, when no more of it is held. The two texts are those parts. */
export function regionDiff({ fileName, words, regions }: RegionSides): DiffOfFile {
  const hunks: StructuredPatchHunk[] = [];
  let shift = 0;
  for (const { line, before, after } of regions) {
    const patch = structuredPatch(fileName, fileName, before, after, undefined, undefined, {
      context: CONTEXT,
    });
    for (const hunk of patch.hunks) {
      hunks.push({
        ...hunk,
        // A part rarely ends where the file does, so that a missing newline there says nothing.
        lines: hunk.lines.filter((shown) => !shown.startsWith("\\")),
        oldStart: hunk.oldStart + line - 1,
        newStart: hunk.newStart + line - 1 + shift,
      });
    }
    shift += newlines(after) - newlines(before);
  }
  const patch = { oldFileName: fileName, newFileName: fileName, oldHeader: "", newHeader: "", hunks };
  const shown = hunks.flatMap((hunk) => hunk.lines);
  const only = regions.length === 1 ? regions[0] : undefined;
  return {
    kind: "file_diff",
    fileName,
    fileDiff: `${words}\n${formatPatch({ ...patch, index: fileName }, FILE_HEADERS_ONLY)}`,
    originalContent: regions.map(({ before }) => before).join(BETWEEN_REGIONS),
    newContent: regions.map(({ after }) => after).join(BETWEEN_REGIONS),
    addedLines: shown.filter((one) => one.startsWith("+")).length,
    removedLines: shown.filter((one) => one.startsWith("-")).length,
    ...(only === undefined ? {} : { firstLine: only.line }),
  };
}

function newlines(text: string): number {
  return text.split("\n").length - 1;
}
