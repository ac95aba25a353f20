import type { Stats } from "node:fs";
import { chmod, lstat, mkdir, readdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { readBytes } from "@burin/core/internal";

/** A change to one path in a folder, as plain data. Paths are relative and use slashes. */
export type Change =
  | { readonly path: string; readonly gone: true }
  | { readonly path: string; readonly folder: true; readonly mode: number }
  | { readonly path: string; readonly link: string }
  | FileChange;

interface FileChange {
  readonly path: string;
  readonly mode: number;
  /** This many bytes at the beginning and at the end are the same as before. */
  readonly head?: number;
  readonly tail?: number;
  /** The bytes in between, deflated and base64-encoded. */
  readonly data: string;
}

export interface FolderChanges {
  readonly changes: readonly Change[];
  /** Files that are too large to store. */
  readonly left: readonly string[];
}

const MAX_FILE_BYTES = 32 * 1024 * 1024;
/** The limit for old contents that are kept in memory. A changed file without one is stored as a whole again. */
const MAX_REMEMBERED_BYTES = 32 * 1024 * 1024;

/** Finds what has changed in a folder since the last time, whatever changed it. */
export class WatchedFolder {
  readonly #root: string;
  /** A folder with the files that this one had at first. It is never changed. */
  readonly #base: string | null;
  #entries = new Map<string, string>();
  readonly #remembered = new Map<string, Buffer>();
  #rememberedBytes = 0;
  /** Paths that differ from the base. */
  readonly #changed = new Set<string>();

  constructor(root: string, base: string | null) {
    this.#root = root;
    this.#base = base;
  }

  /** Starts the comparison: only changes from now on count. */
  async beginComparison(): Promise<void> {
    this.#entries = formatStamps(await readEntries(this.#root));
  }

  async readChanges(): Promise<FolderChanges> {
    const present = await readEntries(this.#root);
    const changes: Change[] = [];
    const left: string[] = [];
    for (const path of this.#entries.keys()) {
      const folder = dirname(path);
      // The contents of a removed folder need no change of their own.
      const isAlone = folder === "." || present.has(folder);
      if (isAlone && !present.has(path)) changes.push({ path, gone: true });
    }
    for (const [path, stats] of present) {
      if (this.#entries.get(path) === formatStamp(stats)) continue;
      const change = await this.#readChange(path, stats).catch(ignoreMissing);
      if (change === "large") left.push(path);
      else if (change !== null) changes.push(change);
    }
    this.#entries = formatStamps(present);
    return { changes, left };
  }

  async #readChange(path: string, stats: Stats): Promise<Change | "large" | null> {
    const mode = stats.mode & 0o7777;
    const place = join(this.#root, path);
    if (stats.isDirectory()) return { path, folder: true, mode };
    if (stats.isSymbolicLink()) return { path, link: await readlink(place) };
    if (stats.size > MAX_FILE_BYTES) return "large";
    const bytes = readBytes(place, MAX_FILE_BYTES);
    if (bytes === null) return null;
    const old = this.#recallContent(path);
    this.#rememberContent(path, bytes);
    return { path, mode, ...diffBytes(old, bytes) };
  }

  /** Returns the file's content at the last check; null if there was no file, or if its content is no longer known. */
  #recallContent(path: string): Buffer | null {
    if (!this.#entries.get(path)?.startsWith("file")) return null;
    const known = this.#remembered.get(path);
    if (known !== undefined) return known;
    // A file that has changed and is no longer in memory differs from the base, too.
    if (this.#base === null || this.#changed.has(path)) return null;
    return readBytes(join(this.#base, path), MAX_FILE_BYTES);
  }

  #rememberContent(path: string, bytes: Buffer): void {
    this.#changed.add(path);
    this.#rememberedBytes += bytes.length - (this.#remembered.get(path)?.length ?? 0);
    this.#remembered.delete(path);
    this.#remembered.set(path, bytes);
    for (const [oldest, { length }] of this.#remembered) {
      if (this.#rememberedBytes <= MAX_REMEMBERED_BYTES) break;
      this.#remembered.delete(oldest);
      this.#rememberedBytes -= length;
    }
  }
}

/** Returns the whole content of a folder, as changes to an empty one. */
export async function readWholeFolder(root: string): Promise<FolderChanges> {
  return new WatchedFolder(root, null).readChanges();
}

/** Applies changes to a folder that is in the state before them. */
export async function applyChanges(root: string, changes: readonly Change[]): Promise<void> {
  for (const change of changes) {
    const place = join(root, change.path);
    if ("gone" in change) await rm(place, { recursive: true, force: true });
    else if ("folder" in change) await createFolder(place, change.mode);
    else if ("link" in change) {
      await rm(place, { recursive: true, force: true });
      await symlink(change.link, place);
    } else await writeChanged(place, change);
  }
}

async function createFolder(place: string, mode: number): Promise<void> {
  const present = await lstat(place).catch(() => null);
  if (present !== null && !present.isDirectory()) await rm(place);
  await mkdir(place, { recursive: true });
  await chmod(place, mode | 0o700);
}

async function writeChanged(place: string, { mode, head = 0, tail = 0, data }: FileChange): Promise<void> {
  const old = (head + tail > 0 ? readBytes(place, MAX_FILE_BYTES) : null) ?? Buffer.alloc(0);
  if (head + tail > old.length)
    throw new Error(
      `${place} is shorter than when its change was recorded, so the change cannot be applied.`,
    );
  const between = inflateRawSync(Buffer.from(data, "base64"));
  const bytes = Buffer.concat([old.subarray(0, head), between, old.subarray(old.length - tail)]);
  await rm(place, { recursive: true, force: true });
  await mkdir(dirname(place), { recursive: true });
  await writeFile(place, bytes);
  await chmod(place, mode);
}

function diffBytes(old: Buffer | null, bytes: Buffer): Omit<FileChange, "path" | "mode"> {
  const max = Math.min(old?.length ?? 0, bytes.length);
  let head = 0;
  let tail = 0;
  if (old !== null) {
    while (head < max && old[head] === bytes[head]) head += 1;
    while (tail < max - head && old[old.length - 1 - tail] === bytes[bytes.length - 1 - tail]) tail += 1;
  }
  const data = deflateRawSync(bytes.subarray(head, bytes.length - tail)).toString("base64");
  return { ...(head > 0 && { head }), ...(tail > 0 && { tail }), data };
}

/** Lists a folder, with each folder before its contents. Leaves out sockets and devices. */
async function readEntries(root: string): Promise<Map<string, Stats>> {
  const found = new Map<string, Stats>();
  const walkFolder = async (below: string): Promise<void> => {
    const names = await readdir(join(root, below)).catch(() => []);
    const entries = await Promise.all(
      names.map(async (name) => {
        const path = below === "" ? name : `${below}/${name}`;
        return [path, await lstat(join(root, path)).catch(() => null)] as const;
      }),
    );
    for (const [path, stats] of entries) {
      if (stats === null || !(stats.isFile() || stats.isDirectory() || stats.isSymbolicLink())) continue;
      found.set(path, stats);
      if (stats.isDirectory()) await walkFolder(path);
    }
  };
  await walkFolder("");
  return found;
}

function formatStamps(entries: ReadonlyMap<string, Stats>): Map<string, string> {
  return new Map([...entries].map(([path, stats]) => [path, formatStamp(stats)]));
}

/**
 * Returns a stamp that differs for each content, because every write changes a file's ctime. The ctime of a folder also
 * changes, but means nothing.
 */
function formatStamp(stats: Stats): string {
  if (stats.isDirectory()) return `folder ${stats.mode}`;
  return `${stats.isFile() ? "file" : "link"} ${stats.mode} ${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}

/** Returns null for a file that was removed while the folder was being read; throws any other error. */
function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
