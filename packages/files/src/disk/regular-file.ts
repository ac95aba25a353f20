import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { readErrorCode } from "./system-error.ts";

/** Without this flag, opening a pipe would wait for a writer. Windows has neither the flag nor the need. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
/** The error code for a file with more bytes than allowed. */
export const TOO_LARGE = "EFBIG";
const CHUNK_BYTES = 64 * 1024;

/** Opens a regular file and returns its descriptor. Throws for anything else. */
export function openRegularFile(path: string, moreFlags = 0): number {
  const descriptor = openSync(path, READ_FLAGS | moreFlags);
  try {
    if (fstatSync(descriptor).isFile()) return descriptor;
    throw createFileError("ENXIO", "it is not a regular file");
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Returns the first bytes of a file of any size. */
export function readBeginning(path: string, maxBytes: number): Buffer {
  return readBeginningAndClose(openRegularFile(path), maxBytes);
}

/** Returns the first bytes of an open file, and closes it. */
export function readBeginningAndClose(descriptor: number, maxBytes: number): Buffer {
  try {
    const bytes = Buffer.alloc(maxBytes);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, maxBytes, 0));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reads a file that the user did not ask Burin to read; null when there is none. Throws for a folder, a pipe, a device
 * and files that are too large, so that nothing in a repository or home folder can hang the process or fill its memory.
 */
export function readBytes(path: string, maxBytes: number, moreFlags = 0): Buffer | null {
  return readAllBytes(() => openRegularFile(path, moreFlags), maxBytes);
}

export function readText(path: string, maxBytes: number, moreFlags = 0): string | null {
  return readBytes(path, maxBytes, moreFlags)?.toString("utf8") ?? null;
}

/**
 * Like `readText`, for a file that the user named: it may also be the pipe of a shell's process substitution.
 */
export function readUserText(path: string, maxBytes: number): string | null {
  return readAllBytes(() => openSync(path, constants.O_RDONLY), maxBytes)?.toString("utf8") ?? null;
}

function readAllBytes(open: () => number, maxBytes: number): Buffer | null {
  let descriptor: number;
  try {
    descriptor = open();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(readErrorCode(error) ?? "")) return null;
    throw error;
  }
  try {
    const parts: Buffer[] = [];
    // Files in /proc report size 0, and a growing file is larger than its reported size.
    for (let length = 0; ; ) {
      const part = Buffer.allocUnsafe(CHUNK_BYTES);
      const count = readSync(descriptor, part);
      if (count === 0) return Buffer.concat(parts);
      length += count;
      if (length > maxBytes) throw createTooLargeError(maxBytes);
      parts.push(part.subarray(0, count));
    }
  } finally {
    closeSync(descriptor);
  }
}

function createTooLargeError(maxBytes: number): Error {
  const max = maxBytes < 1024 * 1024 ? `${maxBytes / 1024} kB` : `${maxBytes / 1024 / 1024} MB`;
  return createFileError(TOO_LARGE, `it is larger than ${max}`);
}

/** Explains why a path cannot be read as a file. */
function createFileError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

export function hashBytes(bytes: Uint8Array | Iterable<Uint8Array>): string {
  // Loaded on first use: it takes as long as the rest of a first read.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const hash = createHash("sha256");
  for (const piece of bytes instanceof Uint8Array ? [bytes] : bytes) hash.update(piece);
  return hash.digest("base64");
}
