import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keepHeadAndTail } from "./truncate.ts";

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

describe("keepHeadAndTail", () => {
  it("leaves text that fits alone", () => {
    expect(keepHeadAndTail("abc", 3, "hint")).toBe("abc");
  });

  it("keeps both ends, counts what is gone and says how to get it", () => {
    expect(keepHeadAndTail("a".repeat(50) + "b".repeat(50), 20, "use offset")).toBe(
      `${"a".repeat(10)}\n[... 80 of 100 characters left out; use offset ...]\n${"b".repeat(10)}`,
    );
  });

  it("never splits a character of two units", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 30 }),
        fc.integer({ min: 2, max: 20 }),
        (text, max) => {
          expect(keepHeadAndTail(text, max, "h")).not.toMatch(LONE_SURROGATE);
        },
      ),
    );
  });
});
