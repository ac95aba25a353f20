/** A character that an encoding has no bytes for. */
export interface Unencodable {
  readonly character: string;
  /** Counted in UTF-16 units. */
  readonly position: number;
}

type Decode = (bytes: Uint8Array) => string;

/** Code point to bytes, the first byte in the highest place. */
type ByteMap = ReadonlyMap<number, number>;

const maps = new Map<string, ByteMap>();

/** Encodes by turning the decoder around: every sequence that it can read is asked once which character it is. */
export function legacyBytes(text: string, encoding: string, decode: Decode): Buffer | Unencodable {
  let map = maps.get(encoding);
  if (map === undefined) {
    map = invert(encoding, decode);
    maps.set(encoding, map);
  }
  const bytes = Buffer.allocUnsafe(text.length * 4);
  let length = 0;
  for (let position = 0; position < text.length; position += 1) {
    const code = text.codePointAt(position) ?? 0;
    if (code < 0x80) {
      bytes[length] = code;
      length += 1;
      continue;
    }
    const value = map.get(code) ?? astral(code, encoding);
    if (value === undefined) return { character: String.fromCodePoint(code), position };
    length = put(bytes, length, value);
    if (code > 0xffff) position += 1;
  }
  return bytes.subarray(0, length);
}

function put(bytes: Buffer, at: number, value: number): number {
  const size = value > 0xffffff ? 4 : value > 0xffff ? 3 : value > 0xff ? 2 : 1;
  bytes.writeUIntBE(value, at, size);
  return at + size;
}

/** GB18030 puts all planes above the first in one row. */
function astral(code: number, encoding: string): number | undefined {
  if (encoding !== "gb18030" || code < 0x10000) return undefined;
  return fourBytes(code - 0x10000, 0x90);
}

function fourBytes(index: number, firstLead: number): number {
  const fourth = 0x30 + (index % 10);
  const third = 0x81 + (Math.floor(index / 10) % 126);
  const second = 0x30 + (Math.floor(index / 1260) % 10);
  const first = firstLead + Math.floor(index / 12600);
  return first * 0x1000000 + second * 0x10000 + third * 0x100 + fourth;
}

function invert(encoding: string, decode: Decode): ByteMap {
  const map = new Map<number, number>();
  learn(map, range(0x80, 0xff), decode);
  if (!/^(gb|shift_jis|euc|big5)/.test(encoding)) return map;
  for (const lead of range(0x81, 0xfe)) {
    // These rows repeat characters of other rows; what Windows writes stands in the others.
    if (encoding === "shift_jis" && (lead === 0xed || lead === 0xee)) continue;
    const pairs = range(0x40, 0xfe).map((trail) => lead * 0x100 + trail);
    learn(map, pairs, decode);
  }
  if (encoding === "euc-jp") {
    for (const second of range(0xa1, 0xfe)) {
      const triples = range(0xa1, 0xfe).map((third) => 0x8f0000 + second * 0x100 + third);
      learn(map, triples, decode);
    }
  }
  if (encoding === "gb18030") {
    const rows = Array.from({ length: 39420 }, (_, index) => fourBytes(index, 0x81));
    learn(map, rows, decode);
  }
  return map;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Decodes many sequences at once, parted by newlines, which are never part of a character. */
function learn(map: Map<number, number>, values: readonly number[], decode: Decode): void {
  const bytes = Buffer.alloc(values.length * 5);
  let length = 0;
  for (const value of values) {
    length = put(bytes, length, value);
    bytes[length] = 0x0a;
    length += 1;
  }
  const decoded = decode(bytes.subarray(0, length)).split("\n");
  for (const [index, value] of values.entries()) {
    const characters = Array.from(decoded[index] ?? "");
    const code = characters[0]?.codePointAt(0);
    if (characters.length !== 1 || code === undefined || code === 0xfffd || code < 0x80) continue;
    if (!map.has(code)) map.set(code, value);
  }
}
