import { describe, expect, it } from "vitest";
import { mergeTexts } from "./merge-texts.ts";

const base = "a\nb\nc\nd\ne\n";

describe("mergeTexts", () => {
  it.each([
    ["places apart", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n"],
    ["lines added and removed", "a\na2\nb\nc\nd\ne\n", "a\nb\nc\ne\n", "a\na2\nb\nc\ne\n"],
    ["the same change on both sides", "a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\n"],
    ["one side unchanged", base, "a\n", "a\n"],
    ["the last line's end", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\ne", "A\nb\nc\nd\ne"],
  ])("joins %s", (_what, ...[one, other, merged]) => {
    expect(mergeTexts({ base, one, other })).toBe(merged);
    expect(mergeTexts({ base, one: other, other: one })).toBe(merged);
  });

  it.each([
    ["the same line", "a\nX\nc\nd\ne\n", "a\nY\nc\nd\ne\n"],
    ["lines that touch", "a\nX\nc\nd\ne\n", "a\nb\nY\nd\ne\n"],
    ["two lines at one place", "a\nb\nX\nc\nd\ne\n", "a\nb\nY\nc\nd\ne\n"],
    ["a line that the other side removed", "a\nb\nX\nd\ne\n", "a\ne\n"],
  ])("gives up on %s", (_what, one, other) => {
    expect(mergeTexts({ base, one, other })).toBe(null);
    expect(mergeTexts({ base, one: other, other: one })).toBe(null);
  });
});
