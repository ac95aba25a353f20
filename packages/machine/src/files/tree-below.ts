import { accessSync, constants, type Dirent, readdirSync, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isOfProject } from "../processes/shell-program.ts";
import { isWithinAny } from "./paths.ts";

/** A tree with more names is not looked through. */
const MOST_NAMES = 100_000;
/** For a program that takes text apart at blanks and quotes, and options by their dash. */
const ODD_NAME = /[\s'"\\]|^-/;

interface TreeBelow {
  readonly linksOut: readonly string[];
  readonly oddNames: readonly { readonly name: string; readonly isFolder: boolean }[];
}

/** What a decision asks about trees and programs; each thing is looked up once. */
export function lookAround(roots: readonly string[], path: string) {
  return {
    treeBelow: once((folder) => treeBelow(folder, roots)),
    projectFolderOf: once(programsOfProject(roots, path)),
  };
}

function once<T>(look: (key: string) => T): (key: string) => T {
  const known = new Map<string, { readonly answer: T }>();
  return (key) => {
    const found = known.get(key) ?? { answer: look(key) };
    known.set(key, found);
    return found.answer;
  };
}

/**
 * All that lies below a folder, also behind links that stay inside the roots; null when it is too much. Where a
 * link or folder leads whose name is no text cannot be found out, so that it counts as leading out.
 */
function treeBelow(start: string, roots: readonly string[]): TreeBelow | null {
  const linksOut: string[] = [];
  const oddNames: { name: string; isFolder: boolean }[] = [];
  let looked = 0;
  const folders = [start];
  const seen = new Set(folders);
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = entriesIn(at);
    looked += entries.length;
    if (looked > MOST_NAMES) return null;
    for (const entry of entries) {
      if (ODD_NAME.test(entry.name)) oddNames.push({ name: entry.name, isFolder: !entry.isFile() });
      const folder = folderOf(join(at, entry.name), entry);
      if (folder === null) continue;
      if (!isWithinAny(folder, roots)) linksOut.push(entry.name);
      else if (!seen.has(folder)) folders.push(folder);
      seen.add(folder);
    }
  }
  return { linksOut, oddNames };
}

/** Where it goes on: a folder, or what a link leads to; null for a file and for a link that leads nowhere. */
function folderOf(path: string, entry: Dirent): string | null {
  if (!entry.isFile() && entry.name.includes("\ufffd")) return "/";
  if (entry.isDirectory()) return path;
  return entry.isSymbolicLink() ? realOf(path) : null;
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Where a link leads; null for one that leads nowhere, through which nothing can be read. */
function realOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** Tells the folder in which commands would find a program, if that is one of the project; those outside come first. */
function programsOfProject(roots: readonly string[], path: string): (program: string) => string | null {
  const folders = path.split(delimiter).filter(isAbsolute);
  const own = folders.filter((folder) => isOfProject(folder, roots));
  const others = folders.filter((folder) => !own.includes(folder));
  return (program) => {
    const holds = (folder: string) => isExecutable(join(folder, program));
    const found = own.find(holds);
    return found === undefined || others.some(holds) ? null : found;
  };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
