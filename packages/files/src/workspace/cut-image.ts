import { constants, crc32, deflateSync, inflateSync } from "node:zlib";
import { withFallback } from "@burin/contract/with-fallback";
import { readGif } from "./gif.ts";

/** Images with more pixels than this are not decompressed to find where they end. */
const MAX_PIXEL_BYTES = 64 * 1024 * 1024;

/** Returns the image with an end mark after its last complete part, or null when nothing of it can be decoded. */
export function completeImage(bytes: Buffer, mimeType: string): Buffer | null {
  if (mimeType === "image/png") return closePng(bytes);
  if (mimeType === "image/jpeg") return closeJpeg(bytes);
  return mimeType === "image/gif" ? closeGif(bytes) : null;
}

/** Decoders fill in what is missing before the end mark; a marker that was cut in half is removed. */
function closeJpeg(bytes: Buffer): Buffer {
  const end = bytes.at(-1) === 0xff ? bytes.length - 1 : bytes.length;
  return Buffer.concat([bytes.subarray(0, end), Buffer.of(0xff, 0xd9)]);
}

/** Returns the image with only its complete frames. */
function closeGif(bytes: Buffer): Buffer | null {
  const { picturesEnd } = readGif(bytes);
  return picturesEnd === 0 ? null : Buffer.concat([bytes.subarray(0, picturesEnd), Buffer.of(0x3b)]);
}

/** Returns the image with the rows that are there; zeros fill the others. */
function closePng(bytes: Buffer): Buffer | null {
  const firstAt = bytes.indexOf("IDAT", 33, "latin1") - 4;
  if (firstAt < 33) return null;
  const rowBytes = countPngRowBytes(bytes);
  const size = rowBytes * bytes.readUInt32BE(20);
  if (rowBytes === 0 || size > MAX_PIXEL_BYTES) return null;
  const packed: Buffer[] = [];
  for (let at = firstAt; at + 8 < bytes.length && bytes.toString("latin1", at + 4, at + 8) === "IDAT"; ) {
    const length = bytes.readUInt32BE(at);
    packed.push(bytes.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: size };
  const there = withFallback(null, () => inflateSync(Buffer.concat(packed), options));
  if (there === null || there.length < rowBytes) return null;
  const rows = Buffer.alloc(size);
  there.copy(rows, 0, 0, there.length - (there.length % rowBytes));
  return Buffer.concat([
    bytes.subarray(0, firstAt),
    buildPngChunk("IDAT", deflateSync(rows)),
    buildPngChunk("IEND"),
  ]);
}

/** Samples per pixel, by color type. */
const SAMPLES_PER_PIXEL: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Bytes of a row with its filter byte; 0 for an image that is not stored row by row. */
function countPngRowBytes(bytes: Buffer): number {
  const [depth = 0, colour = 0, , , interlace] = bytes.subarray(24, 29);
  if (interlace !== 0) return 0;
  return 1 + Math.ceil((bytes.readUInt32BE(16) * (SAMPLES_PER_PIXEL[colour] ?? 0) * depth) / 8);
}

function buildPngChunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, "latin1");
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, data.length + 8)), data.length + 8);
  return chunk;
}
