import { readdirSync } from "node:fs";
import { join } from "node:path";
import zlib from "node:zlib";
import { readBeginning, readBytes, readText, withFallback } from "@burin/core/internal";
import { parse as parseJsonWithComments } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { type Fields, type Found, toFields } from "./found.ts";

const MAX_BYTES = 128 * 1024 * 1024;
const MAX_DEPTH = 4;

/** The text of a file of another agent; null when there is none. A file that cannot be read is reported. */
export function readForeignText(file: string, found: Found): string | null {
  try {
    return file.endsWith(COMPRESSED_EXTENSIONS)
      ? unpackFile(file).toString("utf8")
      : readText(file, MAX_BYTES);
  } catch (error) {
    found.leave(file, error);
    return null;
  }
}

/** Codex compresses a record after a week. */
export const COMPRESSED_EXTENSIONS = ".zst";

function unpackFile(file: string): Buffer {
  const { zstdDecompressSync: unpack } = zlib as typeof zlib & { readonly zstdDecompressSync?: Unpack };
  if (unpack === undefined)
    throw new Error("it is compressed, which needs Node.js 22.15 or later: run burin import with that");
  return unpack(readBytes(file, MAX_BYTES) ?? Buffer.alloc(0), { maxOutputLength: MAX_BYTES });
}

type Unpack = (bytes: Buffer, limits: { readonly maxOutputLength: number }) => Buffer;

/** A settings file in JSON, with comments, or in TOML; empty when there is none. A broken one is reported. */
export function readForeignSettings(file: string, found: Found): Fields {
  const source = readForeignText(file, found);
  if (source === null) return {};
  try {
    if (file.endsWith(".toml")) return toFields(parseToml(source));
    const errors: { readonly offset: number }[] = [];
    const value = toFields(parseJsonWithComments(source, errors as [], { allowTrailingComma: true }));
    if (errors[0] !== undefined) throw new Error(`not valid JSON at character ${errors[0].offset}`);
    return value;
  } catch (error) {
    found.leave(file, error);
    return {};
  }
}

/** The objects of a record: one per line, or one in the whole file. Anything else, such as half a line, is skipped. */
export function readJsonLines(source: string): Fields[] {
  const whole = parseObject(source);
  if (whole !== null) return [whole];
  return source
    .split("\n")
    .map(parseObject)
    .filter((line) => line !== null);
}

function parseObject(source: string): Fields | null {
  return withFallback(null, () => toFields(JSON.parse(source)));
}

/** The same for the first lines of a file that may be long, one after the other. */
export function* readFirstLines(file: string, bytes: number): Generator<Fields> {
  const head = (
    file.endsWith(COMPRESSED_EXTENSIONS) ? unpackFile(file) : readBeginning(file, bytes)
  ).toString("utf8");
  for (const line of head.split("\n")) yield parseObject(line) ?? {};
}

/** All files below a folder with such an ending, sorted by path. */
export function listFilesBelow(folder: string, ending: RegExp, depth = MAX_DEPTH): string[] {
  return listEntries(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? listFilesBelow(path, ending, depth - 1) : [];
    return entry.isFile() && ending.test(entry.name) ? [path] : [];
  });
}

/** Empty when there is no such folder. */
export function listEntries(folder: string) {
  const entries = withFallback([], () => readdirSync(folder, { withFileTypes: true }));
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}
