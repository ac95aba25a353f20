import { basename, dirname, join, resolve } from "node:path";
import { findWorkTreeTop, tryLstat, tryRealPath } from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { readFileLine, readLinkedFolder } from "./judge-repository.ts";
import { findProtectedPath } from "./sandbox-place.ts";

/** The repository that contains a root, where git keeps its data outside the roots. */
export interface EnclosingRepository {
  /** The top of the work tree: the root itself or a folder above it. */
  readonly top: string;
  /** Everything that git keeps of it is in this folder. */
  readonly folder: string;
}

/**
 * Finds the git folders of repositories that the roots are inside of. Call it before the first command runs: a file that
 * a command writes could make a foreign folder look like such a repository.
 */
export function findEnclosingRepositories(roots: readonly string[]): readonly EnclosingRepository[] {
  const found = new Map<string, EnclosingRepository>();
  for (const root of roots) {
    const top = findWorkTreeTop(root);
    const folder = top === null ? null : findGitFolder(top);
    if (top === null || folder === null || isWithinAny(folder, roots)) continue;
    // A git folder that contains a whole root would open more than git's own files.
    if (!roots.some((one) => isWithin(folder, one)) && isOwnedByUser(folder))
      found.set(folder, { top, folder });
  }
  return [...found.values()];
}

/** Returns null where the repository does not belong to this work tree. */
export function findGitFolder(top: string): string | null {
  const link = join(top, ".git");
  const place = findProtectedPath(link, "", "git link");
  if (place?.kind === "folder") return looksLikeRepository(link) ? link : null;
  // A symbolic link could lead git to any folder; git itself creates a plain file.
  return place?.kind === "file" ? readGitFile(link, readLinkedFolder(place)) : null;
}

/** A `.git` file may come with somebody else's project, so it counts only if its repository points back to it. */
function readGitFile(link: string, own: string | null): string | null {
  if (own === null || tryLstat(own)?.isDirectory() !== true) return null;
  if (basename(dirname(own)) === "worktrees") {
    const common = dirname(dirname(own));
    const back = readFileLine(join(own, "gitdir"));
    const isKnown = back !== null && tryRealPath(resolve(own, back)) === link;
    const isShared = tryRealPath(resolve(own, readFileLine(join(own, "commondir")) ?? "/")) === common;
    return isKnown && isShared && looksLikeRepository(common) ? common : null;
  }
  const above = findWorkTreeTop(dirname(dirname(link)));
  const parent = above === null ? null : join(above, ".git");
  const isSubmodule = parent !== null && isWithin(own, join(parent, "modules")) && looksLikeRepository(own);
  return isSubmodule ? own : null;
}

export function looksLikeRepository(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => tryLstat(join(folder, name)) !== null);
}

/** The same rule as git's own: another user who may write there could make git run something. */
function isOwnedByUser(folder: string): boolean {
  const uid = process.getuid?.();
  return uid === undefined || tryLstat(folder)?.uid === uid;
}
