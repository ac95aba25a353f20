import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { getOrCreate, once } from "@burin/contract/async/once";
import {
  readSmallFile,
  resolvePossiblyMissing,
  tryLstat,
  tryReadEntries,
} from "@burin/files/disk/disk-looks";
import { isWithin } from "@burin/files/paths/paths";
import type { GitUse, RepositoryFault } from "@burin/shell-judge";
import { buildChildEnvironment, mapCodePaths } from "../processes/child-environment.ts";
import type { FactsOptions } from "../processes/command-surroundings.ts";
import { leadsOutside } from "../processes/command-surroundings.ts";
import { removeProjectFolders } from "../processes/helper-program.ts";
import { findFirstProgram } from "../processes/shell-program.ts";
import type { ProgramOutput } from "../processes/wait-for-output.ts";
import {
  buildReadOnlyEnvironment,
  findProgramSetting,
  type GitSetting,
  LIST_SETTINGS,
  parseSettings,
  runGit,
} from "./git-programs.ts";
import { AnswerCache } from "./kept-answers.ts";
import { findMisreadableNames, listPathsInGit } from "./names-in-git.ts";

const MAX_DEPTH = 5;
const MAX_SUBMODULES = 60;

/**
 * Skipped inside git's own folder: nested repositories, programs, and loose objects, which are readable only by hash.
 */
const SKIPPED_IN_GIT_FOLDER = /^(?:modules|hooks|lfs|annex|objects\/[0-9a-f]{2})$/;

interface IndexPaths {
  readonly submodules: readonly string[];
  /** All folders that files lie in. */
  readonly folders: readonly string[];
}

interface Repository {
  /** The folder in which git was asked. */
  readonly folder: string;
  readonly gitDir: string;
  readonly commonDir: string;
  /** null for a repository without a work tree. */
  readonly top: string | null;
  readonly settings: readonly GitSetting[];
  /** The user's own settings put a password into the addresses that git shows. */
  readonly showsPassword: boolean;
}

/**
 * Finds out what git would do in a folder beyond what the command's words say. It asks git itself, in an environment in
 * which git runs nothing, because no other parser finds a repository and its settings exactly as git does. An unclear
 * answer counts as a fault. Each question is asked once, so a long command line costs little.
 */
export function createRepositoryInspector(ground: FactsOptions) {
  const asker = once(() => new GitInspector(ground));
  const known = new Map<string, RepositoryFault | null>();
  const findRepositoryFault = (folder: string, use: GitUse): RepositoryFault | null => {
    const key = JSON.stringify([folder, use.changes, use.readsFiles, use.subcommand]);
    return getOrCreate(known, key, () => asker().findFault(folder, use, 0));
  };
  const createGitRunner = (folder: string) => (words: readonly string[]) => asker().ask(folder, words);
  return {
    repositoryFault: findRepositoryFault,
    workTreeOf: (folder: string) => asker().findWorkTree(folder),
    oddNamesInGit: (folder: string, words: readonly string[]) =>
      findMisreadableNames(createGitRunner(folder), words),
    pathsInGit: (folder: string, words: readonly string[]) => listPathsInGit(createGitRunner(folder), words),
  };
}

/** Returns the git that commands would run, and an environment in which it only reads. */
export function findGit({ roots, environment, passEnvironment: pass }: FactsOptions) {
  const env = buildChildEnvironment(environment, { pass, secret: [], roots });
  const paths = mapCodePaths(env, (path) => removeProjectFolders(path, roots));
  const git = findFirstProgram("git", (paths.PATH ?? "").split(delimiter));
  return { git, env: { ...env, ...paths, ...buildReadOnlyEnvironment({ isSandboxed: false }) } };
}

class GitAnswers {
  readonly repositories = new AnswerCache<Repository | RepositoryFault | null>();
  readonly indexes = new AnswerCache<IndexPaths | RepositoryFault>();
}

/** Shared by sessions: git's answers, valid as long as the files that it read are unchanged. */
const cachedAnswers = new GitAnswers();

class GitInspector {
  readonly #roots: readonly string[];
  /** Git, and an environment in which it only looks. */
  readonly #looking: ReturnType<typeof findGit>;
  readonly #known = new Map<string, Repository | RepositoryFault | null>();
  /** The environment as text, part of each cache key. */
  readonly #asking: string;

  constructor(ground: FactsOptions) {
    this.#roots = ground.roots;
    this.#looking = findGit(ground);
    this.#asking = JSON.stringify(this.#looking);
  }

