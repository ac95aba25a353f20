import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { once, onceFor } from "@burin/contract/async/once";
import { entriesOf, lstatOf, realPlace } from "@burin/files/disk/disk-looks";
import { readSmallFile } from "@burin/files/ignore/git-excludes";
import { isWithin } from "@burin/files/paths/paths";
import type { GitUse, RepositoryFault } from "@burin/shell-judge";
import { childEnvironment, codePaths } from "../processes/child-environment.ts";
import type { FactsOptions } from "../processes/command-surroundings.ts";
import { leadsOutside } from "../processes/command-surroundings.ts";
import { pathOutside } from "../processes/helper-program.ts";
import { firstProgram } from "../processes/shell-program.ts";
import type { ProgramOutput } from "../processes/wait-for-output.ts";
import { askGit, type GitSetting, gitLooking, LIST_SETTINGS, programIn, settingsOf } from "./git-programs.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { oddNames, pathsInGit } from "./names-in-git.ts";

const DEEPEST = 5;
const MOST_SUBMODULES = 60;

/** In git's own folder: repositories of their own, programs, and contents that only who knows them can name. */
const NOT_SHOWN = /^(?:modules|hooks|lfs|annex|objects\/[0-9a-f]{2})$/;

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
 * Finds out what git would do in a folder besides what the command's words say. Asks git itself, in an environment
 * in which it runs nothing, because no other reader finds a repository and its settings as git does. An unclear
 * answer is a fault. Each question is asked once, so a long command line costs little.
 */
export function gitRepositories(ground: FactsOptions) {
  const asker = once(() => new GitAsker(ground));
  const known = new Map<string, RepositoryFault | null>();
  const repositoryFault = (folder: string, use: GitUse): RepositoryFault | null => {
    const key = JSON.stringify([folder, use.changes, use.readsFiles, use.subcommand]);
    return onceFor(known, key, () => asker().faultIn(folder, use, 0));
  };
  const askIn = (folder: string) => (words: readonly string[]) => asker().ask(folder, words);
  return {
    repositoryFault,
    workTreeOf: (folder: string) => asker().workTreeOf(folder),
    oddNamesInGit: (folder: string, words: readonly string[]) => oddNames(askIn(folder), words),
    pathsInGit: (folder: string, words: readonly string[]) => pathsInGit(askIn(folder), words),
  };
}

/** Returns the git that commands would find, and an environment in which it only looks. */
export function gitIn({ roots, environment, passEnvironment: pass }: FactsOptions) {
  const env = childEnvironment(environment, { pass, secret: [], roots });
  const paths = codePaths(env, (path) => pathOutside(path, roots));
  const git = firstProgram("git", (paths.PATH ?? "").split(delimiter));
  return { git, env: { ...env, ...paths, ...gitLooking({ isSandboxed: false }) } };
}

/** Shared by sessions: answers of git as long as the files that it read are the same. */
const repositories = new KeptAnswers<Repository | RepositoryFault | null>();
/** Shared by sessions: the same. They differ only where the files of git do. */
const indexes = new KeptAnswers<IndexPaths | RepositoryFault>();

class GitAsker {
  readonly #roots: readonly string[];
  /** Git, and an environment in which it only looks. */
  readonly #looking: ReturnType<typeof gitIn>;
  readonly #known = new Map<string, Repository | RepositoryFault | null>();
  /** The same as a part of each question. */
  readonly #asking: string;

  constructor(ground: FactsOptions) {
    this.#roots = ground.roots;
    this.#looking = gitIn(ground);
    this.#asking = JSON.stringify(this.#looking);
  }

