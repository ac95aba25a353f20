import type { FileDiff } from "@burin/contract/tools";
import type { StructuredPatchHunk } from "diff";
// Import single files, because the library's main module would load much that is not needed here.
import { applyPatch } from "diff/lib/patch/apply.js";
import { parsePatch } from "diff/lib/patch/parse.js";

/** Splits a change into hunks that can be accepted one by one, each as the lines of a unified diff. */
export function findHunks(diff: FileDiff): string[] {
  return joinConflicts(diff).map(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join("\n"),
  );
}

/** Returns the content with only the accepted hunks, by index. Without hunks, a change is accepted as a whole. */
export function applyHunks(diff: FileDiff, accepted: ReadonlySet<number>): string {
  const hunks = findHunks(diff);
  if (hunks.length === accepted.size) return diff.newContent;
  return applyHunkParts(
    diff,
    hunks.filter((_hunk, index) => accepted.has(index)),
  );
}

/** Returns the content with only these hunks, or parts of hunks, applied. */
export function applyHunkParts(diff: FileDiff, parts: readonly string[]): string {
  const patch = parseDiff(diff);
  if (patch === undefined) return diff.newContent;
  const above = (diff.firstLine ?? 1) - 1;
  const [chosen] = parts.length === 0 ? [] : parsePatch(`--- a\n+++ b\n${parts.join("\n")}\n`);
  const hunks = (chosen?.hunks ?? []).map((hunk) => {
    return { ...hunk, oldStart: hunk.oldStart - above, newStart: hunk.newStart - above };
  });
  const content = applyPatch(
    diff.originalContent ?? "",
    { ...patch, hunks },
    { autoConvertLineEndings: false },
  );
  if (content === false) throw new Error("The diff does not fit its own original content.");
  return content;
}

/** Splits a hunk where unchanged lines separate its changes. Returns the hunk alone if there are none. */
export function splitHunk(hunk: string): string[] {
  const [head = "", ...lines] = hunk.split("\n");
  const [, before = "1", after = "1"] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(head) ?? [];
  const groups: string[][] = [[]];
  for (const [index, line] of lines.entries()) {
    const group = groups.at(-1) ?? [];
    const isSame = line.startsWith(" ");
    const hasChange = group.some(isChange) && !endsInConflict(group);
    // Unchanged lines after a change belong to it until the next change begins.
    if (!isSame && hasChange && lines[index - 1]?.startsWith(" ")) groups.push([line]);
    else group.push(line);
  }
  let [oldStart, newStart] = [Number(before), Number(after)];
  return groups.map((group) => {
    const countLinesWithSign = (sign: string) => group.filter((line) => line.startsWith(sign)).length;
    const [same, removed, added] = [
      countLinesWithSign(" "),
      countLinesWithSign("-"),
      countLinesWithSign("+"),
    ];
    const text = [`@@ -${oldStart},${same + removed} +${newStart},${same + added} @@`, ...group].join("\n");
    oldStart += same + removed;
    newStart += same + added;
    return text;
  });
}

/** Whether the last conflict has no end among the lines. Half of one must not be accepted alone. */
function endsInConflict(lines: readonly string[]): boolean {
  const isMark = (mark: string) => (line: string) => line.startsWith(`+${mark} `);
  return lines.findLastIndex(isMark("<<<<<<<")) > lines.findLastIndex(isMark(">>>>>>>"));
}

/** Joins the hunks of one conflict, with the unchanged lines between them. */
function joinConflicts(diff: FileDiff): StructuredPatchHunk[] {
  const old = (diff.originalContent ?? "").split("\n");
  const joined: StructuredPatchHunk[] = [];
  for (const hunk of parseDiff(diff)?.hunks ?? []) {
    const last = joined.at(-1);
    if (last === undefined || !endsInConflict(last.lines)) {
      joined.push(hunk);
      continue;
    }
    const end = last.oldStart + last.oldLines;
    const above = diff.firstLine ?? 1;
    const between = old.slice(end - above, hunk.oldStart - above).map((line) => ` ${line}`);
    joined[joined.length - 1] = {
      ...last,
      oldLines: hunk.oldStart + hunk.oldLines - last.oldStart,
      newLines: hunk.newStart + hunk.newLines - last.newStart,
      lines: [...last.lines, ...between, ...hunk.lines],
    };
  }
  return joined;
}

function isChange(line: string): boolean {
  return line.startsWith("+") || line.startsWith("-");
}

function parseDiff(diff: FileDiff) {
  const [patch] = parsePatch(diff.fileDiff);
  return patch !== undefined && patch.hunks.length > 0 ? patch : undefined;
}
