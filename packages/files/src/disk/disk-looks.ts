import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { readBytes } from "./regular-file.ts";

// What the disk says about a path now: null when it says nothing or may not be asked.

export function lstatOf(path: string): Stats | null {
  return orElse(null, () => lstatSync(path, { throwIfNoEntry: false }) ?? null);
}

/** null also for what is larger or no regular file. */
export function bytesOf(path: string, mostBytes: number): Buffer | null {
  return orElse(null, () => readBytes(path, mostBytes));
}

export function linkTarget(path: string): string | undefined {
  return orElse(undefined, () => readlinkSync(path));
}

export function entriesOf(folder: string): Dirent[] {
  return orElse([], () => readdirSync(folder, { withFileTypes: true }));
}

export function realOf(path: string): string | null {
  return orElse(null, () => realpathSync.native(path));
}

/** Where a path leads, or would lead if its missing parts were created. */
export function realPlace(path: string): string {
  const above = dirname(path);
  return realOf(path) ?? (above === path ? path : join(realPlace(above), basename(path)));
}

/** Whether a path, as spelled or resolved, is in one of the folders. */
export function isPlaceIn(path: string, folders: readonly string[]): boolean {
  const places = [path, realPlace(path)].map((place) => place + sep);
  return folders.some((folder) => places.some((place) => place.startsWith(folder.replace(/\/$/, "") + sep)));
}