  ask(folder: string, words: readonly string[]): ProgramOutput {
    return askGit(words, { ...this.#looking, cwd: folder });
  }

  #isOutside(path: string): boolean {
    return leadsOutside(path, false, this.#roots);
  }

  workTreeOf(folder: string): string | null {
    const found = this.#repositoryIn(folder);
    return found === null || "nature" in found ? null : found.top;
  }

  faultIn(folder: string, use: GitUse, depth: number): RepositoryFault | null {
    const found = this.#repositoryIn(folder);
    if (found === null || "nature" in found) return found;
    return (
      this.#misplaced(found) ??
      programFault(programIn(found.settings, use)) ??
      hookFault(found) ??
      this.#foreignFiles(found) ??
      (use.subcommand === "remote" && found.showsPassword ? SHOWS_PASSWORD : null) ??
      (use.readsFiles ? this.#inWorkTree(found, use, depth) : null)
    );
  }

  #repositoryIn(folder: string): Repository | RepositoryFault | null {
    return onceFor(this.#known, folder, () => {
      const place = realPlace(folder);
      return repositories.answer(`${this.#asking} ${place}`, () => {
        const answer = this.#repository(place);
        const isFault = answer !== null && "nature" in answer;
        return { answer, sources: isFault ? null : this.#sourcesOf(place, answer) };
      });
    });
  }

  /** Everything that git reads to find a repository and its settings. */
  #sourcesOf(place: string, repository: Repository | null): string[] {
    const { HOME = "", XDG_CONFIG_HOME = join(HOME, ".config") } = this.#looking.env;
    const around = foldersAbove(place, repository?.top).flatMap((folder) =>
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
  #repository(folder: string): Repository | RepositoryFault | null {
    const told = this.ask(folder, "rev-parse --absolute-git-dir --git-common-dir --show-toplevel".split(" "));
    if (told.fault?.startsWith("fatal: not a git repository")) return null;
    const [gitDir = "", common = "", top = "", ...rest] = told.output.toString("utf8").split("\n");
    const hasFiles = told.fault === null && rest.join("|") === "" && rest.length === 1;
    const hasNone = told.fault?.includes("must be run in a work tree") === true && rest.length === 0;
    if (!(hasFiles || hasNone)) return unanswered(told.fault);
    // Git before 2.38 accepts any folder that looks like a repository.
    if (isWithin(realPlace(folder), gitDir)) return onlyLooksLikeOne(folder);
    const listed = this.ask(folder, LIST_SETTINGS);
    const all = listed.fault === null ? settingsOf(listed.output) : null;
    if (all === null) return unanswered(listed.fault);
    // A user's own settings outside the repository are theirs and do not count.
    const isOwn = ({ scope }: GitSetting) => !["system", "global", "command"].includes(scope);
    const settings = all.filter(isOwn);
    return {
      folder,
      gitDir,
      commonDir: realPlace(resolve(folder, common)),
      top: hasFiles ? top : null,
      settings,
      showsPassword: all.some(
        (setting) => !isOwn(setting) && ADDRESS_WITH_PASSWORD.test(`${setting.key} ${setting.value}`),
      ),
    };
  }

  /** Git's own folders and the work tree must be inside the roots, or known not to come from the project. */
  #misplaced(repository: Repository): RepositoryFault | null {
    const { folder, gitDir, commonDir, top, settings } = repository;
    if (this.#isOutside(gitDir)) {
      const isOurs = this.#isAround(repository) || isLinkedBack(repository) || isSubmoduleOf(repository);
      const isHere = isOurs && isWithin(realPlace(folder), top ?? "");
      return isHere ? null : outsideFault("the repository here", gitDir);
    }
    if (this.#isOutside(commonDir)) return outsideFault("what the repository shares with others", commonDir);
    if (top !== null && this.#isOutside(top)) return outsideFault("the work tree of the repository", top);
    const foreign = settings.find((setting) => {
      const path = pathNamedBy(setting, top ?? gitDir);
      return path !== null && (path === "" || this.#isOutside(path));
    });
    return foreign === undefined ? null : outsideFault(`\`${foreign.key}\``, foreign.value ?? "");
  }

  /** The root is a folder in the work tree of a repository that begins above it. */
  #isAround({ gitDir, commonDir, top }: Repository): boolean {
    if (top === null || !this.#roots.some((root) => root !== top && isWithin(root, top))) return false;
    return commonDir === gitDir && realPlace(join(top, ".git")) === gitDir;
  }

  /** Links inside git's own folders, and object stores of other repositories that this one reads from. */
  #foreignFiles({ gitDir, commonDir, top }: Repository): RepositoryFault | null {
    if (this.#isOutside(gitDir)) return null;
    const links = [...new Set([gitDir, commonDir])].flatMap((own) => linksIn(own));
    const led = links.find((link) => this.#isOutside(link));
    if (led !== undefined) return outsideFault("a link in the repository", led);
    if (!exists(join(commonDir, "objects/info/alternates"))) return null;
    const told = this.ask(top ?? gitDir, ["count-objects", "-v"]);
    if (told.fault !== null) return unanswered(told.fault);
    const stores = told.output.toString("utf8").match(/(?<=^alternate: ).*$/gm) ?? [];
    const foreign = stores.find((path) => !isAbsolute(path) || this.#isOutside(path));
    return foreign === undefined ? null : outsideFault("objects of the repository", foreign);
  }

  #indexPaths(folder: string, gitDir: string): IndexPaths | RepositoryFault {
    return indexes.answer(`${this.#asking} ${gitDir}`, () => {
      const { output, fault } = this.ask(folder, ["ls-files", "-s", "-z", "--full-name", ":/"]);
      if (fault !== null) return { answer: unanswered(fault), sources: null };
      return { answer: indexPathsIn(output.toString("utf8")), sources: [gitDir, join(gitDir, "index")] };
    });
  }

  /** Git follows a link in the place of a folder, and starts itself in each submodule, with the settings there. */
  #inWorkTree({ folder, gitDir, top }: Repository, use: GitUse, depth: number): RepositoryFault | null {
    if (top === null) return null;
    const paths = this.#indexPaths(folder, gitDir);
    if ("nature" in paths) return paths;
    const places = paths.folders.map((path) => join(top, path));
    const links = places.filter((path) => lstatOf(path)?.isSymbolicLink() === true);
    const led = links.find((path) => this.#isOutside(path));
    if (led !== undefined) return outsideFault("a link in the place of a folder", led);
    const there = paths.submodules.filter((path) => exists(join(top, path, ".git")));
    if (there.length > MOST_SUBMODULES || (there.length > 0 && depth >= DEEPEST)) {
      return { nature: "program", what: "it has too many submodules to check" };
    }
    for (const path of there) {
      const place = join(top, path);
      if (this.#isOutside(place)) return outsideFault("a submodule", place);
      const inner = this.#repositoryIn(place);
      const isItself = inner !== null && "gitDir" in inner && inner.gitDir === gitDir;
      const fault = isItself ? null : this.faultIn(place, use, depth + 1);
      if (fault !== null) return { ...fault, what: `${fault.what} (in the submodule ${shown(path)})` };
    }
    return null;
  }
}

/** The folder and those above it, up to the last one that counts. */
function foldersAbove(folder: string, last: string | null | undefined): string[] {
  const isEnd = folder === last || dirname(folder) === folder;
  return isEnd ? [folder] : [folder, ...foldersAbove(dirname(folder), last)];
}

/** Git created the work tree if the repository refers back to it. */
function isLinkedBack({ gitDir, commonDir, top }: Repository): boolean {
  if (top === null || dirname(dirname(gitDir)) !== commonDir) return false;
  const back = readSmallFile(join(gitDir, "gitdir"), false)?.trim();
  return back !== undefined && realPlace(resolve(gitDir, back)) === realPlace(join(top, ".git"));
}

/** Git keeps the folders of submodules in the containing repository, and notes there where the files are. */
function isSubmoduleOf({ gitDir, commonDir, top, settings }: Repository): boolean {
  const named = settings.findLast(({ key }) => key === "core.worktree")?.value;
  if (top === null || named === undefined || gitDir !== commonDir) return false;
  return realPlace(resolve(gitDir, named)) === top && lstatOf(join(top, ".git"))?.isFile() === true;
}

/** Settings whose value is a file that is read. */
const NAMES_A_FILE =
  /^(?:include|includeif\..*)\.path$|^(?:core\.(?:excludes|attributes)|blame\.ignorerevs|diff\.order|mailmap\.|gpg\..*)file$|\.skiplist$/s;

/** Where such a setting leads; null for another setting, an empty text for an unclear value. */
function pathNamedBy({ key, value = "", origin }: GitSetting, top: string): string | null {
  if (!NAMES_A_FILE.test(key) || value === "") return null;
  if (/^(?:~|%\(|:)/.test(value)) return "";
  const isInclude = key.startsWith("include");
  return resolve(isInclude ? dirname(resolve(top, origin.replace(/^file:/, ""))) : top, value);
}

/** Of what `ls-files -s -z` prints. */
function indexPathsIn(listed: string): IndexPaths {
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

/** The only hook that a read-only command runs: after it has refreshed the index. */
function hookFault({ commonDir, top, settings }: Repository): RepositoryFault | null {
  const own = settings.flatMap(({ key, value }) => (key === "core.hookspath" && value ? [value] : []));
  const folders = [join(commonDir, "hooks"), ...own.map((folder) => resolve(top ?? commonDir, folder))];
  const hook = folders.map((folder) => join(folder, "post-index-change")).find(exists);
  return hook === undefined ? null : programFault({ key: "a hook", value: hook });
}

/** Key and value of a remote, or of what git shows instead of the address that the repository names. */
const ADDRESS_WITH_PASSWORD = /^(?:url\.|remote\..* )https?:\/\/[^/]*@/;

const SHOWS_PASSWORD: RepositoryFault = {
  nature: "outside",
  what: "the user's own settings of git put a password into its addresses, which would be shown",
};

function programFault(program: Pick<GitSetting, "key" | "value"> | null): RepositoryFault | null {
  if (program === null) return null;
  const value = program.value === undefined ? "" : `, ${shown(program.value)}`;
  return {
    nature: "program",
    what: `git would run a program that this repository names: ${program.key}${value}`,
  };
}

function outsideFault(what: string, path: string): RepositoryFault {
  return { nature: "outside", what: `${what} leads out of the root, to ${shown(path)}` };
}

function onlyLooksLikeOne(folder: string): RepositoryFault {
  return {
    nature: "program",
    what: `git would take the folder ${shown(folder)} itself for a repository, whose settings can name programs`,
  };
}

function unanswered(fault: string | null): RepositoryFault {
  if (fault?.includes("safe.bareRepository")) return onlyLooksLikeOne(/'(.*)'/.exec(fault)?.[1] ?? "here");
  const why = fault === null ? "" : `: ${shown(fault.split("\n")[0] ?? "")}`;
  return { nature: "program", what: `git itself could not say what it would do here${why}` };
}

function shown(text: string): string {
  return `\`${text.length > 120 ? `${text.slice(0, 120)}…` : text}\``;
}

function linksIn(gitFolder: string, below = ""): string[] {
  return entriesOf(join(gitFolder, below)).flatMap((entry) => {
    const path = join(below, entry.name);
    if (entry.isSymbolicLink()) return [join(gitFolder, path)];
    return entry.isDirectory() && !NOT_SHOWN.test(path) ? linksIn(gitFolder, path) : [];
  });
}

function exists(path: string): boolean {
  return lstatOf(path) !== null;
}
