import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isWithinAny, locate, outside, realPathOf } from "./paths.ts";
import { asWorkspaceError, codeOf } from "./system-error.ts";
import { WorkspaceError } from "./workspace.ts";

/** The folder in which a file is to be written, held open, so that a swapped name cannot lead elsewhere. */
export interface TargetFolder {
  readonly handle: FileHandle;
  /** Names things in that very folder, whatever its path leads to by now. */
  path(name: string): string;
  /** The file's name, links resolved. */
  readonly name: string;
  /** Folders that had to be made, the deepest first, as paths that name them. */
  readonly made: readonly MadeFolder[];
}

interface MadeFolder {
  readonly parent: FileHandle;
  readonly path: string;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/** The real place of the file to be written; a link in the last place is followed. */
export async function realTarget(file: string, roots: readonly string[]): Promise<string> {
  const { real } = await locate(file, roots);
  if (roots.includes(real)) throw new WorkspaceError("is_a_directory", `${file} is a directory, not a file.`);
  return real;
}

/** Opens the folder of a real target, making what is missing; what was opened is judged, not its name. */
export async function openTargetFolder(real: string, roots: readonly string[]): Promise<TargetFolder> {
  const made: MadeFolder[] = [];
  try {
    const handle = await openFolder(dirname(real), { roots, made });
    const here = pathsIn(handle, dirname(real));
    return { handle, path: here, name: basename(real), made };
  } catch (error) {
    await removeMade(made);
    throw asWorkspaceError(error, real);
  }
}

/** What was only read needs no waiting: nothing can be lost by then. */
export function closeLater(handle: FileHandle): void {
  handle.close().catch(() => {});
}

/** Takes back the folders that were made for a file that could not be written. */
export async function removeMade(made: readonly MadeFolder[]): Promise<void> {
  for (const { path } of made) await rmdir(path).catch(() => {});
  await closeMade(made);
}

export async function closeMade(made: readonly MadeFolder[]): Promise<void> {
  for (const { parent } of made) await parent.close();
}

interface Making {
  readonly roots: readonly string[];
  readonly made: MadeFolder[];
}

async function openFolder(folder: string, making: Making): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(folder, FOLDER);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(folder) === folder) throw error;
    return makeFolder(folder, making);
  }
  return judged(handle, folder, making.roots);
}

async function judged(handle: FileHandle, folder: string, roots: readonly string[]): Promise<FileHandle> {
  try {
    if (!isWithinAny(await realPathOf(handle, folder), roots)) throw outside(folder, roots);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function makeFolder(folder: string, making: Making): Promise<FileHandle> {
  const parent = await openFolder(dirname(folder), making);
  const path = pathsIn(parent, dirname(folder))(basename(folder));
  let isMade = false;
  try {
    await mkdir(path);
    isMade = true;
    making.made.unshift({ parent, path });
    return await judged(await open(path, FOLDER | constants.O_NOFOLLOW), folder, making.roots);
  } catch (error) {
    if (codeOf(error) === "EEXIST" && (await lstat(path)).isDirectory()) {
      return await judged(await open(path, FOLDER | constants.O_NOFOLLOW), folder, making.roots);
    }
    throw error;
  } finally {
    if (!isMade) await parent.close();
  }
}

/** Linux can name what is in an open folder; elsewhere its real path must do. */
function pathsIn(handle: FileHandle, folder: string): (name: string) => string {
  const base = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : folder;
  return (name) => join(base, name);
}
