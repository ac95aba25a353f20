import { describe, expect, it } from "vitest";
import { chooseImageProtocol } from "./inline-images.ts";

const SPACE = { columns: 100, rows: 40, cell: { width: 10, height: 20 } };

/** Returns the cells for an image that begins with these bytes. */
function cellsOf(hex: string): string | undefined {
  const data = Buffer.from(hex.replaceAll(" ", ""), "hex").toString("base64");
  const rows = chooseImageProtocol("iTerm2 3.5.4")?.({ data }, SPACE) ?? [];
  return /width=\d+;height=\d+/.exec(rows.at(-1)?.bytes ?? "")?.[0];
}

describe("the size of an image", () => {
  it.each([
    ["GIF", "474946383961 c800 6400"],
    ["JPEG", "ffd8 ffe0 0004 0000 ff ffc2 0011 08 0064 00c8 03"],
  ])("is read from the head of %s", (_kind, hex) => {
    expect(cellsOf(hex)).toBe("width=20;height=5");
  });

  it.each([
    ["nothing", ""],
    ["a head that is cut", "474946383961 c8"],
    ["no size", "474946383961 0000 6400"],
    ["a JPEG whose parts lead out of it", "ffd8 ffe0 ffff"],
    ["another kind", "25504446 2d312e37"],
    ["a WebP", "52494646 00000000 57454250 56503820 00000000 000000 9d012a c800 6400"],
  ])("is not found in %s", (_what, hex) => {
    expect(cellsOf(hex)).toBeUndefined();
  });
});
