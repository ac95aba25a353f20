import type { LineRange, TextLines } from "@burin/contract/machine/file-content";
import { isUnicode, partDecoder, unitBytes } from "./encodings.ts";
import { readSome } from "./held-file.ts";
import { LineWindow } from "./line-window.ts";
import { withNewlineCounter } from "./newline-counter.ts";
import type { ShownLines } from "./read-record.ts";
import type { TextFormat } from "./text-format.ts";

/** A file whose first bytes have been read already. */
export interface StartedFile {
  readonly descriptor: number;
  readonly head: Buffer;
  /** The head is the whole file. */
  readonly isWhole: boolean;
}

export interface LinesRead {
  readonly lines: TextLines;
  /** null when some of the lines could not be given whole. */
  readonly shown: ShownLines | null;
}

/** Reads a range of lines and counts all of them, in memory bounded by the range and not by the file. */
export async function readLines(
  file: StartedFile,
  format: TextFormat | "narrow",
  { range, signal }: { readonly range: LineRange; readonly signal: AbortSignal },
): Promise<LinesRead> {
  const isWide = format !== "narrow" && unitBytes(format.encoding) > 1;
  const encoding = format !== "narrow" && isUnicode(format.encoding) ? "utf-8" : null;
  const window = new LineWindow(range, encoding);
  if (isWide) {
    await addTranscoded(file, format, { window, signal });
    return { lines: window.finish().lines, shown: null };
  }
  window.add(file.head, (from) => countNewlines(file.head, from));
  if (!file.isWhole) await addRest(file.descriptor, window, signal);
  return window.finish();
}

/** Two buffers in turn: while one is looked at, the next part of the file is read into the other. */
function addRest(descriptor: number, window: LineWindow, signal: AbortSignal): Promise<void> {
  return withNewlineCounter(async (counter) => {
    const read = (which: 0 | 1) => readSome(descriptor, counter.buffers[which], false);
    let which: 0 | 1 = 0;
    let pending = read(which);
    try {
      for (;;) {
        const count = await pending;
        if (count === 0) return;
        signal.throwIfAborted();
        const current: 0 | 1 = which;
        which = current === 0 ? 1 : 0;
        pending = read(which);
        const bytes = counter.buffers[current].subarray(0, count);
        window.add(bytes, (from) => counter.count(current, from, count));
      }
    } finally {
      // The descriptor is closed next; a read under way would then be one of whatever gets its number.
      await pending.catch(() => {});
    }
  });
}

const CHUNK_BYTES = 256 * 1024;

/** The wide encodings are turned to UTF-8 on the way, in which a newline is one byte. */
async function addTranscoded(
  { descriptor, head, isWhole }: StartedFile,
  format: TextFormat,
  { window, signal }: { readonly window: LineWindow; readonly signal: AbortSignal },
): Promise<void> {
  const decode = partDecoder(format.encoding);
  const add = (bytes: Uint8Array, isLast: boolean) => {
    const text = Buffer.from(decode(bytes, isLast), "utf8");
    window.add(text, (from) => countNewlines(text, from));
  };
  add(head.subarray(format.markBytes), isWhole);
  if (isWhole) return;
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    signal.throwIfAborted();
    const count = await readSome(descriptor, chunk, false);
    add(chunk.subarray(0, count), count === 0);
    if (count === 0) return;
  }
}

function countNewlines(bytes: Uint8Array, from: number): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a, from); at !== -1; at = bytes.indexOf(0x0a, at + 1)) count += 1;
  return count;
}
