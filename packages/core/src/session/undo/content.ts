import { createHash } from "node:crypto";
import { closeSync, constants, readlinkSync, readSync, type Stats } from "node:fs";
import { openRegular } from "@burin/files/disk/regular-file";
import { markOf } from "@burin/files/tree";

/** What is at a path: a file unless `kind` says otherwise. The content, or enough to recognize it. */
export interface Content {
  readonly kind?: "link" | "folder" | "repository";
  readonly bytes: number;
  readonly mode: number;
  /** The SHA-256 of its bytes; without it the file is recognized by the fields below. */
  readonly hash?: string;
  /** The id under which git has exactly these bytes. */
  readonly git?: string;
  readonly inode?: number;
  readonly modified?: number;
  /** The name of the file that keeps its bytes. */
  readonly kept?: string;
  /** Where a link leads, or what tells the state of a repository. */
  readonly target?: string;
}

const MOST_HASHED_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

export function contentOf(path: string, stats: Stats, hash?: string): Content {
  const known = { bytes: stats.size, mode: stats.mode & 0o7777 };
  if (stats.size <= MOST_HASHED_BYTES) return { ...known, hash: hash ?? hashOfFile(path) };
  return { ...known, inode: stats.ino, modified: stats.mtimeMs };
}

export function linkContent(path: string, stats: Stats): Content {
  return { kind: "link", bytes: 0, mode: stats.mode & 0o7777, target: readlinkSync(path) };
}

/** The `.git` folder of a repository that a call made. */
export function repositoryContent(path: string, mode: number): Content {
  return { kind: "repository", bytes: 0, mode: mode & 0o7777, target: markOf(path) };
}

export function folderContent(mode: number): Content {
  return { kind: "folder", bytes: 0, mode: mode & 0o7777 };
}

/** Whether two hold the same, modes aside. `read` gives git's id of what is there now, in place of its hash. */
export function isSame(one: Content | null, other: Content | null, read?: (like: string) => string): boolean {
  if (one === null || other === null) return one === other;
  if (one.kind !== other.kind) return false;
  if (one.kind === "folder") return true;
  if (one.kind !== undefined) return one.target === other.target;
  if (one.bytes !== other.bytes) return false;
  if (one.hash !== undefined && other.hash !== undefined) return one.hash === other.hash;
  if (one.git !== undefined && other.git !== undefined) return one.git === other.git;
  const id = one.git ?? other.git;
  if (id !== undefined && read !== undefined) return read(id) === id;
  return one.inode !== undefined && one.inode === other.inode && one.modified === other.modified;
}

/** The id that git would give the bytes of a file, of the same kind as `like`. */
export function gitIdOf(path: string, bytes: number, like: string): string {
  const hash = createHash(like.length > 40 ? "sha256" : "sha1").update(`blob ${bytes}\0`);
  return hashWith(path, hash).digest("hex");
}

function hashOfFile(path: string): string {
  return hashWith(path, createHash("sha256")).digest("base64");
}

function hashWith(path: string, hash: ReturnType<typeof createHash>) {
  const descriptor = openRegular(path, constants.O_NOFOLLOW);
  try {
    for (const bytes of chunksOf(descriptor)) hash.update(bytes);
    return hash;
  } finally {
    closeSync(descriptor);
  }
}

/** Of all bytes after the current position. */
export function hashOfOpen(descriptor: number): string {
  const hash = createHash("sha256");
  for (const bytes of chunksOf(descriptor)) hash.update(bytes);
  return hash.digest("base64");
}

/** The bytes after the current position; each chunk holds only until the next. */
export function* chunksOf(descriptor: number): Generator<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const count = readSync(descriptor, chunk, 0, chunk.length, null);
    if (count === 0) return;
    yield chunk.subarray(0, count);
  }
}
