import { OutputFile } from "./output-file.ts";

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
