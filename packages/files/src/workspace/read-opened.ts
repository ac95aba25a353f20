import { closeSync, fstatSync, readSync } from "node:fs";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { notRegular } from "../disk/system-error.ts";

/** As much is read, compared or written at once, faster than by another thread; then other work has its turn. */
export const PART_BYTES = 4 * 1024 * 1024;

/** Without loading `node:timers/promises`, which would take as long as the first read. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Reads as many bytes as there is room for or the file has. With a position, the next ordinary read is not affected. */
export async function fill(descriptor: number, into: Buffer, position?: number): Promise<Buffer> {
  let length = 0;
  for (let count = -1; count !== 0 && length < into.length; length += count) {
    if (count === PART_BYTES) await nextTurn();
    const from = position === undefined ? null : position + length;
    count = readSync(descriptor, into, length, Math.min(PART_BYTES, into.length - length), from);
  }
  return into.subarray(0, length);
}

/** Reads all of an open file, from its beginning; `size` is what it probably has. */
export async function readAll(descriptor: number, size: number): Promise<Buffer> {
  const bytes = await fill(descriptor, Buffer.allocUnsafe(size + 1));
  if (bytes.length <= size) return bytes;
  return Buffer.concat([bytes, await readAll(descriptor, bytes.length * 2)]);
}

/** Reads a file of a folder, whose path must be real. Throws for what is elsewhere, also behind a link. */
export async function readWithin(
  path: string,
  folder: string,
): Promise<{ readonly bytes: Buffer; readonly mode: number }> {
  const { openWithin, outside } = await import("../paths/paths.ts");
  const { descriptor, realPath } = await openWithin(path, [folder]);
  try {
    if (realPath !== path) throw outside(path, [folder]);
    const bytes = await readAll(descriptor, sizeOfFile(descriptor, path));
    return { bytes, mode: fstatSync(descriptor).mode & 0o777 };
  } finally {
    closeSync(descriptor);
  }
}

/** Throws when it is not a file. */
export function sizeOfFile(descriptor: number, file: string): number {
  const found = fstatSync(descriptor);
  if (found.isDirectory()) {
    throw new WorkspaceError(
      "is_a_directory",
      `${file} is a directory, not a file; list it with list_directory.`,
    );
  }
  if (found.isFile()) return found.size;
  throw notRegular(file);
}
