import type { Stats } from "node:fs";
import { basename } from "node:path";
import { linkTarget, lstatOf } from "@burin/files/disk/disk-looks";
import type { GitStarts } from "@burin/shell-judge";

/** A path in the roots that a command must neither change nor create. */
export interface Place {
  readonly path: string;
  /** Identifies it by its folder's identity on the disk and its name there, whatever its path is. */
  readonly key: string;
  readonly kind: "file" | "folder" | "link";
  /**
   * `name`: protected by its name. `git folder`: all that belongs to one repository. `git link`: a file or link
   * that leads to such a folder. `git file`: a file in a git folder that git follows. `in git`: something there that
   * git does not write itself. `named`: named by a repository's config. `way out`: a link into the temporary folder.
   */
  readonly part: "name" | "git folder" | "git link" | "git file" | "in git" | "named" | "way out";
  /** Its inode number. */
  readonly id: string;
  readonly target?: string;
}

/** What a command may write of that. */
export interface AllowedWrites {
  /** The protected files, or folders with such files, that the user lets it write. */
  readonly writes?: readonly string[];
  /** Whether it may write what git keeps: also of the project outside the roots, only in the roots, or nowhere. */
  readonly git?: "everywhere" | "in the roots" | "nowhere";
  /** It is made of git commands alone, so git's own configuration may change in harmless ways. */
  readonly gitSettings?: GitStarts;
}

/** Returns null when there is nothing. */
export function placeAt(path: string, folderId: string, part: Place["part"]): Place | null {
  const stats = lstatOf(path);
  if (stats === null) return null;
  const key = `${folderId}/${basename(path)}`;
  const id = idOf(stats);
  if (!stats.isSymbolicLink()) return { path, key, id, part, kind: stats.isDirectory() ? "folder" : "file" };
  return { path, key, id, part, kind: "link", target: linkTarget(path) ?? "" };
}

export function idOf(stats: Pick<Stats, "dev" | "ino">): string {
  return `${stats.dev}:${stats.ino}`;
}
