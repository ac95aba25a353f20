import { rememberResults } from "@burin/contract/async/once";
/** Where a text has a character that its encoding cannot write. */
export interface UnencodableCharacter {
  readonly character: string;
  /** The character's position in UTF-16 units. */
  readonly position: number;
}

/** What Windows-1252 has in place of Latin-1's control characters; some decoders return the control characters. */
const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

const createDecoder = rememberResults((encoding: string) => new TextDecoder(encoding, { ignoreBOM: true }));

/** Decodes bytes without a byte order mark. Invalid bytes become U+FFFD. */
export function decodeBytes(bytes: Uint8Array, encoding: string): string {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (encoding) {
    case "utf-8":
      return whole.toString("utf8");
    case "utf-32le":
    case "utf-32be":
      return decodeUtf32(whole, encoding === "utf-32le");
    case "windows-1252":
      return whole
        .toString("latin1")
        .replace(/[\x80-\x9f]/g, (control) => WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control);
    default:
      return createDecoder(encoding).decode(bytes);
  }
}

/** Returns the bytes of the text, or the first character that the encoding cannot write. */
export function encodeText(text: string, encoding: string): Buffer | UnencodableCharacter {
  const position = isUnicode(encoding) ? findLoneSurrogate(text) : -1;
  if (position >= 0) return { character: text.charAt(position), position };
  switch (encoding) {
    case "utf-8":
      return Buffer.from(text);
    case "utf-16le":
      return Buffer.from(text, "utf16le");
    case "utf-16be":
      return Buffer.from(text, "utf16le").swap16();
    case "utf-32le":
    case "utf-32be":
      return encodeUtf32(text, encoding === "utf-32le");
    default:
      return encodeLegacy(text, encoding);
  }
}

const CHUNK_CHARACTERS = 4 * 1024 * 1024;

/**
 * Encodes as UTF-8. A long text comes in parts, and each part is valid only until the next one, because allocating that
 * much memory is the slowest step.
 */
export function encodeInParts(text: string): Buffer | Iterable<Buffer> | UnencodableCharacter {
  if (text.length < CHUNK_CHARACTERS || findLoneSurrogate(text) >= 0) return encodeText(text, "utf-8");
  return {
    *[Symbol.iterator]() {
      const buffer = Buffer.allocUnsafeSlow(3 * CHUNK_CHARACTERS);
      for (let [at, end] = [0, 0]; at < text.length; at = end) {
        end = at + CHUNK_CHARACTERS;
        // Both halves of a character are encoded together.
        if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1;
        yield buffer.subarray(0, buffer.write(text.slice(at, end)));
      }
    },
  };
}

export function isUnicode(encoding: string): boolean {
  return encoding.startsWith("utf-");
}

/** The size of the smallest character in bytes; more than one only in UTF-16 and UTF-32. */
export function bytesPerUnit(encoding: string): 1 | 2 | 4 {
  if (encoding.startsWith("utf-16")) return 2;
  return encoding.startsWith("utf-32") ? 4 : 1;
}

/** Decodes part by part; a character may be split across two parts. */
export function createPartDecoder(encoding: string): (bytes: Uint8Array, isLast: boolean) => string {
  if (encoding === "windows-1252") return (bytes) => decodeBytes(bytes, encoding);
  if (bytesPerUnit(encoding) < 4) {
    const decoder = new TextDecoder(encoding, { ignoreBOM: true });
    return (bytes, isLast) => decoder.decode(bytes, { stream: !isLast });
  }
  let rest: Uint8Array = new Uint8Array(0);
  return (bytes, isLast) => {
    const all = Buffer.concat([rest, bytes]);
    const end = isLast ? all.length : all.length - (all.length % 4);
    rest = all.subarray(end);
    return decodeBytes(all.subarray(0, end), encoding);
  };
}

function findLoneSurrogate(text: string): number {
  // Every supported Node version has this method, but the type declarations are older.
  const isWellFormed = (text as unknown as { isWellFormed(): boolean }).isWellFormed();
  return isWellFormed
    ? -1
    : text.search(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
}

function decodeUtf32(bytes: Buffer, isLittle: boolean): string {
  let text = "";
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
    const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    text += isCharacter ? String.fromCodePoint(code) : "\ufffd";
  }
  return bytes.length % 4 === 0 ? text : `${text}\ufffd`;
}

