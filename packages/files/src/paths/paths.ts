import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { findNearNames } from "@burin/contract/text/near-names";
import { formatPath } from "@burin/contract/text/shown-path";
import { withFallback } from "@burin/contract/with-fallback";
import { tryReadLink } from "../disk/disk-looks.ts";
import { readErrorCode, toWorkspaceError } from "../disk/system-error.ts";

/** Whether the path is the folder or inside it, by whole segments: `/proj` does not contain `/proj-evil`. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

export function isWithinAny(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => isWithin(path, root));
}

/** Whether two real paths name the same file on a disk that ignores case or normalizes accents. */
export function isSamePath(one: string, other: string): boolean {
  return one.normalize().toLowerCase() === other.normalize().toLowerCase();
}

export function createOutsideError(path: string, roots: readonly string[]): WorkspaceError {
  const allowed = roots.length === 1 ? `the root ${roots[0]}` : `the roots ${roots.join(", ")}`;
  const inside = roots.length === 1 ? "inside it" : "inside one of them";
  return new WorkspaceError(
    "outside_root",
    `${path} is outside ${allowed}; only paths ${inside} can be used.`,
  );
}

/** Returns the pattern relative to the folder. An absolute pattern must be inside it. */
export function relativizePattern(pattern: string, folder: string): string {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  if (pattern.startsWith(prefix)) return pattern.slice(prefix.length);
  if (isAbsolute(pattern)) {
    const real = resolvePatternFolder(pattern);
    if (real?.startsWith(prefix)) return real.slice(prefix.length);
    throw createPatternError(pattern, `is not inside ${folder}; give "path" too.`);
  }
  const plain = pattern.replace(/^(?:\.\/)+/, "");
  if (plain.split("/").includes(".."))
    throw createPatternError(pattern, 'leaves its folder; give "path" instead of "..".');
  return plain;
}

function createPatternError(pattern: string, what: string): WorkspaceError {
  return new WorkspaceError("outside_root", `The pattern "${pattern}" ${what}`);
}

/** Resolves links in the part before the first wildcard; null if that part does not exist. */
function resolvePatternFolder(pattern: string): string | null {
  const segments = pattern.split("/");
  const special = segments.findIndex((segment) => /[*?[\]{}()!@+\\]/.test(segment));
  const end = special === -1 ? segments.length - 1 : special;
  return withFallback(null, () =>
    [realpathSync(segments.slice(0, end).join("/") || "/"), ...segments.slice(end)].join("/"),
  );
}

export interface LocatedPath {
  /** The path as it was given. */
  readonly absolute: string;
  /** The real location, which must be inside the roots. */
  readonly real: string;
}

/** Resolves the links in a path; for one that does not exist yet, those of its nearest existing ancestor. */
export async function locatePath(path: string, roots: readonly string[]): Promise<LocatedPath> {
  if (path.includes("\0")) throw new WorkspaceError("invalid_path", "A path cannot contain a NUL character.");
  const absolute = isAbsolute(path) ? resolve(path) : resolve(roots[0] ?? "", path);
  const real = await resolveLocation(absolute);
  if (!isWithinAny(real, roots)) throw createOutsideError(absolute, roots);
  return { absolute, real };
}

/** How long to assume that a folder's disk still responds after its last response. */
const ANSWERING_SECONDS = 1;

/**
 * Shared by sessions: which folder's disk responded last, and when. `at` is a `process.uptime()`, because the first use
 * of `performance` costs as much as a whole read.
 */
let lastAnswer = { folder: "", isReal: false, at: 0 };

function hasAnsweredRecently(folder: string): boolean {
  return folder === lastAnswer.folder && process.uptime() - lastAnswer.at < ANSWERING_SECONDS;
}

/**
 * Resolves on another thread, because it hangs if the disk does not respond. Right after a response, this thread is
 * used: it is faster.
 */
async function resolveRealPath(path: string): Promise<string> {
  const folder = dirname(path);
  const real = hasAnsweredRecently(folder) ? realpathSync.native(path) : await realpath(path);
  lastAnswer = { folder, isReal: real === path, at: process.uptime() };
  return real;
}

/** Returns where a path really leads, also when its last parts do not exist yet. */
async function resolveLocation(absolute: string): Promise<string> {
  let existing = absolute;
  const missing: string[] = [];
  for (;;) {
    try {
      const real = await resolveRealPath(existing);
      return missing.length === 0 ? real : join(real, ...missing);
    } catch (error) {
      const code = readErrorCode(error);
      const target = code === "ENOENT" ? tryReadLink(existing) : undefined;
      if (target !== undefined) {
        throw new WorkspaceError("not_found", `${existing} is a link to ${target}, which does not exist.`);
      }
      if ((code !== "ENOENT" && code !== "ENOTDIR") || dirname(existing) === existing) {
        throw toWorkspaceError(error, absolute);
      }
      missing.unshift(basename(existing));
      existing = dirname(existing);
    }
  }
}

export interface OpenedFile {
  readonly descriptor: number;
  /** The absolute path as it was given. */
  readonly path: string;
  /** The real location of what was opened. Safe in a message; not safe to open again. */
  readonly realPath: string;
}

