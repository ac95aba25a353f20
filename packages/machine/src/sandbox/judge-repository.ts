import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { readBytes, readText } from "../disk/regular-file.ts";
import { realPlace } from "../files/real-place.ts";
import { askGit, programInConfig } from "./repository-config.ts";
import { entriesOf, lstatOf, type Place } from "./sandbox-place.ts";

const MOST_LINK_BYTES = 4096;
const MOST_COMMITTED_BYTES = 10 * 1024 * 1024;

/** Why the user's next git command might run something because of this file of a git folder; or null. */
export function programInGitFile({ path, kind }: Place): string | null {
  if (kind === "link") return "it leads git elsewhere";
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === "hooks") return programInHooks(path);
  if (name === "commondir") return reasonOfCommonFolder(path);
  return name === "gitdir" ? null : programInConfig(path);
}

/** The same of a whole git folder. */
export function programInRepository(folder: string): string | null {
  for (const name of ["config", "config.worktree", "hooks", "commondir"]) {
    const path = join(folder, name);
    const stats = lstatOf(path);
    if (stats === null) continue;
    const kind = stats.isSymbolicLink() ? "link" : "file";
    const reason = programInGitFile({ path, kind, key: "", id: "", part: "git file" });
    if (reason !== null) return reason;
  }
  return null;
}

function programInHooks(folder: string): string | null {
  const hook = entriesOf(folder).find(({ name }) => !name.endsWith(".sample"));
  return hook === undefined ? null : `it has the hook ${hook.name}`;
}

/** A work tree shares what lies two folders above its own; nothing else is followed. */
function reasonOfCommonFolder(file: string): string | null {
  const folder = dirname(file);
  const shared = lineOf(file);
  if (shared === "") return null;
  const meant = dirname(dirname(folder));
  const isItsOwn = /\/worktrees\/[^/]+$/.test(folder) && shared !== null;
  return isItsOwn && realOf(resolve(folder, shared)) === realOf(meant) ? null : "it leads git elsewhere";
}

/** Where a `.git` file or link leads, whether something is there or not; null when it leads nowhere. */
export function folderOfLink({ path, kind, target = "" }: Place): string | null {
  const line = kind === "link" ? `gitdir: ${target}` : lineOf(path);
  const named = line === null ? undefined : /^gitdir: (.+)$/.exec(line)?.[1];
  return named === undefined ? null : realPlace(resolve(dirname(path), named));
}

function lineOf(file: string): string | null {
  if (lstatOf(file)?.isFile() !== true) return null;
  try {
    return readText(file, MOST_LINK_BYTES)?.replace(/[\r\n]+$/, "") ?? null;
  } catch {
    return null;
  }
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Whether a file, or all in a folder, is what the last commit of its repository holds. */
export function isCommitted(
  path: string,
  repository: { readonly folder: string; readonly workTree: string },
): boolean {
  const { folder, workTree } = repository;
  const name = relative(workTree, path);
  if (name.startsWith("..") || isAbsolute(name)) return false;
  const listed = askGit(["--git-dir", folder, "ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", name], {
    cwd: "/",
  });
  const blobs = new Map((listed ?? "").split("\0").map((line) => [line.slice(line.indexOf("\t") + 1), line]));
  const files = filesBelow(path);
  return files.length > 0 && files.every((file) => isBlob(file, blobs.get(relative(workTree, file))));
}

function filesBelow(path: string): string[] {
  if (lstatOf(path)?.isDirectory() !== true) return [path];
  return entriesOf(path).flatMap(({ name }) => filesBelow(join(path, name)));
}

function isBlob(file: string, line = ""): boolean {
  const wanted = /^100\d+ blob ([0-9a-f]+)\t/.exec(line)?.[1];
  if (wanted === undefined || lstatOf(file)?.isFile() !== true) return false;
  try {
    const bytes = readBytes(file, MOST_COMMITTED_BYTES);
    const hash = createHash(wanted.length === 40 ? "sha1" : "sha256");
    return bytes !== null && hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === wanted;
  } catch {
    return false;
  }
}
