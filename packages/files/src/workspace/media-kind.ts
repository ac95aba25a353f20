import { readGif, TRUNCATED_FAULT } from "./gif.ts";

/** Images and documents that models can look at, recognized by their first bytes. */
export interface MediaKind {
  readonly mimeType: string;
  /**
   * Returns what is wrong with the file as a whole, or null. A model service that receives a broken file rejects the
   * whole conversation.
   */
  readonly findFault: (bytes: Buffer) => string | null;
}

interface KnownKind extends MediaKind {
  /** Gets the first bytes as text, one character for each byte. */
  readonly matchesStart: (start: string, head: Buffer) => boolean;
}

const KINDS: readonly KnownKind[] = [
  { mimeType: "image/png", matchesStart: (start) => start.startsWith("\x89PNG"), findFault: findPngFault },
  {
    mimeType: "image/jpeg",
    matchesStart: (start) => start.startsWith("\xff\xd8\xff"),
    findFault: findJpegFault,
  },
  { mimeType: "image/gif", matchesStart: (start) => /^GIF8[79]a/.test(start), findFault: findGifFault },
  { mimeType: "image/webp", matchesStart: (start) => /^RIFF.{4}WEBP/s.test(start), findFault: findWebpFault },
  { mimeType: "image/bmp", matchesStart: isBmp, findFault: findBmpFault },
  {
    mimeType: "application/pdf",
    matchesStart: (start) => start.startsWith("%PDF-"),
    findFault: findPdfFault,
  },
];

const MIN_HEAD_BYTES = 12;

export function detectMediaKind(head: Buffer): MediaKind | null {
  const padded = head.length >= MIN_HEAD_BYTES ? head : Buffer.concat([head, Buffer.alloc(MIN_HEAD_BYTES)]);
  const start = readAscii(padded, 0, MIN_HEAD_BYTES);
  return KINDS.find(({ matchesStart }) => matchesStart(start, padded)) ?? null;
}

/** The part of an image or document that can be shown. */
export interface DisplayableMedia {
  readonly mimeType: string;
  readonly bytes: Buffer;
  /** What is missing of it, in words. */
  readonly note?: string;
}

/** An image that is cut off gets an end, so that its beginning can be seen. Returns null for any other content. */
export async function prepareMedia(
  bytes: Buffer,
): Promise<DisplayableMedia | { readonly mimeType: string; readonly fault: string } | null> {
  const kind = detectMediaKind(bytes);
  if (kind === null) return null;
  const { mimeType } = kind;
  const fault = kind.findFault(bytes);
  if (fault === null) return { mimeType, bytes };
  const closed =
    fault === TRUNCATED_FAULT ? (await import("./cut-image.ts")).completeImage(bytes, mimeType) : null;
  if (closed === null || kind.findFault(closed) !== null) return { mimeType, fault };
  return { mimeType, bytes: closed, note: "The image is cut off: a part of it is missing." };
}

/** Returns whether the root element of the text is svg. */
export function isSvg(text: string): boolean {
  return /^<svg[\s>/]/i.test(text.slice(findRootElement(text)).slice(0, 5));
}

/** Each part is matched where the previous one ended, so the time is linear. */
const BEFORE_ROOT = /\s+|<\?xml[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*(?:\[[^\]]*\][^>]*)?>/iy;

/** Returns where the root element of an XML text begins. */
function findRootElement(text: string): number {
  let at = text.startsWith("\ufeff") ? 1 : 0;
  for (BEFORE_ROOT.lastIndex = at; BEFORE_ROOT.test(text); at = BEFORE_ROOT.lastIndex);
  return at;
}

export const SVG_MIME_TYPE = "image/svg+xml";

/** XML that is not well-formed would be refused as an image; it can still be read as text. */
export function isWholeSvg(text: string): boolean {
  let end = text.trimEnd();
  while (end.endsWith("-->")) {
    const start = end.lastIndexOf("<!--");
    if (start === -1) return false;
    end = end.slice(0, start).trimEnd();
  }
  if (!end.endsWith(">")) return false;
  const last = end.slice(end.lastIndexOf("<"));
  return (
    /^<\/svg\s*>$/i.test(last) || (end.length - last.length === findRootElement(text) && last.endsWith("/>"))
  );
}