/** Opens something to read that must exist and be inside. The caller closes the descriptor. */
export async function openInsideRoots(path: string, roots: readonly string[]): Promise<OpenedFile> {
  const direct = openDirectly(path, roots);
  if (direct !== null) return checkOpenedFile(direct, path, roots);
  const located = await locatePath(path, roots);
  const opened = await openLocatedPath(located, roots);
  if (opened === null) throw createNotFoundError(located, roots);
  return opened;
}

/** The flags for reading, with which an open never waits for the other end of a FIFO. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Opens a path whose folder was recently found to contain no links, without resolving it again; what was opened is
 * checked all the same. Returns null in any other case, also for a link and for a missing path.
 */
function openDirectly(path: string, roots: readonly string[]): number | null {
  const isPlain = hasAnsweredRecently(dirname(path)) && lastAnswer.isReal && isWithinAny(path, roots);
  if (!HAS_DESCRIPTOR_PATHS || !isPlain || resolve(path) !== path) return null;
  return withFallback(null, () => openSync(path, READ_FLAGS | constants.O_NOFOLLOW));
}

/**
 * Opens something to read. Returns null when it does not exist. The caller closes the descriptor. After the lookup the
 * path is cached by the system, so opening it here is faster than on another thread.
 */
export async function openLocatedPath(
  { absolute }: LocatedPath,
  roots: readonly string[],
): Promise<OpenedFile | null> {
  let descriptor: number;
  try {
    descriptor = openSync(absolute, READ_FLAGS);
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return null;
    throw toWorkspaceError(error, absolute);
  }
  return checkOpenedFile(descriptor, absolute, roots);
}

/** Checks what was opened, so that an attacker gains nothing by swapping a folder for a link just before. */
async function checkOpenedFile(
  descriptor: number,
  absolute: string,
  roots: readonly string[],
): Promise<OpenedFile> {
  try {
    const realPath = await resolveDescriptorPath(descriptor, absolute);
    if (!isWithinAny(realPath, roots)) throw createOutsideError(absolute, roots);
    return { descriptor, path: absolute, realPath };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Whether the system has paths for open descriptors: Linux does, where /proc is mounted. */
export const HAS_DESCRIPTOR_PATHS = process.platform === "linux" && existsSync("/proc/self/fd");

/** Linux appends text to the name if another file has taken it since. */
export function readDescriptorPath(descriptor: number): string {
  const named = readlinkSync(`/proc/self/fd/${descriptor}`);
  const wasReplaced = () => withFallback(null, () => lstatSync(named).ino) !== fstatSync(descriptor).ino;
  return named.endsWith(" (deleted)") && wasReplaced() ? named.slice(0, -10) : named;
}

/** The system knows the real path of an open descriptor; elsewhere the path is resolved again and must be the same file. */
export async function resolveDescriptorPath(descriptor: number, absolute: string): Promise<string> {
  // The answer comes from the kernel's memory, never from a disk, so no other thread is needed.
  if (HAS_DESCRIPTOR_PATHS) return readDescriptorPath(descriptor);
  const realPath = await realpath(absolute);
  const [named, opened] = [await stat(realPath), fstatSync(descriptor)];
  if (opened.dev !== named.dev || opened.ino !== named.ino) {
    throw new WorkspaceError("io_error", `${absolute} changed while it was opened; try again.`);
  }
  return realPath;
}

/**
 * Builds paths inside an open folder: through its descriptor where the system allows that, otherwise through its real
 * path.
 */
export function createPathBuilder(descriptor: number, folder: string): (name: string) => string {
  const base = HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${descriptor}` : folder;
  return (name) => join(base, name);
}

export const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Returns the names in the folder, if it still has this real path while they are read; null if there is no such folder.
 */
export function readFolderNames(folder: string): string[] | null {
  const descriptor = withFallback(null, () => openSync(folder, FOLDER_FLAGS));
  if (descriptor === null) return null;
  const held = createPathBuilder(descriptor, folder)(".");
  const resolveOpenFolder = () => (HAS_DESCRIPTOR_PATHS ? readlinkSync(held) : realpathSync.native(folder));
  const names = withFallback(null, () => (resolveOpenFolder() === folder ? readdirSync(held) : null));
  closeSync(descriptor);
  return names;
}

/**
 * A "not found" error that suggests similar names in the nearest existing parent folder, which may have been renamed
 * since.
 */
function createNotFoundError({ absolute, real }: LocatedPath, roots: readonly string[]): WorkspaceError {
  let [missing, shown, names] = [real, absolute, readFolderNames(dirname(real))];
  while (names === null && isWithinAny(dirname(missing), roots)) {
    [missing, shown] = [dirname(missing), dirname(shown)];
    names = readFolderNames(dirname(missing));
  }
  const near = findNearNames(basename(shown), names ?? []).map((name) =>
    formatPath(join(dirname(shown), name)),
  );
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  const where = missing === real ? "" : `, and neither does its folder ${dirname(absolute)}`;
  return new WorkspaceError("not_found", `${absolute} does not exist${where}.${hint}`);
}
