import { accessSync, constants } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { tryLstat, tryReadEntries, tryReadLink, tryRealPath } from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { type CommandEnvironment, listPathsReadByGit, listSettingsFiles } from "./git-view.ts";

/** Programs of the system, and what every program loads. */
const SYSTEM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/gnu"];

/** What programs ask about the processor and their share of the machine. */
const MACHINE_FOLDERS = ["/sys/devices/system", "/sys/fs/cgroup"];

/** System settings. Files that are not world-readable, such as passwords and keys, are covered. */
const SYSTEM_SETTINGS = "/etc";
const MAX_DEPTH = 6;
const WORLD_READABLE = 0o004;

/** Settings in the home folder that change what a reader prints. None of them holds passwords. */
const HOME_SETTINGS = ".jq .terminfo .magic .tool-versions .config/bat .config/fd/ignore".split(" ");

/** The same in the folders above a root. */
const SETTINGS_ABOVE_ROOTS =
  ".ignore .rgignore .fdignore .gitignore .python-version .node-version .ruby-version .nvmrc .tool-versions rust-toolchain rust-toolchain.toml".split(
    " ",
  );

/** The subfolders of an installation that hold its programs and what they load. */
const INSTALLATION_PARTS =
  "bin sbin lib lib32 lib64 libexec share include tools Cellar opt Frameworks conda-meta ssl".split(" ");

/** PATH folders, by their ending, whose programs need something other than the usual parts beside them. */
const INSTALLATIONS: Readonly<Record<string, readonly string[]>> = {
  // Beside the programs lies `credentials.toml`.
  "/.cargo/bin": [".cargo/bin", ".rustup"],
  // `share` holds files of many programs; those that are needed here are reached through links.
  "/.local/bin": [".local/bin", ".local/lib"],
};

export interface ReadingView {
  /** Bubblewrap's arguments for the system. */
  readonly system: readonly string[];
  /** Paths that must exist, with any content. */
  readonly names: readonly string[];
  /** Further files and folders that are shown; none contains another. */
  readonly places: readonly string[];
}

/**
 * What a command sees that runs unasked because it only reads: the roots, and what its programs need. Even words that
 * trick a reader into opening another file then show nothing.
 */
export function createReadingView(environment: CommandEnvironment) {
  const home = environment.HOME ?? "";
  const system = buildSystemArguments();
  const shown = [...SYSTEM_FOLDERS, SYSTEM_SETTINGS, ...MACHINE_FOLDERS];
  const programs = listProgramFolders(environment).filter((path) => !isWithinAny(path, shown));
  return (roots: readonly string[], cwd: string): ReadingView => {
    if (roots.includes("/")) return { system: ["--ro-bind", "/", "/"], names: [], places: [] };
    const above = roots.flatMap((root) => listFoldersAbove(root));
    const files = [
      ...above.flatMap((folder) => SETTINGS_ABOVE_ROOTS.map((name) => join(folder, name))),
      ...(isAbsolute(home) ? HOME_SETTINGS.map((name) => join(home, name)) : []),
      ...listSettingsFiles(environment),
    ];
    const isHidden = (path: string) => !isWithinAny(path, [...roots, ...shown]);
    const { read, seen } = listPathsReadByGit([...roots, cwd], home);
    const wanted = [...programs, ...files, ...read].filter(
      (path) => isHidden(path) && tryRealPath(path) !== null,
    );
    const places = listOutermost(wanted);
    const names = seen.filter((path) => isHidden(path) && !isWithinAny(path, places));
    return { system, names, places };
  };
}

function listOutermost(paths: readonly string[]): string[] {
  const kept: string[] = [];
  for (const path of [...new Set(paths)].sort((one, other) => one.length - other.length))
    if (!isWithinAny(path, kept)) kept.push(path);
  return kept;
}

/** Each mount slows every command down, so there are few. */
function buildSystemArguments(): string[] {
  const shown = [...SYSTEM_FOLDERS, SYSTEM_SETTINGS, ...MACHINE_FOLDERS].flatMap((path) => {
    const stats = tryLstat(path);
    if (stats === null) return [];
    return stats.isSymbolicLink()
      ? ["--symlink", tryReadLink(path) ?? "", path]
      : ["--ro-bind-try", path, path];
  });
  return [...shown, ...coverSecrets(SYSTEM_SETTINGS, 0)];
}

/** Arguments that cover what this user can read but not everybody can. */
function coverSecrets(folder: string, depth: number): string[] {
  return tryReadEntries(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    const isFolder = entry.isDirectory();
    const stats = entry.isFile() || isFolder ? tryLstat(path) : null;
    if (stats === null) return [];
    if ((stats.mode & WORLD_READABLE) !== 0)
      return isFolder && depth < MAX_DEPTH ? coverSecrets(path, depth + 1) : [];
    if (!canRead(path)) return [];
    return isFolder ? ["--tmpfs", path] : ["--ro-bind-try", "/dev/null", path];
  });
}

function canRead(path: string): boolean {
  return withFallback(false, () => {
    accessSync(path, constants.R_OK);
    return true;
  });
}

function listFoldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [] : [above, ...listFoldersAbove(above)];
}

/** The PATH folders with what their programs load, also where a folder only holds links to them. */
function listProgramFolders({ PATH = "", HOME = "", RUSTUP_HOME }: CommandEnvironment): string[] {
  const folders = PATH.split(delimiter).filter((folder) => isAbsolute(folder) && folder !== "/");
  const found = new Set<string>();
  const add = (folder: string) => {
    for (const path of [folder, tryRealPath(folder) ?? folder])
      for (const part of findInstallation(path, HOME)) found.add(part);
  };
  for (const folder of folders) add(resolve(folder));
  if (RUSTUP_HOME !== undefined) found.add(RUSTUP_HOME);
  for (const folder of new Set(folders.map((one) => tryRealPath(one) ?? one))) {
    for (const entry of tryReadEntries(folder)) {
      const path = join(folder, entry.name);
      // Most links in a folder of programs stay inside that folder.
      const leads = entry.isSymbolicLink() && tryReadLink(path)?.includes("/") === true;
      const target = leads ? tryRealPath(path) : null;
      if (target !== null && !isWithinAny(target, [...SYSTEM_FOLDERS, ...found]))
        for (const part of findProgramFiles(target, HOME)) found.add(part);
    }
  }
  return [...found].filter((path) => path !== "/" && !(HOME !== "" && isWithin(HOME, path)));
}

function findInstallation(folder: string, home: string): string[] {
  for (const [end, parts] of Object.entries(INSTALLATIONS))
    if (folder.endsWith(end)) return parts.map((part) => join(folder.slice(0, -end.length), part));
  const around = dirname(folder);
  if (around === home || around === "/") return [folder];
  // What its programs are found by is in many places there.
  if (basename(folder) === "shims") return [around];
  if (!/^s?bin$/.test(basename(folder))) return [folder];
  const names = new Set(tryReadEntries(around).map(({ name }) => name));
  return [folder, ...INSTALLATION_PARTS.filter((part) => names.has(part)).map((part) => join(around, part))];
}

/** What belongs to a program outside PATH; the file alone if nothing shows that more does. */
function findProgramFiles(file: string, home: string): string[] {
  const modules = file.indexOf("/node_modules/");
  if (modules !== -1) return [file.slice(0, modules + "/node_modules".length)];
  const [, package_] = /^(\/opt\/[^/]+)\//.exec(file) ?? [];
  if (package_ !== undefined) return [package_];
  return /^s?bin$/.test(basename(dirname(file))) ? findInstallation(dirname(file), home) : [file];
}
