import { constants, crc32, deflateSync, inflateSync } from "node:zlib";
import { orElse } from "@burin/contract/or-else";
import { readGif } from "./media-kind.ts";

/** An image with more pixels than this is not decompressed to find out where it ends. */
const MOST_PIXEL_BYTES = 64 * 1024 * 1024;

/** Returns the image with an end mark after its last complete part, or null when nothing of it can be decoded. */
export function closedImage(bytes: Buffer, mimeType: string): Buffer | null {
  if (mimeType === "image/png") return closedPng(bytes);
  if (mimeType === "image/jpeg") return closedJpeg(bytes);
  return mimeType === "image/gif" ? closedGif(bytes) : null;
}

/** Decoders fill in what is missing before the end mark; a marker that was cut in half is removed. */
function closedJpeg(bytes: Buffer): Buffer {
  const end = bytes.at(-1) === 0xff ? bytes.length - 1 : bytes.length;
  return Buffer.concat([bytes.subarray(0, end), Buffer.of(0xff, 0xd9)]);
}

/** Keeps the frames that are complete. */
function closedGif(bytes: Buffer): Buffer | null {
  const { picturesEnd } = readGif(bytes);
  return picturesEnd === 0 ? null : Buffer.concat([bytes.subarray(0, picturesEnd), Buffer.of(0x3b)]);
}

/** Keeps the rows that are there, and fills the others with zeros. */
function closedPng(bytes: Buffer): Buffer | null {
  const firstAt = bytes.indexOf("IDAT", 33, "latin1") - 4;
  if (firstAt < 33) return null;
  const rowBytes = pngRowBytes(bytes);
  const size = rowBytes * bytes.readUInt32BE(20);
  if (rowBytes === 0 || size > MOST_PIXEL_BYTES) return null;
  const packed: Buffer[] = [];
  for (let at = firstAt; at + 8 < bytes.length && bytes.toString("latin1", at + 4, at + 8) === "IDAT"; ) {
    const length = bytes.readUInt32BE(at);
    packed.push(bytes.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: size };
  const there = orElse(null, () => inflateSync(Buffer.concat(packed), options));
  if (there === null || there.length < rowBytes) return null;
  const rows = Buffer.alloc(size);
  there.copy(rows, 0, 0, there.length - (there.length % rowBytes));
  return Buffer.concat([bytes.subarray(0, firstAt), pngChunk("IDAT", deflateSync(rows)), pngChunk("IEND")]);
}

/** Samples per pixel, by color type. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Bytes of a row with its filter byte; 0 for an image that is not stored row by row. */
function pngRowBytes(bytes: Buffer): number {
  const [depth = 0, colour = 0, , , interlace] = bytes.subarray(24, 29);
  if (interlace !== 0) return 0;
  return 1 + Math.ceil((bytes.readUInt32BE(16) * (SAMPLES[colour] ?? 0) * depth) / 8);
}

function pngChunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, "latin1");
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, data.length + 8)), data.length + 8);
  return chunk;
}
