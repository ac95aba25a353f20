import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isWithin } from "../files/paths.ts";
import { realPlace } from "../files/real-place.ts";

/** More names than this are not looked through for what a pattern of the shell matches. */
const MOST_NAMES = 2000;
/** A tree with more files is not looked through for those that are searched. */
const MOST_FILES = 10_000;

/** What one decision asks about its place. Each thing is looked up once, so that a long line costs little. */
export function surroundings(roots: readonly string[]) {
  return {
    leadsOutside: once((path, isPattern) => leadsOutside(path, isPattern, roots)),
    realPaths: once(realPaths),
    filesBelow: once(filesBelow),
  };
}

function once<T>(look: (path: string, isPattern: boolean) => T): (path: string, isPattern?: boolean) => T {
  const known = {
    plain: new Map<string, { readonly answer: T }>(),
    patterns: new Map<string, { readonly answer: T }>(),
  };
  return (path, isPattern = false) => {
    const looked = isPattern ? known.patterns : known.plain;
    const found = looked.get(path) ?? { answer: look(path, isPattern) };
    looked.set(path, found);
    return found.answer;
  };
}

/**
 * Whether an absolute path, or any file that a pattern of the shell matches, really lies outside the roots.
 * What cannot be found out counts as outside: then the person is asked.
 */
export function leadsOutside(path: string, isPattern: boolean, roots: readonly string[]): boolean {
  const places = isPattern ? matchedPaths(path) : [path];
  return places === null || places.some((place) => isBeyond(place, roots));
}

/** A path that does not exist is where its nearest existing folder is. */
function isBeyond(path: string, roots: readonly string[]): boolean {
  try {
    const real = realpathSync.native(path);
    return !roots.some((root) => isWithin(real, root));
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return !isMissing || dirname(path) === path || isBeyond(dirname(path), roots);
  }
}

/** Where an absolute path, or each file that a pattern of the shell matches, really is or would be made. */
function realPaths(path: string, isPattern: boolean): readonly string[] {
  return (isPattern ? (matchedPaths(path) ?? []) : [path]).map(realPlace);
}

/** null when there are too many. */
function matchedPaths(pattern: string): string[] | null {
  const folder = dirname(pattern);
  if (folder === pattern) return [pattern];
  const folders = matchedPaths(folder);
  if (folders === null) return null;
  const name = basename(pattern);
  if (!/[*?[]/.test(name)) return folders.map((each) => join(each, name));
  const found: string[] = [];
  for (const each of folders) {
    const names = namesIn(each).filter((one) => mayMatch(name, one));
    // Whose bytes are no text has a path that cannot be followed here.
    if (names.some((one) => one.includes("\ufffd"))) return null;
    found.push(...names.map((one) => join(each, one)));
    if (found.length > MOST_NAMES) return null;
  }
  return found;
}

/** At least what a shell matches, whatever of the pattern was quoted and whatever its locale and options are. */
function mayMatch(pattern: string, name: string): boolean {
  const [plain = ""] = pattern.split("[");
  const source = plain.replace(/[*?]|[\\^$.+()[\]{}|]/g, (sign) =>
    sign === "*" ? ".*" : sign === "?" ? ".?" : `\\${sign}`,
  );
  return new RegExp(`^${source}${plain === pattern ? "$" : ""}`, "isu").test(name);
}

/** Files and links below a folder, which themselves are not followed; git's own hold no text to be found. */
function filesBelow(folder: string): readonly string[] | null {
  const files: string[] = [];
  const folders = [folder];
  let looked = 0;
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = entriesIn(at);
    looked += entries.length;
    if (looked > MOST_FILES) return null;
    for (const entry of entries) {
      if (entry.name !== ".git") (entry.isDirectory() ? folders : files).push(join(at, entry.name));
    }
  }
  return files;
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