function readAscii(bytes: Buffer, at: number, length: number): string {
  return bytes.toString("latin1", at, at + length);
}

/** All chunks from the header to the end mark must be there, and the required ones must be intact. */
function findPngFault(bytes: Buffer): string | null {
  let at = 8;
  let hasPixels = false;
  for (let isFirst = true; at + 12 <= bytes.length; isFirst = false) {
    const length = bytes.readUInt32BE(at);
    const type = readAscii(bytes, at + 4, 4);
    const end = at + 8 + length;
    if (end + 4 > bytes.length) break;
    if (isFirst && (type !== "IHDR" || length !== 13)) return "its header is missing";
    if (isFirst && (bytes.readUInt32BE(at + 8) === 0 || bytes.readUInt32BE(at + 12) === 0))
      return "it has no size";
    if (!isIntactChunk(type, bytes.subarray(at + 4, end + 4))) return `its part ${type} is damaged`;
    if (type === "IDAT") hasPixels = true;
    if (type === "IEND") return hasPixels ? null : "it has no pixels";
    at = end + 4;
  }
  return TRUNCATED_FAULT;
}

function isIntactChunk(type: string, chunk: Buffer): boolean {
  const { crc32 } = process.getBuiltinModule("node:zlib");
  const end = chunk.length - 4;
  return !/^[A-Z]/.test(type) || crc32(chunk.subarray(0, end)) === chunk.readUInt32BE(end);
}

/** Segments must lead to the image's size and its data, and the end mark must be there. */
function findJpegFault(bytes: Buffer): string | null {
  let hasSize = false;
  for (let at = 2; at + 4 <= bytes.length; at = skipSegment(bytes, at)) {
    if (bytes[at] !== 0xff) return "a block in it is damaged";
    const marker = bytes[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) hasSize = true;
    if (marker !== 0xda) continue;
    if (!hasSize) return "it has no size";
    return bytes.lastIndexOf(Buffer.of(0xff, 0xd9)) > at ? null : TRUNCATED_FAULT;
  }
  return TRUNCATED_FAULT;
}

/** Some markers have no data, and any number of fill bytes may come before a marker. */
function skipSegment(bytes: Buffer, at: number): number {
  const marker = bytes[at + 1] ?? 0;
  if (marker === 0xff) return at + 1;
  const isAlone = (marker >= 0xd0 && marker <= 0xd7) || marker === 0x01;
  return isAlone ? at + 2 : at + 2 + bytes.readUInt16BE(at + 2);
}

function findGifFault(bytes: Buffer): string | null {
  return bytes.length < 14 ? TRUNCATED_FAULT : readGif(bytes).fault;
}

function findWebpFault(bytes: Buffer): string | null {
  if (bytes.length < 30 || bytes.readUInt32LE(4) + 8 > bytes.length) return TRUNCATED_FAULT;
  return /^VP8[ LX]$/.test(readAscii(bytes, 12, 4)) ? null : "it has no picture";
}

/** Many texts begin with "BM"; the sizes after it must also fit. */
function isBmp(start: string, head: Buffer): boolean {
  if (!start.startsWith("BM") || head.length < 26) return false;
  return [12, 40, 52, 56, 64, 108, 124].includes(head.readUInt32LE(14)) && head.readUInt32LE(6) === 0;
}

function findBmpFault(bytes: Buffer): string | null {
  const pixelsAt = bytes.readUInt32LE(10);
  return pixelsAt >= bytes.length || bytes.readUInt32LE(2) > bytes.length ? TRUNCATED_FAULT : null;
}

function findPdfFault(bytes: Buffer): string | null {
  return bytes.includes("%%EOF", Math.max(0, bytes.length - 64 * 1024)) ? null : TRUNCATED_FAULT;
}
