import { closeSync, constants, openSync } from "node:fs";
import { mkdir, rmdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { readErrorCode, toWorkspaceError } from "../disk/system-error.ts";
import {
  createOutsideError,
  createPathBuilder,
  FOLDER_FLAGS,
  isSamePath,
  isWithinAny,
  type LocatedPath,
  resolveDescriptorPath,
} from "./paths.ts";

/**
 * The folder for a file that is about to be written. It is held open, so that swapping its name for a link has no
 * effect.
 */
export interface TargetFolder {
  readonly descriptor: number;
  /** Returns a path inside exactly that folder, even if its name now leads elsewhere. */
  path(name: string): string;
  /** The file's name, links resolved. */
  readonly name: string;
  /** Folders that had to be created, the deepest first. */
  readonly createdFolders: readonly CreatedFolder[];
}

interface CreatedFolder {
  readonly parent: number;
  readonly path: string;
}

/** Returns the real path of the file to write, following a link in the last segment. */
export function resolveTarget(file: string, { real }: LocatedPath, roots: readonly string[]): string {
  if (roots.includes(real)) throw new WorkspaceError("is_a_directory", `${file} is a directory, not a file.`);
  if (/[/\\]$/.test(file)) {
    throw new WorkspaceError("is_a_directory", `${file} names a folder; give the path of a file.`);
  }
  return real;
}

/** Opens the folder of a real target and creates missing folders. Checks the opened folder, not its name. */
export async function openTargetFolder(real: string, roots: readonly string[]): Promise<TargetFolder> {
  const made: CreatedFolder[] = [];
  try {
    const descriptor = await openFolder(dirname(real), { roots, made });
    const here = createPathBuilder(descriptor, dirname(real));
    return { descriptor, path: here, name: basename(real), createdFolders: made };
  } catch (error) {
    await removeCreatedFolders(made);
    throw toWorkspaceError(error, real);
  }
}

/** Removes the folders that were created for a file that could not be written. */
export async function removeCreatedFolders(made: readonly CreatedFolder[]): Promise<void> {
  for (const { path } of made) await rmdir(path).catch(() => {});
  closeCreatedFolders(made);
}

export function closeCreatedFolders(made: readonly CreatedFolder[]): void {
  for (const { parent } of made) closeSync(parent);
}

interface FolderCreation {
  readonly roots: readonly string[];
  readonly made: CreatedFolder[];
}

async function openFolder(folder: string, making: FolderCreation): Promise<number> {
  let descriptor: number;
  try {
    descriptor = openSync(folder, FOLDER_FLAGS);
  } catch (error) {
    if (readErrorCode(error) !== "ENOENT" || dirname(folder) === folder) throw error;
    return createFolder(folder, making);
  }
  return checkFolder(descriptor, folder, making.roots);
}

async function checkFolder(descriptor: number, folder: string, roots: readonly string[]): Promise<number> {
  try {
    const real = await resolveDescriptorPath(descriptor, folder);
    if (!isWithinAny(real, roots)) throw createOutsideError(folder, roots);
    // The file was judged by this path. A link that has appeared since could lead to a protected folder.
    if (isSamePath(real, folder)) return descriptor;
    throw new WorkspaceError("changed_on_disk", `${folder} has become a link, so nothing was changed there.`);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

async function createFolder(folder: string, making: FolderCreation): Promise<number> {
  const parent = await openFolder(dirname(folder), making);
  const path = createPathBuilder(parent, dirname(folder))(basename(folder));
  const fault: unknown = await mkdir(path).catch((error: unknown) => error);
  const isMade = fault === undefined;
  if (isMade) making.made.unshift({ parent, path });
  try {
    // Another program may have created it meanwhile.
    if (!isMade && readErrorCode(fault) !== "EEXIST") throw fault;
    return await checkFolder(openSync(path, FOLDER_FLAGS | constants.O_NOFOLLOW), folder, making.roots);
  } finally {
    if (!isMade) closeSync(parent);
  }
}
