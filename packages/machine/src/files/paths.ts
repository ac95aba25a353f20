import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { nearNames } from "@burin/contract/text/near-names";
import { shownPath } from "@burin/contract/text/shown-path";
import { linkTarget } from "./disk-looks.ts";
import { asWorkspaceError, codeOf } from "./system-error.ts";

/** true when the path is the folder or lies in it; whole segments count, so `/proj` does not hold `/proj-evil`. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

export function isWithinAny(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => isWithin(path, root));
}

export function outside(path: string, roots: readonly string[]): WorkspaceError {
  const allowed = roots.length === 1 ? `the root ${roots[0]}` : `the roots ${roots.join(", ")}`;
  const inside = roots.length === 1 ? "inside it" : "inside one of them";
  return new WorkspaceError(
    "outside_root",
    `${path} is outside ${allowed}; only paths ${inside} can be used.`,
  );
}

/** The pattern as counted from the folder. An absolute one must lie in it. */
export function patternWithin(pattern: string, folder: string): string {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  if (pattern.startsWith(prefix)) return pattern.slice(prefix.length);
  if (isAbsolute(pattern)) {
    const real = withRealFolder(pattern);
    if (real?.startsWith(prefix)) return real.slice(prefix.length);
    throw new WorkspaceError(
      "outside_root",
      `The pattern "${pattern}" is not inside ${folder}; give "path" too.`,
    );
  }
  const plain = pattern.replace(/^(?:\.\/)+/, "");
  if (plain.split("/").includes("..")) {
    throw new WorkspaceError(
      "outside_root",
      `The pattern "${pattern}" leaves its folder; give "path" instead of "..".`,
    );
  }
  return plain;
}

/** The pattern with links resolved in what stands before its first special character; null when that does not exist. */
function withRealFolder(pattern: string): string | null {
  const segments = pattern.split("/");
  const special = segments.findIndex((segment) => /[*?[\]{}()!@+\\]/.test(segment));
  const end = special === -1 ? segments.length - 1 : special;
  try {
    return [realpathSync(segments.slice(0, end).join("/") || "/"), ...segments.slice(end)].join("/");
  } catch {
    return null;
  }
}

/**
 * The absolute path meant by `path`, spelled as it was given, and its real location. That is judged: links are
 * resolved, and for a path that does not exist yet those of its nearest existing ancestor.
 */
export async function locate(
  path: string,
  roots: readonly string[],
): Promise<{ readonly absolute: string; readonly real: string }> {
  if (path.includes("\0")) throw new WorkspaceError("invalid_path", "A path cannot contain a NUL character.");
  const absolute = isAbsolute(path) ? resolve(path) : resolve(roots[0] ?? "", path);
  const real = await realLocation(absolute);
  if (!isWithinAny(real, roots)) throw outside(absolute, roots);
  return { absolute, real };
}

/** How long the disk of a folder that has answered is taken to answer. */
const ANSWERING_MS = 1000;

let lastAnswer = { folder: "", at: 0 };

/** Asked on another thread, which may wait for a disk that does not answer; where one just did, that only takes longer. */
async function realOf(path: string): Promise<string> {
  const folder = dirname(path);
  const isAnswering = folder === lastAnswer.folder && performance.now() - lastAnswer.at < ANSWERING_MS;
  const real = isAnswering ? realpathSync.native(path) : await realpath(path);
  lastAnswer = { folder, at: performance.now() };
  return real;
}

/** Where a path really leads, also when its last parts do not exist yet. */
async function realLocation(absolute: string): Promise<string> {
  let existing = absolute;
  const missing: string[] = [];
  for (;;) {
    try {
      return join(await realOf(existing), ...missing);
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
  /** Where the opened thing really is. Safe to name in a message; not safe to open again. */
  readonly realPath: string;
}

/**
 * Opens what must exist and lie inside, then judges what was opened, so that a folder swapped for a link
 * between check and use does not win. Never waits on a FIFO. The caller closes the descriptor.
 *
 * Once the way is walked it is known to the system, and opening takes less time than asking another thread for it.
 */
export async function openWithin(path: string, roots: readonly string[], flags: number): Promise<Opened> {
  const { absolute } = await locate(path, roots);
  let descriptor: number;
  try {
    descriptor = openSync(absolute, flags | constants.O_NONBLOCK);
  } catch (error) {
    throw codeOf(error) === "ENOENT" ? await notFound(absolute) : asWorkspaceError(error, absolute);
  }
  try {
    const realPath = await realPathOf(descriptor, absolute);
    if (!isWithinAny(realPath, roots)) throw outside(absolute, roots);
    return { descriptor, path: absolute, realPath };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Linux tells the real path of an open descriptor; elsewhere the path is resolved again and must be the same file. */
export async function realPathOf(descriptor: number, absolute: string): Promise<string> {
  // Asked of the kernel's memory, never of a disk: not worth the way through another thread.
  if (process.platform === "linux") return readlinkSync(`/proc/self/fd/${descriptor}`);
  const realPath = await realpath(absolute);
  const named = await stat(realPath);
  const opened = fstatSync(descriptor);
  if (opened.dev !== named.dev || opened.ino !== named.ino) {
    throw new WorkspaceError("io_error", `${absolute} changed while it was opened; try again.`);
  }
  return realPath;
}

/** Linux can name what is in an open folder; elsewhere its real path must do. */
export function pathsIn(descriptor: number, folder: string): (name: string) => string {
  const base = process.platform === "linux" ? `/proc/self/fd/${descriptor}` : folder;
  return (name) => join(base, name);
}

/** "Not found", with the names in that folder that were probably meant. */
async function notFound(absolute: string): Promise<WorkspaceError> {
  const folder = dirname(absolute);
  const names = await readdir(folder).catch(() => null);
  if (names === null) {
    return new WorkspaceError(
      "not_found",
      `${absolute} does not exist, and neither does its folder ${folder}.`,
    );
  }
  const near = nearNames(basename(absolute), names).map((name) => shownPath(join(folder, name)));
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  return new WorkspaceError("not_found", `${absolute} does not exist.${hint}`);
}
