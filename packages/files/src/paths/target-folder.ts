import { closeSync, constants, openSync } from "node:fs";
import { mkdir, rmdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { asWorkspaceError, codeOf } from "../disk/system-error.ts";
import { FOLDER, isSamePath, isWithinAny, type Located, outside, pathsIn, realPathOf } from "./paths.ts";

/** The folder in which a file is to be written, held open, so that a replaced name cannot lead elsewhere. */
export interface TargetFolder {
  readonly descriptor: number;
  /** Returns a path in exactly that folder, wherever its name leads by now. */
  path(name: string): string;
  /** The file's name, links resolved. */
  readonly name: string;
  /** Folders that had to be created, the deepest first. */
  readonly made: readonly MadeFolder[];
}

interface MadeFolder {
  readonly parent: number;
  readonly path: string;
}

/** Returns the real path of the file to be written, which a link in the last segment may lead to. */
export function realTarget(file: string, { real }: Located, roots: readonly string[]): string {
  if (roots.includes(real)) throw new WorkspaceError("is_a_directory", `${file} is a directory, not a file.`);
  if (/[/\\]$/.test(file)) {
    throw new WorkspaceError("is_a_directory", `${file} names a folder; give the path of a file.`);
  }
  return real;
}

/** Opens the folder of a real target and creates missing ones. Checks what was opened, not its name. */
export async function openTargetFolder(real: string, roots: readonly string[]): Promise<TargetFolder> {
  const made: MadeFolder[] = [];
  try {
    const descriptor = await openFolder(dirname(real), { roots, made });
    const here = pathsIn(descriptor, dirname(real));
    return { descriptor, path: here, name: basename(real), made };
  } catch (error) {
    await removeMade(made);
    throw asWorkspaceError(error, real);
  }
}

/** Removes the folders that were created for a file that could not be written. */
export async function removeMade(made: readonly MadeFolder[]): Promise<void> {
  for (const { path } of made) await rmdir(path).catch(() => {});
  closeMade(made);
}

export function closeMade(made: readonly MadeFolder[]): void {
  for (const { parent } of made) closeSync(parent);
}

interface Making {
  readonly roots: readonly string[];
  readonly made: MadeFolder[];
}

async function openFolder(folder: string, making: Making): Promise<number> {
  let descriptor: number;
  try {
    descriptor = openSync(folder, FOLDER);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(folder) === folder) throw error;
    return makeFolder(folder, making);
  }
  return judged(descriptor, folder, making.roots);
}

async function judged(descriptor: number, folder: string, roots: readonly string[]): Promise<number> {
  try {
    const real = await realPathOf(descriptor, folder);
    if (!isWithinAny(real, roots)) throw outside(folder, roots);
    // The file was judged by this name: a link that has come since then could lead to a protected folder.
    if (isSamePath(real, folder)) return descriptor;
    throw new WorkspaceError("changed_on_disk", `${folder} has become a link, so nothing was changed there.`);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

async function makeFolder(folder: string, making: Making): Promise<number> {
  const parent = await openFolder(dirname(folder), making);
  const path = pathsIn(parent, dirname(folder))(basename(folder));
  const fault: unknown = await mkdir(path).catch((error: unknown) => error);
  const isMade = fault === undefined;
  if (isMade) making.made.unshift({ parent, path });
  try {
    // Another program may have made it meanwhile.
    if (!isMade && codeOf(fault) !== "EEXIST") throw fault;
    return await judged(openSync(path, FOLDER | constants.O_NOFOLLOW), folder, making.roots);
  } finally {
    if (!isMade) closeSync(parent);
  }
}
