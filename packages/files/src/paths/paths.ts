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
import { orElse } from "@burin/contract/or-else";
import { nearNames } from "@burin/contract/text/near-names";
import { shownPath } from "@burin/contract/text/shown-path";
import { linkTarget } from "../disk/disk-looks.ts";
import { asWorkspaceError, codeOf } from "../disk/system-error.ts";

/** Whether the path is the folder or inside it, by whole segments: `/proj` does not contain `/proj-evil`. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

export function isWithinAny(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => isWithin(path, root));
}

/** Whether two real paths are one on a disk that knows a name in either case, or spells its accents in its own way. */
export function isSamePath(one: string, other: string): boolean {
  return one.normalize().toLowerCase() === other.normalize().toLowerCase();
}

export function outside(path: string, roots: readonly string[]): WorkspaceError {
  const allowed = roots.length === 1 ? `the root ${roots[0]}` : `the roots ${roots.join(", ")}`;
  const inside = roots.length === 1 ? "inside it" : "inside one of them";
  return new WorkspaceError(
    "outside_root",
    `${path} is outside ${allowed}; only paths ${inside} can be used.`,
  );
}

/** Returns the pattern relative to the folder. An absolute pattern must be inside it. */
export function patternWithin(pattern: string, folder: string): string {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  if (pattern.startsWith(prefix)) return pattern.slice(prefix.length);
  if (isAbsolute(pattern)) {
    const real = withRealFolder(pattern);
    if (real?.startsWith(prefix)) return real.slice(prefix.length);
    throw patternFault(pattern, `is not inside ${folder}; give "path" too.`);
  }
  const plain = pattern.replace(/^(?:\.\/)+/, "");
  if (plain.split("/").includes(".."))
    throw patternFault(pattern, 'leaves its folder; give "path" instead of "..".');
  return plain;
}

function patternFault(pattern: string, what: string): WorkspaceError {
  return new WorkspaceError("outside_root", `The pattern "${pattern}" ${what}`);
}

/** Resolves the links in the part before the pattern's first special character; null when that part does not exist. */
function withRealFolder(pattern: string): string | null {
  const segments = pattern.split("/");
  const special = segments.findIndex((segment) => /[*?[\]{}()!@+\\]/.test(segment));
  const end = special === -1 ? segments.length - 1 : special;
  return orElse(null, () =>
    [realpathSync(segments.slice(0, end).join("/") || "/"), ...segments.slice(end)].join("/"),
  );
}

export interface Located {
  /** Spelled as it was given. */
  readonly absolute: string;
  /** The real location, which is what must be inside the roots. */
  readonly real: string;
}

/** Resolves links; for a path that does not exist yet, those of its nearest existing ancestor. */
export async function locate(path: string, roots: readonly string[]): Promise<Located> {
  if (path.includes("\0")) throw new WorkspaceError("invalid_path", "A path cannot contain a NUL character.");
  const absolute = isAbsolute(path) ? resolve(path) : resolve(roots[0] ?? "", path);
  const real = await realLocation(absolute);
  if (!isWithinAny(real, roots)) throw outside(absolute, roots);
  return { absolute, real };
}

/** How long to trust the disk of a folder to answer after it has answered. */
const ANSWERING_SECONDS = 1;

/** Shared by sessions: whether the disk of a folder answers. `at` is a `process.uptime()`: the first use of `performance` loads as much as a whole read. */
let lastAnswer = { folder: "", isReal: false, at: 0 };

function isAnswering(folder: string): boolean {
  return folder === lastAnswer.folder && process.uptime() - lastAnswer.at < ANSWERING_SECONDS;
}

/** On another thread, which may wait for a disk that does not answer; right after an answer that is only slower. */
async function realOf(path: string): Promise<string> {
  const folder = dirname(path);
  const real = isAnswering(folder) ? realpathSync.native(path) : await realpath(path);
  lastAnswer = { folder, isReal: real === path, at: process.uptime() };
  return real;
}

/** Returns where a path really leads, also when its last parts do not exist yet. */
async function realLocation(absolute: string): Promise<string> {
  let existing = absolute;
  const missing: string[] = [];
  for (;;) {
    try {
      const real = await realOf(existing);
      return missing.length === 0 ? real : join(real, ...missing);
    } catch (error) {
      const code = codeOf(error);
      const target = code === "ENOENT" ? linkTarget(existing) : undefined;
      if (target !== undefined) {
        throw new WorkspaceError("not_found", `${existing} is a link to ${target}, which does not exist.`);
      }
      if ((code !== "ENOENT" && code !== "ENOTDIR") || dirname(existing) === existing) {
        throw asWorkspaceError(error, absolute);
      }
      missing.unshift(basename(existing));
      existing = dirname(existing);
    }
  }
}

