import { appendFileSync, closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";

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
