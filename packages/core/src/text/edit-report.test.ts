import { describe, expect, it } from "vitest";
import { changedLines } from "./edit-report.ts";

describe("the lines that an edit changed", () => {
  it.each([
    ["x\ny\nx\n", "x", "z"],
    ["x\ny\nx", "x", "z\nz"],
    ["x\n\n\n\n\n\n\n\n\nx\n", "x", "z\n"],
    ["a\nx\nb\nx\nc\nx\n", "x\n", ""],
    [`${"l\n".repeat(40)}x\n${"l\n".repeat(40)}x\n`, "x", "z"],
  ])("R97 are shown once each, with the numbers that they have now: %j", (content, old, fresh) => {
    const replacements = [...content.matchAll(new RegExp(old, "g"))].map(({ index }) => {
      return { start: index, end: index + old.length, text: fresh };
    });
    const after = content.replaceAll(old, fresh);
    const shown = changedLines(after, replacements).split("\n");
    const numbers = shown.filter((line) => line !== "...").map((line) => Number(/^L(\d+): /.exec(line)?.[1]));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    const lines = after.split("\n");
    for (const [at, line] of shown.filter((one) => one !== "...").entries()) {
      const number = numbers[at] ?? 0;
      expect(line).toBe(`L${number}: ${lines[number - 1]}`);
    }
  });
});
