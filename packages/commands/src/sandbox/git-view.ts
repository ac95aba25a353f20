import { dirname, isAbsolute, join, resolve } from "node:path";
import { bytesOf, entriesOf, lstatOf, realPlace } from "@burin/files/disk/disk-looks";
import { gitTopOf } from "@burin/files/ignore/git-excludes";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";

/** The environment of the commands: where their programs are and whose settings they follow. */
export type ReadingEnvironment = Readonly<Record<string, string | undefined>>;

const MOST_BYTES = 1024 * 1024;
const DEEPEST = 10;
const MOST_WORK_TREES = 100;

function textOf(path: string): string {
  return bytesOf(path, MOST_BYTES)?.toString() ?? "";
}

/** A section, and a setting, which may stand on the same line. */
const SECTION = /^\s*\[\s*([\w.-]+)[^\]]*\]/;
const SETTING = /^\s*(?:\[[^\]]*\])?\s*([\w-]+)\s*=\s*(.*)$/;

/** Settings that name a file to read, or a program that git runs to show one. Those that name keys are not here. */
const NAMED =
  /^(?:include(?:if)?\.path|core\.(?:excludesfile|attributesfile)|blame\.ignorerevsfile|diff\.(?:orderfile|external|textconv|command)|mailmap\.file|filter\.(?:clean|smudge|process))$/;

/** The files of git's settings of this user and system, and the files that they name. */
export function settingsFiles(environment: ReadingEnvironment): string[] {
  const { HOME = "", GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM } = environment;
  const folder = join(environment.XDG_CONFIG_HOME || join(HOME, ".config"), "git");
  const files =
    GIT_CONFIG_GLOBAL === undefined
      ? [join(HOME, ".gitconfig"), join(folder, "config")]
      : [GIT_CONFIG_GLOBAL];
  // Git's own store of passwords can be in the same folder.
  const beside = ["ignore", "attributes"].map((name) => join(folder, name));
  const system = GIT_CONFIG_SYSTEM === undefined ? [] : [GIT_CONFIG_SYSTEM];
  const named = [...files, ...system, "/etc/gitconfig"].flatMap((file) => [
    file,
    ...filesNamedIn(file, HOME, 0),
  ]);
  return [...named, ...beside].filter(
    (path) => isAbsolute(path) && lstatOf(realPlace(path))?.isFile() === true,
  );
}

function filesNamedIn(file: string, home: string, depth: number): string[] {
  if (depth === DEEPEST) return [];
  let section = "";
  return textOf(file)
    .split(/\r?\n/)
    .flatMap((line) => {
      section = SECTION.exec(line)?.[1]?.toLowerCase() ?? section;
      const [, name = "", value = ""] = SETTING.exec(line) ?? [];
      const key = `${section}.${name.toLowerCase()}`;
      if (!NAMED.test(key)) return [];
      const words = value.replace(/["']/g, " ").trim().split(/\s+/);
      const paths = (key.endsWith("path") || key.endsWith("file") ? [words.join(" ")] : words).map((word) =>
        word.replace(/^~(?=\/)/, home),
      );
      if (key.endsWith(".path")) {
        const [path = ""] = paths.map((one) => resolve(dirname(file), one));
        return [path, ...filesNamedIn(path, home, depth + 1)];
      }
      return paths.filter((path) => isAbsolute(path));
    });
}

/** What git reads for the repositories that these folders are in, and what it only looks whether it exists. */
export function gitFilesFor(roots: readonly string[], home: string) {
  const read: string[] = [];
  const seen: string[] = [];
  for (const root of new Set(roots)) {
    const top = gitTopOf(root);
    const folders = top === null ? [] : gitFoldersOf(top);
    if (top === null || folders.length === 0) continue;
    // Where a root is a part of the work tree, git compares the whole of it; but not all of a home folder is shown.
    if (top !== root && !(home !== "" && isWithin(home, top))) read.push(top);
    for (const folder of folders) {
      if (!isWithinAny(folder, roots)) read.push(folder, ...storesOf(folder, 0));
      seen.push(...otherWorkTrees(folder));
    }
  }
  return { read, seen };
}

/** Empty unless the folder of the repository shows that it belongs to this work tree. */
function gitFoldersOf(top: string): string[] {
  const entry = join(top, ".git");
  if (lstatOf(entry)?.isDirectory()) return [entry];
  const named = /^gitdir: (.+)/.exec(lstatOf(entry)?.isFile() ? textOf(entry) : "")?.[1];
  if (named === undefined) return [];
  const folder = realPlace(resolve(top, named.trim()));
  const common = textOf(join(folder, "commondir")).trim();
  if (common !== "") {
    const shared = realPlace(resolve(folder, common));
    const back = textOf(join(folder, "gitdir")).trim();
    const isOurs =
      dirname(dirname(folder)) === shared && realPlace(resolve(folder, back)) === realPlace(entry);
    return isOurs ? [shared] : [];
  }
  const tree = /^\s*worktree\s*=\s*(.+)$/m.exec(textOf(join(folder, "config")))?.[1]?.trim() ?? "";
  return tree !== "" && realPlace(resolve(folder, tree.replace(/^"(.*)"$/, "$1"))) === top ? [folder] : [];
}

/** The objects of other repositories that one outside the roots reads from. */
function storesOf(folder: string, depth: number): string[] {
  const objects = join(folder, depth === 0 ? "objects" : "");
  const lines = textOf(join(objects, "info/alternates")).split("\n");
  const stores = lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => resolve(objects, line));
  return depth === DEEPEST ? [] : stores.flatMap((store) => [store, ...storesOf(store, depth + 1)]);
}

/** The files by which git sees that a linked work tree still exists. */
function otherWorkTrees(folder: string): string[] {
  const linked = entriesOf(join(folder, "worktrees")).slice(0, MOST_WORK_TREES);
  const files = linked.map(({ name }) => textOf(join(folder, "worktrees", name, "gitdir")).trim());
  return files.filter((file) => isAbsolute(file) && file.endsWith("/.git") && lstatOf(file)?.isFile());
}