function encodeUtf32(text: string, isLittle: boolean): Buffer {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const bytes = Buffer.alloc(codes.length * 4);
  for (const [index, code] of codes.entries()) bytes.writeUInt32LE(code, index * 4);
  return isLittle ? bytes : bytes.swap32();
}

/** Maps code points to bytes; the first byte is the most significant one. */
type ByteMap = ReadonlyMap<number, number>;

const buildByteMap = rememberResults(invertDecoder);

/** Encodes by inverting the decoder: decodes every possible sequence once to learn its character. */
function encodeLegacy(text: string, encoding: string): Buffer | UnencodableCharacter {
  const map = buildByteMap(encoding);
  const bytes = Buffer.allocUnsafe(text.length * 4);
  let length = 0;
  for (let position = 0; position < text.length; position += 1) {
    const code = text.codePointAt(position) ?? 0;
    if (code < 0x80) {
      bytes[length] = code;
      length += 1;
      continue;
    }
    const value = map.get(code) ?? encodeAstralCode(code, encoding);
    if (value === undefined) return { character: String.fromCodePoint(code), position };
    length = writeBytes(bytes, length, value);
    if (code > 0xffff) position += 1;
  }
  return bytes.subarray(0, length);
}

function writeBytes(bytes: Buffer, at: number, value: number): number {
  const size = value > 0xffffff ? 4 : value > 0xffff ? 3 : value > 0xff ? 2 : 1;
  bytes.writeUIntBE(value, at, size);
  return at + size;
}

/** In GB18030, all planes above the first form one contiguous range. */
function encodeAstralCode(code: number, encoding: string): number | undefined {
  return encoding === "gb18030" && code > 0xffff ? encodeFourBytes(code - 0x10000, 0x90) : undefined;
}

function encodeFourBytes(index: number, firstLead: number): number {
  const fourth = 0x30 + (index % 10);
  const third = 0x81 + (Math.floor(index / 10) % 126);
  const second = 0x30 + (Math.floor(index / 1260) % 10);
  const first = firstLead + Math.floor(index / 12600);
  return first * 0x1000000 + second * 0x10000 + third * 0x100 + fourth;
}

function invertDecoder(encoding: string): ByteMap {
  const map = new Map<number, number>();
  addDecodedCharacters(map, listRange(0x80, 0xff), encoding);
  if (!/^(gb|shift_jis|euc|big5)/.test(encoding)) return map;
  for (const lead of listRange(0x81, 0xfe)) {
    // These rows duplicate characters of other rows; Windows encodes them with the other rows.
    if (encoding === "shift_jis" && (lead === 0xed || lead === 0xee)) continue;
    const pairs = listRange(0x40, 0xfe).map((trail) => lead * 0x100 + trail);
    addDecodedCharacters(map, pairs, encoding);
  }
  if (encoding === "euc-jp") {
    for (const second of listRange(0xa1, 0xfe)) {
      const triples = listRange(0xa1, 0xfe).map((third) => 0x8f0000 + second * 0x100 + third);
      addDecodedCharacters(map, triples, encoding);
    }
  }
  if (encoding === "gb18030") {
    const rows = Array.from({ length: 39420 }, (_, index) => encodeFourBytes(index, 0x81));
    addDecodedCharacters(map, rows, encoding);
  }
  return map;
}

function listRange(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Decodes many sequences at once, separated by newlines, which are never part of a character. */
function addDecodedCharacters(map: Map<number, number>, values: readonly number[], encoding: string): void {
  const bytes = Buffer.alloc(values.length * 5);
  let length = 0;
  for (const value of values) {
    length = writeBytes(bytes, length, value);
    bytes[length] = 0x0a;
    length += 1;
  }
  const decoded = decodeBytes(bytes.subarray(0, length), encoding).split("\n");
  for (const [index, value] of values.entries()) {
    const characters = Array.from(decoded[index] ?? "");
    const code = characters[0]?.codePointAt(0);
    if (characters.length !== 1 || code === undefined || code === 0xfffd || code < 0x80) continue;
    if (!map.has(code)) map.set(code, value);
  }
}