  ask(folder: string, words: readonly string[]): ProgramOutput {
    return runGit(words, { ...this.#looking, cwd: folder });
  }

  #isOutside(path: string): boolean {
    return leadsOutside(path, false, this.#roots);
  }

  findWorkTree(folder: string): string | null {
    const found = this.#findRepository(folder);
    return found === null || "nature" in found ? null : found.top;
  }

  findFault(folder: string, use: GitUse, depth: number): RepositoryFault | null {
    const found = this.#findRepository(folder);
    if (found === null || "nature" in found) return found;
    return (
      this.#findLocationFault(found) ??
      createNamedProgramFault(findProgramSetting(found.settings, use)) ??
      findHookFault(found) ??
      this.#findForeignFileFault(found) ??
      (use.subcommand === "remote" && found.showsPassword ? SHOWS_PASSWORD : null) ??
      (use.readsFiles ? this.#findWorkTreeFault(found, use, depth) : null)
    );
  }

  #findRepository(folder: string): Repository | RepositoryFault | null {
    return getOrCreate(this.#known, folder, () => {
      const place = resolvePossiblyMissing(folder);
      return cachedAnswers.repositories.answer(`${this.#asking} ${place}`, () => {
        const answer = this.#askForRepository(place);
        const isFault = answer !== null && "nature" in answer;
        return { answer, sources: isFault ? null : this.#listReadFiles(place, answer) };
      });
    });
  }

  /** Everything that git reads to find a repository and its settings. */
  #listReadFiles(place: string, repository: Repository | null): string[] {
    const { HOME = "", XDG_CONFIG_HOME = join(HOME, ".config") } = this.#looking.env;
    const around = listFoldersAbove(place, repository?.top).flatMap((folder) =>
      [".git", "HEAD", "objects", "refs"].map((name) => join(folder, name)),
    );
    const own = [join(HOME, ".gitconfig"), join(XDG_CONFIG_HOME, "git", "config")];
    if (repository === null) return [...around, ...own];
    const { gitDir, commonDir, top, settings } = repository;
    const inGit = ["HEAD", "config", "config.worktree", "commondir", "gitdir", "objects", "refs"];
    const named = settings.flatMap(({ key, value = "", origin }) => {
      const file = resolve(top ?? gitDir, origin.replace(/^file:/, ""));
      if (!/^include(?:if\..*)?\.path$/s.test(key)) return [file];
      return [file, resolve(dirname(file), value.replace(/^~(?=\/)/, HOME))];
    });
    const folders = [...(top === null ? [] : [top]), gitDir, commonDir];
    const inFolders = [gitDir, commonDir].flatMap((folder) => inGit.map((name) => join(folder, name)));
    return [...new Set([...around, ...own, ...folders, ...inFolders, ...named])];
  }

  /** null when there is none. */
  #askForRepository(folder: string): Repository | RepositoryFault | null {
    const told = this.ask(folder, "rev-parse --absolute-git-dir --git-common-dir --show-toplevel".split(" "));
    if (told.fault?.startsWith("fatal: not a git repository")) return null;
    const [gitDir = "", common = "", top = "", ...rest] = told.output.toString("utf8").split("\n");
    const hasFiles = told.fault === null && rest.join("|") === "" && rest.length === 1;
    const hasNone = told.fault?.includes("must be run in a work tree") === true && rest.length === 0;
    if (!(hasFiles || hasNone)) return createUnansweredFault(told.fault);
    // Git before 2.38 accepts any folder that looks like a repository.
    if (isWithin(resolvePossiblyMissing(folder), gitDir)) return createLookalikeFault(folder);
    const listed = this.ask(folder, LIST_SETTINGS);
    const all = listed.fault === null ? parseSettings(listed.output) : null;
    if (all === null) return createUnansweredFault(listed.fault);
    // The user's own settings, outside the repository, are trusted and not checked.
    const isRepositorySetting = ({ scope }: GitSetting) => !["system", "global", "command"].includes(scope);
    const settings = all.filter(isRepositorySetting);
    return {
      folder,
      gitDir,
      commonDir: resolvePossiblyMissing(resolve(folder, common)),
      top: hasFiles ? top : null,
      settings,
      showsPassword: all.some(
        (setting) =>
          !isRepositorySetting(setting) && ADDRESS_WITH_PASSWORD.test(`${setting.key} ${setting.value}`),
      ),
    };
  }

