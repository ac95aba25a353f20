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
import { orElse } from "@burin/contract/or-else";
import { protectedFile } from "@burin/shell-judge";
import { randomName } from "../disk/random-name.ts";
import { asWorkspaceError, codeOf } from "../disk/system-error.ts";
import { closeMade, openTargetFolder, removeMade, type TargetFolder } from "../paths/target-folder.ts";
import { KeptAttributes } from "./file-attributes.ts";
import { isTouched } from "./held-file.ts";
import { nextTurn, PART_BYTES } from "./read-opened.ts";

/** The new content of a file, and a way to check that the file still has the content it is based on. */
export interface NewContent {
  /** Writes to an empty file, which stays open. */
  writeTo(descriptor: number): Promise<void>;
  /** Whether the file to be replaced, open at its beginning, still has exactly the content that is replaced. */
  isOf(descriptor: number): Promise<boolean>;
  /** Called once while the disk takes the new content, for work that needs no disk. */
  meanwhile?(): void;
  /** Called when the new file has its name, with its stats. */
  settled?(stats: BigIntStats): void;
}

/** A change of a file that is about to happen. */
export interface PendingChange {
  /** The real path of the file. */
  readonly real: string;
  /** Names the file as it is now, whatever its path leads to; null when there is none. */
  readonly present: string | null;
  /** Names a file that has all of the new content; null when the file is to be removed. */
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

/** A file that is being written, in the folder of the file that it will replace. */
export interface BegunWrite {
  readonly name: string;
  /** Call when it has its own name, or is gone. */
  end(): void;
}

/** Resolves to nothing where nobody looks after a crash. */
export type BeginWrite = (folder: string) => Promise<BegunWrite> | undefined;

export interface Replacement {
  /** The path as it was requested; only for messages. */
  readonly file: string;
  /** The real path. */
  readonly real: string;
  readonly roots: readonly string[];
  /** The file's stats when it was read; null when it must not exist. */
  readonly stats: BigIntStats | null;
  readonly content: NewContent;
  /** For a file that does not exist. */
  readonly mode?: number | undefined;
  readonly onChange?: OnChange | undefined;
  readonly beginWrite?: BeginWrite | undefined;
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Burin's own folder, where guards of commands learn which protected files the user allows. */
  readonly home?: string | undefined;
  readonly helpers: FileHelpers;
}

/** A part of this size stays in the processor's cache while it is compared. */
const COMPARED_BYTES = 64 * 1024;
const TO_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const TO_FILL = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** What opening says when the name is gone, or is a link or a socket now. */
const NO_LONGER_IT = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EMLINK", "ENXIO"]);

const syncLater = promisify(fsync);

/** On a quick disk, having another thread wait for so few bytes takes several times as long as the wait. */
const QUICK_SYNC = { bytes: 64 * 1024, seconds: 0.01 };
const SYNCS_AFTER_SLOW_ONE = 100;
/** Shared by sessions: how quick the disk was lately; it changes only which thread waits. */
let syncsForThread = 0;

/**
 * Replaces a file in one step: a file next to it is written and synced, then renamed. Whatever happens, the file
 * has the old or the new content. Returns what could not be kept.
 *
 * A file with more than one hard link becomes a file of its own, and the other names keep the old content: they may
 * be outside the root, and writing to the shared file would be neither atomic nor contained.
 */
export async function replaceFile(replacement: Replacement): Promise<readonly string[]> {
  const allowed = await allowWrite(replacement);
  try {
    return await replaceAllowed(replacement, allowed);
  } finally {
    allowed?.end();
  }
}

/** Commands may create no protected file, but this is the user's own wish. null for other files. */
async function allowWrite({ real, home, helpers }: Replacement): Promise<AllowedWrite | null> {
  return home === undefined || protectedFile(real) === null ? null : helpers.allowWrite(real, home);
}

async function replaceAllowed(
  replacement: Replacement,
  allowed: AllowedWrite | null,
): Promise<readonly string[]> {
  const folder = await openTargetFolder(replacement.real, replacement.roots);
  try {
    const notes = await replaceIn(folder, replacement, allowed);
    closeMade(folder.made);
    return notes;
  } catch (error) {
    await removeMade(folder.made);
    throw codeOf(error) === "EPERM" ? forbidden(replacement.file) : asWorkspaceError(error, replacement.file);
  } finally {
    closeSync(folder.descriptor);
  }
}

async function replaceIn(
  folder: TargetFolder,
  replacement: Replacement,
  allowed: AllowedWrite | null,
): Promise<readonly string[]> {
  const target = folder.path(folder.name);
  const old = replacement.stats === null ? null : await lookAtOld(target, replacement.stats, replacement);
  const begun = await replacement.beginWrite?.(dirname(replacement.real));
  try {
    const name = begun?.name ?? `.burin-${randomName()}.tmp`;
    return await writeBeside({ folder, old, name, allowed }, replacement);
  } finally {
    begun?.end();
  }
}

interface Beside {
  readonly folder: TargetFolder;
  /** The stats of the file to be replaced. */
  readonly old: BigIntStats | null;
  /** Of the file that is written beside it. */
  readonly name: string;
  readonly allowed: AllowedWrite | null;
}

async function writeBeside(
  { folder, old, name, allowed }: Beside,
  replacement: Replacement,
): Promise<readonly string[]> {
  const [target, temporary] = [folder.path(folder.name), folder.path(name)];
  const attributes = old && new KeptAttributes({ ...replacement, folder, stats: old });
  const descriptor = openSync(temporary, TO_FILL, old === null ? 0o666 : 0o600);
  let kept: ReturnType<OnChange> | undefined;
  try {
    const notes = old === null ? [] : dressLike(descriptor, old);
    if (old === null && replacement.mode !== undefined) fchmodSync(descriptor, replacement.mode);
    await replacement.content.writeTo(descriptor);
    if (old !== null) giveBackMode(descriptor, old);
    const synced = sync(descriptor);
    replacement.content.meanwhile?.();
    await synced;
    if (await attributes?.giveTo(name)) await sync(descriptor);
    allowed?.permit(temporary);
    kept = replacement.onChange?.({
      real: replacement.real,
      present: old && target,
      coming: temporary,
      madeFolders: folder.made.length,
    });
    if (old === null) giveNewName(temporary, target, replacement);
    else {
      await assertUnchanged(target, replacement);
      renameSync(temporary, target);
    }
    const stats = fstatSync(descriptor, { bigint: true });
    attributes?.settle(stats);
    replacement.content.settled?.(stats);
    // The name is in place; a system that cannot sync folders has done what it can.
    await sync(folder.descriptor).catch(() => {});
    return kept?.note ? [...notes, kept.note] : notes;
  } catch (error) {
    kept?.forget();
    // When it is already gone or cannot be removed, the earlier error is the one to report.
    orElse(undefined, () => unlinkSync(temporary));
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** All that comes within the next changes is left to another thread once the disk was slow. */
async function sync(descriptor: number): Promise<void> {
  if (syncsForThread > 0 || fstatSync(descriptor).size > QUICK_SYNC.bytes) {
    syncsForThread = Math.max(syncsForThread - 1, 0);
    return syncLater(descriptor);
  }
  const start = process.uptime();
  fsyncSync(descriptor);
  syncsForThread = process.uptime() - start > QUICK_SYNC.seconds ? SYNCS_AFTER_SLOW_ONE : 0;
}

/**
 * Returns the stats of the file now; throws when it is not the one to be replaced. A rename needs permission only for
 * the folder; the permission of the file itself is checked here.
 */
async function lookAtOld(target: string, then: BigIntStats, replacement: Replacement): Promise<BigIntStats> {
  const now = lstatSync(target, { bigint: true, throwIfNoEntry: false });
  if (!now?.isFile()) throw changed(replacement.file);
  // If the stats show no change, comparing the bytes is left for the last moment.
  if (isTouched(now, then)) await assertUnchanged(target, replacement);
  accessSync(target, constants.W_OK);
  return now;
}

/** Sets owner and mode of the old file; returns what could not be kept. */
function dressLike(descriptor: number, old: BigIntStats): string[] {
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

/** The kernel takes setuid and setgid from what anybody but root writes. Under another owner they would be other rights. */
function giveBackMode(descriptor: number, old: BigIntStats): void {
  const { uid, gid, mode } = fstatSync(descriptor, { bigint: true });
  if (uid === old.uid && gid === old.gid && mode !== old.mode)
    fchmodSync(descriptor, Number(old.mode & 0o7777n));
}

/** A hard link fails if the name exists already; a rename would replace it. */
function giveNewName(temporary: string, target: string, { file }: Replacement): void {
  try {
    linkSync(temporary, target);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw changed(file);
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(codeOf(error) ?? "")) throw error;
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) throw changed(file);
    renameSync(temporary, target);
    return;
  }
  unlinkSync(temporary);
}

async function assertUnchanged(target: string, { file, content }: Replacement): Promise<void> {
  let descriptor: number;
  try {
    descriptor = openSync(target, TO_READ);
  } catch (error) {
    // Any other reason says nothing about what the file holds.
    throw NO_LONGER_IT.has(codeOf(error) ?? "") ? changed(file) : error;
  }
  try {
    if (!fstatSync(descriptor).isFile() || !(await content.isOf(descriptor))) throw changed(file);
  } finally {
    closeSync(descriptor);
  }
}

/** Content in memory that replaces content in memory. */
export function heldContent(
  before: Buffer | null,
  after: Iterable<Buffer>,
  signal: AbortSignal,
): Pick<NewContent, "writeTo" | "isOf"> {
  return {
    writeTo: async (descriptor) => {
      for (const piece of after) {
        for (let at = 0; at < piece.length; at += PART_BYTES) {
          signal.throwIfAborted();
          writeFileSync(descriptor, piece.subarray(at, at + PART_BYTES));
          if (piece.length >= PART_BYTES) await nextTurn();
        }
      }
    },
    isOf: async (descriptor) => before !== null && holds(descriptor, before),
  };
}

async function holds(descriptor: number, expected: Buffer): Promise<boolean> {
  const chunk = Buffer.allocUnsafe(Math.min(COMPARED_BYTES, expected.length + 1));
  for (let at = 0; ; ) {
    const count = readSync(descriptor, chunk);
    if (count === 0) return at === expected.length;
    if (!chunk.subarray(0, count).equals(expected.subarray(at, at + count))) return false;
    at += count;
    if (at % PART_BYTES === 0) await nextTurn();
  }
}

/** An error for anything but a missing permission bit. */
function forbidden(file: string): WorkspaceError {
  return new WorkspaceError(
    "permission_denied",
    `No permission for ${file}, whatever its mode says: it or its folder may be marked immutable or append-only (lsattr shows it), or the folder lets only owners replace files. Nothing was written.`,
  );
}

/** The file is no longer the one that the change is based on. */
export function changed(file: string): WorkspaceError {
  return new WorkspaceError(
    "changed_on_disk",
    `${file} has changed on disk since it was looked at, so nothing was written. Read it again with read_file, include what changed, and repeat the call.`,
  );
}
