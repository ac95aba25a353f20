import { crc32, deflateSync, inflateSync } from "node:zlib";
import { openWorkspace } from "@burin/commands/node-machine";
import { describe, expect, it } from "vitest";
import { file, makeFolders, root } from "../../tests/folder.ts";
import { ReadFile } from "./read-file.ts";

makeFolders();

const signal = new AbortController().signal;
function read(path: string, svgAsText = false) {
  return new ReadFile(openWorkspace(root), { svgAsText }).execute({ absolute_path: path }, signal);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

function png(): Buffer {
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const mark = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const pixels = deflateSync(Buffer.alloc(4));
  return Buffer.concat([
    mark,
    pngChunk("IHDR", header),
    pngChunk("IDAT", pixels),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const WEBP = Buffer.from("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA", "base64");
const JPEG = Buffer.from(
  "ffd8ffe000104a46494600010100000100010000ffc0000b080001000101011100ffda0008010100003f00d2cf20ffd9",
  "hex",
);
const BMP = Buffer.from(
  "424d3a0000000000000036000000280000000100000001000000010018000000000004000000130b0000130b00000000000000000000ffffff00",
  "hex",
);
const PDF = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n");
const SVG =
  '<?xml version="1.0"?>\n<!-- a dot -->\n<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>\n';

describe("media", () => {
  it.each([
    ["a.png", "image/png", png()],
    ["a.jpg", "image/jpeg", JPEG],
    ["a.gif", "image/gif", GIF],
    ["a.webp", "image/webp", WEBP],
    ["a.bmp", "image/bmp", BMP],
    ["a.svg", "image/svg+xml", Buffer.from(SVG)],
    ["a.pdf", "application/pdf", PDF],
    ["named.txt", "image/png", png()],
  ])("R61 X13 %s comes as inline data of its content's type", async (name, mimeType, bytes) => {
    const { llmContent } = await read(file(name, bytes));
    expect(llmContent).toEqual({ inlineData: { mimeType, data: bytes.toString("base64") } });
  });

  it("X13 gives an SVG image as text when the setting says so", async () => {
    expect((await read(file("a.svg", SVG), true)).llmContent).toBe(SVG);
  });

  it("P12 takes text for text, whatever its name", async () => {
    const html = "<!DOCTYPE html>\n<p>404 Not Found <svg></svg></p>\n";
    for (const name of ["a.png", "a.pdf", "a.svg", "a.mp4"]) {
      expect((await read(file(name, html))).llmContent).toBe(html);
    }
  });

  it.each(["a.png", "a.jpeg", "a.gif", "a.webp", "a.bmp", "a.pdf"])(
    "P12 refuses an empty %s",
    async (name) => {
      await expect(read(file(name, ""))).rejects.toMatchObject({ code: "unusable_media" });
    },
  );

  it.each([
    ["png", png()],
    ["jpg", JPEG],
    ["gif", GIF],
    ["webp", WEBP],
    ["bmp", BMP],
    ["pdf", PDF],
  ])("P12 refuses a %s that ends too early", async (extension, bytes) => {
    const cut = bytes.subarray(0, Math.max(30, bytes.length - 24));
    await expect(read(file(`a.${extension}`, cut))).rejects.toMatchObject({ code: "unusable_media" });
  });

  /** An image with four rows of one red pixel. */
  const TALL = (() => {
    const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 4, 8, 2, 0, 0, 0]);
    const row = Buffer.from([0, 255, 0, 0]);
    const pixels = deflateSync(Buffer.concat([row, row, row, row]), { level: 0 });
    return Buffer.concat([
      png().subarray(0, 8),
      pngChunk("IHDR", header),
      pngChunk("IDAT", pixels),
      pngChunk("IEND", Buffer.alloc(0)),
    ]);
  })();

  it.each([
    ["png without its end mark", TALL.subarray(0, -12), 4],
    ["png that ends within its second row", TALL.subarray(0, 33 + 8 + 7 + 6), 1],
  ])("P12 shows what is there of a %s, and says that it is cut off", async (_what, cut, rows) => {
    const { llmContent, returnDisplay } = await read(file("a.png", cut));
    const [note, shown] = llmContent as [string, { inlineData: { mimeType: string; data: string } }];
    expect(note).toContain("cut off");
    expect(returnDisplay).toContain("cut off");
    const bytes = Buffer.from(shown.inlineData.data, "base64");
    const at = bytes.indexOf("IDAT");
    const pixels = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)));
    const red = Buffer.concat(Array.from({ length: rows }, () => Buffer.from([0, 255, 0, 0])));
    expect(pixels).toEqual(Buffer.concat([red, Buffer.alloc((4 - rows) * 4)]));
    expect(bytes.subarray(-8, -4).toString("latin1")).toBe("IEND");
  });

  it("P12 shows the beginning of a JPEG that is cut off, and the whole pictures of a GIF", async () => {
    const frame = GIF.subarray(27, 42);
    for (const [name, cut, end] of [
      ["a.jpg", JPEG.subarray(0, -3), "ffd9"],
      ["a.gif", Buffer.concat([GIF.subarray(0, -1), frame.subarray(0, 12)]), "0144003b"],
    ] as const) {
      const { llmContent } = await read(file(name, cut));
      const [note, shown] = llmContent as [string, { inlineData: { data: string } }];
      expect(note).toContain("cut off");
      expect(Buffer.from(shown.inlineData.data, "base64").toString("hex").endsWith(end)).toBe(true);
    }
  });

  it("P12 shows a PNG of which only a part beside the picture is damaged", async () => {
    const profile = pngChunk("iCCP", Buffer.from("colours"));
    profile[12] = (profile[12] ?? 0) ^ 0xff;
    const whole = png();
    const bytes = Buffer.concat([whole.subarray(0, 33), profile, whole.subarray(33)]);
    const { llmContent } = await read(file("a.png", bytes));
    expect(llmContent).toMatchObject({ inlineData: { mimeType: "image/png" } });
  });

  it("P12 refuses a PNG whose bytes were damaged, and one that is only its first bytes", async () => {
    const damaged = png();
    damaged[45] = (damaged[45] ?? 0) ^ 0xff;
    await expect(read(file("a.png", damaged))).rejects.toMatchObject({ code: "unusable_media" });
    await expect(read(file("b.png", png().subarray(0, 8)))).rejects.toMatchObject({ code: "unusable_media" });
  });

  it("P12 refuses what is too large, in words that name the limit", async () => {
    const large = Buffer.concat([
      PDF.subarray(0, 9),
      Buffer.alloc(10.5 * 1024 * 1024, 0x20),
      PDF.subarray(9),
    ]);
    await expect(read(file("a.pdf", large))).rejects.toThrow(/10\.5 MB; at most 9\.9 MB/);
  });
});
