import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lendCounter, returnCounter } from "./newline-counter.ts";

function counted(bytes: Uint8Array, from: number): number {
  return bytes.subarray(from).filter((byte) => byte === 0x0a).length;
}

describe("the newline counter", () => {
  it("R63 counts what lies between two places, whatever lies around them", () => {
    const counter = lendCounter();
    const { buffer } = counter;
    const bytes = fc.uint8Array({ min: 8, max: 12, minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(bytes, fc.nat(220), (content, from) => {
        buffer.fill(0x0a);
        buffer.set(content);
        expect(counter.count(from, content.length)).toBe(counted(content, from));
        expect(buffer[content.length]).toBe(0x0a);
      }),
      { numRuns: 500 },
    );
    buffer.fill(0x0a);
    expect(counter.count(3, buffer.length)).toBe(buffer.length - 3);
    returnCounter(counter);
  });

  it("R63 is another one for reads that happen at once", () => {
    const [first, second] = [lendCounter(), lendCounter()];
    expect(second.buffer.buffer).not.toBe(first.buffer.buffer);
    returnCounter(first);
    expect(lendCounter()).toBe(first);
  });
});
