import type { LineRange, TextLines } from "@burin/contract/machine/workspace";
import { countNewlines } from "@burin/contract/text/count-newlines";
import { alignToCharacter } from "@burin/contract/text/truncate";
import { hashBytes } from "../disk/regular-file.ts";
import { bytesPerUnit, createPartDecoder, decodeBytes, isUnicode } from "../encodings/encodings.ts";
import { guessNarrowEncoding, type TextFormat } from "../encodings/text-format.ts";
import { fillBuffer, waitForNextTurn } from "./read-opened.ts";
import type { ShownLines } from "./read-record.ts";

/** A file whose first bytes have been read already. */
export interface StartedFile {
  readonly descriptor: number;
  readonly head: Buffer;
  /** Whether the head is the whole file. */
  readonly isWhole: boolean;
}

export interface ReadLines {
  readonly lines: TextLines;
  /** null when some of the lines could not be shown in full. */
  readonly shown: (() => ShownLines) | null;
}

/** Reads a range of lines and counts all of them. The memory is bounded by the range, not by the file. */
export async function readLines(
  file: StartedFile,
  format: TextFormat | "narrow",
  { range, signal }: { readonly range: LineRange; readonly signal: AbortSignal },
): Promise<ReadLines> {
  const isWide = format !== "narrow" && bytesPerUnit(format.encoding) > 1;
  const encoding = format !== "narrow" && isUnicode(format.encoding) ? "utf-8" : null;
  const window = new LineWindow(range, encoding);
  if (isWide) {
    await addTranscodedParts(file, format, { window, signal });
    return { lines: window.finishReading().lines, shown: null };
  }
  window.add(file.head, (from) => countNewlines(file.head, from));
  const add = (bytes: Buffer) => window.add(bytes, (from) => countNewlines(bytes, from));
  if (!file.isWhole) await readParts(file, signal, add);
  return window.finishReading();
}

/** The size of a chunk: it stays in the processor's cache while it is read and counted. */
const CHUNK_BYTES = 512 * 1024;

/** How long other work may be held up. */
const MAX_SLICE_SECONDS = 0.008;

/** Reads to the end on this thread: another thread would take several times as long to pass cached data over. */
async function readParts(
  { descriptor }: StartedFile,
  signal: AbortSignal,
  use: (bytes: Buffer) => void,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let sliceEnd = 0;
  for (;;) {
    if (process.uptime() > sliceEnd) {
      await waitForNextTurn();
      signal.throwIfAborted();
      sliceEnd = process.uptime() + MAX_SLICE_SECONDS;
    }
    const bytes = await fillBuffer(descriptor, buffer);
    if (bytes.length === 0) return;
    use(bytes);
  }
}

/** UTF-16 and UTF-32 are converted to UTF-8, in which a newline is one byte. */
async function addTranscodedParts(
  file: StartedFile,
  format: TextFormat,
  { window, signal }: { readonly window: LineWindow; readonly signal: AbortSignal },
): Promise<void> {
  const decode = createPartDecoder(format.encoding);
  const add = (bytes: Uint8Array, isLast: boolean) => {
    const text = Buffer.from(decode(bytes, isLast), "utf8");
    window.add(text, (from) => countNewlines(text, from));
  };
  add(file.head.subarray(format.markBytes), file.isWhole);
  if (file.isWhole) return;
  await readParts(file, signal, (bytes) => add(bytes, false));
  add(Buffer.alloc(0), true);
}

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = /^\ufeff/;
const LINE_CUT_MARK = "... [line cut]";

/** Counts newlines of the current chunk from a position to its end. */
type CountNewlinesFrom = (from: number) => number;

/**
 * Receives the bytes of a text in chunks and keeps a range of lines, and of each line only as many bytes as its visible
 * characters can need. So the memory depends on the range, not on the file.
 */
class LineWindow {
  readonly #range: LineRange;
  /** null if the encoding is decided by the kept bytes. */
  readonly #encoding: string | null;
  readonly #pieces: Buffer[] = [];
  /** The number of kept bytes of each line. */
  readonly #lengths: number[] = [];
  #lineBytes = 0;
  #keptBytes = 0;
  #lineNumber = 0;
  #endsInLine = false;
  #isFull: boolean;
  #isWhole = true;

  constructor(range: LineRange, encoding: string | null) {
    this.#range = range;
    this.#encoding = encoding;
    this.#isFull = range.limit < 1;
  }

