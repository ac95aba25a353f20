import type { BigIntStats } from "node:fs";
import { type ChangedText, WorkspaceError } from "@burin/contract/machine/workspace";
import { decodeBytes, encodeLong, encodeText, type Unencodable, unitBytes } from "../encodings/encodings.ts";
import { formatOf, type TextFormat } from "../encodings/text-format.ts";
import { bytesOf, isPlain, lineEnd, piecesAround } from "./kept-bytes.ts";
import { hashOf } from "./read-record.ts";

interface FileHeld extends Pick<HeldFile, "realPath" | "bytes" | "stats"> {
  readonly part?: FilePart | null;
}

interface Rewritten {
  readonly content: string;
  /** The bytes of the whole file, in order, each piece only until the next. */
  readonly pieces: Iterable<Buffer>;
  /** The file already has these bytes. */
  readonly isSame: boolean;
  readonly text: string;
}

/** The content of a file at one moment, in memory, with everything that was computed from it, each thing once. */
export class HeldFile {
  readonly realPath: string;
  /** null when there was no such file. */
  readonly bytes: Buffer | null;
  /** The file's stats before it was read. */
  readonly stats: BigIntStats | null;
  /** Set when only this part of the file is decoded to text. */
  readonly part: FilePart | null;
  #hash: string | undefined;
  #format: TextFormat | null | undefined;
  #text: string | null | undefined;
  #rewritten: Rewritten | undefined;

  constructor({ realPath, bytes, stats, part = null }: FileHeld) {
    this.realPath = realPath;
    this.bytes = bytes;
    this.stats = stats;
    this.part = part;
  }

  /** What was just written, with the text that it is read as. */
  static written(file: FileHeld, { hash, text }: { readonly hash: string; readonly text: string }): HeldFile {
    const held = new HeldFile(file);
    held.#hash = hash;
    // Otherwise it may be read as something else.
    if (held.#formatHere()?.encoding === "utf-8" && held.#format?.markBytes === 0) held.#text = text;
    return held;
  }

  /** The same file, with only the surroundings of the changes as text. */
  around(changes: readonly ChangedText[]): HeldFile {
    const format = this.#formatHere();
    if (this.bytes === null || format === null) return this;
    return this.#inPart(partAround(this.bytes, format, changes), format);
  }

  #inPart(part: FilePart, format: TextFormat): HeldFile {
    const held = new HeldFile({ ...this, part });
    held.#format = { ...format, markBytes: 0 };
    held.#hash = this.#hash;
    return held;
  }

  /** Identifies this file, its content and the part that is text. */
  get version(): string {
    const part = this.part === null ? "" : `${this.part.start}-${this.part.end}`;
    return `${this.bytes === null ? "none" : this.hash} ${part} ${this.realPath}`;
  }

  /** Whether that version is of this file, with whatever content. */
  isFileOf(version: string): boolean {
    return version.replace(/^\S+ \S* /, "") === this.realPath;
  }

  /** Returns this file if it is that version, or null when its content differs or it is another file. */
  as(version = this.version): HeldFile | null {
    if (version === this.version) return this;
    const [, range = "", start, end] = /^\S+ ((\d+)-(\d+))? /.exec(version) ?? [];
    const format = this.part === null && range !== "" ? this.#formatHere() : null;
    if (format === null) return null;
    const held = this.#inPart({ start: Number(start), end: Number(end), firstLine: 1 }, format);
    return held.version === version ? held : null;
  }

  get hash(): string {
    this.#hash ??= hashOf(this.bytes ?? Buffer.alloc(0));
    return this.#hash;
  }

  /** The text without its byte order mark; null when there is no file or it is not text. */
  get text(): string | null {
    if (this.#text === undefined) this.#text = this.#body === null ? null : this.#textOf(this.#body);
    return this.#text;
  }

  get #body(): Buffer | null {
    return this.part === null ? this.bytes : (this.bytes?.subarray(this.part.start, this.part.end) ?? null);
  }

