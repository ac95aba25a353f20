import { buildFileDiff } from "@burin/files/workspace/diff";
import { describe, expect, it } from "vitest";
import { applyHunkParts, applyHunks, findHunks, splitHunk } from "./diff-hunks.ts";

const lines = Array.from({ length: 40 }, (_, index) => `line ${index}\r\n`);
const before = lines.join("");
const after = before.replace("line 3\r", "LINE 3\r").replace("line 30\r", "LINE 30\r\nline 30b\r");

describe("hunks of a change", () => {
  const diff = buildFileDiff({ fileName: "a.txt", before, after });

  it("are the parts that stand apart", () => {
    const hunks = findHunks(diff);
    expect(hunks).toHaveLength(2);
    expect(hunks[1]).toContain("+line 30b");
  });

  it("can be taken one by one; the rest stays byte for byte", () => {
    expect(applyHunks(diff, new Set([0]))).toBe(before.replace("line 3\r", "LINE 3\r"));
    expect(applyHunks(diff, new Set([1]))).toBe(before.replace("line 30\r", "LINE 30\r\nline 30b\r"));
    expect(applyHunks(diff, new Set([0, 1]))).toBe(after);
    expect(applyHunks(diff, new Set())).toBe(before);
  });

  it("a new file is one hunk", () => {
    const fresh = buildFileDiff({ fileName: "a.txt", before: null, after: "x\ny" });
    expect(findHunks(fresh)).toHaveLength(1);
    expect(applyHunks(fresh, new Set([0]))).toBe("x\ny");
  });

  it("R50 keep all of a conflict in one part, whatever lies between its marks", () => {
    const [own, other] = [lines.slice(10, 25).join(""), "other\r\n"];
    const marked = `<<<<<<< yours\r\n${own}=======\r\n${other}>>>>>>> work tree\r\n`;
    const merged = before.replace(own, marked).replace("line 28\r", "LINE 28\r");
    const conflict = buildFileDiff({ fileName: "a.txt", before, after: merged });
    const [part = "", ...others] = findHunks(conflict);
    expect(others).toEqual([]);
    const [first = "", second = "", ...more] = splitHunk(part);
    expect(more).toEqual([]);
    expect(applyHunkParts(conflict, [first])).toBe(before.replace(own, marked));
    expect(applyHunkParts(conflict, [second])).toBe(before.replace("line 28\r", "LINE 28\r"));
  });
});
