import { describe, expect, it } from "vitest";
import { formatChangedLines } from "./edit-report.ts";

function shownLines(content: string, old: string, fresh: string): string[] {
  const replacements = [...content.matchAll(new RegExp(old, "g"))].map(({ index }) => {
    return { start: index, end: index + old.length, text: fresh };
  });
  return formatChangedLines(content.replaceAll(old, fresh), replacements).split("\n");
}

describe("the lines that an edit changed", () => {
  it.each([
    ["x\ny\nx\n", "x", "z"],
    ["x\ny\nx", "x", "z\nz"],
    ["x\n\n\n\n\n\n\n\n\nx\n", "x", "z\n"],
    ["a\nx\nb\nx\nc\nx\n", "x\n", ""],
    [`${"l\n".repeat(40)}x\n${"l\n".repeat(40)}x\n`, "x", "z"],
  ])("R97 are shown once each, with the numbers that they have now: %j", (content, old, fresh) => {
    const after = content.replaceAll(old, fresh);
    const shown = shownLines(content, old, fresh);
    const numbers = shown.filter((line) => line !== "...").map((line) => Number(/^L(\d+): /.exec(line)?.[1]));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    const lines = after.split("\n");
    for (const [at, line] of shown.filter((one) => one !== "...").entries()) {
      const number = numbers[at] ?? 0;
      expect(line).toBe(`L${number}: ${lines[number - 1]}`);
    }
  });

  it("R97 say how many of a long replacement are not shown", () => {
    const shown = shownLines("a\nx\nb\n", "x", "z\n".repeat(59));
    expect(shown).toHaveLength(41);
    expect(shown.slice(39)).toEqual(["L40: z", "[... 22 lines not shown ...]"]);
    expect(shownLines("a\nx\nb\n", "x", `z${"\nz".repeat(37)}`).at(-1)).toBe("L40: b");
  });

  it.each([2, 6, 7, 8, 9])("R97 have dots only in place of lines: a change every %i lines", (every) => {
    const shown = shownLines(`x\n${"l\n".repeat(every - 1)}`.repeat(4), "x", "z");
    const numbers = shown.map((line) => Number(/^L(\d+): /.exec(line)?.[1] ?? 0));
    const [dots, gaps] = [
      shown.indexOf("..."),
      numbers.findIndex((number, at) => numbers[at + 1] !== number + 1),
    ];
    expect(dots === -1 ? shown.length : dots).toBe(gaps + 1);
    expect(dots > 0).toBe(every > 7);
  });
});
