import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readText } from "../disk/regular-file.ts";
import { globMatcher } from "../text/glob-pattern.ts";
import { isWithin } from "./paths.ts";

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
    repositoryProgram: once(repositoryProgram),
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
  return (isPattern ? (matchedPaths(path) ?? []) : [path]).map(realOf);
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), basename(path));
  }
}

/** null when there are too many. */
function matchedPaths(pattern: string): string[] | null {
  const folder = dirname(pattern);
  if (folder === pattern) return [pattern];
  const folders = matchedPaths(folder);
  if (folders === null) return null;
  const name = basename(pattern);
  if (!/[*?[]/.test(name)) return folders.map((each) => join(each, name));
  const matches = globMatcher(`./${name}`, { caseSensitive: false });
  const found: string[] = [];
  for (const each of folders) {
    found.push(
      ...namesIn(each)
        .filter(matches)
        .map((one) => join(each, one)),
    );
    if (found.length > MOST_NAMES) return null;
  }
  return found;
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

/**
 * Settings of a repository that make git run a program while it only reads, or that bring in other settings. An
 * alias is none of them: it cannot stand in the place of a command that git knows.
 */
const PROGRAMS: readonly RegExp[] = [
  /^core\.(fsmonitor|pager|editor|sshcommand|askpass|hookspath|worktree|gitproxy|alternaterefscommand)$/,
  /^(diff|pager|credential|gpg|include|includeif|sequence|interactive|man|browser)\./,
  /^(filter|merge|difftool|mergetool)\..*\.(clean|smudge|process|driver|cmd)$/,
  /^extensions\.(worktreeconfig|partialclone)$/,
  /^remote\..*\.(uploadpack|receivepack|vcs|promisor)$/,
  /^submodule\..*\.update$/,
  /^(uploadpack|protocol|url|ssh)\./,
];

/** Of these only a value that is not plainly harmless counts. */
const HARMLESS = /^(core\.fsmonitor|diff\.[^.]*)$/;
const HARMLESS_DIFF =
  /^diff\.(algorithm|renames|renamelimit|mnemonicprefix|colormoved|context|noprefix|submodule)$/;

/**
 * The setting of the repository around a folder that makes git run a program, or null. A person's own
 * settings outside the repository are theirs and do not count.
 */
export function repositoryProgram(folder: string): string | null {
  const gitFolder = gitFolderOf(folder);
  if (gitFolder === null) return null;
  for (const name of ["config", "config.worktree"]) {
    const found = programIn(textOf(join(gitFolder, name)));
    if (found !== null) return found;
  }
  return null;
}

function gitFolderOf(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, ".git");
    try {
      if (statSync(found).isDirectory()) return found;
      const link = /^gitdir:\s*(.+?)\s*$/m.exec(textOf(found))?.[1];
      if (link !== undefined) return commonFolder(resolve(at, link));
    } catch {
      // There is none here; the repository may begin further up.
    }
    if (dirname(at) === at) return null;
  }
}

/** A linked work tree has its settings in the repository that it belongs to. */
function commonFolder(gitFolder: string): string {
  const common = textOf(join(gitFolder, "commondir")).trim();
  return common === "" ? gitFolder : resolve(gitFolder, common);
}

function textOf(file: string): string {
  try {
    return readText(file, 16 * 1024 * 1024) ?? "";
  } catch {
    return "";
  }
}

function programIn(config: string): string | null {
  let section = "";
  for (const line of config.split(/\r?\n/)) {
    const head = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (head) section = `${head[1]}.${head[2] === undefined ? "" : `${head[2]}.`}`;
    // A key may stand on the line of its section.
    const entry = /^(?:\s*\[[^\]]*\])?\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(line);
    const key = `${section}${entry?.[1] ?? ""}`.toLowerCase();
    if (!entry || !PROGRAMS.some((pattern) => pattern.test(key))) continue;
    const value = (entry[2] ?? "true").trim().toLowerCase();
    if (HARMLESS.test(key) && (value === "false" || HARMLESS_DIFF.test(key))) continue;
    return key;
  }
  return null;
}
