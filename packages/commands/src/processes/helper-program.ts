import { homedir } from "node:os";
import { delimiter, isAbsolute } from "node:path";
import { getOrCreate } from "@burin/contract/async/once";
import { withFallback } from "@burin/contract/with-fallback";
import { isInsideAnyFolder } from "@burin/files/disk/disk-looks";
import { findProgram, SYSTEM_FOLDERS, splitPathFolders } from "./shell-program.ts";

class HelperPlaces {
  /**
   * The folders that no helper program is taken from: where this process was started, which is a project for a package
   * runner, and the roots of all workspaces.
   */
  readonly projects = new Set<string>(withFallback([], () => [process.cwd()].filter(mayBeProject)));
  /** The programs that were found, by name and PATH. */
  readonly programs = new Map<string, string | null>();
}

/** Shared by sessions: a folder that one of them works in is safe for none. */
const places = new HelperPlaces();

/** Excludes folders from the search for helper programs: a repository must not bring its own `mkfifo` or `git`. */
export function excludeFromHelperSearch(roots: readonly string[]): void {
  if (roots.every((root) => places.projects.has(root))) return;
  for (const root of roots) places.projects.add(root);
  places.programs.clear();
}

/** Returns the folders of PATH outside the project, so that it cannot bring its own `ls` or `git`. */
export function removeProjectFolders(path: string, roots: readonly string[]): string {
  return splitPathFolders(path, roots).others.join(delimiter);
}

/** Builds the PATH for the user's programs that start other programs, such as git, an editor or a database server. */
export function buildHelperPath(path: string | undefined): string {
  // An empty PATH would mean the current folder.
  return (
    removeProjectFolders(path ?? "", [...places.projects].filter(mayBeProject)) ||
    SYSTEM_FOLDERS.join(delimiter)
  );
}

/**
 * Whether a folder is the home folder or above it: the user's own programs are installed there, so it is not a project.
 */
function mayBeProject(folder: string): boolean {
  return !isInsideAnyFolder(homedir(), [folder]);
}

/**
 * Returns the path of a helper program; null when there is none outside the projects, because a package runner puts the
 * project's own folder first in PATH.
 */
export function findHelper(name: string, path: string | undefined): string | null {
  if (isAbsolute(name)) return name;
  const file = process.platform === "win32" ? `${name}.exe` : name;
  return getOrCreate(places.programs, `${name}\n${path}`, () =>
    findProgram(file, path ?? "", [...places.projects]),
  );
}
