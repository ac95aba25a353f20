import { close, openSync, write } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "@burin/contract/text/error-message";
import { makeFolders } from "../disk/make-folders.ts";
import { type NewlineCounter, withNewlineCounter } from "../files/newline-counter.ts";

/** What a command has written so far, however much that is. */
export interface OutputSoFar {
  /** All of it while it is short, else its beginning. */
  readonly head: Buffer;
  /** Its end, behind a gap or right behind `head`; empty while `head` is all of it. */
  readonly tail: Buffer;
  readonly bytes: number;
  /** Newlines in all of it. */
  readonly newlines: number;
  /** Holds the whole; null while `head` does, or when it could not be made. */
  readonly file: string | null;
  /** Why the file does not hold all of it. */
  readonly fileFault: string | null;
}

/** What the model is shown whole must fit, so that everything longer has its file. */
const HEAD_BYTES = 30_000;
const TAIL_BYTES = 64 * 1024;

/** A command that prints without end must not fill the disk. */
const MOST_FILE_BYTES = 4 * 1024 ** 3;

/**
 * Takes what a command prints in a fixed amount of memory: the beginning, the end, the counts; as soon as it
 * is long, the whole goes to a file that only its owner may read.
 */
export class CommandOutput {
  /** Called when nothing more comes, with the file that holds all of a long output. */
  onWhole: (file: string) => void = () => {};
  readonly #path: string;
  readonly #mostFileBytes: number;
  #head = Buffer.alloc(0);
  #headBytes = 0;
  #file: OutputFile | null = null;

  constructor(path: string, mostFileBytes = MOST_FILE_BYTES) {
    this.#path = path;
    this.#mostFileBytes = mostFileBytes;
  }

  /** The bytes, at most 64 kB, are copied. false: give no more until `onRoom` is called. */
  take(bytes: Uint8Array, onRoom: () => void): boolean {
    if (this.#file !== null) return this.#file.take(bytes, onRoom);
    const forHead = bytes.subarray(0, HEAD_BYTES - this.#headBytes);
    this.#append(forHead);
    if (forHead.length === bytes.length) return true;
    this.#file = new OutputFile(this.#path, this.#mostFileBytes);
    this.#file.take(this.#head.subarray(0, this.#headBytes), () => {});
    return this.#file.take(bytes.subarray(forHead.length), onRoom);
  }

  #append(bytes: Uint8Array): void {
    const needed = this.#headBytes + bytes.length;
    if (needed > this.#head.length) {
      const bigger = Buffer.allocUnsafeSlow(Math.min(HEAD_BYTES, Math.max(4096, needed * 2)));
      this.#head.copy(bigger);
      this.#head = bigger;
    }
    this.#head.set(bytes, this.#headBytes);
    this.#headBytes = needed;
  }

  /** Waits until the file holds what was taken so far, as far as it can. */
  async flush(): Promise<void> {
    await this.#file?.flush();
  }

  /** To be called once, when nothing more comes. */
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
      const counts = { bytes: head.length, newlines: newlines(head) };
      return { head, tail: Buffer.alloc(0), ...counts, file: null, fileFault: null };
    }
    const { bytes, newlines: found, fault, isMade } = this.#file;
    const tail = this.#file.tail(Math.min(TAIL_BYTES, bytes - head.length));
    return { head, tail, bytes, newlines: found, file: isMade ? this.#path : null, fileFault: fault };
  }
}

function newlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) count += 1;
  return count;
}

/** Left free in a buffer, so that whatever one reading brings still fits. */
const MOST_PIECE_BYTES = 128 * 1024;

interface Job {
  readonly which: 0 | 1;
  readonly from: number;
  readonly to: number;
}

