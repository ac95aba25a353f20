import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { entriesOf, linkTarget, lstatOf, realOf } from "../disk/disk-looks.ts";
import { isWithin, isWithinAny } from "../paths/paths.ts";
import { gitFilesFor, type ReadingEnvironment, settingsFiles } from "./git-view.ts";

/** Programs of the system, and what every program loads. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/gnu"];

/** What programs ask about the processor and their share of the machine. */
const MACHINE = ["/sys/devices/system", "/sys/fs/cgroup"];

/** Below /etc, and why a command that reads needs it. Not here: passwords, keys, settings that often hold one. */
const SETTINGS: Readonly<Record<string, string>> = {
  "the loader": "ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path ld-musl-aarch64.path",
  "the programs that names stand for": "alternatives static",
  "names of users, groups, hosts and services":
    "passwd group nsswitch.conf hosts host.conf hostname networks services protocols resolv.conf gai.conf",
  "time and language": "localtime timezone locale.conf locale.alias default/locale",
  "which system this is": "os-release lsb-release debian_version redhat-release alpine-release arch-release",
  "terminals and colours": "terminfo DIR_COLORS",
  "kinds of files": "magic magic.mime mime.types",
  "certificates, without their keys":
    "ssl/certs ssl/openssl.cnf ca-certificates pki/tls/certs pki/ca-trust crypto-policies",
  "git and other version control": "gitconfig gitattributes mercurial",
  "languages that keep a part of themselves there":
    "java java-8-openjdk java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk perl python3 R",
  "open files": "mtab",
};

/** Settings in the home folder that change what a reader prints. None of them holds passwords. */
const OF_HOME = ".jq .terminfo .magic .tool-versions .config/bat .config/fd/ignore".split(" ");

/** The same in the folders above a root. */
const ABOVE_ROOTS =
  ".ignore .rgignore .fdignore .gitignore .python-version .node-version .ruby-version .nvmrc .tool-versions rust-toolchain rust-toolchain.toml".split(
    " ",
  );

/** The parts of an installation that its programs are in and load. */
const PARTS =
  "bin sbin lib lib32 lib64 libexec share include shims versions version plugins pyenv.d rbenv.d installs tools Cellar opt Frameworks conda-meta ssl".split(
    " ",
  );

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
  /** Further files and folders that are shown, none inside another, each before those below it. */
  readonly places: readonly string[];
}

/**
 * What is shown to a command that runs unasked because it only reads: the roots, and what its programs need. Whoever
 * finds words that lead a reader elsewhere then sees nothing.
 */
export function readingView(environment: ReadingEnvironment) {
  const home = environment.HOME ?? "";
  const system = systemArguments();
  const shown = [...SYSTEM, ...MACHINE];
  const programs = programFolders(environment).filter((path) => !isWithinAny(path, shown));
  return (roots: readonly string[], cwd: string): ReadingView => {
    if (roots.includes("/")) return { system: ["--ro-bind", "/", "/"], places: [] };
    const above = roots.flatMap((root) => foldersAbove(root));
    const files = [
      ...above.flatMap((folder) => ABOVE_ROOTS.map((name) => join(folder, name))),
      ...(isAbsolute(home) ? OF_HOME.map((name) => join(home, name)) : []),
      ...settingsFiles(environment),
    ];
    const places = [...programs, ...files, ...gitFilesFor([...roots, cwd], home)];
    const wanted = places.filter((path) => !isWithinAny(path, [...roots, ...shown]) && realOf(path) !== null);
    return { system, places: outermost(wanted) };
  };
}

function outermost(paths: readonly string[]): string[] {
  const kept: string[] = [];
  for (const path of [...new Set(paths)].sort((one, other) => one.length - other.length))
    if (!isWithinAny(path, kept)) kept.push(path);
  return kept;
}

function systemArguments(): string[] {
  const settings = Object.values(SETTINGS).flatMap((names) => names.split(" "));
  const paths = [...SYSTEM, ...MACHINE, ...settings.map((name) => join("/etc", name))];
  return paths.flatMap((path) => {
    const stats = lstatOf(path);
    if (stats === null) return [];
    const real = realOf(path);
    const isKept = stats.isSymbolicLink() && (real === null || isWithinAny(real, SYSTEM));
    if (isKept) return ["--symlink", linkTarget(path) ?? "", path];
    return real === null ? [] : ["--ro-bind-try", real, path];
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
  for (const folder of new Set(folders)) {
    for (const entry of entriesOf(folder)) {
      const target = entry.isSymbolicLink() ? realOf(join(folder, entry.name)) : null;
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
  if (around === home || !/^(?:s?bin|shims)$/.test(basename(folder))) return [folder];
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
