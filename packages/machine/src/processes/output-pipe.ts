import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";
import { join } from "node:path";

/** Both ends of one pipe. Whoever takes it closes both. */
export interface OutputPipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/** Makes named pipes at these paths, readable by their owner alone. false when that cannot be done here. */
export type MakeNamedPipes = (paths: readonly string[]) => Promise<boolean>;

const PIPES_AT_ONCE = 16;

/**
 * Pipes for children. What Node itself would give them are sockets: two, so that the order of output and
 * errors is lost, and `> /dev/stderr` fails in them. A pipe taken from here has no name any more.
 */
export class OutputPipes {
  readonly #folder: string;
  readonly #make: MakeNamedPipes;
  readonly #names: string[] = [];
  #made = 0;
  #making: Promise<boolean> | null = null;

  constructor(folder: string, make: MakeNamedPipes) {
    this.#folder = folder;
    this.#make = make;
  }

  /** Makes some that will be taken soon. */
  prepare(): void {
    if (this.#names.length === 0 && readsPipes()) void this.#more();
  }

  /** null where there are no named pipes, or they cannot be read. */
  async take(): Promise<OutputPipe | null> {
    if (!readsPipes()) return null;
    if (this.#names.length === 0 && !(await this.#more())) return null;
    const path = this.#names.shift();
    if (path === undefined) return this.take();
    if (this.#names.length === 2) void this.#more();
    try {
      const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const writeEnd = openSync(path, constants.O_WRONLY);
      unlinkSync(path);
      return { readEnd, writeEnd };
    } catch {
      return null;
    }
  }

  /** Resolves when nothing is made any more, so that the folder can go. */
  async settled(): Promise<void> {
    await this.#making;
  }

  #more(): Promise<boolean> {
    this.#making ??= this.#makeSome().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #makeSome(): Promise<boolean> {
    const paths = Array.from({ length: PIPES_AT_ONCE }, (_, index) =>
      join(this.#folder, `pipe${this.#made + index}`),
    );
    this.#made += PIPES_AT_ONCE;
    const isMade = await this.#make(paths);
    if (isMade) this.#names.push(...paths);
    return isMade;
  }
}

/** Bun and Deno open no socket on a descriptor, and at its end a worker thread closes what it once opened. */
function readsPipes(): boolean {
  const { isMainThread } = process.getBuiltinModule("node:worker_threads");
  return isMainThread && process.versions.bun === undefined && process.versions.deno === undefined;
}

const PIPE_BYTES = 64 * 1024;

export interface PipeReader {
  /** Goes on after `onBytes` has said false. */
  resume(): void;
  /** Reads no more, whoever still writes. */
  close(): void;
}

/** Reads until nobody has the other end any more. The bytes are valid during the call only. */
export function readPipe(fd: number, onBytes: (bytes: Uint8Array) => boolean, onEnd: () => void): PipeReader {
  const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.allocUnsafeSlow(PIPE_BYTES),
      callback: (length, buffer) => onBytes(buffer.subarray(0, length)),
    },
  };
  const socket = new Socket(options);
  socket.on("error", () => socket.destroy());
  socket.once("close", onEnd);
  socket.resume();
  return { resume: () => socket.resume(), close: () => socket.destroy() };
}

export function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // It was closed before.
  }
}
