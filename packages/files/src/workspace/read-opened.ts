import { closeSync, fstatSync, readSync } from "node:fs";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { createNotRegularError } from "../disk/system-error.ts";

/**
 * How much is read, compared or written in one go. This thread is faster than another, but other work gets a turn in
 * between.
 */
export const CHUNK_BYTES = 4 * 1024 * 1024;

/** Avoids loading `node:timers/promises`, which would take as long as the first read. */
export function waitForNextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Fills the buffer, or reads to the end of the file. With a position, the descriptor's own position does not change.
 */
export async function fillBuffer(descriptor: number, into: Buffer, position?: number): Promise<Buffer> {
  let length = 0;
  for (let count = -1; count !== 0 && length < into.length; length += count) {
    if (count === CHUNK_BYTES) await waitForNextTurn();
    const from = position === undefined ? null : position + length;
    count = readSync(descriptor, into, length, Math.min(CHUNK_BYTES, into.length - length), from);
  }
  return into.subarray(0, length);
}

/** Reads all of an open file, from its beginning; `size` is what it probably has. */
export async function readAll(descriptor: number, size: number): Promise<Buffer> {
  const bytes = await fillBuffer(descriptor, Buffer.allocUnsafe(size + 1));
  if (bytes.length <= size) return bytes;
  return Buffer.concat([bytes, await readAll(descriptor, bytes.length * 2)]);
}

/** Reads a file inside a folder, whose path must be real. Throws if the file is elsewhere, even through a link. */
export async function readFileInFolder(
  path: string,
  folder: string,
): Promise<{ readonly bytes: Buffer; readonly mode: number }> {
  const { openInsideRoots, createOutsideError } = await import("../paths/paths.ts");
  const { descriptor, realPath } = await openInsideRoots(path, [folder]);
  try {
    if (realPath !== path) throw createOutsideError(path, [folder]);
    const bytes = await readAll(descriptor, readFileSize(descriptor, path));
    return { bytes, mode: fstatSync(descriptor).mode & 0o777 };
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the stats of an open file; throws when it is not a regular file. */
export function readFileSize(descriptor: number, file: string): number {
  const found = fstatSync(descriptor);
  if (found.isDirectory()) {
    throw new WorkspaceError(
      "is_a_directory",
      `${file} is a directory, not a file; list it with list_directory.`,
    );
  }
  if (found.isFile()) return found.size;
  throw createNotRegularError(file);
}