  /** The bytes that this file would have with a new text, and what reading them would return. */
  rewritten(file: string, content: string): Rewritten {
    if (this.#rewritten?.content === content) return this.#rewritten;
    const [body, { start, end }] = [this.#body, this.part ?? { start: 0, end: 0 }];
    const format = this.#formatHere();
    const isAsGiven = body === null || format === null || isPlain(body, format, content);
    const kept = isAsGiven && body !== null ? piecesAround(body, this.text, content) : null;
    const encoded = () => (this.part === null ? encodeLong(content) : encodeText(content, "utf-8"));
    const bytes = kept ?? (isAsGiven ? encoded() : bytesOf(content, body, format));
    if ("character" in bytes) throw unencodable(file, content, { ...format, ...bytes });
    const own = Buffer.isBuffer(bytes) ? [bytes] : bytes;
    const around = this.part === null ? null : this.bytes;
    const pieces = around === null ? own : [around.subarray(0, start), ...own, around.subarray(end)];
    const isSame = Buffer.isBuffer(bytes) ? (body?.equals(bytes) ?? false) : content === this.text;
    const text = isAsGiven || !Buffer.isBuffer(bytes) ? content : (this.#textOf(bytes) ?? content);
    this.#rewritten = { content, pieces, isSame, text };
    return this.#rewritten;
  }

  #formatHere(): TextFormat | null {
    if (this.#format === undefined) this.#format = this.bytes?.length ? formatOf(this.bytes) : null;
    return this.#format;
  }

  /** Decoded as when the file is read; an empty or new file is UTF-8. */
  #textOf(bytes: Buffer): string | null {
    if (this.bytes?.length === 0) return bytes.toString("utf8");
    const format = this.#formatHere();
    return format === null ? null : decodeBytes(bytes.subarray(format.markBytes), format.encoding);
  }
}

/** The text has a character that cannot be written in the file's encoding. */
function unencodable(
  file: string,
  content: string,
  { character, position, encoding = "utf-8" }: Unencodable & Partial<TextFormat>,
): WorkspaceError {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const line = content.slice(0, position).split("\n").length;
  return new WorkspaceError(
    "unencodable",
    `${file}: the character "${character}" (U+${code}) in line ${line} cannot be written: ${reasonAgainst(character, encoding)}. Nothing was written.`,
  );
}

function reasonAgainst(character: string, encoding: string): string {
  if (character === "\ufffd")
    return "it stands for bytes of the file that cannot be read, and they must not be lost; leave these lines as they are";
  if (/^[\ud800-\udfff]$/.test(character))
    return "it is an unpaired surrogate, half of a character; write the whole character";
  return `the file is in ${encoding}, which has no such character; write it without it, or turn the file into UTF-8 first`;
}

/** Returns whether the stats show that it may be another file, or may have been written to since then. */
export function isTouched(now: BigIntStats, then: BigIntStats): boolean {
  const { dev, ino, size, mtimeNs, ctimeNs } = then;
  const isSameFile = now.dev === dev && now.ino === ino && now.size === size;
  return !isSameFile || now.mtimeNs !== mtimeNs || now.ctimeNs !== ctimeNs;
}

/** A part of a large file's lines, by byte offsets. */
interface FilePart {
  readonly start: number;
  readonly end: number;
  /** The number of the first line, from 1. */
  readonly firstLine: number;
}

/** Context on each side of a change; a longer line is cut there. */
const CONTEXT_BYTES = 8 * 1024;

/**
 * From before the first occurrence of all old texts to after the last, so that a search in this part finds
 * everything that a search in the whole file would find. Empty when an old text is in the file neither as it was
 * nor as it becomes.
 */
function partAround(bytes: Buffer, format: TextFormat, changes: readonly ChangedText[]): FilePart {
  let [first, last] = [bytes.length, 0];
  for (const { oldText, newText } of changes) {
    const found =
      placesOf(oldText, bytes, format) ??
      placesOf(withOtherLineEnds(oldText), bytes, format) ??
      placesOf(newText, bytes, format);
    if (found === null) return { start: format.markBytes, end: format.markBytes, firstLine: 1 };
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

/**
 * Returns where the first occurrence begins and the last one ends. Ignores matches that would begin at the second
 * byte of a character.
 */
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

/** The start of a line, or of a character in a very long line. */
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

/** Whether a byte shows that it begins a character; where characters take two bytes, only those after newlines do. */
function isCuttable(encoding: string): boolean {
  return !/^(?:gb|shift_jis|euc|big5)/.test(encoding);
}

/** Goes backwards to the beginning of a character. */
function wholeCharacters(bytes: Buffer, most: number, encoding: string): number {
  let at = most;
  while (encoding === "utf-8" && at > most - 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
