import { fstatSync } from "node:fs";
import { UsageError } from "./exit-code.ts";

/** More than any model or tool takes; the output of a program that never ends must not fill the memory. */
export const MAX_STDIN_BYTES = 64 * 1024 * 1024;

/** A shell's pipe may be slow to start; a program that started us and left its end open may never write. */
const PATIENCE_MS = { pipe: 3000, socket: 200 };

/**
 * Reads all bytes on stdin, none when there is nothing. With `isOptional` it does not wait for an end that stays
 * open and silent: continuing without it is better than hanging forever.
 */
export async function readStdin(isOptional: boolean): Promise<Buffer> {
  const kind = detectStdinKind();
  const chunks: Buffer[] = [];
  if (kind === "none") return Buffer.concat(chunks);
  // Only here, because creating the stream takes longer than checking what it would be.
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

/** Whether there is data, or the other end is closed, within that time. */
function waitForInput(stream: NodeJS.ReadStream, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    // The end of a stream makes it readable too.
    stream.once("readable", () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
