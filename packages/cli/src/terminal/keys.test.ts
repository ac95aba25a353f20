import { expect, it } from "vitest";
import { KeyReader } from "./keys.ts";

it("P12 P43 of a paste that goes on and on 16 MB are kept, and keys behind it count again", () => {
  const reader = new KeyReader();
  const piece = Buffer.alloc(1024 * 1024, "x");
  expect(reader.read(Buffer.from("\u001b[200~"))).toEqual([]);
  for (let n = 0; n < 40; n += 1) expect(reader.read(piece)).toEqual([]);
  const keys = reader.read(Buffer.from("\u001b[201~a"));
  expect(keys.map(({ name }) => name)).toEqual(["paste", "text"]);
  expect(keys[0]?.text.length).toBeGreaterThan(16_000_000);
  expect(keys[0]?.text.length).toBeLessThan(18_000_000);
  // The next paste is not cut because of the one before it.
  const next = reader.read(Buffer.from("\u001b[200~short\u001b[201~"));
  expect(next).toEqual([{ name: "paste", text: "short" }]);
});
