import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { AllowedWrite, FileHelpers } from "@burin/contract/machine/file-helpers";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { withFallback } from "@burin/contract/with-fallback";
import { explainProtectedFile } from "@burin/shell-judge";
import { randomName } from "../disk/own-files.ts";
import { readErrorCode, toWorkspaceError } from "../disk/system-error.ts";
import {
  closeCreatedFolders,
  openTargetFolder,
  removeCreatedFolders,
  type TargetFolder,
} from "../paths/target-folder.ts";
import { PreservedAttributes } from "./file-attributes.ts";
import { mayHaveChanged } from "./held-file.ts";
import { CHUNK_BYTES, waitForNextTurn } from "./read-opened.ts";

export { learnPlainFiles } from "./file-attributes.ts";

/** The new content of a file, and a way to check that the file still has the content it is based on. */
export interface NewContent {
  /** Writes the content to an empty file, which stays open. */
  writeTo(descriptor: number): Promise<void>;
  /** Whether the file to be replaced, open at its beginning, still has exactly the content that is replaced. */
  isOf(descriptor: number): Promise<boolean>;
  /** Called once while the disk is writing, for work that needs no disk. */
  meanwhile?(): void;
  /** Called with the new file's stats once it has its final name. */
  settled?(stats: BigIntStats): void;
}

/** A change of a file that is about to happen. */
export interface PendingChange {
  /** The real path of the file. */
  readonly real: string;
  /** A path to the current file, safe from swapped folders; null if there is none. */
  readonly present: string | null;
  /** A path to a file with the whole new content; null if the file will be removed. */
  readonly coming: string | null;
  /** The number of folders above the file that were created for it. */
  readonly madeFolders: number;
  /** The SHA-256 of both contents, where it is known already. */
  readonly hashes?: { readonly present: string; readonly coming: string };
}

/**
 * Called just before each change. Returns a note for the user, and a way to forget the change if it does not happen
 * after all.
 */
export type OnChange = (change: PendingChange) => { readonly note: string | null; forget(): void };

/** A file that is being written, next to the file that it will replace. */
export interface PendingWrite {
  readonly name: string;
  /** Call this when the file has its final name or is gone. */
  end(): void;
}

/** Announces a new file, so that it is removed after a crash. Returns undefined where nobody cleans up. */
export type BeginWrite = (folder: string) => Promise<PendingWrite> | undefined;

export interface Replacement {
  /** The path as it was requested; only for messages. */
  readonly file: string;
  /** The real path. */
  readonly real: string;
  readonly roots: readonly string[];
  /** The file's stats when it was read; null when it must not exist. */
  readonly stats: BigIntStats | null;
  readonly content: NewContent;
  /** The mode for a file that does not exist yet. */
  readonly mode?: number | undefined;
  readonly onChange?: OnChange | undefined;
  readonly beginWrite?: BeginWrite | undefined;
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Burin's own folder, where sandbox guards read which protected files the user has allowed. */
  readonly home?: string | undefined;
  readonly helpers: FileHelpers;
}

/** A part of this size stays in the processor's cache while it is compared. */
const COMPARED_BYTES = 64 * 1024;
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CREATE_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** The open errors that mean the name is gone, or is now a link or a socket. */
const REPLACED_CODES = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EMLINK", "ENXIO"]);

const fsyncAsync = promisify(fsync);

/** On a fast disk, syncing so few bytes on another thread takes several times as long as waiting here. */
const QUICK_SYNC = { bytes: 64 * 1024, seconds: 0.01 };
const SYNCS_AFTER_SLOW_ONE = 100;
/** Shared by sessions: how fast the disk was lately. It only decides which thread waits. */
let syncsForThread = 0;

/**
 * Replaces a file in one step: a new file is written and synced next to it, then renamed. Whatever happens, the file
 * has either the old or the new content. Returns what could not be preserved. A file with several hard links becomes a
 * separate file, and the other names keep the old content: they may be outside the root, and writing to the shared file
 * would be neither atomic nor contained.
 */
export async function replaceFile(replacement: Replacement): Promise<readonly string[]> {
  const allowed = await beginAllowedWrite(replacement);
  try {
    return await replaceWithPermission(replacement, allowed);
  } finally {
    allowed?.end();
  }
}

