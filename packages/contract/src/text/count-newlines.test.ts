import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countNewlines } from "./count-newlines.ts";

describe("the newline counter", () => {
  it("R63 counts what lies between two places, whatever lies around them", () => {
    const some = { minLength: 1, maxLength: 200 };
    const bytes = fc.oneof(
      fc.uint8Array({ min: 8, max: 12, ...some }),
      fc
        .array(fc.constantFrom(0x0a, 0x8a, 0x0b, 0x09, 0x00, 0xff, 0xf5), some)
        .map((all) => Uint8Array.from(all)),
    );
    fc.assert(
      fc.property(bytes, fc.nat(220), fc.nat(220), (content, from, to) => {
        const expected = content.subarray(from, to).filter((byte) => byte === 0x0a).length;
        expect(countNewlines(content, from, Math.min(to, content.length))).toBe(expected);
        const moved = Uint8Array.from([7, ...content]).subarray(1);
        expect(countNewlines(moved, from, Math.min(to, content.length))).toBe(expected);
      }),
      { numRuns: 500 },
    );
    expect(countNewlines(Buffer.alloc(100_000, "a\n"))).toBe(50_000);
    expect(countNewlines(Buffer.alloc(100_000, "\n"))).toBe(100_000);
  });
});
