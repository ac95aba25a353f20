import { isUtf8 } from "node:buffer";
import { decodeBytes } from "./encodings.ts";
import { guessEncoding } from "./guess-encoding.ts";

/** How to decode a text file. */
export interface TextFormat {
  readonly encoding: string;
  /** The length of the byte order mark before the text. */
  readonly markBytes: number;
}

const HEAD_BYTES = 8192;

const MARKS: readonly { readonly encoding: string; readonly mark: readonly number[] }[] = [
  { encoding: "utf-8", mark: [0xef, 0xbb, 0xbf] },
  { encoding: "utf-32le", mark: [0xff, 0xfe, 0, 0] },
  { encoding: "utf-32be", mark: [0, 0, 0xfe, 0xff] },
  { encoding: "utf-16le", mark: [0xff, 0xfe] },
  { encoding: "utf-16be", mark: [0xfe, 0xff] },
];

/**
 * Looks at the first bytes. Returns the encoding for a byte order mark or obvious UTF-16; "narrow" for an encoding with
 * one-byte newlines, which needs more bytes to be identified; null when it is not text.
 */
export function detectHeadFormat(bytes: Uint8Array): TextFormat | "narrow" | null {
  const head = bytes.subarray(0, HEAD_BYTES);
  for (const { encoding, mark } of MARKS) {
    if (!mark.every((byte, index) => head[index] === byte)) continue;
    const format = { encoding, markBytes: mark.length };
    if (encoding === "utf-8" || looksLikeWideText(head.subarray(mark.length), encoding)) return format;
  }
  if (!head.includes(0)) return isMostlyText(head) ? "narrow" : null;
  for (const encoding of ["utf-16le", "utf-16be"]) {
    if (isObviouslyUtf16(head, encoding === "utf-16le" ? 1 : 0) && looksLikeWideText(head, encoding)) {
      return { encoding, markBytes: 0 };
    }
  }
  return null;
}

/** Returns the format of a whole text, or null when it is not text. */
export function detectFormat(bytes: Uint8Array): TextFormat | null {
  const format = detectHeadFormat(bytes);
  return format === "narrow" ? { encoding: guessNarrowEncoding(bytes), markBytes: 0 } : format;
}

/** Returns the text of a whole file without its byte order mark; null when it is not text. */
export function decodeFile(bytes: Buffer): string | null {
  const format = detectFormat(bytes);
  return format && decodeBytes(bytes.subarray(format.markBytes), format.encoding);
}

/**
 * Guesses the encoding of bytes without a byte order mark whose newlines are one byte. Text that is mostly valid UTF-8
 * counts as UTF-8 despite a few invalid bytes.
 */
export function guessNarrowEncoding(bytes: Uint8Array): string {
  return isUtf8(bytes) || isMostlyValidUtf8(bytes) ? "utf-8" : guessEncoding(bytes);
}

function looksLikeWideText(bytes: Uint8Array, encoding: string): boolean {
  const whole = bytes.subarray(0, bytes.length & ~3);
  const text = decodeBytes(whole, encoding).slice(0, -1);
  let strange = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (isControl(unit) || unit >= 0xfffd) strange += 1;
  }
  return !text.includes("\0") && strange <= text.length / 50;
}

/** Whether half of the bytes are NUL, all on the side where UTF-16 has them in European text. */
function isObviouslyUtf16(head: Uint8Array, nulSide: 0 | 1): boolean {
  let nuls = 0;
  for (const [index, byte] of head.entries()) {
    if (byte !== 0) continue;
    if (index % 2 !== nulSide) return false;
    nuls += 1;
  }
  return nuls * 2 >= (head.length / 2) * 0.8;
}

const SAMPLE_BYTES = 4096;
/** In a small file, up to this many control characters mean nothing, unless they are most of it. */
const MAX_CONTROLS = 32;

/** Whether fewer than about a third are control characters that text never has. */
function isMostlyText(head: Uint8Array): boolean {
  const judged = head.subarray(0, SAMPLE_BYTES);
  let controls = 0;
  for (const byte of judged) if (isControl(byte)) controls += 1;
  return controls <= Math.max(Math.min(MAX_CONTROLS, judged.length * 0.5), judged.length * 0.3);
}

function isControl(unit: number): boolean {
  return unit < 0x08 || (unit > 0x0d && unit < 0x20 && unit !== 0x1b) || unit === 0x7f;
}

function isMostlyValidUtf8(bytes: Uint8Array): boolean {
  let good = 0;
  let bad = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) continue;
    const more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0;
    const isWhole = more > 0 && byte < 0xf5 && isUtf8(bytes.subarray(at, at + more + 1));
    if (isWhole && at + more < bytes.length) {
      good += 1;
      at += more;
    } else bad += 1;
  }
  return good >= bad;
}
