import { type Dirent, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { getOrCreate, once } from "@burin/contract/async/once";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { resolvePossiblyMissing, tryReadEntries, tryRealPath } from "@burin/files/disk/disk-looks";
import { readErrorCode } from "@burin/files/disk/system-error";
import { isWithinAny } from "@burin/files/paths/paths";
import { findFirstProgram, splitPathFolders } from "./shell-program.ts";

/** A shell pattern that would have to be compared with more names is not matched. */
const MAX_NAMES = 2000;
/** A tree with more files is not checked. */
const MAX_FILES = 10_000;

/** A tree with more names is not checked for links. */
const MAX_NAMES_BELOW = 100_000;
/** Names that a program misreads if it splits text at spaces and quotes, or takes a leading dash for an option. */
export const ODD_NAME = /[\s'"\\]|^-/;

/** The surroundings in which a decision looks for facts. */
export interface FactsOptions {
  /** The real paths of the roots. */
  readonly roots: readonly string[];
  /** The environment that commands start from. */
  readonly environment: NodeJS.ProcessEnv;
  /** Variables that commands get although they look like secrets. */
  readonly passEnvironment: readonly string[];
}

/** The facts about paths that one decision needs. Each is looked up once, so a long command line costs little. */
export function createPathFacts(roots: readonly string[], path = "") {
  return {
    leadsOutside: rememberByPath((one, isPattern) => leadsOutside(one, isPattern, roots)),
    realPaths: rememberByPath(findRealPaths),
    filesBelow: rememberByPath((folder) => listFiles(folder, roots)),
    treeBelow: rememberByPath((folder) => surveyTree(folder, roots)),
    projectFolderOf: rememberByPath(createProgramLookup(roots, path)),
  };
}

function rememberByPath<T>(look: (path: string, isPattern: boolean) => T) {
  const known = new Map<string, { readonly answer: T }>();
  return (path: string, isPattern = false) =>
    getOrCreate(known, `${isPattern ? "*" : "="}${path}`, () => ({ answer: look(path, isPattern) })).answer;
}

/**
 * Whether a path, or any file that a shell pattern matches, is outside the roots. Anything that cannot be determined
 * counts as outside.
 */
export function leadsOutside(path: string, isPattern: boolean, roots: readonly string[]): boolean {
  const places = isPattern ? expandPattern(path) : [path];
  return places === null || places.some((place) => isPathOutside(place, roots));
}

/** A missing path counts as its nearest existing folder. */
function isPathOutside(path: string, roots: readonly string[]): boolean {
  try {
    return !isWithinAny(realpathSync.native(path), roots);
  } catch (error) {
    return readErrorCode(error) !== "ENOENT" || dirname(path) === path || isPathOutside(dirname(path), roots);
  }
}

/** Returns where an absolute path, or each file that a shell pattern matches, really is or would be created. */
function findRealPaths(path: string, isPattern: boolean): readonly string[] {
  return (isPattern ? (expandPattern(path) ?? []) : [path]).map(resolvePossiblyMissing);
}

/** null when there are too many. */
function expandPattern(path: string): string[] | null {
  const folder = dirname(path);
  if (folder === path) return [path];
  const folders = expandPattern(folder);
  if (folders === null) return null;
  const name = basename(path);
  if (!/[*?[]/.test(name)) return folders.map((each) => join(each, name));
  const matches = createShellPatternMatcher(name);
  const found: string[] = [];
  for (const each of folders) {
    const names = tryReadEntries(each).map((entry) => entry.name);
    const matching = names.filter(matches);
    // A name that is not valid UTF-8 gives a path that cannot be opened here.
    if (matching.some((one) => one.includes("\ufffd"))) return null;
    found.push(...matching.map((one) => join(each, one)));
    if (found.length > MAX_NAMES) return null;
  }
  return found;
}

/** Matches everything that a shell would match, and perhaps more, whatever the quoting, locale and shell options. */
function createShellPatternMatcher(pattern: string): (name: string) => boolean {
  const [plain = ""] = pattern.split("[");
  const open = plain.replace(/[?*]+/g, "*").replace(/[\\{}()!@+|]/g, "\\$&");
  return createGlobMatcher(`./${open}${plain === pattern || open.endsWith("*") ? "" : "*"}`, {
    caseSensitive: false,
  });
}

/**
 * Lists files and links below a folder, and what the links lead to inside the roots. Skips git's own folder, which has
 * no text to search.
 */
function listFiles(start: string, roots: readonly string[]): readonly string[] | null {
  const files: string[] = [];
  const folders = [tryRealPath(start) ?? start];
  const seen = new Set(folders);
  let looked = 0;
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = tryReadEntries(at);
    looked += entries.length;
    if (looked > MAX_FILES) return null;
    for (const entry of entries.filter(({ name }) => name !== ".git")) {
      const path = join(at, entry.name);
      const folder = findFolder(path, entry);
      if (folder !== path) files.push(path);
      if (folder === null || seen.has(folder) || !isWithinAny(folder, roots)) continue;
      seen.add(folder);
      folders.push(folder);
      if (folder !== path) files.push(folder);
    }
  }
  return files;
}

export interface TreeFacts {
  readonly linksOut: readonly string[];
  readonly oddNames: readonly { readonly name: string; readonly isFolder: boolean }[];
}

/**
 * Collects what is in the tree below a folder, with links inside the roots followed; null when the tree is too large. A
 * name that is not valid UTF-8 counts as leading outside.
 */
function surveyTree(start: string, roots: readonly string[]): TreeFacts | null {
  const linksOut: string[] = [];
  const oddNames: { name: string; isFolder: boolean }[] = [];
  let looked = 0;
  const folders = [start];
  const seen = new Set(folders);
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = tryReadEntries(at);
    looked += entries.length;
    if (looked > MAX_NAMES_BELOW) return null;
    for (const entry of entries) {
      if (ODD_NAME.test(entry.name)) oddNames.push({ name: entry.name, isFolder: !entry.isFile() });
      const folder = findFolder(join(at, entry.name), entry);
      if (folder === null) continue;
      if (!isWithinAny(folder, roots)) linksOut.push(entry.name);
      else if (!seen.has(folder)) folders.push(folder);
      seen.add(folder);
    }
  }
  return { linksOut, oddNames };
}

/** Returns the folder to continue in, also behind a link; null for a file and for a broken link. */
function findFolder(path: string, entry: Dirent): string | null {
  if (!entry.isFile() && entry.name.includes("\ufffd")) return "/";
  if (entry.isDirectory()) return path;
  return entry.isSymbolicLink() ? tryRealPath(path) : null;
}

/**
 * Returns the project's folder in which commands would find a program; null when a folder outside the project has it.
 */
function createProgramLookup(roots: readonly string[], path: string): (program: string) => string | null {
  const folders = once(() => splitPathFolders(path, roots));
  return (program) => {
    const found = findFirstProgram(program, folders().own);
    return found === null || findFirstProgram(program, folders().others) !== null ? null : dirname(found);
  };
}
