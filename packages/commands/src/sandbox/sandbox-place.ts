import type { Stats } from "node:fs";
import { basename } from "node:path";
import { tryLstat, tryReadLink } from "@burin/files/disk/disk-looks";
import type { GitTriggers } from "@burin/shell-judge";

/** A path in the roots that a command must neither change nor create. */
export interface ProtectedPath {
  readonly path: string;
  /** Identifies the path by its folder's inode and its name there, even if the folder is renamed. */
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

/** What of the protected paths a command may write. */
export interface AllowedWrites {
  /** The protected files, or folders with such files, that the user lets it write. */
  readonly writes?: readonly string[];
  /**
   * Whether it may write git's own files: also those of the project outside the roots, only those in the roots, or
   * none.
   */
  readonly git?: "everywhere" | "in the roots" | "nowhere";
  /** Set for a line of git commands alone, which may change git's configuration in harmless ways. */
  readonly gitSettings?: GitTriggers;
}

/** Returns null when there is nothing. */
export function findProtectedPath(
  path: string,
  folderId: string,
  part: ProtectedPath["part"],
): ProtectedPath | null {
  const stats = tryLstat(path);
  if (stats === null) return null;
  const key = `${folderId}/${basename(path)}`;
  const id = formatFileId(stats);
  if (!stats.isSymbolicLink()) return { path, key, id, part, kind: stats.isDirectory() ? "folder" : "file" };
  return { path, key, id, part, kind: "link", target: tryReadLink(path) ?? "" };
}

export function formatFileId(stats: Pick<Stats, "dev" | "ino">): string {
  return `${stats.dev}:${stats.ino}`;
}
