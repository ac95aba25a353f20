import type { FileStamp } from "./work-look.ts";

/** What git's index says about one path. */
export interface IndexEntry {
  readonly id: string;
  readonly mode: number;
  /** The stage: 0 unless a merge left a conflict. */
  readonly stage: number;
  /** The file's stats when git last compared it with the object. */
  readonly modified: number;
  readonly changed: number;
  readonly inode: number;
  readonly bytes: number;
}

const REGULAR_FILE = 0o100000;
const FILE_TYPE_MASK = 0o170000;
const MAX_ENTRIES = 2_000_000;

/**
 * Parses an index of version 2, 3 or 4. Keys are `path`, or `path`, NUL and the stage. null for what cannot be parsed
 * here: other versions, and a split or sparse index.
 */
export function parseIndex(bytes: Buffer, idBytes = 20): Map<string, IndexEntry> | null {
  if (bytes.length < 12 || bytes.toString("latin1", 0, 4) !== "DIRC") return null;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (version < 2 || version > 4 || count > MAX_ENTRIES) return null;
  const entries = new Map<string, IndexEntry>();
  let at = 12;
  let last: Buffer = Buffer.alloc(0);
  for (let index = 0; index < count; index += 1) {
    const flagsAt = at + 40 + idBytes;
    if (flagsAt + 2 > bytes.length) return null;
    const flags = bytes.readUInt16BE(flagsAt);
    const nameAt = flagsAt + 2 + ((flags & 0x4000) !== 0 ? 2 : 0);
    const name = version === 4 ? readPackedName(bytes, nameAt, last) : readPlainName(bytes, nameAt, at);
    if (name === null) return null;
    const entry = parseEntry(bytes, at, { idBytes, flags });
    if (entry.mode === 0o040000) return null;
    const path = name.path.toString("utf8");
    entries.set(entry.stage === 0 ? path : `${path}\0${entry.stage}`, entry);
    last = name.path;
    at = name.end;
  }
  return hasOnlyKnownExtensions(bytes, at, idBytes) ? entries : null;
}

function parseEntry(
  bytes: Buffer,
  at: number,
  { idBytes, flags }: { idBytes: number; flags: number },
): IndexEntry {
  const readWord = (offset: number) => bytes.readUInt32BE(at + offset);
  return {
    changed: readWord(0) * 1000 + readWord(4) / 1e6,
    modified: readWord(8) * 1000 + readWord(12) / 1e6,
    inode: readWord(20),
    mode: readWord(24),
    bytes: readWord(36),
    id: bytes.toString("hex", at + 40, at + 40 + idBytes),
    stage: (flags >> 12) & 3,
  };
}

interface EntryName {
  readonly path: Buffer;
  /** The position of the next entry. */
  readonly end: number;
}

/** Reads a name, which one to eight NULs follow, so that the entry's length is a multiple of eight bytes. */
function readPlainName(bytes: Buffer, nameAt: number, entryStart: number): EntryName | null {
  const end = bytes.indexOf(0, nameAt);
  if (end === -1) return null;
  const length = end - entryStart;
  return { path: bytes.subarray(nameAt, end), end: entryStart + (Math.floor(length / 8) + 1) * 8 };
}

/** The entry says how many bytes to drop from the previous name, and what to append. */
function readPackedName(bytes: Buffer, nameAt: number, last: Buffer): EntryName | null {
  let at = nameAt;
  let byte = bytes[at++] ?? 0;
  let dropped = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes[at++] ?? 0;
    dropped = ((dropped + 1) << 7) + (byte & 0x7f);
  }
  const end = bytes.indexOf(0, at);
  if (end === -1 || dropped > last.length) return null;
  return {
    path: Buffer.concat([last.subarray(0, last.length - dropped), bytes.subarray(at, end)]),
    end: end + 1,
  };
}

/** An extension whose name begins with a lower-case letter is required to understand the entries. */
function hasOnlyKnownExtensions(bytes: Buffer, start: number, idBytes: number): boolean {
  for (let at = start; at + 8 <= bytes.length - idBytes; at += 8 + bytes.readUInt32BE(at + 4)) {
    if ((bytes[at] ?? 0) >= 0x61) return false;
  }
  return true;
}

/** A double holds a current time to about a quarter of a microsecond. */
const SAME_TIME_MS = 0.001;

/** Whether the file still matches the entry's id, as far as git itself could tell without reading the file. */
export function matchesIndexEntry(entry: IndexEntry, file: FileStamp, indexModified: number): boolean {
  const { stage, mode, bytes, inode, modified, changed } = entry;
  if (
    stage !== 0 ||
    (mode & FILE_TYPE_MASK) !== REGULAR_FILE ||
    (file.mode & FILE_TYPE_MASK) !== REGULAR_FILE
  )
    return false;
  if (bytes !== file.bytes % 2 ** 32 || inode !== file.inode % 2 ** 32) return false;
  // A file written at the same moment as the index could have been written again since.
  if (modified >= indexModified) return false;
  return Math.abs(modified - file.modified) < SAME_TIME_MS && Math.abs(changed - file.changed) < SAME_TIME_MS;
}
