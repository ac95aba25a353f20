import { describe, expect, it } from "vitest";
import codeRows from "./failure-codes.json" with { type: "json" };
import wordRows from "./failure-words.json" with { type: "json" };
import { compilePattern } from "./read-failure.ts";

describe("what services say", () => {
  it.each([
    ["codes", codeRows],
    ["words", wordRows],
  ])("P12 is recognized by the rows of %s, each by its example", (_name, rows) => {
    const silent = rows.filter((row) => !compilePattern(row).test(row.example));
    expect(silent).toEqual([]);
    expect(new Set(rows.map(({ says }) => says)).size).toBe(rows.length);
  });
});
