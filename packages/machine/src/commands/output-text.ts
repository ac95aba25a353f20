import { wholeCharacterEnd } from "@burin/contract/text/truncate";
import { decodeBytes } from "../encodings/encodings.ts";
import { narrowEncoding } from "../encodings/text-format.ts";
import { withoutPasswords } from "../processes/child-environment.ts";
import type { OutputSoFar } from "./command-output.ts";
import { terminalText } from "./terminal-text.ts";

const SAMPLE_BYTES = 8192;

export function outputText(output: OutputSoFar, most: number): string {
  if (isBinary(output.head)) return binaryText(output);
  const encoding = encodingOf(output.head);
  const isWhole = output.tail.length === 0;
  const head = readable(output.head, encoding, { isStart: true, isEnd: isWhole });
  if (isWhole && head.length <= most) return head;
  const last = isWhole ? head : readable(output.tail, encoding, { isStart: false, isEnd: true });
  const fromHead = head.slice(0, wholeCharacterEnd(head, Math.floor(most / 3)));
  const lastFrom = Math.max(isWhole ? fromHead.length : 0, last.length - Math.ceil((most * 2) / 3));
  const fromTail = last.slice(wholeCharacterEnd(last, lastFrom));
  return `${fromHead}\n${leftOut(output, fromHead, fromTail)}\n${fromTail}`;
}

/** The end alone, for live output; after "…" if there was more before it. */
export function outputTail(output: OutputSoFar, most: number): string {
  if (isBinary(output.head)) return binaryText(output);
  const bytes = output.tail.length > 0 ? output.tail : output.head;
  const isWhole = output.tail.length === 0 && bytes.length <= most * 4;
  const end = bytes.subarray(-most * 4);
  const text = readable(end, encodingOf(output.head), { isStart: isWhole, isEnd: true });
  if (isWhole && text.length <= most) return text;
  return `…${text.slice(wholeCharacterEnd(text, Math.max(0, text.length - most + 1)))}`;
}

/** Several NULs in a row or many control characters; some programs separate names by single NULs. */
function isBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  let controls = 0;
  for (const [index, byte] of sample.entries()) {
    if (byte === 0 && sample[index + 1] === 0) return true;
    if (byte > 0 && byte < 0x20 && !(byte >= 0x07 && byte <= 0x0f) && byte !== 0x1b) controls += 1;
  }
  return controls * 25 > sample.length;
}

function binaryText({ bytes, file }: OutputSoFar): string {
  return `[The output is binary, ${bytes} bytes${file === null ? "" : `; it is kept in ${file}`}]`;
}

function encodingOf(head: Uint8Array): string {
  return narrowEncoding(trimmed(head, { isStart: true, isEnd: false }));
}

interface Edges {
  readonly isStart: boolean;
  readonly isEnd: boolean;
}

function readable(bytes: Buffer, encoding: string, edges: Edges): string {
  const whole = encoding === "utf-8" ? trimmed(bytes, edges) : bytes;
  return withoutPasswords(terminalText(decodeBytes(whole, encoding).replaceAll("\0", "\n")));
}

/** Removes the parts of characters that a cut has left at the edges. */
function trimmed(bytes: Uint8Array, { isStart, isEnd }: Edges): Uint8Array {
  let from = 0;
  while (!isStart && from < 3 && isInner(bytes[from])) from += 1;
  if (isEnd) return bytes.subarray(from);
  let last = bytes.length - 1;
  while (last > bytes.length - 4 && isInner(bytes[last])) last -= 1;
  const lead = bytes[last] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return bytes.subarray(from, last + length <= bytes.length ? bytes.length : last);
}

function isInner(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

function leftOut(output: OutputSoFar, head: string, tail: string): string {
  const { newlines, bytes, file, fileFault } = output;
  const shownLines = head.split("\n").length - 1 + tail.split("\n").length - 1;
  const lines = Math.max(0, newlines - shownLines);
  const where =
    file === null
      ? `the complete output could not be kept: ${fileFault ?? "no file"}`
      : fileFault === null
        ? `the whole output is in ${file}, to be read in parts or searched`
        : `its beginning is in ${file}; the rest could not be kept: ${fileFault}`;
  return `[... about ${lines} of ${newlines} lines left out, of ${bytes} bytes in all; ${where} ...]`;
}
