import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
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
