import { Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { findInnermostError } from "./connection-fault.ts";
import { WebError } from "./web-error.ts";

export interface Body {
  readonly bytes: Buffer;
  /** true if the body continues after the bytes that were read. */
  readonly isCut: boolean;
  /** true if the body is cut because the connection broke. */
  readonly isBroken: boolean;
}

/** All content encodings that exist. Servers also send names that are none, such as "utf-8" or "aws-chunked". */
const COMPRESSIONS = /^(?:(?:x-)?(?:gzip|compress)|br|deflate|zstd|dc[bz]|exi|pack200-gzip|aes128gcm)$/;

/** More layers of compression can only be an attack. */
const MAX_LAYERS = 3;

/**
 * Returns the decompressed body, at most `maxBytes` of it, or what arrived before the connection broke. Throws a
 * WebError when it cannot be decompressed.
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  encoding: string,
  maxBytes: number,
): Promise<Body> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let isBroken = false;
  try {
    for await (const piece of decompressBody(body, encoding)) {
      pieces.push(piece);
      length += piece.byteLength;
      if (length > maxBytes) break;
    }
  } catch (error) {
    isBroken = length > 0 && findInnermostError(error).code === "ECONNRESET";
    if (!isBroken) throw error;
  }
  const bytes = Buffer.concat(pieces, Math.min(length, maxBytes));
  return { bytes, isCut: isBroken || length > maxBytes, isBroken };
}

/** Decompresses a body as its header says. Throws a WebError when that fails. */
export async function* decompressBody(
  body: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncGenerator<Uint8Array> {
  const listed = encoding.toLowerCase().split(",");
  const names = listed.map((name) => name.trim()).filter((name) => COMPRESSIONS.test(name));
  if (names.length > MAX_LAYERS) throw createEncodingError(encoding);
  let layer = body;
  for (const name of names.reverse()) layer = decompressLayer(layer, name);
  yield* layer;
}

async function* decompressLayer(body: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  const first = await source.next();
  if (first.done) return;
  const unpacker = createDecompressor(name, first.value);
  const failed = { error: null as unknown };
  const input = Readable.from(prependChunk(first.value, source), { objectMode: false });
  input.on("error", (error) => {
    failed.error = error;
    unpacker.destroy(error);
  });
  input.pipe(unpacker);
  try {
    for await (const piece of unpacker) yield piece as Buffer;
  } catch (error) {
    if (failed.error !== null) throw failed.error;
    const what = `The content is declared as ${name}, but cannot be unpacked`;
    // Data that ends in the middle means that the connection broke.
    if (!(error instanceof Error && "code" in error && error.code === "Z_BUF_ERROR"))
      throw new WebError("broken_content", `${what}.`);
    throw Object.assign(new WebError("broken_content", `${what} to its end.`), { code: "ECONNRESET" });
  } finally {
    input.destroy();
    unpacker.destroy();
  }
}

async function* prependChunk(
  first: Uint8Array,
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  } finally {
    await source.return?.();
  }
}

function createDecompressor(name: string, head: Uint8Array): Transform {
  switch (name) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "br":
      return createBrotliDecompress();
    case "deflate":
      // "deflate" means the zlib format, but many servers send raw deflate.
      return ((head[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
    default:
      throw createEncodingError(name);
  }
}

function createEncodingError(encoding: string): WebError {
  const name = /^[\w ,-]{1,40}$/.test(encoding) ? `with "${encoding}"` : "in an unknown way";
  return new WebError("broken_content", `The content is compressed ${name} and cannot be unpacked.`);
}
