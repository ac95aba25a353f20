import { describe, expect, it } from "vitest";
import { FileNames, listFolders } from "./file-names.ts";

const PATHS = [
  "docs/tally.md",
  "src/a tally (old).ts",
  "src/count.ts",
  "src/tally/words.ts",
  "src/tally.ts",
  "t/a/l/l/y.ts",
];

describe("paths for the letters that were typed", () => {
  it.each([
    [
      "tally",
      ["src/tally.ts", "docs/tally.md", "src/a tally (old).ts", "src/tally/words.ts", "t/a/l/l/y.ts"],
    ],
    ["TALLY.TS", ["src/tally.ts", "t/a/l/l/y.ts", "src/tally/words.ts", "src/a tally (old).ts"]],
    ["src/ta", ["src/tally.ts", "src/tally/words.ts", "src/a tally (old).ts"]],
    ["(old)", ["src/a tally (old).ts"]],
    ["[", []],
    ["md.", []],
    ["", PATHS],
  ])(
    "for %j: names that start so, that have it, paths that have it, and then the letters apart",
    (words, wanted) => {
      expect(new FileNames(PATHS).find(words)).toEqual(wanted);
    },
  );

  it("P18 for a word longer than any path are none", () => {
    for (const words of ["t".repeat(20_000), "src/tally.ts/".repeat(20_000)])
      expect(new FileNames(PATHS).find(words)).toEqual([]);
  });

  it("are right behind letters whose lower case is longer, with line breaks in them, and outside of the BMP", () => {
    const names = new FileNames(["İİİ.ts", "İstanbul.ts", "line\nbreak.ts", "😀/smile.ts", "zz/last.ts"]);
    for (const [words, path] of [
      ["last", "zz/last.ts"],
      ["ista", "İstanbul.ts"],
      ["brea", "line\nbreak.ts"],
      ["😀", "😀/smile.ts"],
    ] as const)
      expect(names.find(words)).toEqual([path]);
  });

  it("are folders too, each once, before what is in them", () => {
    const folders = listFolders(PATHS);
    expect(folders).toEqual(["docs/", "src/", "src/tally/", "t/a/l/l/", "t/a/l/", "t/a/", "t/"]);
    const names = new FileNames([...PATHS, ...folders]);
    expect(names.find("docs")).toEqual(["docs/", "docs/tally.md"]);
    expect(names.find("src/")[0]).toBe("src/");
  });

  it("are the fifty best of many, the shortest first", () => {
    const many = Array.from({ length: 1000 }, (_, n) => `module${n % 40}/component-${n}.ts`);
    const found = new FileNames(many).find("comp99");
    expect(found).toHaveLength(28);
    expect(found[0]).toBe("module19/component-99.ts");
    const first = new FileNames(many).find("component");
    expect(first).toEqual([...new Set(first)]);
    expect(first).toHaveLength(50);
    expect(first[0]).toBe("module0/component-0.ts");
    expect(new FileNames([]).find("a")).toEqual([]);
  });
});
