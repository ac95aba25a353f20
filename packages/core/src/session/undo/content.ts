import { createHash } from "node:crypto";
import { closeSync, constants, readlinkSync, readSync, type Stats } from "node:fs";
import { openRegularFile } from "@burin/files/disk/regular-file";
import { hashRepository } from "@burin/files/tree";

/** What is at a path: a file, unless `kind` says otherwise. Holds enough to recognize the content. */
export interface Content {
  readonly kind?: "link" | "folder" | "repository";
  readonly bytes: number;
  readonly mode: number;
  /** The SHA-256 of its bytes. Without it, a file is recognized by the fields below. */
  readonly hash?: string;
  /** The id under which git stores exactly these bytes. */
  readonly git?: string;
  readonly inode?: number;
  readonly modified?: number;
  /** The name of the file in which its bytes are stored. */
  readonly kept?: string;
  /** The target of a link, or a mark of a repository's state. */
  readonly target?: string;
}

const MAX_HASHED_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

export function describeFile(path: string, stats: Stats, hash?: string): Content {
  const known = { bytes: stats.size, mode: stats.mode & 0o7777 };
  if (stats.size <= MAX_HASHED_BYTES) return { ...known, hash: hash ?? hashFile(path) };
  return { ...known, inode: stats.ino, modified: stats.mtimeMs };
}

export function describeLink(path: string, stats: Stats): Content {
  return { kind: "link", bytes: 0, mode: stats.mode & 0o7777, target: readlinkSync(path) };
}

/** Describes the `.git` folder of a repository that a call created. */
export function describeRepository(path: string, mode: number): Content {
  return { kind: "repository", bytes: 0, mode: mode & 0o7777, target: hashRepository(path) };
}

export function describeFolder(mode: number): Content {
  return { kind: "folder", bytes: 0, mode: mode & 0o7777 };
}

/** Whether two contents are equal, modes aside. `read` returns git's id of the present content, for comparison. */
export function isSameContent(
  one: Content | null,
  other: Content | null,
  read?: (like: string) => string,
): boolean {
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

/** Returns the id that git would give a file's bytes, by the same kind of hash as `like`. */
export function computeGitId(path: string, bytes: number, like: string): string {
  const hash = createHash(like.length > 40 ? "sha256" : "sha1").update(`blob ${bytes}\0`);
  return updateHash(path, hash).digest("hex");
}

function hashFile(path: string): string {
  return updateHash(path, createHash("sha256")).digest("base64");
}

function updateHash(path: string, hash: ReturnType<typeof createHash>) {
  const descriptor = openRegularFile(path, constants.O_NOFOLLOW);
  try {
    for (const bytes of readChunks(descriptor)) hash.update(bytes);
    return hash;
  } finally {
    closeSync(descriptor);
  }
}

/** Hashes all bytes after the current position. */
export function hashDescriptor(descriptor: number): string {
  const hash = createHash("sha256");
  for (const bytes of readChunks(descriptor)) hash.update(bytes);
  return hash.digest("base64");
}

/** Yields the bytes after the current position. Each chunk is valid only until the next one. */
export function* readChunks(descriptor: number): Generator<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const count = readSync(descriptor, chunk, 0, chunk.length, null);
    if (count === 0) return;
    yield chunk.subarray(0, count);
  }
}
