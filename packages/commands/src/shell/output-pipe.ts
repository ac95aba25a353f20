import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";
import { join } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { randomName } from "@burin/files/disk/own-files";

/** Both ends of one pipe. The receiver closes both. */
export interface OutputPipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/** Creates named pipes that only their owner can open. Resolves to false if that is impossible here. */
export type MakeNamedPipes = (paths: readonly string[]) => Promise<boolean>;

const PIPES_AT_ONCE = 16;

/**
 * Creates pipes for child processes. Node itself would use two sockets, which loses the order of output and errors, and
 * `> /dev/stderr` fails on them. A pipe taken from here has no file name any more.
 */
export function createOutputPipes(folder: string, make: MakeNamedPipes) {
  const names: string[] = [];
  let making: Promise<boolean> | null = null;
  const makePipeBatch = async () => {
    const paths = Array.from({ length: PIPES_AT_ONCE }, () => join(folder, `pipe-${randomName(4)}`));
    const isMade = await make(paths).catch(() => false);
    if (isMade) names.push(...paths);
    making = null;
    return isMade;
  };
  const makePipesOnce = () => (making ??= makePipeBatch());
  return {
    /** Creates pipes that will be needed soon. */
    prepare(): void {
      if (names.length === 0 && canReadPipes()) void makePipesOnce();
    },
    /** Takes a pipe. Resolves to null where there are no named pipes, or where they cannot be read. */
    async take(): Promise<OutputPipe | null> {
      if (!canReadPipes()) return null;
      if (names.length === 0 && !(await makePipesOnce())) return null;
      const path = names.shift();
      if (path === undefined) return this.take();
      if (names.length === 2) void makePipesOnce();
      return openPipe(path);
    },
    /** Resolves when no pipe is being created, so that the folder can be removed. */
    settled: async () => void (await making),
  };
}

function openPipe(path: string): OutputPipe | null {
  const opened: number[] = [];
  try {
    for (const flags of [constants.O_RDONLY | constants.O_NONBLOCK, constants.O_WRONLY])
      opened.push(openSync(path, flags | constants.O_NOFOLLOW));
    unlinkSync(path);
    const [readEnd = -1, writeEnd = -1] = opened;
    return { readEnd, writeEnd };
  } catch {
    for (const fd of opened) closeQuietly(fd);
    return null;
  }
}

/** Bun and Deno open no socket on a descriptor, and a worker thread closes its descriptors at its end. */
function canReadPipes(): boolean {
  const { isMainThread } = process.getBuiltinModule("node:worker_threads");
  return isMainThread && process.versions.bun === undefined && process.versions.deno === undefined;
}

const PIPE_BYTES = 64 * 1024;

/** Reads until all writers have closed the other end, or the reader is destroyed. The bytes are valid only during the call. */
export function readPipe(fd: number, onBytes: (bytes: Uint8Array) => void): Socket {
  const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.allocUnsafeSlow(PIPE_BYTES),
      callback: (length, buffer) => {
        onBytes(buffer.subarray(0, length));
        return true;
      },
    },
  };
  const socket = new Socket(options);
  return socket.on("error", () => socket.destroy()).resume();
}

export function closePipe(pipe: OutputPipe | null): void {
  for (const fd of pipe ? [pipe.readEnd, pipe.writeEnd] : []) closeQuietly(fd);
}

/** Closes a descriptor, which may be closed already. */
export function closeQuietly(fd: number): void {
  withFallback(undefined, () => closeSync(fd));
}
