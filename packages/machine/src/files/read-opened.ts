import { closeSync, fstatSync, read, readSync } from "node:fs";
import { promisify } from "node:util";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { notRegular } from "../disk/system-error.ts";

/** Up to this size a file is read and written synchronously; another thread would cost more. */
export const QUICK_BYTES = 2 * 1024 * 1024;

const readLater = promisify(read);

/** Reads the next bytes of an open file, a small one synchronously. */
export async function readSome(descriptor: number, into: Buffer, isQuick: boolean): Promise<number> {
  if (isQuick) return readSync(descriptor, into, 0, into.length, null);
  return (await readLater(descriptor, into, 0, into.length, null)).bytesRead;
}

/** Reads bytes at a position, as many as there is room for or the file has. The next ordinary read is not affected. */
export async function fill(descriptor: number, into: Buffer, position: number): Promise<Buffer> {
  let length = 0;
  for (let count = -1; count !== 0 && length < into.length; length += count) {
    const rest = into.subarray(length);
    count = (await readLater(descriptor, rest, 0, rest.length, position + length)).bytesRead;
  }
  return into.subarray(0, length);
}

/** Reads all of an open file, from its beginning. */
export async function readAll(descriptor: number, size: number): Promise<Buffer> {
  const isQuick = size <= QUICK_BYTES;
  let bytes = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = await readSome(descriptor, bytes.subarray(length), isQuick);
    if (count === 0) return bytes.subarray(0, length);
    length += count;
    if (length === bytes.length) bytes = Buffer.concat([bytes], length * 2);
  }
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
