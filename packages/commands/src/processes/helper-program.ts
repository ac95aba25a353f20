import { homedir } from "node:os";
import { delimiter, isAbsolute } from "node:path";
import { onceFor } from "@burin/contract/async/once";
import { orElse } from "@burin/contract/or-else";
import { isPlaceIn } from "@burin/files/disk/disk-looks";
import { findProgram, foldersOfPath, SYSTEM_FOLDERS } from "./shell-program.ts";

/** Shared by sessions: a folder that one works in is safe for none. Where this process was started, which a package runner does in a project, and the roots of all its workspaces. */
const projects = new Set<string>(orElse([], () => [process.cwd()].filter(isProject)));
/** Shared by sessions: places of programs by name and PATH, for the projects above. */
const known = new Map<string, string | null>();

/** From now on no helper program comes from these folders: a repository must not bring its own `mkfifo` or `git`. */
export function leaveOutFolders(roots: readonly string[]): void {
  if (roots.every((root) => projects.has(root))) return;
  for (const root of roots) projects.add(root);
  known.clear();
}

/** Returns the folders of PATH outside the project, so that it cannot bring its own `ls` or `git`. */
export function pathOutside(path: string, roots: readonly string[]): string {
  return foldersOfPath(path, roots).others.join(delimiter);
}

/** For programs of the user's that start others, such as git, an editor or a database server. */
export function helperPath(path: string | undefined): string {
  // An empty PATH would be the folder in which they are started.
  return pathOutside(path ?? "", [...projects].filter(isProject)) || SYSTEM_FOLDERS.join(delimiter);
}

/** In the home folder, and so in one above it, is what the user has installed. */
function isProject(folder: string): boolean {
  return !isPlaceIn(homedir(), [folder]);
}

/** null when there is none outside the projects: a package runner puts the project's own folder first in PATH. */
export function findHelper(name: string, path: string | undefined): string | null {
  if (isAbsolute(name)) return name;
  const file = process.platform === "win32" ? `${name}.exe` : name;
  return onceFor(known, `${name}\n${path}`, () => findProgram(file, path ?? "", [...projects]));
}
