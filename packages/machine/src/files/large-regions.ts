import type { LargeRegion } from "@burin/contract/machine/file-change";
import { decodeBytes, unitBytes } from "./encodings.ts";
import { bytesAt } from "./literal-pass.ts";
import type { TextFormat } from "./text-format.ts";

const CONTEXT_LINES = 3;
/** Of context, on each side; a longer line is cut. */
const MOST_CONTEXT_BYTES = 8 * 1024;

export interface Place {
  /** The position of its first byte in the file. */
  readonly at: number;
  readonly line: number;
}

/** The bytes of a region: from `start` up to `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

interface OpenText {
  readonly descriptor: number;
  readonly format: TextFormat;
}

interface Change extends OpenText {
  readonly oldBytes: Buffer;
  readonly newBytes: Buffer;
}

/** Whole lines around the places, as they are and as they would be; places close together share a region. */
export async function regionsAround(
  places: readonly Place[],
  change: Change,
): Promise<{ readonly regions: readonly LargeRegion[]; readonly ranges: readonly Range[] }> {
  const { descriptor, format, oldBytes, newBytes } = change;
  const spans: { start: number; end: number; line: number; places: number[] }[] = [];
  for (const { at, line } of places) {
    const before = await contextBefore(at, change);
    const end = await contextEnd(at + oldBytes.length, change);
    const last = spans.at(-1);
    if (last !== undefined && before.start <= last.end) {
      last.end = Math.max(last.end, end);
      last.places.push(at);
    } else spans.push({ start: before.start, end, line: line - before.lines, places: [at] });
  }
  const regions: LargeRegion[] = [];
  const ranges: Range[] = [];
  for (const { start, end, line, places: inside } of spans) {
    const bytes = await bytesAt(descriptor, start, end - start);
    const parts: Buffer[] = [];
    let done = start;
    for (const at of inside) {
      parts.push(bytes.subarray(done - start, at - start), newBytes);
      done = at + oldBytes.length;
    }
    const after = Buffer.concat([...parts, bytes.subarray(done - start)]);
    const textOf = (some: Buffer) => decodeBytes(some, format.encoding);
    regions.push({ line, before: textOf(bytes), after: textOf(after) });
    ranges.push({ start, end, bytes });
  }
  return { regions, ranges };
}

async function contextBefore(
  at: number,
  { descriptor, format }: OpenText,
): Promise<{ readonly start: number; readonly lines: number }> {
  const from = Math.max(format.markBytes, at - MOST_CONTEXT_BYTES);
  const bytes = await bytesAt(descriptor, from, at - from);
  const newlines = newlinesIn(bytes, format.encoding);
  const first = newlines[newlines.length - 1 - CONTEXT_LINES];
  if (first !== undefined) return { start: from + first, lines: CONTEXT_LINES };
  const start = from === format.markBytes ? 0 : characterStart(bytes, format);
  return { start: from + start, lines: newlines.length };
}

async function contextEnd(end: number, { descriptor, format }: OpenText): Promise<number> {
  const bytes = await bytesAt(descriptor, end, MOST_CONTEXT_BYTES);
  const newline = newlinesIn(bytes, format.encoding)[CONTEXT_LINES];
  if (newline !== undefined) return end + newline;
  if (bytes.length < MOST_CONTEXT_BYTES) return end + bytes.length;
  if (format.encoding !== "utf-8") return end + bytes.length;
  let length = bytes.length - 1;
  while (length > bytes.length - 4 && ((bytes[length] ?? 0) & 0xc0) === 0x80) length -= 1;
  return end + length;
}

/** Behind the rest of a character that begins earlier. */
function characterStart(bytes: Buffer, { encoding }: TextFormat): number {
  let start = 0;
  while (encoding === "utf-8" && start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return start;
}

/** How the line at a place ends, or if it is the last, the one before. */
export async function lineEndNear(at: number, { descriptor, format }: OpenText): Promise<string> {
  const { encoding, markBytes } = format;
  const behind = decodeBytes(await bytesAt(descriptor, at, MOST_CONTEXT_BYTES), encoding);
  const next = /\r?\n/.exec(behind);
  if (next !== null) return next[0];
  const from = Math.max(markBytes, at - MOST_CONTEXT_BYTES);
  const before = decodeBytes(await bytesAt(descriptor, from, at - from), encoding);
  return /\r\n[^\n]*$/.test(before) ? "\r\n" : "\n";
}

/** Behind each newline; in the wide encodings it takes a whole unit, and the bytes begin with one. */
export function newlinesIn(bytes: Buffer, encoding: string): number[] {
  const unit = unitBytes(encoding);
  const place = encoding.endsWith("be") ? unit - 1 : 0;
  const ends: number[] = [];
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) {
    const from = at - place;
    if (unit === 1) ends.push(at + 1);
    else if (from % unit === 0 && isNewline(bytes.subarray(from, from + unit), place)) ends.push(from + unit);
  }
  return ends;
}

function isNewline(unit: Buffer, place: number): boolean {
  return unit.every((byte, index) => index === place || byte === 0);
}
