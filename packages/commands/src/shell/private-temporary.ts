import { dirname, join, relative, resolve } from "node:path";
import {
  findWorkTreeTop,
  tryLstat,
  tryReadBytes,
  tryReadEntries,
  tryRealPath,
} from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { findGitFolder, looksLikeRepository } from "../sandbox/enclosing-repository.ts";

/**
 * The temporary folders. The sandbox has its own, so that a root in one of them is visible there without its neighbors.
 */
const PRIVATE_FOLDERS = ["/tmp", "/var/tmp"];
const NAMED_PATH = /(?<![\w/.@:-])(?:\.\.\/|\.\/|\/)[^\s'"`:,;()<>|&$*?]+/g;
const MAX_PATHS = 200;
/** File systems have coarse time stamps. */
const TIME_STEP_MS = 20;
/** Where a work tree and its git folder name other repositories: remotes, submodules and object stores. */
const REFERENCE_FILES = { inTree: [".gitmodules"], inGit: ["config", "objects/info/alternates"] };
const MAX_NAMING_BYTES = 256 * 1024;
const VARIABLE = /\$(?:\{(\w+)\}|(\w+))/g;

/** The temporary folders that contain a root. */
function listTemporaryParents(roots: readonly string[]): string[] {
  return PRIVATE_FOLDERS.filter((folder) => roots.some((root) => root !== folder && isWithin(root, folder)));
}

/** Returns the paths in a text that exist beside a root in a temporary folder, where commands cannot see them. */
export function findHiddenPaths(
  text: string,
  directory: string,
  roots: readonly string[],
): readonly string[] {
  const around = listTemporaryParents(roots);
  if (around.length === 0) return [];
  const found = listNamedPaths(text, directory).flatMap((path) => tryRealPath(path) ?? []);
  const isHidden = (path: string) =>
    isWithinAny(path, around) && !isWithinAny(path, roots) && !roots.some((root) => isWithin(root, path));
  return [...new Set(found)].filter(isHidden);
}

interface NamingCommand {
  readonly command: string;
  readonly directory: string;
  readonly roots: readonly string[];
  /** The environment of the command. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Finds the repositories beside a root in a temporary folder that the command's words or the settings of the project's
 * git name. Git reads them there as it would anywhere else on the disk.
 */
export function findNeighbors(
  { command, directory, roots, environment }: NamingCommand,
  folders: readonly string[],
): readonly string[] {
  if (listTemporaryParents(roots).length === 0) return [];
  const words = command.replace(VARIABLE, (_, inBraces, plain) => environment[inBraces ?? plain] ?? "");
  const tops = new Set([directory, ...roots, ...folders].flatMap((folder) => findWorkTreeTop(folder) ?? []));
  const named = [...tops].flatMap((top) => findHiddenPaths(readRepositoryReferences(top), top, roots));
  const found = [...findHiddenPaths(words, directory, roots), ...named];
  return [...new Set(found.flatMap((path) => findRepository(path) ?? []))];
}

function readRepositoryReferences(top: string): string {
  const { inTree, inGit } = REFERENCE_FILES;
  const folder = findGitFolder(top);
  const files = [
    ...inTree.map((name) => join(top, name)),
    ...(folder === null ? [] : inGit.map((name) => join(folder, name))),
  ];
  return files.map((file) => tryReadBytes(file, MAX_NAMING_BYTES)?.toString() ?? "").join("\n");
}

/** A repository, or the one whose object store this is. */
function findRepository(path: string): string | null {
  if (looksLikeRepository(path) || looksLikeRepository(join(path, ".git"))) return path;
  return looksLikeRepository(dirname(path)) ? dirname(path) : null;
}

interface StrayPathOptions {
  readonly cwd: string;
  readonly roots: readonly string[];
  /** What the command sees as the temporary folder. */
  readonly temporary: string;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** The paths beside a root in a temporary folder that a command has written, and that exist only for commands. */
export function findPathsOnlyCommandsSee(
  command: string,
  { cwd, roots, temporary, since }: StrayPathOptions,
): readonly string[] {
  const found = PRIVATE_FOLDERS.flatMap((folder) => {
    const toPrivatePath = (path: string) => join(temporary, relative(folder, path));
    const near = roots.flatMap((root) => listFoldersBetween(root, folder));
    const beside = [...new Set(near)].flatMap((one) =>
      tryReadEntries(toPrivatePath(one)).map(({ name }) => join(one, name)),
    );
    const named = listNamedPaths(command, cwd, "../").filter((path) => dirname(path) === folder);
    return [...beside, ...named].filter((path) => {
      const stats = tryLstat(toPrivatePath(path));
      return stats !== null && stats.ctimeMs >= since - TIME_STEP_MS && tryLstat(path) === null;
    });
  });
  return [...new Set(found)];
}

/** The folders that contain a root, below a temporary folder. */
function listFoldersBetween(root: string, folder: string): string[] {
  const above = dirname(root);
  return isWithin(above, folder) && above !== folder ? [above, ...listFoldersBetween(above, folder)] : [];
}

function listNamedPaths(text: string, directory: string, start = ""): string[] {
  const named = [...new Set(text.match(NAMED_PATH) ?? [])].filter((path) => path.startsWith(start));
  return named.slice(0, MAX_PATHS).map((path) => resolve(directory, path.replace(/\.+$/, "")));
}
