import type { FileDiff } from "@burin/contract/tools";
// Imported file by file: the library's main module would load much that is not needed here.
import { applyPatch } from "diff/lib/patch/apply.js";
import { parsePatch } from "diff/lib/patch/parse.js";

/** The parts of a change that can be accepted one by one, each as the lines of a unified diff. */
export function hunksOf(diff: FileDiff): string[] {
  return (parsed(diff)?.hunks ?? []).map(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join("\n"),
  );
}

/** The content with only the accepted hunks, by index. A change without hunks is accepted or refused as a whole. */
export function contentWithHunks(diff: FileDiff, accepted: ReadonlySet<number>): string {
  const patch = parsed(diff);
  if (patch === undefined || patch.hunks.length === accepted.size) return diff.newContent;
  const above = (diff.firstLine ?? 1) - 1;
  const hunks = patch.hunks
    .filter((_hunk, index) => accepted.has(index))
    .map((hunk) => ({ ...hunk, oldStart: hunk.oldStart - above, newStart: hunk.newStart - above }));
  const content = applyPatch(
    diff.originalContent ?? "",
    { ...patch, hunks },
    { autoConvertLineEndings: false },
  );
  if (content === false) throw new Error("The diff does not fit its own original content.");
  return content;
}

function parsed(diff: FileDiff) {
  const [patch] = parsePatch(diff.fileDiff);
  return patch !== undefined && patch.hunks.length > 0 ? patch : undefined;
}
