import { read } from "node:fs";
import { promisify } from "node:util";

const readLater = promisify(read);

const CHUNK_BYTES = 1024 * 1024;
/** The longest character; no part ends inside of one. */
const MOST_CHARACTER_BYTES = 4;

/** How one pass over a file that is not held in memory is made. */
export interface LiteralPass {
  readonly descriptor: number;
  readonly signal: AbortSignal;
  /** What is looked for; null when the pass is only to see all bytes. */
  readonly needle: Buffer | null;
  /** Of the file's encoding: a place that is not a whole number of units from the text's beginning is none. */
  readonly unit: number;
  readonly markBytes: number;
}

/** The next bytes of the file, in a buffer that is used again for those that follow. */
export interface PassPart {
  /** What follows upon `length` belongs to the next part; it is there to look at. */
  readonly window: Buffer;
  readonly length: number;
  /** Where the part begins in the file. */
  readonly start: number;
  /** Where in the part the needle begins, without overlaps. */
  readonly places: readonly number[];
}

export interface PassResult {
  readonly found: number;
  /** Places that overlap the one before them, so that it would matter from where one counts. */
  readonly overlaps: number;
}

/** Reads a file part by part in memory that does not grow with it, and finds every place of a literal. */
export async function passOver(
  pass: LiteralPass,
  visit: (part: PassPart) => void | Promise<void>,
): Promise<PassResult> {
  const needleBytes = pass.needle?.length ?? 0;
  const kept = Math.max(needleBytes, MOST_CHARACTER_BYTES) + MOST_CHARACTER_BYTES;
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES + kept);
  const search = new Search(pass);
  let start = 0;
  let filled = 0;
  for (let isLast = false; !isLast; ) {
    pass.signal.throwIfAborted();
    const room = buffer.length - filled;
    const { bytesRead } = await readLater(pass.descriptor, buffer, filled, room, start + filled);
    filled += bytesRead;
    isLast = bytesRead === 0;
    const length = isLast ? filled : wholeCharacters(buffer, filled - kept, { ...pass, start });
    if (length <= 0) continue;
    const window = buffer.subarray(0, filled);
    await visit({ window, length, start, places: search.places(window, start, length) });
    buffer.copyWithin(0, length, filled);
    start += length;
    filled -= length;
  }
  return search;
}

interface Units {
  readonly unit: number;
  readonly markBytes: number;
  readonly start: number;
}

/** Backwards to a byte that begins a character of UTF-8, or to a whole unit of the wide encodings. */
function wholeCharacters(buffer: Buffer, most: number, { unit, markBytes, start }: Units): number {
  if (unit > 1) return most - Math.max(0, (start + most - markBytes) % unit);
  let length = most;
  while (length > most - MOST_CHARACTER_BYTES && length > 0 && ((buffer[length] ?? 0) & 0xc0) === 0x80) {
    length -= 1;
  }
  return length;
}

class Search {
  found = 0;
  overlaps = 0;
  readonly #pass: LiteralPass;
  /** Where the last place ends in the file. */
  #end = 0;

  constructor(pass: LiteralPass) {
    this.#pass = pass;
  }

  /** Those that begin before `length`; all of their bytes are in the window. */
  places(window: Buffer, start: number, length: number): number[] {
    const { needle, unit, markBytes } = this.#pass;
    const places: number[] = [];
    if (needle === null) return places;
    for (let at = window.indexOf(needle); at !== -1 && at < length; at = window.indexOf(needle, at + 1)) {
      const position = start + at;
      if (position < markBytes || (position - markBytes) % unit !== 0) continue;
      if (position < this.#end) {
        this.overlaps += 1;
        continue;
      }
      this.found += 1;
      this.#end = position + needle.length;
      places.push(at);
    }
    return places;
  }
}

/** The bytes at a place of an open file; fewer at its end. */
export async function bytesAt(descriptor: number, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let filled = 0; ; ) {
    if (filled === length) return bytes;
    const { bytesRead } = await readLater(descriptor, bytes, filled, length - filled, start + filled);
    if (bytesRead === 0) return bytes.subarray(0, filled);
    filled += bytesRead;
  }
}
