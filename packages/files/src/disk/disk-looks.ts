import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { readBytes } from "./regular-file.ts";

// Functions that look at a path and return null, or nothing, when it does not exist or cannot be read.

export function tryLstat(path: string): Stats | null {
  return withFallback(null, () => lstatSync(path, { throwIfNoEntry: false }) ?? null);
}

/** Returns null for a missing file, and for one that is too large or not a regular file. */
export function tryReadBytes(path: string, mostBytes: number): Buffer | null {
  return withFallback(null, () => readBytes(path, mostBytes));
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
export function resolveExisting(path: string): string {
  const above = dirname(path);
  return tryRealPath(path) ?? (above === path ? path : join(resolveExisting(above), basename(path)));
}

/** Whether a path, as spelled or resolved, is in one of the folders. */
export function isInFolders(path: string, folders: readonly string[]): boolean {
  const places = [path, resolveExisting(path)].map((place) => place + sep);
  return folders.some((folder) => places.some((place) => place.startsWith(folder.replace(/\/$/, "") + sep)));
}
