import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeInParts, encodeText } from "./encodings.ts";

it("P3 a long text has its bytes of UTF-8, wherever characters of several bytes begin", () => {
  const plain = fc.integer({ min: 0, max: 100_000 }).map((length) => "a line\n".repeat(length / 3));
  const any = fc.string({ unit: "grapheme", maxLength: 40 });
  const long = fc.tuple(plain, any, plain, any).map((parts) => parts.join(""));
  fc.assert(
    fc.property(long, (text) => {
      const bytes = encodeText(text, "utf-8");
      expect(Buffer.isBuffer(bytes) && bytes.equals(new TextEncoder().encode(text))).toBe(true);
    }),
  );
});

it("P3 a text of several parts has its bytes of UTF-8 each time, also where a part would end within a character", () => {
  const part = 4 * 1024 * 1024;
  for (const before of [part - 2, part - 1, part]) {
    const text = `${"x".repeat(before)}\u{1f600}${"\u4e2d".repeat(part)}\u{1f600}`;
    const pieces = encodeInParts(text) as Iterable<Buffer>;
    expect(Buffer.isBuffer(pieces)).toBe(false);
    for (const _ of ["once", "again"]) {
      const copies = Array.from(pieces, (piece) => Buffer.from(piece));
      expect(copies.length).toBe(3);
      expect(Buffer.concat(copies).equals(new TextEncoder().encode(text))).toBe(true);
    }
    expect(encodeInParts(`${text}\ud83d`)).toEqual({ character: "\ud83d", position: text.length });
  }
});
