import { describe, expect, it } from "vitest";
import { formatOf, formatOfHead } from "./text-format.ts";

const controls = (count: number) => Buffer.alloc(count, 1);
const letters = (count: number) => Buffer.alloc(count, "a");

describe("what is text", () => {
  it("P17 is a small file with control characters, as long as none is NUL", () => {
    const text = Buffer.from("before|\n<\u0001\u0001\u0001>\n|after\n");
    expect(formatOf(text)).toEqual({ encoding: "utf-8", markBytes: 0 });
    expect(
      formatOf(Buffer.from("before|\n<\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0010\u0011>\n")),
    ).not.toBeNull();
    expect(formatOf(Buffer.from("\u0001\u0002\u007f"))).toBeNull();
    expect(formatOf(Buffer.from("before|\n<\u0001\0\u0001>\n|after\n"))).toBeNull();
  });

  it("P17 has at most 30 % of control characters in its first 4 KB", () => {
    expect(formatOfHead(Buffer.concat([controls(1200), letters(2800)]))).toBe("narrow");
    expect(formatOfHead(Buffer.concat([controls(1300), letters(2700)]))).toBeNull();
    expect(formatOfHead(Buffer.concat([letters(4096), controls(4096)]))).toBe("narrow");
  });
});
