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
  const hunks = hunksOf(diff);
  if (hunks.length === accepted.size) return diff.newContent;
  return contentWithParts(
    diff,
    hunks.filter((_hunk, index) => accepted.has(index)),
  );
}

/** The content with only these hunks, or parts of hunks, of the change. */
export function contentWithParts(diff: FileDiff, parts: readonly string[]): string {
  const patch = parsed(diff);
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

/** A hunk in two or more, apart where lines between its changes stay as they are; alone when there are none. */
export function splitHunk(hunk: string): string[] {
  const [head = "", ...lines] = hunk.split("\n");
  const [, before = "1", after = "1"] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(head) ?? [];
  const groups: string[][] = [[]];
  for (const [index, line] of lines.entries()) {
    const group = groups.at(-1) ?? [];
    const isSame = line.startsWith(" ");
    const hasChange = group.some(isChange);
    // What follows a change belongs to it until the next one begins.
    if (!isSame && hasChange && lines[index - 1]?.startsWith(" ")) groups.push([line]);
    else group.push(line);
  }
  let [oldStart, newStart] = [Number(before), Number(after)];
  return groups.map((group) => {
    const count = (sign: string) => group.filter((line) => line.startsWith(sign)).length;
    const [same, removed, added] = [count(" "), count("-"), count("+")];
    const text = [`@@ -${oldStart},${same + removed} +${newStart},${same + added} @@`, ...group].join("\n");
    oldStart += same + removed;
    newStart += same + added;
    return text;
  });
}

function isChange(line: string): boolean {
  return line.startsWith("+") || line.startsWith("-");
}

function parsed(diff: FileDiff) {
  const [patch] = parsePatch(diff.fileDiff);
  return patch !== undefined && patch.hunks.length > 0 ? patch : undefined;
}
