import { basename, dirname, join, resolve } from "node:path";
import { lstatOf, realOf } from "@burin/files/disk/disk-looks";
import { gitTopOf } from "@burin/files/ignore/git-excludes";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { folderOfLink, lineOf } from "./judge-repository.ts";
import { placeAt } from "./sandbox-place.ts";

/** The repository that a root is a part of, where git keeps it outside the roots. */
export interface EnclosingRepository {
  /** The top of the work tree: the root itself or a folder above it. */
  readonly top: string;
  /** All that git keeps of it is below this folder. */
  readonly folder: string;
}

/** Look before any command has run: what it writes later must not say which folder belongs to the project. */
export function findEnclosing(roots: readonly string[]): readonly EnclosingRepository[] {
  const found = new Map<string, EnclosingRepository>();
  for (const root of roots) {
    const top = gitTopOf(root);
    const folder = top === null ? null : gitFolderFor(top);
    if (top === null || folder === null || isWithinAny(folder, roots)) continue;
    // A folder that holds a whole root would open more than git's own.
    if (!roots.some((one) => isWithin(folder, one)) && isOfUser(folder)) found.set(folder, { top, folder });
  }
  return [...found.values()];
}

function gitFolderFor(top: string): string | null {
  const link = join(top, ".git");
  const place = placeAt(link, "", "git link");
  if (place?.kind === "folder") return looksLikeRepository(link) ? link : null;
  // Through a symbolic link git could be led to any folder; git itself makes files.
  return place?.kind === "file" ? folderOfFile(link, folderOfLink(place)) : null;
}

/** A `.git` file may come with a project that somebody else made: only one that its repository knows too counts. */
function folderOfFile(link: string, own: string | null): string | null {
  if (own === null || lstatOf(own)?.isDirectory() !== true) return null;
  if (basename(dirname(own)) === "worktrees") {
    const common = dirname(dirname(own));
    const back = lineOf(join(own, "gitdir"));
    const isKnown = back !== null && realOf(resolve(own, back)) === link;
    const isShared = realOf(resolve(own, lineOf(join(own, "commondir")) ?? "/")) === common;
    return isKnown && isShared && looksLikeRepository(common) ? common : null;
  }
  const above = gitTopOf(dirname(dirname(link)));
  const parent = above === null ? null : join(above, ".git");
  const isSubmodule = parent !== null && isWithin(own, join(parent, "modules")) && looksLikeRepository(own);
  return isSubmodule ? own : null;
}

function looksLikeRepository(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => lstatOf(join(folder, name)) !== null);
}

/** As git itself has it: who else may write there could make it run something. */
function isOfUser(folder: string): boolean {
  const uid = process.getuid?.();
  return uid === undefined || lstatOf(folder)?.uid === uid;
}
