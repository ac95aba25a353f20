import type { BigIntStats } from "node:fs";
import { type TextChange, WorkspaceError } from "@burin/contract/machine/workspace";
import { hashBytes } from "../disk/regular-file.ts";
import {
  bytesPerUnit,
  decodeBytes,
  encodeInParts,
  encodeText,
  type UnencodableCharacter,
} from "../encodings/encodings.ts";
import { detectFormat, type TextFormat } from "../encodings/text-format.ts";
import {
  encodeKeepingBytes,
  findLineEnd,
  haveEqualLinesEqualBytes,
  splitAroundChange,
} from "./kept-bytes.ts";

interface HeldFileFields extends Pick<HeldFile, "realPath" | "bytes" | "stats"> {
  readonly part?: FilePart | null;
}

interface RewrittenFile {
  readonly content: string;
  /** The bytes of the whole file in order; each piece is valid only until the next. */
  readonly pieces: Iterable<Buffer>;
  /** The file already has these bytes. */
  readonly isSame: boolean;
  readonly text: string;
}

/** A file's content at one moment, held in memory, with everything computed from it cached. */
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
  #rewrite: RewrittenFile | undefined;

  constructor({ realPath, bytes, stats, part = null }: HeldFileFields) {
    this.realPath = realPath;
    this.bytes = bytes;
    this.stats = stats;
    this.part = part;
  }

  /** Creates it from what was just written, with the text that a read would return. */
  static fromWritten(
    file: HeldFileFields,
    { hash, text }: { readonly hash: string; readonly text: string },
  ): HeldFile {
    const held = new HeldFile(file);
    held.#hash = hash;
    // Otherwise it may be read as something else.
    if (held.#detectOwnFormat()?.encoding === "utf-8" && held.#format?.markBytes === 0) held.#text = text;
    return held;
  }

  /** Returns the same file with only the surroundings of the changes decoded. */
  narrowToChanges(changes: readonly TextChange[]): HeldFile {
    const format = this.#detectOwnFormat();
    if (this.bytes === null || format === null) return this;
    return this.#createPart(findSearchedPart(this.bytes, format, changes), format);
  }

  #createPart(part: FilePart, format: TextFormat): HeldFile {
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

  /** Whether the version belongs to this file, whatever its content was. */
  isFileOf(version: string): boolean {
    return version.replace(/^\S+ \S* /, "") === this.realPath;
  }

  /** Returns this file if it is that version, or null when its content differs or it is another file. */
  matchVersion(version = this.version): HeldFile | null {
    if (version === this.version) return this;
    const [, range = "", start, end] = /^\S+ ((\d+)-(\d+))? /.exec(version) ?? [];
    const format = this.part === null && range !== "" ? this.#detectOwnFormat() : null;
    if (format === null) return null;
    const held = this.#createPart({ start: Number(start), end: Number(end), firstLine: 1 }, format);
    return held.version === version ? held : null;
  }

  get hash(): string {
    this.#hash ??= hashBytes(this.bytes ?? Buffer.alloc(0));
    return this.#hash;
  }

  /** The text without its byte order mark; null when there is no file or it is not text. */
  get text(): string | null {
    if (this.#text === undefined) this.#text = this.#body === null ? null : this.#decodeBody(this.#body);
    return this.#text;
  }

  get #body(): Buffer | null {
    return this.part === null ? this.bytes : (this.bytes?.subarray(this.part.start, this.part.end) ?? null);
  }

  /** Computes the bytes that the file would have with a new text, and the text that reading them would return. */
  rewrite(file: string, content: string): RewrittenFile {
    if (this.#rewrite?.content === content) return this.#rewrite;
    const [body, { start, end }] = [this.#body, this.part ?? { start: 0, end: 0 }];
    const format = this.#detectOwnFormat();
    const isAsGiven = body === null || format === null || haveEqualLinesEqualBytes(body, format, content);
    const kept = isAsGiven && body !== null ? splitAroundChange(body, this.text, content) : null;
    const encodeContent = () => (this.part === null ? encodeInParts(content) : encodeText(content, "utf-8"));
    const bytes = kept ?? (isAsGiven ? encodeContent() : encodeKeepingBytes(content, body, format));
    if ("character" in bytes) throw createEncodingError(file, content, { ...format, ...bytes });
    const own = Buffer.isBuffer(bytes) ? [bytes] : bytes;
    const around = this.part === null ? null : this.bytes;
    const pieces = around === null ? own : [around.subarray(0, start), ...own, around.subarray(end)];
    const isSame = Buffer.isBuffer(bytes) ? (body?.equals(bytes) ?? false) : content === this.text;
    const text = isAsGiven || !Buffer.isBuffer(bytes) ? content : (this.#decodeBody(bytes) ?? content);
    this.#rewrite = { content, pieces, isSame, text };
    return this.#rewrite;
  }

  #detectOwnFormat(): TextFormat | null {
    if (this.#format === undefined) this.#format = this.bytes?.length ? detectFormat(this.bytes) : null;
    return this.#format;
  }

  /** Decodes bytes in the file's format, as when it is read; an empty or new file is UTF-8. */
  #decodeBody(bytes: Buffer): string | null {
    if (this.bytes?.length === 0) return bytes.toString("utf8");
    const format = this.#detectOwnFormat();
    return format === null ? null : decodeBytes(bytes.subarray(format.markBytes), format.encoding);
  }
}

/** Creates the error for a character that cannot be written in the file's encoding. */
function createEncodingError(
  file: string,
  content: string,
  { character, position, encoding = "utf-8" }: UnencodableCharacter & Partial<TextFormat>,
): WorkspaceError {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const line = content.slice(0, position).split("\n").length;
  return new WorkspaceError(
    "unencodable",
    `${file}: the character "${character}" (U+${code}) in line ${line} cannot be written: ${explainUnencodable(character, encoding)}. Nothing was written.`,
  );
}

function explainUnencodable(character: string, encoding: string): string {
  if (character === "\ufffd")
    return "it stands for bytes of the file that cannot be read, and they must not be lost; leave these lines as they are";
  if (/^[\ud800-\udfff]$/.test(character))
    return "it is an unpaired surrogate, half of a character; write the whole character";
  return `the file is in ${encoding}, which has no such character; write it without it, or turn the file into UTF-8 first`;
}

/** Whether the stats show that this may be another file, or that it may have been written since then. */
export function mayHaveChanged(now: BigIntStats, then: BigIntStats): boolean {
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
 * Returns the part from before the first occurrence of any old text to after the last, so that a search in it finds
 * everything that a search of the whole file would. Empty if, for one of the changes, the file contains neither the old
 * text, with either kind of line end, nor the new text.
 */
function findSearchedPart(bytes: Buffer, format: TextFormat, changes: readonly TextChange[]): FilePart {
  let [first, last] = [bytes.length, 0];
  for (const { oldText, newText } of changes) {
    const found =
      findOccurrences(oldText, bytes, format) ??
      findOccurrences(swapLineEnds(oldText), bytes, format) ??
      findOccurrences(newText, bytes, format);
    if (found === null) return { start: format.markBytes, end: format.markBytes, firstLine: 1 };
    [first, last] = [Math.min(first, found.first), Math.max(last, found.last)];
  }
  const start = findExcerptStart(bytes, first, format);
  let firstLine = 1;
  for (let at = format.markBytes; ; firstLine += 1) {
    at = findLineEnd(bytes, at, format.encoding);
    if (at > start || at === bytes.length) break;
  }
  return { start, end: findExcerptEnd(bytes, last, format), firstLine };
}

function swapLineEnds(text: string): string {
  return text.replace(/\r?\n/g, text.includes("\r\n") ? "\n" : "\r\n");
}

/**
 * Returns where the first occurrence begins and the last one ends. Ignores matches that would begin at the second
 * byte of a character.
 */
function findOccurrences(text: string, bytes: Buffer, { encoding, markBytes }: TextFormat) {
  const needle = text === "" ? null : encodeText(text, encoding);
  if (!Buffer.isBuffer(needle)) return null;
  const isCharacterStart = (at: number) => at >= markBytes && (at - markBytes) % bytesPerUnit(encoding) === 0;
  let first = bytes.indexOf(needle);
  while (first !== -1 && !isCharacterStart(first)) first = bytes.indexOf(needle, first + 1);
  if (first === -1) return null;
  let last = bytes.lastIndexOf(needle);
  while (!isCharacterStart(last)) last = bytes.lastIndexOf(needle, last - 1);
  return { first, last: last + needle.length };
}

/** Returns the start of a line, or of a character in a very long line. */
function findExcerptStart(bytes: Buffer, first: number, { encoding, markBytes }: TextFormat): number {
  const from = Math.max(markBytes, first - CONTEXT_BYTES);
  if (from === markBytes) return from;
  const line = findLineEnd(bytes, from, encoding);
  if (line <= first) return line;
  return hasCharacterStarts(encoding)
    ? trimToCharacter(bytes, from, encoding)
    : bytes.lastIndexOf(0x0a, first) + 1;
}

function findExcerptEnd(bytes: Buffer, last: number, { encoding }: TextFormat): number {
  const max = Math.min(bytes.length, last + CONTEXT_BYTES);
  let end = last;
  for (let next = last; next <= max && end < bytes.length; next = findLineEnd(bytes, next, encoding))
    end = next;
  if (end > last || end === bytes.length) return end;
  return hasCharacterStarts(encoding)
    ? trimToCharacter(bytes, max, encoding)
    : findLineEnd(bytes, last, encoding);
}

/** Whether a byte shows that it starts a character. In two-byte encodings only a position after a newline does. */
function hasCharacterStarts(encoding: string): boolean {
  return !/^(?:gb|shift_jis|euc|big5)/.test(encoding);
}

/** Goes backwards to the beginning of a character. */
function trimToCharacter(bytes: Buffer, max: number, encoding: string): number {
  let at = max;
  while (encoding === "utf-8" && at > max - 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}
