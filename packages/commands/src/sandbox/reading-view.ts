import { accessSync, constants } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { entriesOf, linkTarget, lstatOf, realOf } from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { gitFilesFor, type ReadingEnvironment, settingsFiles } from "./git-view.ts";

/** Programs of the system, and what every program loads. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/gnu"];

/** What programs ask about the processor and their share of the machine. */
const MACHINE = ["/sys/devices/system", "/sys/fs/cgroup"];

/** The settings of the system. What not everybody on this machine may read of them is covered: passwords, keys. */
const SETTINGS = "/etc";
const DEEPEST = 6;
const EVERYBODY_READS = 0o004;

/** Settings in the home folder that change what a reader prints. None of them holds passwords. */
const OF_HOME = ".jq .terminfo .magic .tool-versions .config/bat .config/fd/ignore".split(" ");

/** The same in the folders above a root. */
const ABOVE_ROOTS =
  ".ignore .rgignore .fdignore .gitignore .python-version .node-version .ruby-version .nvmrc .tool-versions rust-toolchain rust-toolchain.toml".split(
    " ",
  );

/** The parts of an installation that its programs are in and load. */
const PARTS =
  "bin sbin lib lib32 lib64 libexec share include tools Cellar opt Frameworks conda-meta ssl".split(" ");

/** Folders of PATH by their ends, and what their programs need beside them when that is not the usual parts. */
const INSTALLATIONS: Readonly<Record<string, readonly string[]>> = {
  // Beside the programs lies `credentials.toml`.
  "/.cargo/bin": [".cargo/bin", ".rustup"],
  // What lies in `share` belongs to all kinds of programs; what these need of it, their links lead to.
  "/.local/bin": [".local/bin", ".local/lib"],
};

export interface ReadingView {
  /** Bubblewrap's arguments for the system. */
  readonly system: readonly string[];
  /** Names that only have to be there. */
  readonly names: readonly string[];
  /** Further files and folders that are shown, none inside another, each before those below it. */
  readonly places: readonly string[];
}

/**
 * What is shown to a command that runs unasked because it only reads: the roots, and what its programs need. Anyone who
 * finds words that lead a reader elsewhere then sees nothing.
 */
export function readingView(environment: ReadingEnvironment) {
  const home = environment.HOME ?? "";
  const system = systemArguments();
  const shown = [...SYSTEM, SETTINGS, ...MACHINE];
  const programs = programFolders(environment).filter((path) => !isWithinAny(path, shown));
  return (roots: readonly string[], cwd: string): ReadingView => {
    if (roots.includes("/")) return { system: ["--ro-bind", "/", "/"], names: [], places: [] };
    const above = roots.flatMap((root) => foldersAbove(root));
    const files = [
      ...above.flatMap((folder) => ABOVE_ROOTS.map((name) => join(folder, name))),
      ...(isAbsolute(home) ? OF_HOME.map((name) => join(home, name)) : []),
      ...settingsFiles(environment),
    ];
    const isHidden = (path: string) => !isWithinAny(path, [...roots, ...shown]);
    const { read, seen } = gitFilesFor([...roots, cwd], home);
    const wanted = [...programs, ...files, ...read].filter((path) => isHidden(path) && realOf(path) !== null);
    const places = outermost(wanted);
    const names = seen.filter((path) => isHidden(path) && !isWithinAny(path, places));
    return { system, names, places };
  };
}

function outermost(paths: readonly string[]): string[] {
  const kept: string[] = [];
  for (const path of [...new Set(paths)].sort((one, other) => one.length - other.length))
    if (!isWithinAny(path, kept)) kept.push(path);
  return kept;
}

/** Each mount costs every command, so there are few. */
function systemArguments(): string[] {
  const shown = [...SYSTEM, SETTINGS, ...MACHINE].flatMap((path) => {
    const stats = lstatOf(path);
    if (stats === null) return [];
    return stats.isSymbolicLink()
      ? ["--symlink", linkTarget(path) ?? "", path]
      : ["--ro-bind-try", path, path];
  });
  return [...shown, ...secretsIn(SETTINGS, 0)];
}

/** Arguments that cover what this user can read and not everybody else. */
function secretsIn(folder: string, depth: number): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    const isFolder = entry.isDirectory();
    const stats = entry.isFile() || isFolder ? lstatOf(path) : null;
    if (stats === null) return [];
    if ((stats.mode & EVERYBODY_READS) !== 0)
      return isFolder && depth < DEEPEST ? secretsIn(path, depth + 1) : [];
    if (!canRead(path)) return [];
    return isFolder ? ["--tmpfs", path] : ["--ro-bind-try", "/dev/null", path];
  });
}

function canRead(path: string): boolean {
  return orElse(false, () => {
    accessSync(path, constants.R_OK);
    return true;
  });
}

function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [] : [above, ...foldersAbove(above)];
}

/** The folders of PATH with what their programs load, also where they only have links to them. */
function programFolders({ PATH = "", HOME = "", RUSTUP_HOME }: ReadingEnvironment): string[] {
  const folders = PATH.split(delimiter).filter((folder) => isAbsolute(folder) && folder !== "/");
  const found = new Set<string>();
  const add = (folder: string) => {
    for (const path of [folder, realOf(folder) ?? folder])
      for (const part of installationOf(path, HOME)) found.add(part);
  };
  for (const folder of folders) add(resolve(folder));
  if (RUSTUP_HOME !== undefined) found.add(RUSTUP_HOME);
  for (const folder of new Set(folders.map((one) => realOf(one) ?? one))) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      // Most links in a folder of programs stay there.
      const leads = entry.isSymbolicLink() && linkTarget(path)?.includes("/") === true;
      const target = leads ? realOf(path) : null;
      if (target !== null && !isWithinAny(target, [...SYSTEM, ...found]))
        for (const part of programOf(target, HOME)) found.add(part);
    }
  }
  return [...found].filter((path) => path !== "/" && !(HOME !== "" && isWithin(HOME, path)));
}

function installationOf(folder: string, home: string): string[] {
  for (const [end, parts] of Object.entries(INSTALLATIONS))
    if (folder.endsWith(end)) return parts.map((part) => join(folder.slice(0, -end.length), part));
  const around = dirname(folder);
  if (around === home || around === "/") return [folder];
  // What its programs are found by is in many places there.
  if (basename(folder) === "shims") return [around];
  if (!/^s?bin$/.test(basename(folder))) return [folder];
  const names = new Set(entriesOf(around).map(({ name }) => name));
  return [folder, ...PARTS.filter((part) => names.has(part)).map((part) => join(around, part))];
}

/** What belongs to a program outside PATH; the file alone if nothing shows that more does. */
function programOf(file: string, home: string): string[] {
  const modules = file.indexOf("/node_modules/");
  if (modules !== -1) return [file.slice(0, modules + "/node_modules".length)];
  const [, package_] = /^(\/opt\/[^/]+)\//.exec(file) ?? [];
  if (package_ !== undefined) return [package_];
  return /^s?bin$/.test(basename(dirname(file))) ? installationOf(dirname(file), home) : [file];
}
