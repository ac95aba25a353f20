import { fstatSync } from "node:fs";
import { UsageError } from "./exit-code.ts";

/** More input than any model or tool accepts: a program that writes without end must not fill the memory. */
export const MAX_STDIN_BYTES = 64 * 1024 * 1024;

/** How long to wait for the first bytes. A pipe may start slowly, and a program that started us may never write. */
const PATIENCE_MS = { pipe: 3000, socket: 200 };

/**
 * Reads all of stdin; no bytes if it is empty. With `isOptional`, does not wait for a pipe that stays open without
 * data: continuing without input is better than hanging forever.
 */
export async function readStdin(isOptional: boolean): Promise<Buffer> {
  const kind = detectStdinKind();
  const chunks: Buffer[] = [];
  if (kind === "none") return Buffer.concat(chunks);
  // Access stdin only here: creating the stream takes longer than checking what kind it would be.
  const stdin = process.stdin;
  try {
    if (isOptional && kind !== "file" && !(await waitForInput(stdin, PATIENCE_MS[kind])))
      return Buffer.concat(chunks);
    let length = 0;
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_STDIN_BYTES)
        throw new UsageError(`stdin has more than ${MAX_STDIN_BYTES} bytes, so nothing of it was used.`);
      chunks.push(chunk);
    }
  } finally {
    stdin.destroy();
  }
  return Buffer.concat(chunks);
}

function detectStdinKind(): "none" | "file" | "pipe" | "socket" {
  try {
    const stats = fstatSync(0);
    if (stats.isFile()) return "file";
    if (stats.isFIFO()) return "pipe";
    return stats.isSocket() ? "socket" : "none";
  } catch {
    return "none";
  }
}

/** Whether data arrives, or the other end closes, within that time. */
function waitForInput(stream: NodeJS.ReadStream, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    // The end of a stream makes it readable, too.
    stream.once("readable", () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
