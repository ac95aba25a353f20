import {
  constants,
  type Dirent,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { describeError } from "@burin/contract/text/error-message";
import { withFallback } from "@burin/contract/with-fallback";
import { readBytes, readText, TOO_LARGE } from "./regular-file.ts";
import { readErrorCode } from "./system-error.ts";

// Functions that look at a path and return null, or nothing, when it does not exist or cannot be read.

export function tryLstat(path: string): Stats | null {
  return withFallback(null, () => lstatSync(path, { throwIfNoEntry: false }) ?? null);
}

/** Returns null for a missing file, and for one that is too large or not a regular file. */
export function tryReadBytes(path: string, maxBytes: number): Buffer | null {
  return withFallback(null, () => readBytes(path, maxBytes));
}

export function tryReadLink(path: string): string | undefined {
  return withFallback(undefined, () => readlinkSync(path));
}

export function tryReadEntries(folder: string): Dirent[] {
  return withFallback([], () => readdirSync(folder, { withFileTypes: true }));
}

export function tryRealPath(path: string): string | null {
  return withFallback(null, () => realpathSync.native(path));
}

/** Returns where a path leads, or where it would lead if its missing parts were created. */
export function resolvePossiblyMissing(path: string): string {
  const above = dirname(path);
  return tryRealPath(path) ?? (above === path ? path : join(resolvePossiblyMissing(above), basename(path)));
}

/** Whether a path, as spelled or resolved, is in one of the folders. */
export function isInsideAnyFolder(path: string, folders: readonly string[]): boolean {
  const places = [path, resolvePossiblyMissing(path)].map((place) => place + sep);
  return folders.some((folder) => places.some((place) => place.startsWith(folder.replace(/\/$/, "") + sep)));
}

const LARGEST = 4 * 1024 * 1024;

/**
 * Returns null if there is none. Throws if it is too large: applying half of its rules would show what the other half
 * hides.
 */
export function readSmallFile(path: string, followLinks: boolean): string | null {
  if (tryLstat(path) === null) return null;
  try {
    return readText(path, LARGEST, followLinks ? 0 : constants.O_NOFOLLOW);
  } catch (error) {
    if (readErrorCode(error) !== TOO_LARGE) return null;
    throw new WorkspaceError(
      "too_large",
      `${path} is not followed: ${describeError(error)}. Make it shorter.`,
    );
  }
}

export function isWorkTreeTop(folder: string): boolean {
  return tryLstat(join(folder, ".git")) !== null;
}

/** Returns the top of the git work tree that contains the folder, or null. */
export function findWorkTreeTop(folder: string): string | null {
  if (isWorkTreeTop(folder)) return folder;
  return dirname(folder) === folder ? null : findWorkTreeTop(dirname(folder));
}
