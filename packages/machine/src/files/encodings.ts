import { legacyBytes, type Unencodable } from "./legacy-encoding.ts";

/** What Windows puts where Latin-1 has control characters; some decoders give the control characters. */
const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

const decoders = new Map<string, { decode(bytes: Uint8Array): string }>();

function decoderOf(encoding: string): { decode(bytes: Uint8Array): string } {
  let decoder = decoders.get(encoding);
  if (decoder === undefined) {
    decoder = new TextDecoder(encoding, { ignoreBOM: true });
    decoders.set(encoding, decoder);
  }
  return decoder;
}

/** The text of the bytes, which hold no byte order mark. What cannot be read becomes U+FFFD. */
export function decodeBytes(bytes: Uint8Array, encoding: string): string {
  switch (encoding) {
    case "utf-8":
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
    case "utf-32le":
    case "utf-32be":
      return decodeUtf32(bytes, encoding === "utf-32le");
    case "windows-1252":
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        .toString("latin1")
        .replace(/[\x80-\x9f]/g, (control) => WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control);
    default:
      return decoderOf(encoding).decode(bytes);
  }
}

/** The bytes of the text, or the first character that the encoding cannot hold. */
export function encodeText(text: string, encoding: string): Buffer | Unencodable {
  const position = isUnicode(encoding) ? loneSurrogate(text) : -1;
  if (position >= 0) return { character: text.charAt(position), position };
  switch (encoding) {
    case "utf-8":
      return Buffer.from(text, "utf8");
    case "utf-16le":
      return Buffer.from(text, "utf16le");
    case "utf-16be":
      return Buffer.from(text, "utf16le").swap16();
    case "utf-32le":
    case "utf-32be":
      return encodeUtf32(text, encoding === "utf-32le");
    default:
      return legacyBytes(text, encoding, (bytes) => decodeBytes(bytes, encoding));
  }
}

export function isUnicode(encoding: string): boolean {
  return encoding.startsWith("utf-");
}

/** How many bytes the smallest character takes; only the wide encodings have more than one. */
export function unitBytes(encoding: string): 1 | 2 | 4 {
  if (encoding.startsWith("utf-16")) return 2;
  return encoding.startsWith("utf-32") ? 4 : 1;
}

/** Decodes part by part; a character may be split between two parts. */
export function partDecoder(encoding: string): (bytes: Uint8Array, isLast: boolean) => string {
  if (encoding === "windows-1252") return (bytes) => decodeBytes(bytes, encoding);
  if (unitBytes(encoding) < 4) {
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

function loneSurrogate(text: string): number {
  // Every Node that is supported has this; the types are those of an older standard.
  const isWellFormed = (text as unknown as { isWellFormed(): boolean }).isWellFormed();
  return isWellFormed
    ? -1
    : text.search(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
}

function decodeUtf32(bytes: Uint8Array, isLittle: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = "";
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, isLittle);
    const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    text += isCharacter ? String.fromCodePoint(code) : "\ufffd";
  }
  return bytes.length % 4 === 0 ? text : `${text}\ufffd`;
}

function encodeUtf32(text: string, isLittle: boolean): Buffer {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const bytes = Buffer.alloc(codes.length * 4);
  for (const [index, code] of codes.entries()) {
    if (isLittle) bytes.writeUInt32LE(code, index * 4);
    else bytes.writeUInt32BE(code, index * 4);
  }
  return bytes;
}
