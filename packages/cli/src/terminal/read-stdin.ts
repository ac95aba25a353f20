import { fstatSync } from "node:fs";

/** A shell's pipe may be slow to speak; a program that started us and left its end open may never do so. */
const PATIENCE_MS = { pipe: 3000, socket: 200 };

/**
 * All bytes on stdin, none when there is nothing. With `isOptional` an end that stays open and silent is not
 * waited for: going on without it is better than hanging for ever.
 */
export async function readStdin(isOptional: boolean): Promise<Buffer> {
  const kind = stdinKind();
  const chunks: Buffer[] = [];
  if (kind === "none") return Buffer.concat(chunks);
  // Only now: making the stream costs a start more than asking what it would be.
  const stdin = process.stdin;
  try {
    if (isOptional && kind !== "file" && !(await speaksWithin(stdin, PATIENCE_MS[kind])))
      return Buffer.concat(chunks);
    for await (const chunk of stdin) chunks.push(chunk as Buffer);
  } finally {
    stdin.destroy();
  }
  return Buffer.concat(chunks);
}

function stdinKind(): "none" | "file" | "pipe" | "socket" {
  try {
    const stats = fstatSync(0);
    if (stats.isFile()) return "file";
    if (stats.isFIFO()) return "pipe";
    return stats.isSocket() ? "socket" : "none";
  } catch {
    return "none";
  }
}

/** true as soon as there is something to read or the other end is closed. */
function speaksWithin(stream: NodeJS.ReadStream, milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (speaks: boolean) => {
      clearTimeout(timer);
      stream.off("readable", onReadable);
      stream.off("end", onReadable);
      resolve(speaks);
    };
    const onReadable = () => settle(true);
    const timer = setTimeout(() => settle(false), milliseconds);
    stream.on("readable", onReadable);
    stream.on("end", onReadable);
  });
}
