import { close, openSync, write } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "@burin/contract/text/error-message";
import { makeFolders } from "../disk/make-folders.ts";
import { countNewlines, lendCounter, returnCounter } from "../encodings/newline-counter.ts";

/** What a command has written so far, however long. */
export interface OutputSoFar {
  /** All of it while it is short, otherwise its beginning. */
  readonly head: Buffer;
  /** Its end, after a gap or directly after `head`; empty while `head` is all of it. */
  readonly tail: Buffer;
  readonly bytes: number;
  readonly newlines: number;
  /** The file with the whole output; null while `head` is all of it, or when the file could not be created. */
  readonly file: string | null;
  /** Why the file does not have all of it. */
  readonly fileFault: string | null;
}

/** The longest output that the model gets in full must fit; everything longer has its file. */
const HEAD_BYTES = 30_000;
const TAIL_BYTES = 64 * 1024;

/** A command that prints without end must not fill the disk. */
const MOST_FILE_BYTES = 4 * 1024 ** 3;

/** Keeps the beginning, the end and the counts in memory; a long output is in a file that only its owner may read. */
export class CommandOutput {
  /** Called at the end of the output with the file that has all of a long output. */
  onWhole: (file: string) => void = () => {};
  readonly #path: string;
  readonly #mostFileBytes: number;
  readonly #head = Buffer.allocUnsafeSlow(HEAD_BYTES);
  #headBytes = 0;
  #file: OutputFile | null = null;

  constructor(path: string, mostFileBytes = MOST_FILE_BYTES) {
    this.#path = path;
    this.#mostFileBytes = mostFileBytes;
  }

  /** Copies the bytes, at most 64 kB. Returns false to ask for a pause until `onRoom` is called. */
  take(bytes: Uint8Array, onRoom: () => void): boolean {
    if (this.#file !== null) return this.#file.take(bytes, onRoom);
    const forHead = bytes.subarray(0, HEAD_BYTES - this.#headBytes);
    this.#head.set(forHead, this.#headBytes);
    this.#headBytes += forHead.length;
    if (forHead.length === bytes.length) return true;
    this.#file = new OutputFile(this.#path, this.#mostFileBytes);
    this.#file.take(this.#head.subarray(0, this.#headBytes), () => {});
    return this.#file.take(bytes.subarray(forHead.length), onRoom);
  }

  /** Waits until the file has what was taken so far, as far as possible. */
  async flush(): Promise<void> {
    await this.#file?.flush();
  }

  /** Must be called once, at the end of the output. */
  async end(): Promise<void> {
    await this.#file?.end();
    if (this.#file?.isMade) this.onWhole(this.#path);
  }

  get bytes(): number {
    return this.#file?.bytes ?? this.#headBytes;
  }

  soFar(): OutputSoFar {
    const head = Buffer.from(this.#head.subarray(0, this.#headBytes));
    if (this.#file === null) {
      const counts = { bytes: head.length, newlines: countNewlines(head) };
      return { head, tail: Buffer.alloc(0), ...counts, file: null, fileFault: null };
    }
    const tail = this.#file.tail(Math.min(TAIL_BYTES, this.#file.bytes - head.length));
    const { bytes, newlines, fault, isMade } = this.#file;
    return { head, tail, bytes, newlines, file: isMade ? this.#path : null, fileFault: fault };
  }
}

/** Left free in a buffer, so that one more read always fits. */
const MOST_PIECE_BYTES = 128 * 1024;

const writeLater = promisify(write);

/** Writes a long output to disk through two buffers: one fills while the other is written. */
class OutputFile {
  bytes = 0;
  newlines = 0;
  fault: string | null = null;
  readonly #most: number;
  readonly #fd: number | null;
  readonly #counter = lendCounter();
  #which: 0 | 1 = 0;
  #fill = 0;
  /** Up to here the current buffer has been counted and passed on to be written. */
  #handed = 0;
  #otherFill = 0;
  #isOtherWritten = true;
  #written = 0;
  /** Resolves when all that was passed on is written. */
  #writing = Promise.resolve();
  #onRoom: (() => void) | null = null;
  #lastTail: Buffer | null = null;

  constructor(path: string, most: number) {
    this.#most = most;
    this.#fd = this.#create(path);
  }

  get isMade(): boolean {
    return this.#fd !== null;
  }

  #create(path: string): number | null {
    try {
      makeFolders(dirname(path));
      return openSync(path, "wx", 0o600);
    } catch (error) {
      this.fault = messageOf(error);
      return null;
    }
  }

  take(piece: Uint8Array, onRoom: () => void): boolean {
    const buffer = this.#counter.buffers[this.#which];
    buffer.set(piece, this.#fill);
    this.bytes += piece.length;
    this.#fill += piece.length;
    if (buffer.length - this.#fill >= MOST_PIECE_BYTES) return true;
    this.#hand();
    if (this.#isOtherWritten) this.#swap();
    else this.#onRoom = onRoom;
    return this.#onRoom === null;
  }

  #swap(): void {
    this.#otherFill = this.#fill;
    this.#which = this.#which === 0 ? 1 : 0;
    this.#fill = 0;
    this.#handed = 0;
    this.#isOtherWritten = false;
    void this.#writing.then(() => {
      this.#isOtherWritten = true;
      const onRoom = this.#onRoom;
      this.#onRoom = null;
      if (onRoom === null) return;
      this.#swap();
      onRoom();
    });
  }

  #hand(): void {
    const [from, to] = [this.#handed, this.#fill];
    if (from === to) return;
    this.#handed = to;
    this.newlines += this.#counter.count(this.#which, from, to);
    const bytes = this.#counter.buffers[this.#which].subarray(from, to);
    this.#writing = this.#writing.then(() => this.#write(bytes));
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#fd === null || this.fault !== null) return;
    const kept = bytes.subarray(0, this.#most - this.#written);
    this.#written += kept.length;
    try {
      for (let at = 0; at < kept.length; ) at += (await writeLater(this.#fd, kept, at)).bytesWritten;
      if (kept.length < bytes.length) this.fault = `the file is kept at ${this.#most} bytes`;
    } catch (error) {
      this.fault = messageOf(error);
    }
  }

  flush(): Promise<void> {
    this.#hand();
    return this.#writing;
  }

  async end(): Promise<void> {
    await this.flush();
    this.#lastTail = this.tail(TAIL_BYTES);
    returnCounter(this.#counter);
    const fd = this.#fd;
    if (fd !== null) await new Promise<void>((resolve) => close(fd, () => resolve()));
  }

  tail(most: number): Buffer {
    const last = this.#lastTail;
    if (last !== null) return last.subarray(Math.max(0, last.length - most));
    this.#hand();
    const here = this.#counter.buffers[this.#which].subarray(Math.max(0, this.#fill - most), this.#fill);
    const missing = Math.min(most - here.length, this.#otherFill);
    const other = this.#counter.buffers[this.#which === 0 ? 1 : 0];
    const before = other.subarray(this.#otherFill - missing, this.#otherFill);
    return Buffer.concat([before, here]);
  }
}
