import type { ChangedText } from "@burin/contract/machine/file-change";
import { encodeText, unitBytes } from "./encodings.ts";
import { lineEnd } from "./kept-bytes.ts";
import type { TextFormat } from "./text-format.ts";

/** Lines of a large file, by their bytes. */
export interface FilePart {
  readonly start: number;
  readonly end: number;
  /** The number of the first line, from 1. */
  readonly firstLine: number;
}

/** On each side of what is changed; a longer line is cut there. */
const CONTEXT_BYTES = 8 * 1024;

/**
 * From before the first place of all old texts to behind the last, so that whoever looks for them in the part
 * finds all that the whole file holds. It is empty where one of them is not in the file, nor what it becomes.
 */
export function partAround(bytes: Buffer, format: TextFormat, changes: readonly ChangedText[]): FilePart {
  let [first, last] = [bytes.length, 0];
  for (const { oldText, newText } of changes) {
    const texts = [oldText, withOtherLineEnds(oldText), newText];
    const found = texts.map((text) => placesOf(text, bytes, format)).find((places) => places !== null);
    if (found === undefined) return { start: format.markBytes, end: format.markBytes, firstLine: 1 };
    [first, last] = [Math.min(first, found.first), Math.max(last, found.last)];
  }
  const start = startOf(bytes, first, format);
  let firstLine = 1;
  for (let at = format.markBytes; ; firstLine += 1) {
    at = lineEnd(bytes, at, format.encoding);
    if (at > start || at === bytes.length) break;
  }
  return { start, end: endOf(bytes, last, format), firstLine };
}

function withOtherLineEnds(text: string): string {
  return text.replace(/\r?\n/g, text.includes("\r\n") ? "\n" : "\r\n");
}

/** Where the first place begins and the last one ends. Of a character's second byte no place begins surely. */
function placesOf(text: string, bytes: Buffer, { encoding, markBytes }: TextFormat) {
  const needle = text === "" ? null : encodeText(text, encoding);
  if (!Buffer.isBuffer(needle)) return null;
  const isPlace = (at: number) => at >= markBytes && (at - markBytes) % unitBytes(encoding) === 0;
  let first = bytes.indexOf(needle);
  while (first !== -1 && !isPlace(first)) first = bytes.indexOf(needle, first + 1);
  if (first === -1) return null;
  let last = bytes.lastIndexOf(needle);
  while (!isPlace(last)) last = bytes.lastIndexOf(needle, last - 1);
  return { first, last: last + needle.length };
}

/** The start of a line, or of a character where lines are long. */
function startOf(bytes: Buffer, first: number, { encoding, markBytes }: TextFormat): number {
  const from = Math.max(markBytes, first - CONTEXT_BYTES);
  if (from === markBytes) return from;
  const line = lineEnd(bytes, from, encoding);
  if (line <= first) return line;
  return isCuttable(encoding) ? wholeCharacters(bytes, from, encoding) : bytes.lastIndexOf(0x0a, first) + 1;
}

function endOf(bytes: Buffer, last: number, { encoding }: TextFormat): number {
  const most = Math.min(bytes.length, last + CONTEXT_BYTES);
  let end = last;
  for (let next = last; next <= most && end < bytes.length; next = lineEnd(bytes, next, encoding)) end = next;
  if (end > last || end === bytes.length) return end;
  return isCuttable(encoding) ? wholeCharacters(bytes, most, encoding) : lineEnd(bytes, last, encoding);
}

/** Whether a byte tells that it begins a character; where characters take two, only those behind newlines do. */
function isCuttable(encoding: string): boolean {
  return !/^(?:gb|shift_jis|euc|big5)/.test(encoding);
}

/** Backwards to the beginning of a character. */
function wholeCharacters(bytes: Buffer, most: number, encoding: string): number {
  let at = most;
  while (encoding === "utf-8" && at > most - 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
