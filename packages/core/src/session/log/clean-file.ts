import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, type FileHandle, open, rename, rm } from "node:fs/promises";
import type { OutputSecrets } from "@burin/commands/shell/command-request";
import { Redactor, type Secrets } from "./redactor.ts";

const CHUNK_BYTES = 256 * 1024;
/** The maximum number of bytes of a secret. A secret may start in one part of the file and end in the next. */
const LONGEST_SECRET = 16 * 1024;

export function createOutputSecrets(secrets: Secrets): OutputSecrets {
  const redactor = new Redactor(secrets, "latin1");
  return { isIn: (bytes) => redactor.containsSecret(bytes), clean: (file) => cleanFile(file, redactor) };
}

/** Removes secrets from a file of any size, atomically. The redactor must know them as latin1 (bytes). */
export async function cleanFile(path: string, redactor: Redactor): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString("hex")}`;
  const source = await open(path, "r");
  let target: FileHandle | null = null;
  try {
    let done = 0;
    for await (const piece of readPieces(source)) {
      const clean = redactor.containsSecret(Buffer.from(piece, "latin1"))
        ? redactor.redactText(piece)
        : piece;
      if (clean !== piece) target ??= await copyBeginning(path, done, temporary);
      await target?.appendFile(clean, "latin1");
      done += piece.length;
    }
    if (target === null) return;
    await target.close();
    await rename(temporary, path);
  } catch (error) {
    await target?.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await source.close();
  }
}

/** Yields the bytes of a file as latin1 text, split only where no secret can be. */
async function* readPieces(source: FileHandle): AsyncGenerator<string> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let text = "";
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    text += chunk.toString("latin1", 0, bytesRead);
    const end = findPieceEnd(text);
    if (end > 0) yield text.slice(0, end);
    text = text.slice(end);
  }
  if (text !== "") yield text;
}

/** Returns the last position after white space that is not inside a key of several lines. */
function findPieceEnd(text: string): number {
  const last = text.length - LONGEST_SECRET;
  if (last <= 0) return 0;
  let end = last;
  while (end > 0 && text.charCodeAt(end - 1) > 0x20) end -= 1;
  if (end < last - LONGEST_SECRET) return last;
  const key = text.lastIndexOf("-----BEGIN ", end);
  const isOpen = key > end - LONGEST_SECRET && text.indexOf("-----END ", key) > end;
  return isOpen ? key : end;
}

/** Copies the file's first bytes and opens the copy for appending. */
async function copyBeginning(path: string, bytes: number, copy: string): Promise<FileHandle> {
  await copyFile(path, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const handle = await open(copy, "a");
  await handle.truncate(bytes);
  return handle;
}
