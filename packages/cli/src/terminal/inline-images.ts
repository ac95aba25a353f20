import type { InlineData } from "@burin/core/sessions";
import type { Row } from "./screen.ts";

/** The window that an image must fit into, and the size of its cells in pixels. */
interface ImageSpace {
  readonly columns: number;
  readonly rows: number;
  readonly cell: Size;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Returns an image as rows of the screen; none if it cannot be drawn. */
export type DrawImage = (image: InlineData, space: ImageSpace) => Row[];

const MAX_BYTES = 4 * 1024 * 1024;
/** A small file may decompress to a picture that is too large for a terminal. */
const MAX_PIXELS = 50_000_000;
const MAX_ROWS = 20;
const MAX_COLUMNS = 80;
const INDENT = 4;
/** The kitty protocol limits each chunk of data to this many characters. */
const PIECE = 4096;

/** Returns how a terminal with this reported name draws images; null if that is not known. */
export function chooseImageProtocol(name: string): DrawImage | null {
  if (/^(?:kitty|ghostty)\b/i.test(name)) return (image, space) => buildRows(image, space, encodeKitty);
  if (/^(?:iTerm2|WezTerm|Konsole)\b/i.test(name))
    return (image, space) => buildRows(image, space, encodeIterm);
  return null;
}

interface Drawn {
  readonly bytes: Buffer;
  readonly columns: number;
  readonly rows: number;
}

/** Returns an image's rows: empty ones that scroll it into view, and a last one that draws the image over them. */
function buildRows(
  { data = "" }: InlineData,
  space: ImageSpace,
  sequence: (image: Drawn) => string | null,
): Row[] {
  const bytes = data.length * 0.75 > MAX_BYTES ? Buffer.alloc(0) : Buffer.from(data, "base64");
  const found = measureImage(bytes);
  if (found === null) return [];
  const max = {
    width: Math.min(space.columns - INDENT - 1, MAX_COLUMNS),
    height: Math.floor(space.rows / 2),
  };
  const columns = Math.ceil(found.width / space.cell.width);
  const rows = Math.ceil(found.height / space.cell.height);
  const scale = Math.min(1, max.width / columns, Math.min(max.height, MAX_ROWS) / rows);
  const scaleCells = (cells: number): number => Math.max(Math.round(cells * scale), 1);
  const image = { bytes, columns: scaleCells(columns), rows: scaleCells(rows) };
  const drawn = max.width < 1 ? null : sequence(image);
  if (drawn === null) return [];
  const place = `\u001b7\u001b[${image.rows}A\u001b[${INDENT + 1}G`;
  const empty: Row = { bytes: "", width: 0 };
  return [...Array<Row>(image.rows).fill(empty), { bytes: `${place}${drawn}\u001b8`, width: 0 }];
}

/** Returns the kitty sequence, which tells the terminal not to answer. Supports only PNG. */
function encodeKitty({ bytes, columns, rows }: Drawn): string | null {
  if (!PNG.test(readMagicBytes(bytes))) return null;
  const pieces = bytes.toString("base64").match(new RegExp(`.{1,${PIECE}}`, "g")) ?? [];
  return pieces
    .map((piece, index) => {
      const head = index === 0 ? `a=T,f=100,q=2,C=1,c=${columns},r=${rows},` : "";
      return `\u001b_G${head}m=${index === pieces.length - 1 ? 0 : 1};${piece}\u001b\\`;
    })
    .join("");
}

function encodeIterm({ bytes, columns, rows }: Drawn): string {
  const how = `inline=1;size=${bytes.length};width=${columns};height=${rows}`;
  return `\u001b]1337;File=${how}:${bytes.toString("base64")}\u0007`;
}

const PNG = /^\x89PNG\r\n/;

function readMagicBytes(bytes: Buffer): string {
  return bytes.toString("latin1", 0, 6);
}

/** Recognises the format from the first bytes and reads the size; null for other formats or an incomplete header. */
function measureImage(bytes: Buffer): Size | null {
  try {
    const found = readSize(bytes);
    const pixels = found === null ? 0 : found.width * found.height;
    return pixels > 0 && pixels <= MAX_PIXELS ? found : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readSize(bytes: Buffer): Size | null {
  const head = readMagicBytes(bytes);
  if (PNG.test(head)) return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (head.startsWith("GIF8")) return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  return head.startsWith("\xff\xd8\xff") ? readJpegSize(bytes) : null;
}

/** The size is in the first start-of-frame segment. */
function readJpegSize(bytes: Buffer): Size | null {
  for (let at = 2; bytes[at] === 0xff; ) {
    const marker = bytes.readUInt8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
