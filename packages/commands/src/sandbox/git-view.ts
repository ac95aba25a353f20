import { dirname, isAbsolute, join, resolve } from "node:path";
import { createWordSet } from "@burin/contract/text/words";
import {
  findWorkTreeTop,
  resolvePossiblyMissing,
  tryLstat,
  tryReadBytes,
  tryReadEntries,
} from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";

/** The environment of the commands: where their programs are and whose settings they follow. */
export type CommandEnvironment = Readonly<Record<string, string | undefined>>;

const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 10;
const MAX_WORK_TREES = 100;

function tryReadText(path: string): string {
  return tryReadBytes(path, MAX_BYTES)?.toString() ?? "";
}

/** A section, and a setting, which may stand on the same line. */
const SECTION = /^\s*\[\s*([\w.-]+)[^\]]*\]/;
const SETTING = /^\s*(?:\[[^\]]*\])?\s*([\w-]+)\s*=\s*(.*)$/;

/** Settings that name a file to read, or a program that git runs to show one. Settings that name keys are left out. */
const NAMES_FILE = createWordSet(`
  include.path includeif.path core.excludesfile core.attributesfile blame.ignorerevsfile diff.orderfile
  diff.external diff.textconv diff.command mailmap.file filter.clean filter.smudge filter.process`);

/** The files of git's settings of this user and system, and the files that they name. */
export function listSettingsFiles(environment: CommandEnvironment): string[] {
  const { HOME = "", GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM } = environment;
  const folder = join(environment.XDG_CONFIG_HOME || join(HOME, ".config"), "git");
  const files =
    GIT_CONFIG_GLOBAL === undefined
      ? [join(HOME, ".gitconfig"), join(folder, "config")]
      : [GIT_CONFIG_GLOBAL];
  // Git's own password store can be in the same folder.
  const beside = ["ignore", "attributes"].map((name) => join(folder, name));
  const system = GIT_CONFIG_SYSTEM === undefined ? [] : [GIT_CONFIG_SYSTEM];
  const named = [...files, ...system, "/etc/gitconfig"].flatMap((file) => [
    file,
    ...listNamedFiles(file, HOME, 0),
  ]);
  return [...named, ...beside].filter(
    (path) => isAbsolute(path) && tryLstat(resolvePossiblyMissing(path))?.isFile() === true,
  );
}

function listNamedFiles(file: string, home: string, depth: number): string[] {
  if (depth === MAX_DEPTH) return [];
  let section = "";
  return tryReadText(file)
    .split(/\r?\n/)
    .flatMap((line) => {
      section = SECTION.exec(line)?.[1]?.toLowerCase() ?? section;
      const [, name = "", value = ""] = SETTING.exec(line) ?? [];
      const key = `${section}.${name.toLowerCase()}`;
      if (!NAMES_FILE.has(key)) return [];
      const words = value.replace(/["']/g, " ").trim().split(/\s+/);
      const paths = (key.endsWith("path") || key.endsWith("file") ? [words.join(" ")] : words).map((word) =>
        word.replace(/^~(?=\/)/, home),
      );
      if (key.endsWith(".path")) {
        const [path = ""] = paths.map((one) => resolve(dirname(file), one));
        return [path, ...listNamedFiles(path, home, depth + 1)];
      }
      return paths.filter((path) => isAbsolute(path));
    });
}

/** Lists what git reads for the repositories that contain these folders, and what it only checks for existence. */
export function listPathsReadByGit(roots: readonly string[], home: string) {
  const read: string[] = [];
  const seen: string[] = [];
  for (const root of new Set(roots)) {
    const top = findWorkTreeTop(root);
    const folders = top === null ? [] : listGitFolders(top);
    if (top === null || folders.length === 0) continue;
    // If a root is part of a work tree, git compares all of it; but not all of a home folder is shown.
    if (top !== root && !(home !== "" && isWithin(home, top))) read.push(top);
    for (const folder of folders) {
      if (!isWithinAny(folder, roots)) read.push(folder, ...listObjectStores(folder, 0));
      seen.push(...listOtherWorkTrees(folder));
    }
  }
  return { read, seen };
}

/** Returns nothing unless the repository's folder points back to this work tree. */
function listGitFolders(top: string): string[] {
  const entry = join(top, ".git");
  if (tryLstat(entry)?.isDirectory()) return [entry];
  const named = /^gitdir: (.+)/.exec(tryLstat(entry)?.isFile() ? tryReadText(entry) : "")?.[1];
  if (named === undefined) return [];
  const folder = resolvePossiblyMissing(resolve(top, named.trim()));
  const common = tryReadText(join(folder, "commondir")).trim();
  if (common !== "") {
    const shared = resolvePossiblyMissing(resolve(folder, common));
    const back = tryReadText(join(folder, "gitdir")).trim();
    const isOurs =
      dirname(dirname(folder)) === shared &&
      resolvePossiblyMissing(resolve(folder, back)) === resolvePossiblyMissing(entry);
    return isOurs ? [shared] : [];
  }
  const tree = /^\s*worktree\s*=\s*(.+)$/m.exec(tryReadText(join(folder, "config")))?.[1]?.trim() ?? "";
  return tree !== "" && resolvePossiblyMissing(resolve(folder, tree.replace(/^"(.*)"$/, "$1"))) === top
    ? [folder]
    : [];
}

/** The object stores of other repositories that a repository outside the roots reads from. */
function listObjectStores(folder: string, depth: number): string[] {
  const objects = join(folder, depth === 0 ? "objects" : "");
  const lines = tryReadText(join(objects, "info/alternates")).split("\n");
  const stores = lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => resolve(objects, line));
  return depth === MAX_DEPTH ? [] : stores.flatMap((store) => [store, ...listObjectStores(store, depth + 1)]);
}

/** The files by which git checks that its linked work trees still exist. */
function listOtherWorkTrees(folder: string): string[] {
  const linked = tryReadEntries(join(folder, "worktrees")).slice(0, MAX_WORK_TREES);
  const files = linked.map(({ name }) => tryReadText(join(folder, "worktrees", name, "gitdir")).trim());
  return files.filter((file) => isAbsolute(file) && file.endsWith("/.git") && tryLstat(file)?.isFile());
}