  /** Git's folders and the work tree must be inside the roots, or be known not to come with the project. */
  #findLocationFault(repository: Repository): RepositoryFault | null {
    const { folder, gitDir, commonDir, top, settings } = repository;
    if (this.#isOutside(gitDir)) {
      const isOurs =
        this.#isAboveRoot(repository) || isLinkedWorkTree(repository) || isSubmoduleOf(repository);
      const isHere = isOurs && isWithin(resolvePossiblyMissing(folder), top ?? "");
      return isHere ? null : createOutsideFault("the repository here", gitDir);
    }
    if (this.#isOutside(commonDir))
      return createOutsideFault("what the repository shares with others", commonDir);
    if (top !== null && this.#isOutside(top))
      return createOutsideFault("the work tree of the repository", top);
    const foreign = settings.find((setting) => {
      const path = readNamedPath(setting, top ?? gitDir);
      return path !== null && (path === "" || this.#isOutside(path));
    });
    return foreign === undefined ? null : createOutsideFault(`\`${foreign.key}\``, foreign.value ?? "");
  }

  /** The root is a folder inside the work tree of a repository that begins above it. */
  #isAboveRoot({ gitDir, commonDir, top }: Repository): boolean {
    if (top === null || !this.#roots.some((root) => root !== top && isWithin(root, top))) return false;
    return commonDir === gitDir && resolvePossiblyMissing(join(top, ".git")) === gitDir;
  }

  /** Checks for links inside git's own folders, and for object stores of other repositories that this one reads. */
  #findForeignFileFault({ gitDir, commonDir, top }: Repository): RepositoryFault | null {
    if (this.#isOutside(gitDir)) return null;
    const links = [...new Set([gitDir, commonDir])].flatMap((own) => listLinks(own));
    const led = links.find((link) => this.#isOutside(link));
    if (led !== undefined) return createOutsideFault("a link in the repository", led);
    if (!pathExists(join(commonDir, "objects/info/alternates"))) return null;
    const told = this.ask(top ?? gitDir, ["count-objects", "-v"]);
    if (told.fault !== null) return createUnansweredFault(told.fault);
    const stores = told.output.toString("utf8").match(/(?<=^alternate: ).*$/gm) ?? [];
    const foreign = stores.find((path) => !isAbsolute(path) || this.#isOutside(path));
    return foreign === undefined ? null : createOutsideFault("objects of the repository", foreign);
  }

  #indexPaths(folder: string, gitDir: string): IndexPaths | RepositoryFault {
    return cachedAnswers.indexes.answer(`${this.#asking} ${gitDir}`, () => {
      const { output, fault } = this.ask(folder, ["ls-files", "-s", "-z", "--full-name", ":/"]);
      if (fault !== null) return { answer: createUnansweredFault(fault), sources: null };
      return { answer: parseIndexPaths(output.toString("utf8")), sources: [gitDir, join(gitDir, "index")] };
    });
  }

  /** Git follows a link that replaces a folder, and runs itself in each submodule with that submodule's settings. */
  #findWorkTreeFault(
    { folder, gitDir, top }: Repository,
    use: GitUse,
    depth: number,
  ): RepositoryFault | null {
    if (top === null) return null;
    const paths = this.#indexPaths(folder, gitDir);
    if ("nature" in paths) return paths;
    const places = paths.folders.map((path) => join(top, path));
    const links = places.filter((path) => tryLstat(path)?.isSymbolicLink() === true);
    const led = links.find((path) => this.#isOutside(path));
    if (led !== undefined) return createOutsideFault("a link in the place of a folder", led);
    const there = paths.submodules.filter((path) => pathExists(join(top, path, ".git")));
    if (there.length > MAX_SUBMODULES || (there.length > 0 && depth >= MAX_DEPTH)) {
      return { nature: "program", what: "it has too many submodules to check" };
    }
    for (const path of there) {
      const place = join(top, path);
      if (this.#isOutside(place)) return createOutsideFault("a submodule", place);
      const inner = this.#findRepository(place);
      const isItself = inner !== null && "gitDir" in inner && inner.gitDir === gitDir;
      const fault = isItself ? null : this.findFault(place, use, depth + 1);
      if (fault !== null)
        return { ...fault, what: `${fault.what} (in the submodule ${formatExcerpt(path)})` };
    }
    return null;
  }
}

/** The folder and those above it, up to the last one that counts. */
function listFoldersAbove(folder: string, last: string | null | undefined): string[] {
  const isEnd = folder === last || dirname(folder) === folder;
  return isEnd ? [folder] : [folder, ...listFoldersAbove(dirname(folder), last)];
}

/** Git created the work tree if the repository points back to it. */
function isLinkedWorkTree({ gitDir, commonDir, top }: Repository): boolean {
  if (top === null || dirname(dirname(gitDir)) !== commonDir) return false;
  const back = readSmallFile(join(gitDir, "gitdir"), false)?.trim();
  return (
    back !== undefined &&
    resolvePossiblyMissing(resolve(gitDir, back)) === resolvePossiblyMissing(join(top, ".git"))
  );
}

/** Git keeps the folders of submodules in the containing repository, and notes there where the files are. */
function isSubmoduleOf({ gitDir, commonDir, top, settings }: Repository): boolean {
  const named = settings.findLast(({ key }) => key === "core.worktree")?.value;
  if (top === null || named === undefined || gitDir !== commonDir) return false;
  return (
    resolvePossiblyMissing(resolve(gitDir, named)) === top && tryLstat(join(top, ".git"))?.isFile() === true
  );
}

/** Settings whose value is a file that is read. */
const NAMES_A_FILE =
  /^(?:include|includeif\..*)\.path$|^(?:core\.(?:excludes|attributes)|blame\.ignorerevs|diff\.order|mailmap\.|gpg\..*)file$|\.skiplist$/s;

/** Returns the path that such a setting names; null for any other setting, an empty text if the value is unclear. */
function readNamedPath({ key, value = "", origin }: GitSetting, top: string): string | null {
  if (!NAMES_A_FILE.test(key) || value === "") return null;
  if (/^(?:~|%\(|:)/.test(value)) return "";
  const isInclude = key.startsWith("include");
  return resolve(isInclude ? dirname(resolve(top, origin.replace(/^file:/, ""))) : top, value);
}

/** Of what `ls-files -s -z` prints. */
function parseIndexPaths(listed: string): IndexPaths {
  const submodules: string[] = [];
  const folders = new Set<string>();
  for (const entry of listed.split("\0")) {
    const path = entry.slice(entry.indexOf("\t") + 1);
    if (entry.startsWith("160000 ")) submodules.push(path);
    let folder = dirname(path);
    for (; folder !== "." && !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  }
  return { submodules, folders: [...folders] };
}

/** The only hook that a read-only git command runs, after it refreshes the index. */
function findHookFault({ commonDir, top, settings }: Repository): RepositoryFault | null {
  const own = settings.flatMap(({ key, value }) => (key === "core.hookspath" && value ? [value] : []));
  const folders = [join(commonDir, "hooks"), ...own.map((folder) => resolve(top ?? commonDir, folder))];
  const hook = folders.map((folder) => join(folder, "post-index-change")).find(pathExists);
  return hook === undefined ? null : createNamedProgramFault({ key: "a hook", value: hook });
}

/** The key and value of a remote's address, or of a `url.*` rewrite that git shows in its place. */
const ADDRESS_WITH_PASSWORD = /^(?:url\.|remote\..* )https?:\/\/[^/]*@/;

const SHOWS_PASSWORD: RepositoryFault = {
  nature: "outside",
  what: "the user's own settings of git put a password into its addresses, which would be shown",
};

function createNamedProgramFault(program: Pick<GitSetting, "key" | "value"> | null): RepositoryFault | null {
  if (program === null) return null;
  const value = program.value === undefined ? "" : `, ${formatExcerpt(program.value)}`;
  return {
    nature: "program",
    what: `git would run a program that this repository names: ${program.key}${value}`,
  };
}

function createOutsideFault(what: string, path: string): RepositoryFault {
  return { nature: "outside", what: `${what} leads out of the root, to ${formatExcerpt(path)}` };
}

function createLookalikeFault(folder: string): RepositoryFault {
  return {
    nature: "program",
    what: `git would take the folder ${formatExcerpt(folder)} itself for a repository, whose settings can name programs`,
  };
}

function createUnansweredFault(fault: string | null): RepositoryFault {
  if (fault?.includes("safe.bareRepository"))
    return createLookalikeFault(/'(.*)'/.exec(fault)?.[1] ?? "here");
  const why = fault === null ? "" : `: ${formatExcerpt(fault.split("\n")[0] ?? "")}`;
  return { nature: "program", what: `git itself could not say what it would do here${why}` };
}

function formatExcerpt(text: string): string {
  return `\`${text.length > 120 ? `${text.slice(0, 120)}…` : text}\``;
}

function listLinks(gitFolder: string, below = ""): string[] {
  return tryReadEntries(join(gitFolder, below)).flatMap((entry) => {
    const path = join(below, entry.name);
    if (entry.isSymbolicLink()) return [join(gitFolder, path)];
    return entry.isDirectory() && !SKIPPED_IN_GIT_FOLDER.test(path) ? listLinks(gitFolder, path) : [];
  });
}

function pathExists(path: string): boolean {
  return tryLstat(path) !== null;
}
