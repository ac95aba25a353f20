import { describe, expect, it } from "vitest";
import { BodyEncoder } from "./body-bytes.ts";

const text = (pieces: readonly Uint8Array[]) => Buffer.concat(pieces).toString();
const line = (index: number) => `${index}: ${"grüße 😀 ".repeat(1500)}\n`;

describe("the bytes of bodies", () => {
  it("P7 a longer body shares those of the shorter one, and both are right", () => {
    const bytes = new BodyEncoder();
    const conversation = {};
    let before: Uint8Array[] = [];
    let shared = 0;
    for (let count = 1; count < 40; count += 1) {
      const pieces = ["head", ...Array.from({ length: count }, (_, index) => line(index)), "tail"];
      const now = bytes.encodeConversation(conversation, pieces);
      expect(text(now)).toBe(pieces.join(""));
      shared = now.filter((piece) => before.includes(piece)).length;
      before = now;
    }
    expect(shared).toBeGreaterThan(2);
  });

  it("a body that begins otherwise leaves the one that is being sent alone", () => {
    const bytes = new BodyEncoder();
    const conversation = {};
    const pieces = Array.from({ length: 30 }, (_, index) => line(index));
    const sending = bytes.encodeConversation(conversation, pieces);
    const other = ["another", ...pieces.slice(1, 3)];
    expect(text(bytes.encodeConversation(conversation, other))).toBe(other.join(""));
    expect(text(sending)).toBe(pieces.join(""));
    expect(text(bytes.encodeConversation({}, ["only one"]))).toBe("only one");
  });
});
