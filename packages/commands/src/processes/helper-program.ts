import { homedir } from "node:os";
import { delimiter, isAbsolute } from "node:path";
import { getOrCreate } from "@burin/contract/async/once";
import { withFallback } from "@burin/contract/or-else";
import { isInFolders } from "@burin/files/disk/disk-looks";
import { findProgram, SYSTEM_FOLDERS, splitPathFolders } from "./shell-program.ts";

/**
 * Shared by sessions: no helper program may come from a project folder, for any session. Holds the folder that this
 * process started in, which may be a project, and the roots of every workspace.
 */
const projectFolders = new Set<string>(withFallback([], () => [process.cwd()].filter(isProject)));
/** Shared by sessions: places of programs by name and PATH, for the projects above. */
const knownPrograms = new Map<string, string | null>();

/**
 * From now on, no helper program is taken from these folders: a repository must not bring its own `mkfifo` or `git`.
 */
export function excludeFolders(roots: readonly string[]): void {
  if (roots.every((root) => projectFolders.has(root))) return;
  for (const root of roots) projectFolders.add(root);
  knownPrograms.clear();
}

/** Returns the folders of PATH outside the project, so that it cannot bring its own `ls` or `git`. */
export function filterPath(path: string, roots: readonly string[]): string {
  return splitPathFolders(path, roots).others.join(delimiter);
}

/** Builds the PATH for the user's programs that start other programs, such as git, an editor or a database server. */
export function buildHelperPath(path: string | undefined): string {
  // An empty PATH would mean the current folder.
  return filterPath(path ?? "", [...projectFolders].filter(isProject)) || SYSTEM_FOLDERS.join(delimiter);
}

/** The home folder, and any folder above it, contains the user's own installed programs, so it is not a project. */
function isProject(folder: string): boolean {
  return !isInFolders(homedir(), [folder]);
}

/** null when there is none outside the projects: a package runner puts the project's own folder first in PATH. */
export function findHelper(name: string, path: string | undefined): string | null {
  if (isAbsolute(name)) return name;
  const file = process.platform === "win32" ? `${name}.exe` : name;
  return getOrCreate(knownPrograms, `${name}\n${path}`, () =>
    findProgram(file, path ?? "", [...projectFolders]),
  );
}
