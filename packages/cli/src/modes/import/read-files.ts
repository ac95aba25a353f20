import { readdirSync } from "node:fs";
import { join } from "node:path";
import zlib from "node:zlib";
import { readBeginning, readBytes, readText, withFallback } from "@burin/core/internal";
import { parse as parseJsonWithComments } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { type Fields, type Found, toFields } from "./found.ts";

const MAX_BYTES = 128 * 1024 * 1024;
const MAX_DEPTH = 4;

/** Reads another agent's file. Returns null if there is no such file; reports a file that cannot be read. */
export function readForeignText(file: string, found: Found): string | null {
  try {
    return file.endsWith(COMPRESSED_EXTENSIONS)
      ? unpackFile(file).toString("utf8")
      : readText(file, MAX_BYTES);
  } catch (error) {
    found.noteLeftOut(file, error);
    return null;
  }
}

/** The extension of compressed records: Codex compresses them after a week. */
export const COMPRESSED_EXTENSIONS = ".zst";

function unpackFile(file: string): Buffer {
  const { zstdDecompressSync: unpack } = zlib as typeof zlib & { readonly zstdDecompressSync?: Unpack };
  if (unpack === undefined)
    throw new Error("it is compressed, which needs Node.js 22.15 or later: run burin import with that");
  return unpack(readBytes(file, MAX_BYTES) ?? Buffer.alloc(0), { maxOutputLength: MAX_BYTES });
}

type Unpack = (bytes: Buffer, limits: { readonly maxOutputLength: number }) => Buffer;

/** Reads a settings file in JSON (with comments) or TOML. Returns {} if there is none; reports a broken one. */
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
    found.noteLeftOut(file, error);
    return {};
  }
}

/** Parses a record: one object per line, or one object in the whole file. Skips anything else, such as half a line. */
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

/** Yields the objects in the first lines of a file that may be long. A line without an object yields {}. */
export function* readFirstLines(file: string, bytes: number): Generator<Fields> {
  const head = (
    file.endsWith(COMPRESSED_EXTENSIONS) ? unpackFile(file) : readBeginning(file, bytes)
  ).toString("utf8");
  for (const line of head.split("\n")) yield parseObject(line) ?? {};
}

/** Lists all files below a folder whose names match, sorted by path. */
export function listFilesBelow(folder: string, ending: RegExp, depth = MAX_DEPTH): string[] {
  return listEntries(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? listFilesBelow(path, ending, depth - 1) : [];
    return entry.isFile() && ending.test(entry.name) ? [path] : [];
  });
}

/** Lists a folder's entries by name; returns none if there is no such folder. */
export function listEntries(folder: string) {
  const entries = withFallback([], () => readdirSync(folder, { withFileTypes: true }));
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}