/** Allows the user's own write of a protected file, which commands may not create; null for other files. */
async function beginAllowedWrite({ real, home, helpers }: Replacement): Promise<AllowedWrite | null> {
  return home === undefined || explainProtectedFile(real) === null ? null : helpers.allowWrite(real, home);
}

async function replaceWithPermission(
  replacement: Replacement,
  allowed: AllowedWrite | null,
): Promise<readonly string[]> {
  const folder = await openTargetFolder(replacement.real, replacement.roots);
  try {
    const notes = await replaceInFolder(folder, replacement, allowed);
    closeCreatedFolders(folder.createdFolders);
    return notes;
  } catch (error) {
    await removeCreatedFolders(folder.createdFolders);
    throw readErrorCode(error) === "EPERM"
      ? createForbiddenError(replacement.file)
      : toWorkspaceError(error, replacement.file);
  } finally {
    closeSync(folder.descriptor);
  }
}

async function replaceInFolder(
  folder: TargetFolder,
  replacement: Replacement,
  allowed: AllowedWrite | null,
): Promise<readonly string[]> {
  const target = folder.path(folder.name);
  const old = replacement.stats === null ? null : await checkOldFile(target, replacement.stats, replacement);
  const begun = await replacement.beginWrite?.(dirname(replacement.real));
  try {
    const name = begun?.name ?? `.burin-${randomName()}.tmp`;
    return await writeSibling({ folder, old, name, allowed }, replacement);
  } finally {
    begun?.end();
  }
}

interface SiblingWrite {
  readonly folder: TargetFolder;
  /** The stats of the file to be replaced. */
  readonly old: BigIntStats | null;
  /** The name of the new file beside it. */
  readonly name: string;
  readonly allowed: AllowedWrite | null;
}

