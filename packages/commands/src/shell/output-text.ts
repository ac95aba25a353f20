import { alignToCharacter } from "@burin/contract/text/truncate";
import { decodeBytes } from "@burin/files/encodings/encodings";
import { guessNarrowEncoding } from "@burin/files/encodings/text-format";
import { maskPasswords } from "../processes/child-environment.ts";
import type { OutputSnapshot } from "./command-output.ts";

const SAMPLE_BYTES = 8192;

export function formatOutput(output: OutputSnapshot, maxCharacters: number): string {
  if (isBinary(output.head)) return describeBinary(output);
  const encoding = guessOutputEncoding(output.head);
  const isWhole = output.tail.length === 0;
  const head = decodeOutput(output.head, encoding, { isStart: true, isEnd: isWhole });
  if (isWhole && head.length <= maxCharacters) return head;
  const last = isWhole ? head : decodeOutput(output.tail, encoding, { isStart: false, isEnd: true });
  const fromHead = head.slice(0, alignToCharacter(head, Math.floor(maxCharacters / 3)));
  const lastFrom = Math.max(isWhole ? fromHead.length : 0, last.length - Math.ceil((maxCharacters * 2) / 3));
  const fromTail = last.slice(alignToCharacter(last, lastFrom));
  return `${fromHead}\n${describeGap(output, fromHead, fromTail)}\n${fromTail}`;
}

/** Formats only the end of the output, for live output; after "…" if there was more before it. */
export function formatOutputTail(output: OutputSnapshot, maxCharacters: number): string {
  if (isBinary(output.head)) return describeBinary(output);
  const bytes = output.tail.length > 0 ? output.tail : output.head;
  const isWhole = output.tail.length === 0 && bytes.length <= maxCharacters * 4;
  const end = bytes.subarray(-maxCharacters * 4);
  const text = decodeOutput(end, guessOutputEncoding(output.head), { isStart: isWhole, isEnd: true });
  if (isWhole && text.length <= maxCharacters) return text;
  return `…${text.slice(alignToCharacter(text, Math.max(0, text.length - maxCharacters + 1)))}`;
}

/**
 * Whether the bytes are binary data: several NULs in a row, or many control characters. Single NULs only separate
 * names.
 */
function isBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  let controls = 0;
  for (const [index, byte] of sample.entries()) {
    if (byte === 0 && sample[index + 1] === 0) return true;
    if (byte > 0 && byte < 0x20 && !(byte >= 0x07 && byte <= 0x0f) && byte !== 0x1b) controls += 1;
  }
  return controls * 25 > sample.length;
}

function describeBinary({ bytes, file }: OutputSnapshot): string {
  return `[The output is binary, ${bytes} bytes${file === null ? "" : `; it is kept in ${file}`}]`;
}

function guessOutputEncoding(head: Uint8Array): string {
  return guessNarrowEncoding(trimPartialCharacters(head, { isStart: true, isEnd: false }));
}

interface Edges {
  readonly isStart: boolean;
  readonly isEnd: boolean;
}

function decodeOutput(bytes: Buffer, encoding: string, edges: Edges): string {
  const whole = encoding === "utf-8" ? trimPartialCharacters(bytes, edges) : bytes;
  return maskPasswords(renderTerminalText(decodeBytes(whole, encoding).replaceAll("\0", "\n")));
}

/** Removes partial characters that a cut has left at either end. */
function trimPartialCharacters(bytes: Uint8Array, { isStart, isEnd }: Edges): Uint8Array {
  let from = 0;
  while (!isStart && from < 3 && isContinuationByte(bytes[from])) from += 1;
  if (isEnd) return bytes.subarray(from);
  let last = bytes.length - 1;
  while (last > bytes.length - 4 && isContinuationByte(bytes[last])) last -= 1;
  const lead = bytes[last] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return bytes.subarray(from, last + length <= bytes.length ? bytes.length : last);
}

function isContinuationByte(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

function describeGap(output: OutputSnapshot, head: string, tail: string): string {
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

/** The expressions are built from numbers, so that this file has no control character. */
const ESC = String.fromCharCode(0x1b);
const BELL = String.fromCharCode(0x07);

const formatCharacter = (code: number) => `\\u${code.toString(16).padStart(4, "0")}`;
const formatRange = (from: number, to: number) => `${formatCharacter(from)}-${formatCharacter(to)}`;

/** The one-byte forms of what starts and ends a string for the terminal. */
const STRING_STARTS = [0x90, 0x98, 0x9d, 0x9e, 0x9f].map(formatCharacter).join("");
const STRING_END = formatCharacter(0x9c);

/** Matches control sequences (colors, cursor), strings for the terminal (titles, links), and short escapes. */
const ESCAPES = new RegExp(
  [
    `(?:${ESC}\\[|${formatCharacter(0x9b)})[0-?]*[ -/]*[@-~]`,
    `(?:${ESC}[\\]PX^_]|[${STRING_STARTS}])[^${BELL}${ESC}${STRING_END}]*(?:${BELL}|${ESC}\\\\|${STRING_END}|$)`,
    `${ESC}[ -/]*[0-~]`,
  ].join("|"),
  "g",
);

const OTHER_CONTROLS = new RegExp(
  `[${formatRange(0, 0x07)}${formatRange(0x0b, 0x0c)}${formatRange(0x0e, 0x1f)}${formatRange(0x7f, 0x9f)}]`,
  "g",
);

/** The cursor goes to the first column. */
const TO_START = new RegExp(`${ESC}\\[[01]?G`, "g");
/** Matches the sequences that erase the rest of the line, or all of it. */
const ERASES = new RegExp(`${ESC}\\[([02]?)K`, "g");
/** Marks an erased stretch of a line. */
const ERASED = "\0";

/** Returns what a terminal would show at the end: the last state of overwritten lines, no colors, no erased text. */
export function renderTerminalText(text: string): string {
  const moved = text
    .replaceAll(ERASED, "")
    .replace(TO_START, "\r")
    .replace(ERASES, (_all, what: string) => (what === "2" ? `\r${ERASED}` : ERASED));
  const plain = moved.replace(ESCAPES, "").replace(/(?<!\r)\r+\n/g, "\n");
  const lines = plain.includes("\r") ? plain.split("\n").map(renderLine).join("\n") : plain;
  return applyBackspaces(lines).replace(OTHER_CONTROLS, "");
}

function renderLine(line: string): string {
  if (!line.includes("\r")) return line;
  let shown = "";
  // Works backwards: later parts overwrite earlier ones in the same columns.
  for (const part of line.split("\r").reverse()) {
    const written = part.replaceAll(ERASED, "");
    if (written.length > shown.length) shown += written.slice(shown.length);
    // The line was erased here, so nothing earlier shows.
    if (written !== part) break;
  }
  return shown;
}

function applyBackspaces(text: string): string {
  if (!text.includes("\b")) return text;
  const kept: string[] = [];
  for (const character of text) {
    if (character !== "\b") kept.push(character);
    else if (kept.at(-1) !== "\n") kept.pop();
  }
  return kept.join("");
}
