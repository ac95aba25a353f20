import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { withFallback } from "@burin/contract/with-fallback";
import { createPartDecoder } from "../encodings/encodings.ts";
import { decodeFile, detectHeadFormat, guessNarrowEncoding } from "../encodings/text-format.ts";
import type { TimeSlices } from "../ignore/walk.ts";
import { HAS_DESCRIPTOR_PATHS, readDescriptorPath } from "../paths/paths.ts";
import { HitLines, type HitRequest } from "./hit-lines.ts";
import type { LineMatcher } from "./line-matcher.ts";

const MAX_WHOLE_BYTES = 1024 * 1024;
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

export interface FileSearcherOptions {
  readonly matcher: LineMatcher;
  /** Checks the real path of an opened file. */
  readonly mayOpen: (realPath: string) => boolean;
  /** Called with what could not be searched completely. */
  readonly onGap: (gap: string) => void;
  readonly slices: TimeSlices;
  /** Unsaved texts that replace the content of files, by their real paths. */
  readonly unsaved: ReadonlyMap<string, string>;
}

/** Searches one file at a time. Only a file that it has opened and checked itself can appear in a result. */
export class FileSearcher {
  readonly #needs: FileSearcherOptions;
  readonly #buffer = Buffer.allocUnsafe(MAX_WHOLE_BYTES);

  constructor(needs: FileSearcherOptions) {
    this.#needs = needs;
  }

  /** Returns the file's hits; null when there is none, when the file is binary or when it cannot be read. */
  async search(path: string, wanted: HitRequest): Promise<HitLines | null> {
    const unsaved = this.#needs.unsaved.get(path);
    if (unsaved !== undefined) return this.#needs.mayOpen(path) ? this.#searchText(unsaved, wanted) : null;
    const descriptor = tryOpen(path);
    if (descriptor === null) return null;
    try {
      const length = readSync(descriptor, this.#buffer, 0, MAX_WHOLE_BYTES, null);
      const isWhole = length < MAX_WHOLE_BYTES;
      const hits = isWhole ? this.#searchWhole(length, wanted) : await this.#searchParts(descriptor, wanted);
      return hits !== null && hits.hits > 0 && this.#isAllowedPath(descriptor, path) ? hits : null;
    } catch (error) {
      if (error instanceof Error && "syscall" in error) return null;
      throw error;
    } finally {
      closeSync(descriptor);
    }
  }

  /** Whether the file begins as UTF-16 text, which not every engine can read. */
  isUtf16(path: string): boolean {
    return isUtf16(this.#readHead(path, 4));
  }

  /** Whether the file would be searched as text. */
  isText(path: string): boolean {
    return isSearchable(this.#readHead(path, 8192));
  }

  #readHead(path: string, length: number): Buffer {
    const descriptor = tryOpen(path);
    if (descriptor === null) return this.#buffer.subarray(0, 0);
    const read = withFallback(0, () => readSync(descriptor, this.#buffer, 0, length, null));
    closeSync(descriptor);
    return this.#buffer.subarray(0, read);
  }

  #searchWhole(length: number, wanted: HitRequest): HitLines | null {
    const bytes = this.#buffer.subarray(0, length);
    if (!this.#needs.matcher.mayMatch(this.#buffer, length) && !isUtf16(bytes)) return null;
    const text = isSearchable(bytes) ? decodeFile(bytes) : null;
    return text === null ? null : this.#searchText(text, wanted);
  }

  #searchText(text: string, wanted: HitRequest): HitLines | null {
    const hits = new HitLines(this.#needs.matcher, wanted);
    hits.add(text, true);
    return hits.hits > 0 ? hits : null;
  }

  async #searchParts(descriptor: number, wanted: HitRequest): Promise<HitLines | null> {
    if (!fstatSync(descriptor).isFile()) return null;
    const { matcher, onGap, slices } = this.#needs;
    const hits = new HitLines(matcher, wanted);
    const onLongLine = () => onGap("Only the beginning of lines longer than 8 MB was searched.");
    for (const { text, isLast } of readTextParts(descriptor, Buffer.from(this.#buffer), onLongLine)) {
      hits.add(text, isLast);
      if (hits.isFull) break;
      if (slices.isOver && !(await slices.yieldTurn())) break;
    }
    return hits;
  }

  /** Hits are rare, so the path is checked only when there is one. */
  #isAllowedPath(descriptor: number, path: string): boolean {
    const real = HAS_DESCRIPTOR_PATHS ? readDescriptorPath(descriptor) : realpathSync(path);
    return this.#needs.mayOpen(real);
  }
}

function tryOpen(path: string): number | null {
  return withFallback(null, () => openSync(path, OPEN_FLAGS));
}

const CHUNK_BYTES = 4 * 1024 * 1024;
/** The rest of a longer line is not searched. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

function isUtf16(head: Uint8Array): boolean {
  const [first, second, third, fourth] = head;
  if (first === 0xfe && second === 0xff) return true;
  return first === 0xff && second === 0xfe && !(third === 0 && fourth === 0);
}

/** UTF-16 needs its byte order mark, without which no engine could tell it from binary data. */
function isSearchable(head: Buffer): boolean {
  return isUtf16(head) || !head.subarray(0, 8192).includes(0);
}

/**
 * Yields the text of a large file in parts that end at line ends, so that memory does not grow with the file. `head` is
 * the part that has been read already. Yields nothing for a binary file.
 */
function* readTextParts(
  descriptor: number,
  head: Buffer,
  onLongLine: () => void,
): Generator<{ readonly text: string; readonly isLast: boolean }> {
  const format = isSearchable(head) ? detectHeadFormat(head) : null;
  if (format === null) return;
  const encoding = format === "narrow" ? guessNarrowEncoding(trimToWholeLines(head)) : format.encoding;
  const decode = createTolerantDecoder(encoding);
  let bytes: Buffer = head.subarray(format === "narrow" ? 0 : format.markBytes);
  let carried = "";
  let isSkipping = false;
  for (;;) {
    const isLast = bytes.length === 0;
    let text = carried + decode(bytes, isLast);
    if (isSkipping) {
      const newline = text.indexOf("\n");
      text = newline === -1 ? "" : text.slice(newline);
      isSkipping = newline === -1;
    }
    let end = isLast ? text.length : text.lastIndexOf("\n") + 1;
    carried = text.slice(end);
    if (carried.length > MAX_LINE_BYTES) {
      onLongLine();
      isSkipping = true;
      carried = "";
      end = text.length;
    }
    if (end > 0) yield { text: text.slice(0, end), isLast };
    if (isLast) return;
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    bytes = buffer.subarray(0, readSync(descriptor, buffer));
  }
}

/** Node's streaming decoders throw on some invalid characters that are split across parts, and cannot continue. */
function createTolerantDecoder(encoding: string): ReturnType<typeof createPartDecoder> {
  let decode = createPartDecoder(encoding);
  return (bytes, isLast) => {
    const decoded = withFallback(null, () => decode(bytes, isLast));
    if (decoded !== null) return decoded;
    decode = createPartDecoder(encoding);
    return `\ufffd${decode(bytes, isLast)}`;
  };
}

/** Returns the bytes up to the last line end, so that no character is cut in two. */
function trimToWholeLines(head: Buffer): Buffer {
  const end = head.lastIndexOf(NEWLINE);
  return end === -1 ? head : head.subarray(0, end);
}
