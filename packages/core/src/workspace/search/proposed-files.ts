import type { Slices } from "../walk.ts";
import type { Engine } from "./engine.ts";
import type { FileSearcher } from "./file-searcher.ts";
import { FEWEST_FOR_A_FOLDER } from "./run-engine.ts";

export interface Proposing {
  readonly engine: Engine;
  /** The next file that is to be searched; null at the end. */
  readonly next: () => string | null;
  readonly folder: string;
  /** No file was left out for its name. */
  readonly fillFolders: boolean;
  readonly slices: Slices;
  readonly searcher: FileSearcher;
  readonly signal: AbortSignal;
  /** A moment of `performance.now()`. */
  readonly stopAt: number;
}

/** What a program may be given as arguments, well below what each system allows. */
const MOST_ARGUMENT_BYTES =
  process.platform === "win32" ? 24_000 : process.platform === "linux" ? 800_000 : 300_000;
const POINTER_BYTES = 9;
/**
 * Starting a program takes as long as walking past some thousand files, so each batch is larger than the one
 * before; but not so much that the program would wait for it, for the walk is two or three times as quick.
 */
const FIRST_BATCH_FILES = 1000;
const BATCH_GROWTH = 3;
/** Looking at the clock costs more than taking a file. */
const FILES_PER_LOOK = 64;

/**
 * The files that an engine finds worth a look, in order. The engine works on one batch while the next is
 * gathered. Gives null in place of a file when the time is over; a reader that stops early ends the engine.
 */
export async function* proposedFiles(proposing: Proposing): AsyncGenerator<string | null> {
  const { slices, stopAt, signal } = proposing;
  const ending = new AbortController();
  const end = () => ending.abort();
  signal.addEventListener("abort", end, { once: true });
  const timer = setTimeout(end, stopAt - performance.now());
  const source = new BatchSource(proposing.next, proposing.fillFolders && proposing.engine.takesFolders);
  let running: Running | null = null;
  try {
    for (;;) {
      source.gather(slices);
      if (running === null || running.isDone) {
        const finished: Running | null = running;
        running = source.isWorthABatch ? new Running(source.take(), proposing, ending.signal) : null;
        if (finished !== null) yield* finished.worthALook();
        if (running === null && source.isAtEnd) return;
      } else await source.waitFor(running);
      if (!(await slices.goOn()) || ending.signal.aborted) return yield null;
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    ending.abort();
    // No child is left when the call is answered.
    await running?.names;
  }
}

/** Gathers files until an engine is free to take them. */
class BatchSource {
  isAtEnd = false;
  readonly #next: () => string | null;
  readonly #fillFolders: boolean;
  #files: string[] = [];
  #bytes = 0;
  #folder = "";
  #inFolder = 0;
  #fewest = FIRST_BATCH_FILES;

  constructor(next: () => string | null, fillFolders: boolean) {
    this.#next = next;
    this.#fillFolders = fillFolders;
  }

  get isFull(): boolean {
    return this.#bytes >= MOST_ARGUMENT_BYTES;
  }

  get isWorthABatch(): boolean {
    return this.isFull || this.#files.length >= (this.isAtEnd ? 1 : this.#fewest);
  }

  gather(slices: Slices): void {
    while (!this.isFull && !this.isAtEnd) {
      const file = this.#next();
      if (file === null) {
        this.isAtEnd = true;
        return;
      }
      this.#files.push(file);
      if (this.#isNamed(file)) this.#bytes += Buffer.byteLength(file) + POINTER_BYTES;
      if (this.#files.length % FILES_PER_LOOK === 0 && slices.isOver) return;
    }
  }

  /** Of a folder with many files no more than its own name is given to the program, where that can be done. */
  #isNamed(file: string): boolean {
    if (!this.#fillFolders) return true;
    const folder = file.slice(0, file.lastIndexOf("/") + 1);
    this.#inFolder = folder === this.#folder ? this.#inFolder + 1 : 1;
    this.#folder = folder;
    return this.#inFolder < FEWEST_FOR_A_FOLDER;
  }

  /** Waits only when there is nothing more to gather meanwhile. */
  async waitFor(running: Running): Promise<void> {
    if (this.isFull || this.isAtEnd) await running.names;
  }

  take(): string[] {
    const files = this.#files;
    this.#fewest *= BATCH_GROWTH;
    this.#files = [];
    this.#bytes = 0;
    return files;
  }
}

/** One batch at work. */
class Running {
  isDone = false;
  readonly names: Promise<ReadonlySet<string> | null>;
  readonly #files: readonly string[];
  readonly #proposing: Proposing;

  constructor(files: readonly string[], proposing: Proposing, signal: AbortSignal) {
    this.#files = files;
    this.#proposing = proposing;
    const { engine, folder, fillFolders } = proposing;
    this.names = engine.propose({ folder, files, fillFolders, signal }).finally(() => {
      this.isDone = true;
    });
  }

  /** When the engine could not do it, every file is. */
  async *worthALook(): AsyncGenerator<string> {
    const { engine, folder, searcher, slices } = this.#proposing;
    const names = await this.names;
    for (const file of this.#files) {
      const isProposed = names === null || names.has(file);
      if (isProposed || (!engine.readsUtf16 && searcher.isUtf16(`${folder}/${file}`))) yield file;
      if (slices.isOver && !(await slices.goOn())) return;
    }
  }
}
