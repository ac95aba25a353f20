import { isUtf8 } from "node:buffer";
import { withFallback } from "@burin/contract/with-fallback";
import {
  bytesPerUnit,
  createPartDecoder,
  decodeBytes,
  encodeText,
  isUnicode,
  type UnencodableCharacter,
} from "../encodings/encodings.ts";
import { detectFormat, type TextFormat } from "../encodings/text-format.ts";
import { countEqualEnd, countEqualStart, matchLines } from "./diff.ts";

interface NewLine {
  readonly text: string;
  readonly lineEnd: string;
}

interface OldLine extends NewLine {
  /** The line's end, with its line break. */
  readonly bytes: Uint8Array;
}

/**
 * Returns the bytes of a file's new text in the file's encoding, with its byte order mark and line ends. Every kept
 * line has exactly its old bytes, even if they cannot be decoded. Returns the first character that the encoding cannot
 * write, if there is one.
 */
export function encodeKeepingBytes(
  newText: string,
  old: Uint8Array | null,
  format: TextFormat | null = old === null || old.length === 0 ? null : detectFormat(old),
): Buffer | UnencodableCharacter {
  if (old === null || format === null || haveEqualLinesEqualBytes(old, format, newText))
    return encodeText(newText, "utf-8");
  const mark = old.subarray(0, format.markBytes);
  const body = old.subarray(format.markBytes);
  const text = mark.length > 0 ? newText.replace(/^\ufeff/, "") : newText;
  const encoded = encodeBody(text, body, format);
  return Buffer.isBuffer(encoded) && mark.length > 0 ? Buffer.concat([mark, encoded]) : encoded;
}

function encodeBody(
  newText: string,
  body: Uint8Array,
  { encoding }: TextFormat,
): Buffer | UnencodableCharacter {
  const oldText = decodeBytes(body, encoding);
  const lineEnds = detectLineEnds(oldText);
  const text = keepLastLineEnd(newText, oldText);
  const isReadable = encoding === "utf-8" ? isUtf8(body) : !oldText.includes("\ufffd");
  if (!isReadable || !isUnicode(encoding) || lineEnds === "mixed") {
    return joinLines(splitNewLines(text), splitOldLines(body, encoding), { encoding, lineEnds, isReadable });
  }
  return encodeText(lineEnds === "\r\n" ? text.replace(/\r?\n/g, "\r\n") : text, encoding);
}

/** true in the usual case that equal lines have equal bytes, so that the old text need not be consulted. */
export function haveEqualLinesEqualBytes(
  body: Uint8Array,
  { encoding, markBytes }: TextFormat,
  newText: string,
): boolean {
  if (encoding !== "utf-8" || markBytes > 0 || body.includes(0x0d) || !isUtf8(body)) return false;
  const end = body[body.length - 1] === 0x0a ? body.length - 1 : body.length;
  const start = end === 0 ? 0 : body.lastIndexOf(0x0a, end - 1) + 1;
  const endsAlike = newText.endsWith("\n") === end < body.length;
  return endsAlike || decodeBytes(body.subarray(start, end), "utf-8") !== findLastLine(newText).text;
}

/** For a smaller text, extra writes cost more than encoding all of it. */
const MIN_KEPT_BYTES = 64 * 1024;

/**
 * For a large plain text, returns the unchanged bytes before and after the change, with the new bytes between; null for
 * other texts.
 */
export function splitAroundChange(body: Buffer, oldText: string | null, newText: string): Buffer[] | null {
  // Positions in text and bytes are the same only if each character is one byte.
  if (body.length < MIN_KEPT_BYTES || oldText?.length !== body.length) return null;
  const shorter = Math.min(oldText.length, newText.length);
  const head = countEqualStart(oldText, newText, shorter);
  const tail = countEqualEnd(oldText, newText, shorter - head);
  // Encoding all of it costs less than joining the pieces afterwards.
  if ((head + tail) * 2 < body.length) return null;
  const middle = encodeText(newText.slice(head, newText.length - tail), "utf-8");
  return Buffer.isBuffer(middle) ? [body.subarray(0, head), middle, body.subarray(body.length - tail)] : null;
}

