import { closeSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { countNewlines } from "@burin/contract/text/count-newlines";
import { describeError } from "@burin/contract/text/error-message";
import { makeFolders } from "@burin/files/disk/own-files";

/** What a command has written so far, however long. */
export interface OutputSnapshot {
  /** The whole output while it is short, otherwise its beginning. */
  readonly head: Buffer;
  /** The end of the output, after a gap or directly after `head`; empty while `head` is all of it. */
  readonly tail: Buffer;
  readonly bytes: number;
  readonly newlines: number;
  /** The file with the whole output; null while `head` is all of it, or when the file could not be created. */
  readonly file: string | null;
  /** Why the file lacks a part of the output. */
  readonly fileFault: string | null;
}

/**
 * The size of the beginning that stays in memory: the longest output that the model gets in full. Anything longer has a
 * file.
 */
const HEAD_BYTES = 30_000;
const TAIL_BYTES = 64 * 1024;
/** How many bytes to collect before writing them to the file. */
const BUFFER_BYTES = 512 * 1024;

/** How many bytes of each piece to search again with the next one: no secret is longer, and the end that is kept is. */
const LONGEST_SECRET = 16 * 1024;

/** A command that prints without end must not fill the disk. */
const MAX_FILE_BYTES = 4 * 1024 ** 3;

interface OutputLimits {
  readonly maxFileBytes?: number;
  readonly isSecretIn?: (bytes: Buffer) => boolean;
}

/** Keeps the beginning, the end and the counts in memory; a long output is in a file that only its owner may read. */
export class CommandOutput {
  /** Called at the end of the output with the file that has all of a long output, if a secret is in it. */
  onSecret: (file: string) => void = () => {};
  readonly #path: string;
  readonly #limits: OutputLimits;
  readonly #head = Buffer.allocUnsafeSlow(HEAD_BYTES);
  #headBytes = 0;
  #file: OutputFile | null = null;

  constructor(path: string, limits: OutputLimits = {}) {
    this.#path = path;
    this.#limits = limits;
  }

  /** Copies the bytes, at most 64 kB. */
  append(bytes: Uint8Array): void {
    const forHead = bytes.subarray(0, this.#file === null ? HEAD_BYTES - this.#headBytes : 0);
    this.#head.set(forHead, this.#headBytes);
    this.#headBytes += forHead.length;
    if (forHead.length === bytes.length) return;
    if (this.#file === null) {
      this.#file = new OutputFile(this.#path, this.#limits);
      this.#file.append(this.#head.subarray(0, this.#headBytes));
    }
    this.#file.append(bytes.subarray(forHead.length));
  }

  /** Writes what has arrived so far into the file, as far as possible. */
  async flush(): Promise<void> {
    this.#file?.flush();
  }

  /** Finishes the file. Must be called once, at the end of the output. */
  end(): void {
    this.#file?.end();
    if (this.#file?.isMade && this.#file.hasSecret) this.onSecret(this.#path);
  }

  get bytes(): number {
    return this.#file?.bytes ?? this.#headBytes;
  }

  soFar(): OutputSnapshot {
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

/** Writes a long output to disk and keeps its end. Writing on this thread is faster than handing it to another. */
class OutputFile {
  bytes = 0;
  newlines = 0;
  fault: string | null = null;
  hasSecret = false;
  readonly #max: number;
  readonly #isSecretIn: (bytes: Buffer) => boolean;
  readonly #descriptor: number | null;
  /** The buffer always holds the end of the output. */
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #filled = 0;
  /** How many bytes of the buffer have been written to the file. */
  #written = 0;
  #lastTail: Buffer | null = null;

  constructor(path: string, { maxFileBytes = MAX_FILE_BYTES, isSecretIn = () => false }: OutputLimits) {
    this.#max = maxFileBytes;
    this.#isSecretIn = isSecretIn;
    this.#descriptor = this.#createFile(path);
  }

  get isMade(): boolean {
    return this.#descriptor !== null;
  }

  #createFile(path: string): number | null {
    try {
      makeFolders(dirname(path));
      return openSync(path, "wx", 0o600);
    } catch (error) {
      this.fault = describeError(error);
      return null;
    }
  }

  append(piece: Uint8Array): void {
    const buffer = this.#buffer;
    if (this.#filled + piece.length > buffer.length) {
      this.flush();
      buffer.copyWithin(0, this.#filled - TAIL_BYTES, this.#filled);
      this.#filled = TAIL_BYTES;
      this.#written = TAIL_BYTES;
    }
    buffer.set(piece, this.#filled);
    const end = this.#filled + piece.length;
    this.newlines += countNewlines(buffer, this.#filled, end);
    this.#filled = end;
    this.bytes += piece.length;
  }

  flush(): void {
    const fresh = this.#buffer.subarray(this.#written, this.#filled);
    this.#written = this.#filled;
    if (this.#descriptor === null || this.fault !== null) return;
    const kept = fresh.subarray(0, this.#max - (this.bytes - fresh.length));
    // A secret may begin in the bytes that were written before.
    const from = Math.max(0, this.#written - fresh.length - LONGEST_SECRET);
    this.hasSecret ||= fresh.length > 0 && this.#isSecretIn(this.#buffer.subarray(from, this.#filled));
    try {
      for (let at = 0; at < kept.length; ) at += writeSync(this.#descriptor, kept, at);
      if (kept.length < fresh.length) this.fault = `the file is kept at ${this.#max} bytes`;
    } catch (error) {
      this.fault = describeError(error);
    }
  }

  end(): void {
    this.flush();
    this.#lastTail = this.tail(TAIL_BYTES);
    if (this.#descriptor === null) return;
    try {
      closeSync(this.#descriptor);
    } catch (error) {
      // Some disks report a failed write only on close.
      this.fault ??= describeError(error);
    }
  }

  tail(maxBytes: number): Buffer {
    const last = this.#lastTail ?? this.#buffer.subarray(0, this.#filled);
    return Buffer.from(last.subarray(Math.max(0, last.length - maxBytes)));
  }
}