async function writeSibling(
  { folder, old, name, allowed }: SiblingWrite,
  replacement: Replacement,
): Promise<readonly string[]> {
  const [target, temporary] = [folder.path(folder.name), folder.path(name)];
  const attributes = old && new PreservedAttributes({ ...replacement, folder, stats: old });
  const descriptor = openSync(temporary, CREATE_FLAGS, old === null ? 0o666 : 0o600);
  let kept: ReturnType<OnChange> | undefined;
  try {
    const notes = old === null ? [] : copyOwnership(descriptor, old);
    if (old === null && replacement.mode !== undefined) fchmodSync(descriptor, replacement.mode);
    await replacement.content.writeTo(descriptor);
    if (old !== null) restoreMode(descriptor, old);
    const synced = syncFile(descriptor);
    replacement.content.meanwhile?.();
    await synced;
    if (await attributes?.copyAttributes(name)) await syncFile(descriptor);
    allowed?.permit(temporary);
    kept = replacement.onChange?.({
      real: replacement.real,
      present: old && target,
      coming: temporary,
      madeFolders: folder.createdFolders.length,
    });
    if (old === null) moveIntoPlace(temporary, target, replacement);
    else {
      await assertUnchanged(target, replacement);
      renameSync(temporary, target);
    }
    const stats = fstatSync(descriptor, { bigint: true });
    attributes?.rememberNoAttributes(stats);
    replacement.content.settled?.(stats);
    // The rename has happened; if the system cannot sync folders, nothing more can be done.
    await syncFile(folder.descriptor).catch(() => {});
    return kept?.note ? [...notes, kept.note] : notes;
  } catch (error) {
    kept?.forget();
    // If it is already gone or cannot be removed, the earlier error is the one to report.
    withFallback(undefined, () => unlinkSync(temporary));
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** After a slow sync, the next syncs run on another thread. */
async function syncFile(descriptor: number): Promise<void> {
  if (syncsForThread > 0 || fstatSync(descriptor).size > QUICK_SYNC.bytes) {
    syncsForThread = Math.max(syncsForThread - 1, 0);
    return fsyncAsync(descriptor);
  }
  const start = process.uptime();
  fsyncSync(descriptor);
  syncsForThread = process.uptime() - start > QUICK_SYNC.seconds ? SYNCS_AFTER_SLOW_ONE : 0;
}

/**
 * Returns the stats of the file now; throws when it is not the one to be replaced. A rename needs permission only for
 * the folder; the permission of the file itself is checked here.
 */
async function checkOldFile(
  target: string,
  then: BigIntStats,
  replacement: Replacement,
): Promise<BigIntStats> {
  const now = lstatSync(target, { bigint: true, throwIfNoEntry: false });
  if (!now?.isFile()) throw createChangedError(replacement.file);
  // If the stats show no change, the bytes are compared at the last moment instead.
  if (mayHaveChanged(now, then)) await assertUnchanged(target, replacement);
  accessSync(target, constants.W_OK);
  return now;
}

/** Gives the new file the owner and mode of the old file. Returns what could not be kept. */
function copyOwnership(descriptor: number, old: BigIntStats): string[] {
  const notes: string[] = [];
  const [uid, gid, mode] = [old.uid, old.gid, old.mode & 0o7777n].map(Number) as [number, number, number];
  const fresh = fstatSync(descriptor);
  try {
    if (fresh.uid !== uid || fresh.gid !== gid) fchownSync(descriptor, uid, gid);
  } catch {
    notes.push("its owner could not be kept");
  }
  if (old.nlink > 1n) notes.push(`its ${old.nlink - 1n} other hard link(s) keep the old content`);
  fchmodSync(descriptor, mode);
  return notes;
}

/**
 * When anyone but root writes, the kernel clears setuid and setgid. With a different owner they would mean different
 * rights.
 */
function restoreMode(descriptor: number, old: BigIntStats): void {
  const { uid, gid, mode } = fstatSync(descriptor, { bigint: true });
  if (uid === old.uid && gid === old.gid && mode !== old.mode)
    fchmodSync(descriptor, Number(old.mode & 0o7777n));
}

/** Linking fails if the name already exists; a rename would replace it. */
function moveIntoPlace(temporary: string, target: string, { file }: Replacement): void {
  try {
    linkSync(temporary, target);
  } catch (error) {
    if (readErrorCode(error) === "EEXIST") throw createChangedError(file);
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(readErrorCode(error) ?? ""))
      throw error;
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw createChangedError(file);
    renameSync(temporary, target);
    return;
  }
  unlinkSync(temporary);
}

async function assertUnchanged(target: string, { file, content }: Replacement): Promise<void> {
  let descriptor: number;
  try {
    descriptor = openSync(target, READ_FLAGS);
  } catch (error) {
    // Any other error tells nothing about the file's content.
    throw REPLACED_CODES.has(readErrorCode(error) ?? "") ? createChangedError(file) : error;
  }
  try {
    if (!fstatSync(descriptor).isFile() || !(await content.isOf(descriptor))) throw createChangedError(file);
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces old content in memory with new content in memory. */
export function createMemoryContent(
  before: Buffer | null,
  after: Iterable<Buffer>,
  signal: AbortSignal,
): Pick<NewContent, "writeTo" | "isOf"> {
  return {
    writeTo: async (descriptor) => {
      for (const piece of after) {
        for (let at = 0; at < piece.length; at += CHUNK_BYTES) {
          signal.throwIfAborted();
          writeFileSync(descriptor, piece.subarray(at, at + CHUNK_BYTES));
          if (piece.length >= CHUNK_BYTES) await waitForNextTurn();
        }
      }
    },
    isOf: async (descriptor) => before !== null && hasBytes(descriptor, before),
  };
}

async function hasBytes(descriptor: number, expected: Buffer): Promise<boolean> {
  const chunk = Buffer.allocUnsafe(Math.min(COMPARED_BYTES, expected.length + 1));
  for (let at = 0; ; ) {
    const count = readSync(descriptor, chunk);
    if (count === 0) return at === expected.length;
    if (!chunk.subarray(0, count).equals(expected.subarray(at, at + count))) return false;
    at += count;
    if (at % CHUNK_BYTES === 0) await waitForNextTurn();
  }
}

/** Explains a permission error that no missing permission bit explains. */
function createForbiddenError(file: string): WorkspaceError {
  return new WorkspaceError(
    "permission_denied",
    [
      `No permission for ${file}, whatever its mode says: it or its folder may be`,
      "marked immutable or append-only (lsattr shows it), or the folder lets only owners replace files.",
      "Nothing was written.",
    ].join(" "),
  );
}

/** Creates the error for a file that is no longer the one that the change is based on. */
export function createChangedError(file: string): WorkspaceError {
  return new WorkspaceError(
    "changed_on_disk",
    `${file} has changed on disk since it was looked at, so nothing was written. Read it again with read_file, include what changed, and repeat the call.`,
  );
}