interface EncodingStyle {
  readonly encoding: string;
  readonly lineEnds: LineEnds;
  /** Whether all old bytes are valid characters. */
  readonly isReadable: boolean;
}

type LineEnds = "\n" | "\r\n" | "mixed";

function detectLineEnds(text: string): LineEnds {
  const windows = text.includes("\r\n");
  const unix = text.startsWith("\n") || /[^\r]\n/.test(text);
  if (windows && unix) return "mixed";
  return windows ? "\r\n" : "\n";
}

/** A kept last line keeps its line end, or the lack of one, unless only that was changed. */
function keepLastLineEnd(newText: string, oldText: string): string {
  const [oldLast, newLast] = [findLastLine(oldText), findLastLine(newText)];
  const endsAlike = (oldLast.lineEnd === "") === (newLast.lineEnd === "");
  if (oldText === "" || oldLast.text !== newLast.text || endsAlike) return newText;
  const bare = newText.slice(0, newText.length - newLast.lineEnd.length);
  const oldBare = oldText.slice(0, oldText.length - oldLast.lineEnd.length);
  const isAllThatChanged = bare.replaceAll("\r\n", "\n") === oldBare.replaceAll("\r\n", "\n");
  return isAllThatChanged ? newText : bare + oldLast.lineEnd;
}

function findLastLine(text: string): NewLine {
  return splitLineEnd(text.slice(text.slice(0, -1).lastIndexOf("\n") + 1));
}

function splitOldLines(body: Uint8Array, encoding: string): OldLine[] {
  const lines: OldLine[] = [];
  for (let start = 0; start < body.length; ) {
    const end = findLineEnd(body, start, encoding);
    const bytes = body.subarray(start, end);
    lines.push({ ...splitLineEnd(decodeBytes(bytes, encoding)), bytes });
    start = end;
  }
  return lines;
}

/** Returns the position after the newline that ends the line. In UTF-16 and UTF-32, a newline must be aligned. */
export function findLineEnd(body: Uint8Array, start: number, encoding: string): number {
  const unit = bytesPerUnit(encoding);
  if (unit === 1) return body.indexOf(0x0a, start) + 1 || body.length;
  const place = encoding.endsWith("be") ? unit - 1 : 0;
  for (let at = body.indexOf(0x0a, start); at !== -1; at = body.indexOf(0x0a, at + 1)) {
    const from = at - place;
    if ((from - start) % unit !== 0) continue;
    const isNewline = body.subarray(from, from + unit).every((byte, index) => index === place || byte === 0);
    if (isNewline) return from + unit;
  }
  return body.length;
}

function splitLineEnd(line: string): NewLine {
  const lineEnd = line.endsWith("\r\n") ? "\r\n" : line.endsWith("\n") ? "\n" : "";
  return { text: line.slice(0, line.length - lineEnd.length), lineEnd };
}

function splitNewLines(text: string): NewLine[] {
  return text.match(/[^\n]*\n|[^\n]+$/g)?.map(splitLineEnd) ?? [];
}

function joinLines(
  fresh: readonly NewLine[],
  old: readonly OldLine[],
  manner: EncodingStyle,
): Buffer | UnencodableCharacter {
  const match = matchLines(
    old.map(({ text }) => text),
    fresh.map(({ text }) => text),
  );
  const following = listNextMatches(match, old.length);
  const parts: Uint8Array[] = [];
  let usual = manner.lineEnds === "\r\n" ? "\r\n" : "\n";
  let oldAt = 0;
  let position = 0;
  for (const [index, line] of fresh.entries()) {
    const matched = match[index] ?? -1;
    const same = old[matched];
    // A changed line is compared with the old line after the previous match.
    const near = same ?? old[oldAt];
    if (near && near.lineEnd !== "") usual = near.lineEnd;
    const end = line.lineEnd === "\n" ? usual : line.lineEnd;
    const encoded = same
      ? encodeKeptLine(same, end, manner)
      : encodeChangedLine({ text: line.text, lineEnd: end }, near, manner);
    if ("character" in encoded) return { ...encoded, position: position + encoded.position };
    parts.push(encoded);
    position += line.text.length + line.lineEnd.length;
    oldAt = same ? matched + 1 : Math.min(oldAt + 1, following[index] ?? old.length);
  }
  return Buffer.concat(parts);
}

