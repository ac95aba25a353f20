import { type Dirent, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { once, onceFor } from "@burin/contract/async/once";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import { entriesOf, realOf, realPlace } from "@burin/files/disk/disk-looks";
import { codeOf } from "@burin/files/disk/system-error";
import { isWithinAny } from "@burin/files/paths/paths";
import { firstProgram, foldersOfPath } from "./shell-program.ts";

/** With more names than this, a shell pattern is not matched. */
const MOST_NAMES = 2000;
/** A tree with more files is not checked. */
const MOST_FILES = 10_000;

/** A tree with more names is not checked for links. */
const MOST_NAMES_BELOW = 100_000;
/** For a program that splits text at spaces and quotes, and recognizes options by their dash. */
export const ODD_NAME = /[\s'"\\]|^-/;

/** Where a decision looks for facts. */
export interface FactsOptions {
  /** The real paths of the roots. */
  readonly roots: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Variables that commands get although they look like secrets. */
  readonly passEnvironment: readonly string[];
}

/** The facts about paths that one decision needs. Each is looked up once, so a long command line costs little. */
export function surroundings(roots: readonly string[], path = "") {
  return {
    leadsOutside: onceForEach((one, isPattern) => leadsOutside(one, isPattern, roots)),
    realPaths: onceForEach(realPaths),
    filesBelow: onceForEach((folder) => filesBelow(folder, roots)),
    treeBelow: onceForEach((folder) => treeBelow(folder, roots)),
    projectFolderOf: onceForEach(programsOfProject(roots, path)),
  };
}

function onceForEach<T>(look: (path: string, isPattern: boolean) => T) {
  const known = new Map<string, { readonly answer: T }>();
  return (path: string, isPattern = false) =>
    onceFor(known, `${isPattern ? "*" : "="}${path}`, () => ({ answer: look(path, isPattern) })).answer;
}

/** Also for any file that a shell pattern matches; what cannot be determined counts as outside. */
export function leadsOutside(path: string, isPattern: boolean, roots: readonly string[]): boolean {
  const places = isPattern ? matchedPaths(path) : [path];
  return places === null || places.some((place) => isBeyond(place, roots));
}

/** A path that does not exist counts as its nearest existing folder. */
function isBeyond(path: string, roots: readonly string[]): boolean {
  try {
    return !isWithinAny(realpathSync.native(path), roots);
  } catch (error) {
    return codeOf(error) !== "ENOENT" || dirname(path) === path || isBeyond(dirname(path), roots);
  }
}

/** Returns where an absolute path, or each file that a shell pattern matches, really is or would be created. */
function realPaths(path: string, isPattern: boolean): readonly string[] {
  return (isPattern ? (matchedPaths(path) ?? []) : [path]).map(realPlace);
}

/** null when there are too many. */
function matchedPaths(path: string): string[] | null {
  const folder = dirname(path);
  if (folder === path) return [path];
  const folders = matchedPaths(folder);
  if (folders === null) return null;
  const name = basename(path);
  if (!/[*?[]/.test(name)) return folders.map((each) => join(each, name));
  const matches = atLeast(name);
  const found: string[] = [];
  for (const each of folders) {
    const names = entriesOf(each).map((entry) => entry.name);
    const matching = names.filter(matches);
    // A name that is not valid text gives a path that cannot be followed here.
    if (matching.some((one) => one.includes("\ufffd"))) return null;
    found.push(...matching.map((one) => join(each, one)));
    if (found.length > MOST_NAMES) return null;
  }
  return found;
}

/** Matches at least what a shell matches, whatever is quoted and whatever its locale and options are. */
function atLeast(pattern: string): (name: string) => boolean {
  const [plain = ""] = pattern.split("[");
  const open = plain.replace(/[?*]+/g, "*").replace(/[\\{}()!@+|]/g, "\\$&");
  return globMatcher(`./${open}${plain === pattern || open.endsWith("*") ? "" : "*"}`, {
    caseSensitive: false,
  });
}

/**
 * Files and links in a folder and below, and what the links lead to inside the roots. Git's own files have no text to
 * find.
 */
function filesBelow(start: string, roots: readonly string[]): readonly string[] | null {
  const files: string[] = [];
  const folders = [realOf(start) ?? start];
  const seen = new Set(folders);
  let looked = 0;
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = entriesOf(at);
    looked += entries.length;
    if (looked > MOST_FILES) return null;
    for (const entry of entries.filter(({ name }) => name !== ".git")) {
      const path = join(at, entry.name);
      const folder = folderOf(path, entry);
      if (folder !== path) files.push(path);
      if (folder === null || seen.has(folder) || !isWithinAny(folder, roots)) continue;
      seen.add(folder);
      folders.push(folder);
      if (folder !== path) files.push(folder);
    }
  }
  return files;
}

export interface TreeBelow {
  readonly linksOut: readonly string[];
  readonly oddNames: readonly { readonly name: string; readonly isFolder: boolean }[];
}

/** Also behind links inside the roots; null when too large. A name that is not valid text counts as leading out. */
function treeBelow(start: string, roots: readonly string[]): TreeBelow | null {
  const linksOut: string[] = [];
  const oddNames: { name: string; isFolder: boolean }[] = [];
  let looked = 0;
  const folders = [start];
  const seen = new Set(folders);
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = entriesOf(at);
    looked += entries.length;
    if (looked > MOST_NAMES_BELOW) return null;
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

/** Returns the folder to continue in, also behind a link; null for a file and for a broken link. */
function folderOf(path: string, entry: Dirent): string | null {
  if (!entry.isFile() && entry.name.includes("\ufffd")) return "/";
  if (entry.isDirectory()) return path;
  return entry.isSymbolicLink() ? realOf(path) : null;
}

/** The project's folder in which commands would find a program; null when a folder outside has it. */
function programsOfProject(roots: readonly string[], path: string): (program: string) => string | null {
  const folders = once(() => foldersOfPath(path, roots));
  return (program) => {
    const found = firstProgram(program, folders().own);
    return found === null || firstProgram(program, folders().others) !== null ? null : dirname(found);
  };
}