  add(bytes: Uint8Array, countFrom: CountNewlinesFrom): void {
    if (bytes.length === 0) return;
    let start = 0;
    if (!this.#isFull && this.#lineNumber < this.#range.offset) start = this.#skip(bytes, countFrom);
    start = this.#keepWantedLines(bytes, start);
    if (start < bytes.length) this.#lineNumber += countFrom(start);
    this.#endsInLine = bytes[bytes.length - 1] !== NEWLINE;
  }

  /** Returns where the first wanted line begins, or the end of the bytes if it is not among them. */
  #skip(bytes: Uint8Array, countFrom: CountNewlinesFrom): number {
    const found = countFrom(0);
    if (this.#lineNumber + found < this.#range.offset) {
      this.#lineNumber += found;
      return bytes.length;
    }
    let start = 0;
    while (this.#lineNumber < this.#range.offset) {
      start = bytes.indexOf(NEWLINE, start) + 1;
      this.#lineNumber += 1;
    }
    return start;
  }

  /** Keeps the wanted lines, as one piece if each is kept whole. Returns where the unwanted part begins. */
  #keepWantedLines(bytes: Uint8Array, start: number): number {
    let [from, at] = [start, start];
    while (at < bytes.length && !this.#isFull) {
      const newline = bytes.indexOf(NEWLINE, at);
      const end = newline === -1 ? bytes.length : newline + 1;
      // A character takes at most four bytes; a few more show that the line continues.
      const room = this.#range.maxLineCharacters * 4 + 8 - this.#lineBytes;
      const kept = Math.min(end - at, room);
      if (kept < end - at) {
        this.#isWhole = false;
        this.#copyBytes(bytes.subarray(from, at + kept));
        from = end;
      }
      this.#lineBytes += kept;
      at = end;
      if (newline !== -1) this.#endLine();
    }
    this.#copyBytes(bytes.subarray(from, at));
    return at;
  }

  /** Copies the bytes, because the next chunk may reuse the memory. */
  #copyBytes(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#pieces.push(Buffer.from(bytes));
  }

  #endLine(): void {
    this.#lengths.push(this.#lineBytes);
    this.#keptBytes += this.#lineBytes;
    this.#lineBytes = 0;
    this.#lineNumber += 1;
    const { limit, maxCharacters = Number.POSITIVE_INFINITY } = this.#range;
    this.#isFull = this.#lengths.length >= limit || this.#keptBytes > maxCharacters * 4;
  }

  finishReading(): ReadLines {
    if (this.#endsInLine) {
      if (!this.#isFull && this.#lineNumber >= this.#range.offset) this.#endLine();
      else this.#lineNumber += 1;
    }
    const bytes = Buffer.concat(this.#pieces);
    const { text, count, linesCut } = this.#decodeLines(bytes);
    const { offset } = this.#range;
    const place = { firstLine: offset + 1, lastLine: offset + count, totalLines: this.#lineNumber };
    const length = this.#lengths.slice(0, count).reduce((sum, one) => sum + one, 0);
    const describeShownLines = () => ({ ...place, hash: hashBytes(bytes.subarray(0, length)) });
    const isAllShown = linesCut === 0 && this.#isWhole;
    return {
      lines: { kind: "text", text, ...place, linesCut },
      shown: isAllShown ? describeShownLines : null,
    };
  }

  #decodeLines(bytes: Buffer): { text: string; count: number; linesCut: number } {
    const encoding = this.#encoding ?? guessNarrowEncoding(bytes);
    const maxCharacters = this.#range.maxCharacters ?? Number.POSITIVE_INFINITY;
    const longest = this.#lengths.reduce((max, length) => Math.max(max, length), 0);
    const isShort = longest <= this.#range.maxLineCharacters && bytes.length <= maxCharacters;
    if (isShort)
      return {
        text: this.#dropByteOrderMark(decodeBytes(bytes, encoding)),
        count: this.#lengths.length,
        linesCut: 0,
      };
    const texts: string[] = [];
    let linesCut = 0;
    let characters = 0;
    let at = 0;
    for (const length of this.#lengths) {
      const decoded = decodeBytes(bytes.subarray(at, at + length), encoding);
      at += length;
      const text = texts.length === 0 ? this.#dropByteOrderMark(decoded) : decoded;
      const shown = this.#cutLine(text);
      characters += shown.length;
      if (characters > maxCharacters && texts.length > 0) break;
      if (shown !== text) linesCut += 1;
      texts.push(shown);
    }
    return { text: texts.join(""), count: texts.length, linesCut };
  }

  /** Removes a byte order mark before the first line. */
  #dropByteOrderMark(text: string): string {
    return this.#range.offset === 0 ? text.replace(BYTE_ORDER_MARK, "") : text;
  }

  #cutLine(line: string): string {
    const max = this.#range.maxLineCharacters;
    const lineEnd = line.endsWith("\r\n") ? "\r\n" : line.endsWith("\n") ? "\n" : "";
    if (line.length - lineEnd.length <= max) return line;
    return `${line.slice(0, alignToCharacter(line, max))}${LINE_CUT_MARK}${lineEnd || "\n"}`;
  }
}
