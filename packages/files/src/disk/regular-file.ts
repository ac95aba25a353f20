import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { codeOf } from "./system-error.ts";

/** Without this flag, opening a pipe would wait for a writer. Windows has neither the flag nor the need. */
const TO_READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
/** The error code for a file with more bytes than allowed. */
export const TOO_LARGE = "EFBIG";
const PART_BYTES = 64 * 1024;

/** Opens a regular file and returns its descriptor. Throws for anything else. */
export function openRegular(path: string, moreFlags = 0): number {
  const descriptor = openSync(path, TO_READ | moreFlags);
  try {
    if (fstatSync(descriptor).isFile()) return descriptor;
    throw fileFault("ENXIO", "it is not a regular file");
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Returns the first bytes of a file of any size. */
export function readBeginning(path: string, mostBytes: number): Buffer {
  return beginningOf(openRegular(path), mostBytes);
}

/** The same for a file that is open; closes it. */
export function beginningOf(descriptor: number, mostBytes: number): Buffer {
  try {
    const bytes = Buffer.alloc(mostBytes);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, mostBytes, 0));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reads a file that Burin reads without being asked; null when there is none. Throws for a folder, a pipe, a device
 * and more bytes than allowed, so that nothing in a repository or a home can hang the process or fill its memory.
 */
export function readBytes(path: string, mostBytes: number, moreFlags = 0): Buffer | null {
  return bytesOf(() => openRegular(path, moreFlags), mostBytes);
}

export function readText(path: string, mostBytes: number, moreFlags = 0): string | null {
  return readBytes(path, mostBytes, moreFlags)?.toString("utf8") ?? null;
}

/** The same for a file that the user named: it may also be the pipe of a shell's process substitution. */
export function readNamedText(path: string, mostBytes: number): string | null {
  return bytesOf(() => openSync(path, constants.O_RDONLY), mostBytes)?.toString("utf8") ?? null;
}

function bytesOf(open: () => number, mostBytes: number): Buffer | null {
  let descriptor: number;
  try {
    descriptor = open();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
  try {
    const parts: Buffer[] = [];
    // Files in /proc claim to be empty, and a growing file holds more than its size said.
    for (let length = 0; ; ) {
      const part = Buffer.allocUnsafe(PART_BYTES);
      const count = readSync(descriptor, part);
      if (count === 0) return Buffer.concat(parts);
      length += count;
      if (length > mostBytes) throw tooLarge(mostBytes);
      parts.push(part.subarray(0, count));
    }
  } finally {
    closeSync(descriptor);
  }
}

function tooLarge(mostBytes: number): Error {
  const most = mostBytes < 1024 * 1024 ? `${mostBytes / 1024} kB` : `${mostBytes / 1024 / 1024} MB`;
  return fileFault(TOO_LARGE, `it is larger than ${most}`);
}

/** Why something with a file's name is not read as a file. */
function fileFault(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
