import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeText } from "./encodings.ts";

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