/** For each new line, the index of the next matched old line. */
function listNextMatches(match: readonly number[], last: number): number[] {
  const following = new Array<number>(match.length);
  let next = last;
  for (let index = match.length - 1; index >= 0; index -= 1) {
    following[index] = next;
    const matched = match[index] ?? -1;
    if (matched >= 0) next = matched;
  }
  return following;
}

function encodeKeptLine(line: OldLine, end: string, { encoding }: EncodingStyle): Uint8Array {
  if (line.lineEnd === end) return line.bytes;
  const bare = line.bytes.subarray(0, line.bytes.length - line.lineEnd.length * bytesPerUnit(encoding));
  return Buffer.concat([bare, encodeLineEnd(end, encoding)]);
}

/** Line ends can be encoded in every encoding. */
function encodeLineEnd(lineEnd: string, encoding: string): Buffer {
  return encodeText(lineEnd, encoding) as Buffer;
}

/** Longer lines are encoded as a whole; their bytes stay the same if the encoding is unambiguous. */
const MAX_COMPARED_BYTES = 256 * 1024;

/** Encodes a change inside a line, and keeps the line's own bytes before and after it. */
function encodeChangedLine(
  line: NewLine,
  near: OldLine | undefined,
  manner: EncodingStyle,
): Uint8Array | UnencodableCharacter {
  const { text, lineEnd } = line;
  if (near === undefined || near.bytes.length > MAX_COMPARED_BYTES)
    return encodeNewText(text + lineEnd, manner);
  const starts = mapCharacterStarts(near.bytes, manner.encoding);
  const oldText = near.text;
  const shorter = Math.min(text.length, oldText.length);
  let head = countEqualStart(text, oldText, shorter);
  while (!starts.has(head)) head -= 1;
  let tail = starts.has(oldText.length) ? countEqualEnd(text, oldText, shorter - head) : 0;
  while (tail > 0 && !starts.has(oldText.length - tail)) tail -= 1;
  const middle = encodeNewText(text.slice(head, text.length - tail), manner);
  if (!Buffer.isBuffer(middle)) return { ...middle, position: middle.position + head };
  const kept =
    tail === 0 ? [] : [near.bytes.subarray(starts.get(oldText.length - tail), starts.get(oldText.length))];
  const end = encodeLineEnd(lineEnd, manner.encoding);
  return Buffer.concat([near.bytes.subarray(0, starts.get(head)), middle, ...kept, end]);
}

/** If the file has bytes that cannot be decoded, the replacement characters shown for them must not be written back. */
function encodeNewText(text: string, { encoding, isReadable }: EncodingStyle): Buffer | UnencodableCharacter {
  const position = isReadable ? -1 : text.indexOf("\ufffd");
  return position >= 0 ? { character: "\ufffd", position } : encodeText(text, encoding);
}

/**
 * Maps positions in a line's text to positions in its bytes, wherever a character boundary is certain. There is none
 * next to bytes that cannot be decoded.
 */
function mapCharacterStarts(bytes: Uint8Array, encoding: string): ReadonlyMap<number, number> {
  const decode = createPartDecoder(encoding);
  const starts = new Map<number, number>([[0, 0]]);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const text = withFallback(null, () => decode(bytes.subarray(at, at + 1), false));
    // In some encodings, Node's streaming decoder throws on invalid bytes.
    if (text === null) break;
    length += text.length;
    if (text !== "" && !text.includes("\ufffd")) starts.set(length, at + 1);
  }
  return starts;
}