/** Writes a long output to disk through two buffers in turn: one fills while the other is written. */
class OutputFile {
  bytes = 0;
  newlines = 0;
  /** Why not all of it is in the file. */
  fault: string | null = null;
  readonly #most: number;
  readonly #fd: number | null;
  readonly #counter: NewlineCounter;
  #release: () => void = () => {};
  #which: 0 | 1 = 0;
  #fill = 0;
  /** Up to where the buffer in use has been handed over to be written. */
  #handed = 0;
  /** How much the other buffer holds. */
  #otherFill = 0;
  #written = 0;
  readonly #jobs: Job[] = [];
  #waiting: (() => void)[] = [];
  #onRoom: (() => void) | null = null;
  #lastTail: Buffer | null = null;

  constructor(path: string, most: number) {
    this.#most = most;
    this.#fd = this.#create(path);
    let lent: NewlineCounter | null = null;
    void withNewlineCounter((counter) => {
      lent = counter;
      return new Promise<void>((resolve) => {
        this.#release = resolve;
      });
    });
    this.#counter = borrowed(lent);
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
    const end = this.#fill + piece.length;
    this.newlines += this.#counter.count(this.#which, this.#fill, end);
    this.bytes += piece.length;
    this.#fill = end;
    if (buffer.length - end >= MOST_PIECE_BYTES) return true;
    this.#hand();
    if (this.#swap()) return true;
    this.#onRoom = onRoom;
    return false;
  }

  /** false while the other buffer still has to be written. */
  #swap(): boolean {
    const other = this.#which === 0 ? 1 : 0;
    if (this.#jobs.some((job) => job.which === other)) return false;
    this.#otherFill = this.#fill;
    this.#which = other;
    this.#fill = 0;
    this.#handed = 0;
    return true;
  }

  #hand(): void {
    if (this.#handed === this.#fill || this.#fd === null || this.fault !== null) return;
    this.#jobs.push({ which: this.#which, from: this.#handed, to: this.#fill });
    this.#handed = this.#fill;
    if (this.#jobs.length === 1) this.#writeNext();
  }

  #writeNext(): void {
    const job = this.#jobs[0];
    if (job === undefined || this.#fd === null) {
      this.#settle();
      return;
    }
    const room = this.#most - this.#written;
    const length = Math.min(job.to - job.from, room);
    if (room < job.to - job.from) this.fault ??= `the file is kept at ${this.#most} bytes`;
    if (length === 0) {
      this.#nextAfter(job, job.to - job.from);
      return;
    }
    const fd = this.#fd;
    write(fd, this.#counter.buffers[job.which], job.from, length, null, (error, done) => {
      if (error) this.fault ??= messageOf(error);
      this.#written += done ?? 0;
      this.#nextAfter(job, this.fault === null ? done : job.to - job.from);
    });
  }

  #nextAfter(job: Job, done: number): void {
    const from = job.from + done;
    if (from < job.to) {
      this.#jobs[0] = { ...job, from };
    } else {
      this.#jobs.shift();
      this.#giveRoom();
    }
    this.#writeNext();
  }

  #giveRoom(): void {
    const onRoom = this.#onRoom;
    if (onRoom === null || !this.#swap()) return;
    this.#onRoom = null;
    onRoom();
  }

  #settle(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  flush(): Promise<void> {
    this.#hand();
    if (this.#jobs.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async end(): Promise<void> {
    await this.flush();
    this.#lastTail = this.tail(64 * 1024);
    this.#release();
    const fd = this.#fd;
    if (fd !== null) await new Promise<void>((resolve) => close(fd, () => resolve()));
  }

  /** The last bytes that were taken, at most that many. */
  tail(most: number): Buffer {
    const last = this.#lastTail;
    if (last !== null) return last.subarray(Math.max(0, last.length - most));
    const here = this.#counter.buffers[this.#which].subarray(Math.max(0, this.#fill - most), this.#fill);
    const missing = Math.min(most - here.length, this.#otherFill);
    const other = this.#counter.buffers[this.#which === 0 ? 1 : 0];
    const before = other.subarray(this.#otherFill - missing, this.#otherFill);
    return Buffer.concat([before, here]);
  }
}

function borrowed(counter: NewlineCounter | null): NewlineCounter {
  if (counter === null) throw new Error("The newline counter was not lent at once.");
  return counter;
}
