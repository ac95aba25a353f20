import {
  appendFileSync,
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { readErrorCode } from "./system-error.ts";

// How Burin makes its own folders, lines and names.

/**
 * Creates a folder and its missing parents, accessible to its owner alone. Node's recursive mkdir loops forever where
 * nothing can be created but the parent is reported missing, as in /proc.
 */
export function makeFolders(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (readErrorCode(error) !== "ENOENT") {
      // An existing folder is fine; any other reason is an error.
      if (!isFolder(path)) throw error;
      return;
    }
    const above = dirname(path);
    if (above === path || isFolder(above)) throw error;
    makeFolders(above);
    mkdirSync(path, { mode: 0o700 });
  }
}

export function isFolder(path: string): boolean {
  return withFallback(false, () => statSync(path).isDirectory());
}

const LINE_END = 0x0a;

/**
 * If a full disk or a crash left a partial line, end it first: otherwise the new line would be joined to it and lost
 * with it.
 */
export function appendLine(path: string, value: object | string): void {
  const descriptor = openSync(path, "a+", 0o600);
  const { size } = fstatSync(descriptor);
  try {
    const last = Buffer.of(LINE_END);
    readSync(descriptor, last, 0, 1, Math.max(size - 1, 0));
    appendFileSync(descriptor, `${last[0] === LINE_END ? "" : "\n"}${JSON.stringify(value)}\n`);
  } catch (error) {
    if (size === 0) rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns a unique, unpredictable name in hexadecimal digits. Loads crypto, which fetches random bytes for many names
 * at once.
 */
export function randomName(bytes = 8): string {
  const { randomUUID } = process.getBuiltinModule("node:crypto");
  return randomUUID()
    .replaceAll("-", "")
    .slice(0, 2 * bytes);
}
