import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { passOver } from "./literal-pass.ts";

interface Seen {
  readonly bytes: Buffer;
  readonly places: readonly number[];
  readonly found: number;
  readonly overlaps: number;
}

async function passed(content: Buffer, needle: string, units = { unit: 1, markBytes: 0 }): Promise<Seen> {
  const path = join(temporaryFolder(), "a.txt");
  writeFileSync(path, content);
  const descriptor = openSync(path, "r");
  const { signal } = new AbortController();
  const parts: Buffer[] = [];
  const all: number[] = [];
  try {
    const pass = { descriptor, signal, needle: Buffer.from(needle, "latin1"), ...units };
    const { found, overlaps } = await passOver(pass, ({ window, length, start, places }) => {
      parts.push(Buffer.from(window.subarray(0, length)));
      all.push(...places.map((place) => start + place));
    });
    return { bytes: Buffer.concat(parts), places: all, found, overlaps };
  } finally {
    closeSync(descriptor);
  }
}

const MB = 1024 * 1024;

describe("a pass over a file in parts", () => {
  it("R94 sees every byte once and every place, wherever the parts end", async () => {
    for (const needle of ["x", "xyz", "x".repeat(5000)]) {
      const content = Buffer.alloc(3 * MB, ".");
      const places = [0];
      for (let at = MB - 6000; at + needle.length < MB + 6000; at += needle.length + 7) places.push(at);
      places.push(content.length - needle.length);
      for (const at of places) content.write(needle, at, "latin1");
      const seen = await passed(content, needle);
      expect(seen.bytes.equals(content)).toBe(true);
      expect([seen.places, seen.found, seen.overlaps]).toEqual([places, places.length, 0]);
    }
  });

  it("R94 counts places that overlap the one before apart", async () => {
    const content = Buffer.alloc(2 * MB, ".");
    content.write("aaa", MB - 2);
    expect(await passed(content, "aa")).toMatchObject({ places: [MB - 2], found: 1, overlaps: 1 });
  });

  it("P3 takes no place between two characters of a wide encoding, and none in the mark", async () => {
    const content = Buffer.concat([Buffer.from("\xff\xfe", "latin1"), Buffer.alloc(2 * MB, "a\0")]);
    content.write("\0b\0b", 2 * MB - 1, "latin1");
    const units = { unit: 2, markBytes: 2 };
    const seen = await passed(content, "\0b", units);
    expect([seen.found, seen.bytes.equals(content)]).toEqual([0, true]);
    expect((await passed(content, "b\0", units)).found).toBe(1);
    expect((await passed(content, "\xfe", units)).found).toBe(0);
  });

  it("reads a file that is shorter than what is looked for", async () => {
    const seen = await passed(Buffer.from("ab"), "abcdef");
    expect([seen.found, seen.bytes.toString()]).toEqual([0, "ab"]);
  });
});