export interface Opened {
  readonly descriptor: number;
  /** Absolute, spelled as it was given. */
  readonly path: string;
  /** The real location of what was opened. Safe in a message; not safe to open again. */
  readonly realPath: string;
}

/** Opens something to read that must exist and be inside. The caller closes the descriptor. */
export async function openWithin(path: string, roots: readonly string[]): Promise<Opened> {
  const direct = openDirectly(path, roots);
  if (direct !== null) return judgeOpened(direct, path, roots);
  const located = await locate(path, roots);
  const opened = await openLocated(located, roots);
  if (opened === null) throw notFound(located, roots);
  return opened;
}

/** Never waits for a FIFO. */
const TO_READ = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * Opens what is in a folder to which no link led a moment ago, without looking it up again: what was opened is judged
 * all the same. Returns null for all else, also for a link and for what does not exist.
 */
function openDirectly(path: string, roots: readonly string[]): number | null {
  const isPlain = isAnswering(dirname(path)) && lastAnswer.isReal && isWithinAny(path, roots);
  if (!NAMES_DESCRIPTORS || !isPlain || resolve(path) !== path) return null;
  return orElse(null, () => openSync(path, TO_READ | constants.O_NOFOLLOW));
}

/**
 * Opens something to read. Returns null when it does not exist. The caller closes the descriptor.
 *
 * After the lookup the system has the path in memory, and opening takes less time than asking another thread.
 */
export async function openLocated({ absolute }: Located, roots: readonly string[]): Promise<Opened | null> {
  let descriptor: number;
  try {
    descriptor = openSync(absolute, TO_READ);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw asWorkspaceError(error, absolute);
  }
  return judgeOpened(descriptor, absolute, roots);
}

/** Checks what was opened, so that replacing a folder with a link before that does not help an attacker. */
async function judgeOpened(descriptor: number, absolute: string, roots: readonly string[]): Promise<Opened> {
  try {
    const realPath = await realPathOf(descriptor, absolute);
    if (!isWithinAny(realPath, roots)) throw outside(absolute, roots);
    return { descriptor, path: absolute, realPath };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Linux does, where /proc is mounted. */
export const NAMES_DESCRIPTORS = process.platform === "linux" && existsSync("/proc/self/fd");

/** Linux adds something to a name that another file has got since. */
export function nameOfOpen(descriptor: number): string {
  const named = readlinkSync(`/proc/self/fd/${descriptor}`);
  const isAnother = () => orElse(null, () => lstatSync(named).ino) !== fstatSync(descriptor).ino;
  return named.endsWith(" (deleted)") && isAnother() ? named.slice(0, -10) : named;
}

/** The system knows the real path of an open descriptor; elsewhere the path is resolved again and must be the same file. */
export async function realPathOf(descriptor: number, absolute: string): Promise<string> {
  // The answer comes from the kernel's memory, never from a disk, so no other thread is needed.
  if (NAMES_DESCRIPTORS) return nameOfOpen(descriptor);
  const realPath = await realpath(absolute);
  const [named, opened] = [await stat(realPath), fstatSync(descriptor)];
  if (opened.dev !== named.dev || opened.ino !== named.ino) {
    throw new WorkspaceError("io_error", `${absolute} changed while it was opened; try again.`);
  }
  return realPath;
}

/** The system can name files in an open folder; elsewhere the real path of the folder is used. */
export function pathsIn(descriptor: number, folder: string): (name: string) => string {
  const base = NAMES_DESCRIPTORS ? `/proc/self/fd/${descriptor}` : folder;
  return (name) => join(base, name);
}

export const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/** The names in the folder that has this real path while they are read; null when there is no such folder. */
export function namesAt(folder: string): string[] | null {
  const descriptor = orElse(null, () => openSync(folder, FOLDER));
  if (descriptor === null) return null;
  const held = pathsIn(descriptor, folder)(".");
  const realNow = () => (NAMES_DESCRIPTORS ? readlinkSync(held) : realpathSync.native(folder));
  const names = orElse(null, () => (realNow() === folder ? readdirSync(held) : null));
  closeSync(descriptor);
  return names;
}

/** "Not found", with similar names in the nearest folder above that exists, which may have another name by now. */
function notFound({ absolute, real }: Located, roots: readonly string[]): WorkspaceError {
  let [missing, shown, names] = [real, absolute, namesAt(dirname(real))];
  while (names === null && isWithinAny(dirname(missing), roots)) {
    [missing, shown] = [dirname(missing), dirname(shown)];
    names = namesAt(dirname(missing));
  }
  const near = nearNames(basename(shown), names ?? []).map((name) => shownPath(join(dirname(shown), name)));
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  const where = missing === real ? "" : `, and neither does its folder ${dirname(absolute)}`;
  return new WorkspaceError("not_found", `${absolute} does not exist${where}.${hint}`);
}
