import { applyPatch, createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { buildFileDiff, matchLines } from "./diff.ts";

/** Applied as it stands: without this the library turns the patch's line ends into those of the old text. */
const AS_IT_STANDS = { autoConvertLineEndings: false };

function numbered(count: number, word = "line"): string {
  return Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join("");
}

describe("a file's diff", () => {
  it("R13 of a new file has no original", () => {
    expect(buildFileDiff({ fileName: "a", before: null, after: "x\ny\n" })).toEqual({
      kind: "file_diff",
      fileName: "a",
      originalContent: null,
      newContent: "x\ny\n",
      fileDiff: "--- /dev/null\n+++ a\n@@ -0,0 +1,2 @@\n+x\n+y\n",
      addedLines: 2,
      removedLines: 0,
    });
  });

  it("R13 of equal texts is empty", () => {
    expect(buildFileDiff({ fileName: "a", before: "x", after: "x" })).toMatchObject({
      fileDiff: "",
      addedLines: 0,
    });
  });

  it("R13 counts lines from the file's beginning, wherever the change is", () => {
    const before = numbered(1000);
    const after = before.replace("line 500\n", "changed\n");
    const { fileDiff: unified } = buildFileDiff({ fileName: "a", before, after });
    expect(unified).toContain(
      "@@ -498,7 +498,7 @@\n line 497\n line 498\n line 499\n-line 500\n+changed\n line 501\n",
    );
  });

  it("R13 shows a blank first line above a change", () => {
    const { fileDiff: unified } = buildFileDiff({ fileName: "a", before: "\nold\n", after: "\nnew\n" });
    expect(unified).toBe("--- a\n+++ a\n@@ -1,2 +1,2 @@\n \n-old\n+new\n");
  });

  it("R13 tells a missing final newline", () => {
    const { fileDiff: unified } = buildFileDiff({ fileName: "a", before: "x", after: "x\n" });
    expect(unified).toContain("\\ No newline at end of file");
  });

  it("R13 makes the new text of the old one when applied", () => {
    const line = fc.constantFrom("a\n", "b\n", "c\n", "\n", "a b\n", "d\r\n");
    const text = fc
      .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom("", "end"))
      .map(([lines, end]) => {
        return lines.join("") + end;
      });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { fileDiff: unified } = buildFileDiff({ fileName: "a", before, after });
        expect(unified === "" ? before : applyPatch(before, unified, AS_IT_STANDS)).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  it("R13 of lines that others replace is what a search for all that stays finds", () => {
    const stays = fc.array(fc.constantFrom("a\n", "b\r\n", "\n", "  c\n"), { maxLength: 12 });
    const goes = fc.array(fc.constantFrom("old\n", "older\n"), { maxLength: 4 });
    const comes = fc.array(fc.constantFrom("new\n", "newer\r\n"), { maxLength: 4 });
    const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
    fc.assert(
      fc.property(fc.tuple(stays, goes, comes, stays), ([above, old, fresh, below]) => {
        const [before, after] = [old, fresh].map((lines) => [...above, ...lines, ...below].join(""));
        if (before === undefined || after === undefined || before === after) return;
        const {
          fileDiff: unified,
          addedLines,
          removedLines,
        } = buildFileDiff({ fileName: "a", before, after });
        const searched = createTwoFilesPatch("a", "a", before, after, undefined, undefined, options);
        expect(unified).toBe(searched);
        expect([addedLines, removedLines]).toEqual([fresh.length, old.length]);
      }),
      { numRuns: 500 },
    );
  });

  it("R13 of a few hundred lines is told line by line on a machine that is busy, too", () => {
    let late = 0;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => (late += 1000));
    const { fileDiff: unified } = buildFileDiff({
      fileName: "a",
      before: numbered(300),
      after: numbered(300, "b"),
    });
    clock.mockRestore();
    expect(unified).toContain("-line 299\n+b 0\n");
  });

  it("R13 finds the ends of a change wherever it stands in a long text", () => {
    const long = numbered(3000);
    const place = fc.nat(long.length);
    fc.assert(
      fc.property(place, fc.nat(9000), fc.constantFrom("", "x", "line 7\n", "\n"), (start, length, fresh) => {
        const after = long.slice(0, start) + fresh + long.slice(start + length);
        const { fileDiff: unified } = buildFileDiff({ fileName: "a", before: long, after });
        expect(unified === "" ? long : applyPatch(long, unified, AS_IT_STANDS)).toBe(after);
      }),
      { numRuns: 150 },
    );
  });

  it("R13 of texts that are too large or too unlike says that the file is rewritten", () => {
    const large = buildFileDiff({
      fileName: "a",
      before: numbered(100_000),
      after: numbered(90_000, "other"),
    });
    expect(large.fileDiff).toBe("--- a\n+++ a\nThe file is rewritten: 100000 lines become 90000.\n");
    expect(large).toMatchObject({ addedLines: 90_000, removedLines: 100_000 });
    const unlike = buildFileDiff({ fileName: "a", before: numbered(3000), after: numbered(3000, "other") });
    expect(unlike.fileDiff).toContain("3000 lines become 3000");
  });
});

describe("matching lines", () => {
  it("P3 are the same lines, in order, each once", () => {
    const line = fc.constantFrom("a", "b", "c", "");
    fc.assert(
      fc.property(fc.array(line, { maxLength: 25 }), fc.array(line, { maxLength: 25 }), (before, after) => {
        const match = matchLines(before, after);
        const places = match.filter((place) => place >= 0);
        expect([...new Set(places)].sort((a, b) => a - b)).toEqual(places);
        for (const [index, place] of match.entries())
          if (place >= 0) expect(before[place]).toBe(after[index]);
      }),
      { numRuns: 500 },
    );
  });

  it("P3 find what stays around and between changes", () => {
    expect(matchLines(["a", "b", "c", "d"], ["a", "X", "c", "Y", "d"])).toEqual([0, -1, 2, -1, 3]);
  });
});
