import type { Stats } from "node:fs";
import { basename } from "node:path";
import { linkTarget, lstatOf } from "../files/disk-looks.ts";

/** One thing in the roots that a command must neither change nor make. */
export interface Place {
  readonly path: string;
  /** Names it whatever its path is: the folder that it stands in, as the disk knows it, and its name there. */
  readonly key: string;
  readonly kind: "file" | "folder" | "link";
  /**
   * `name`: protected by its name. `git folder`: all that belongs to one repository. `git link`: a file or link
   * that leads to such a folder. `git file`: what git obeys inside one. `named`: what a repository's
   * configuration names. `way out`: a link into the folder of temporary files.
   */
  readonly part: "name" | "git folder" | "git link" | "git file" | "named" | "way out";
  /** Its own number on the disk. */
  readonly id: string;
  /** Of a link. */
  readonly target?: string;
}

/** null when there is nothing. */
export function placeAt(path: string, folderId: string, part: Place["part"]): Place | null {
  const stats = lstatOf(path);
  if (stats === null) return null;
  const key = `${folderId}/${basename(path)}`;
  const id = idOf(stats);
  if (!stats.isSymbolicLink()) return { path, key, id, part, kind: stats.isDirectory() ? "folder" : "file" };
  return { path, key, id, part, kind: "link", target: linkTarget(path) ?? "" };
}

export function idOf(stats: Stats): string {
  return `${stats.dev}:${stats.ino}`;
}
