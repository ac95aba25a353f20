import { getOrCreate } from "@burin/contract/async/once";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import type { SimpleCommand } from "./grammar/command-parts.ts";
import type { GitUse, PathSet, Reach, RepositoryFault } from "./programs/finding.ts";
import { explainProtectedFile } from "./protected-files.ts";

/**
 * Where a command would run, and what is known about that location. A fact whose function is missing is judged by names
 * alone.
 */
export interface CommandLocation {
  /** The real path of the root. */
  readonly root: string;
  /** Real paths of more folders that may be used. */
  readonly includeDirectories?: readonly string[];
  /** The real path of the command's working directory; the root when absent. */
  readonly directory?: string;
  /** Whether an absolute path, its links resolved, is outside the root; for a pattern, any matching file. */
  readonly leadsOutside?: (path: string, isPattern: boolean) => boolean;
  /** The real location of an absolute path, or of each file that a pattern matches. */
  readonly realPaths?: (path: string, isPattern: boolean) => readonly string[];
  /** The absolute paths of all files below a folder, and of what links there lead to; null when there are too many. */
  readonly filesBelow?: (folder: string) => readonly string[] | null;
  /** What is in the tree below a folder; null when it is too large. */
  readonly treeBelow?: (folder: string) => TreeBelow | null;
  /** Names in git's index there, and in the commits of the words, that a program would misread; null when unknown. */
  readonly oddNamesInGit?: (folder: string, words: readonly string[]) => readonly string[] | null;
  /** The absolute paths of everything whose content git keeps, there or in what the words name; null when unknown. */
  readonly pathsInGit?: (folder: string, words: readonly string[]) => readonly string[] | null;
  /** The project's folder in which the program would be found if it is nowhere else, or null. */
  readonly projectFolderOf?: (program: string) => string | null;
  /** Whether undo can restore everything at and below an absolute path that cannot be recreated otherwise. */
  readonly canRestore?: (path: string) => boolean;
  /** The command is for cmd or PowerShell, whose grammar is not parsed here. */
  readonly isOtherShell?: boolean;
  /** The shell is not bash, and may understand only POSIX syntax. */
  readonly isPosixShell?: boolean;
  /** The top of the work tree that the folder is in, as git names it; null when it names none. */
  readonly workTreeOf?: (folder: string) => string | null;
  /**
   * What git would do in that folder beyond the command's words, or null. Without this function, only the start folder
   * is trusted.
   */
  readonly repositoryFault?: (directory: string, use: GitUse) => RepositoryFault | null;
}

/** What is known about all paths below a folder, links followed. */
interface TreeBelow {
  /** Links that lead out of the root, by their last segment. */
  readonly linksOut: readonly string[];
  /** Names that a text-processing program would misread. */
  readonly oddNames: readonly { readonly name: string; readonly isFolder: boolean }[];
}

const ODD_NAME_FAULT = "a name with spaces or special characters in it";

/** Streams and devices that are no file. Any other descriptor may be one that Burin itself was started with. */
const STREAM = /^(?:-?|\/dev\/(?:null|zero|full|u?random|stdin|stdout|stderr|fd\/(?:[012]|pipe)))$/;
const MAX_FOLDERS = 64;
/** No system opens a longer path; a line that goes deeper step by step may end up anywhere. */
const MAX_PATH_LENGTH = 4096;
const SYSTEM_FOLDER = /^\/(?:dev|proc|sys)(?:\/|$)/;

/** Judges paths while a command line moves from folder to folder. */
export class CommandReach implements Reach {
  readonly #place: CommandLocation | undefined;
  /** The root, or an unnamed folder when none is known. */
  readonly top: string;
  readonly #start: string;
  /** The folders in which the next command may run if it is unknown which earlier commands succeeded. */
  #possible: readonly string[];
  /** The folders in which it runs if everything so far succeeded. */
  #definite: readonly string[];
  #current: readonly string[];
  /** Caches results for the current folders, because most parts of a line ask about the same paths. */
  readonly #known = new Map<string, string | null>();
  #knownIn: readonly string[] = [];

  constructor(place: CommandLocation | undefined) {
    this.#place = place;
    this.top = resolvePath("/", place?.root ?? "\0");
    this.#start = resolvePath(this.top, place?.directory ?? ".");
    this.#possible = [this.#start];
    this.#definite = this.#possible;
    this.#current = this.#possible;
  }

  /** A reach that starts where this one is now, for a shell inside the command. */
  createInnerReach(folders = this.#current): CommandReach {
    const reach = new CommandReach(this.#place);
    reach.#possible = folders;
    reach.#definite = folders;
    reach.#current = folders;
    return reach;
  }

  moveTo(folder: string): CommandReach {
    return this.createInnerReach(this.#current.map((one) => resolvePath(one, folder)));
  }

  /** Yields the commands in order, each with the folder in which it would run. */
  *visitCommands(commands: readonly SimpleCommand[]): Generator<SimpleCommand> {
    for (const command of commands) {
      if (!command.followsSuccess) this.#definite = this.#possible;
      this.#current = this.#definite;
      const known = this.#insertWorkTreeTop(command);
      yield known;
      const [program, folder] = known.words;
      if (program?.value === "cd" && typeof folder?.value === "string") {
        // Where git fails the shell stays where it is.
        this.#changeFolder(folder.value, command.isApart || folder.belowTop !== undefined);
      }
    }
  }

  /**
   * Replaces `$(git rev-parse --show-toplevel)` with the folder that it stands for, if that is certain and no shell
   * would split its name.
   */
  #insertWorkTreeTop(command: SimpleCommand): SimpleCommand {
    if (!command.words.some(({ belowTop }) => belowTop !== undefined)) return command;
    const [top, ...others] = new Set(this.#current.map((folder) => this.#place?.workTreeOf?.(folder)));
    if (!top || others.length > 0 || !/^[\w@%+:,./-]+$/.test(top)) return command;
    const words = command.words.map((word) =>
      word.belowTop === undefined ? word : { ...word, value: top + word.belowTop },
    );
    return { ...command, words };
  }

  /** Applies `cd path`; in a subshell it affects only the commands there. */
  #changeFolder(path: string, isApart: boolean): void {
    const moved = this.#current.map((folder) => {
      const there = resolvePath(folder, path);
      return there.length > MAX_PATH_LENGTH ? "/" : there;
    });
    const possible = [...new Set([...this.#possible, ...moved])];
    // Each move may double the possible folders. Above the limit it may be anywhere, which counts as outside the root.
    this.#possible = possible.length > MAX_FOLDERS ? [...possible.slice(0, MAX_FOLDERS - 1), "/"] : possible;
    this.#definite = isApart ? this.#possible : moved;
  }

  explainOutside(path: string, isGlob: boolean): string | null {
    return this.#findCached(`outside ${isGlob} ${path}`, () => this.#explainOutside(path, isGlob));
  }

  #findCached(question: string, find: () => string | null): string | null {
    if (this.#knownIn !== this.#current) this.#known.clear();
    this.#knownIn = this.#current;
    return getOrCreate(this.#known, question, find);
  }

  #explainOutside(path: string, isGlob: boolean): string | null {
    if (STREAM.test(path)) return null;
    if (path.startsWith("~")) return `\`${path}\` may be in a home folder`;
    const segments = path.split("/");
    if (isGlob && segments.some((segment) => /^\.[^/]*[*?[]/.test(segment))) {
      return `\`${path}\` can match the folder above`;
    }
    const named = path.startsWith("/") ? 0 : segments.findIndex((segment) => !/^\.{0,2}$/.test(segment));
    const isResolved = this.#place?.leadsOutside !== undefined && !isGlob;
    if (named !== -1 && segments.lastIndexOf("..") > named && !isResolved) {
      return `\`${path}\` goes back up after a name, which may be a link`;
    }
    for (const folder of this.#current) {
      const meant = resolvePath(folder, path);
      // If the root is `/`, these are inside it.
      const isOfSystem = SYSTEM_FOLDER.test(meant) && !SYSTEM_FOLDER.test(this.top);
      if (!this.#isInside(meant) || isOfSystem) return `\`${path}\` is outside the root`;
      if (this.#place?.leadsOutside?.(followPath(folder, path), isGlob)) {
        return `\`${path}\` leads out of the root through a link`;
      }
    }
    return null;
  }

  explainPlanted(path: string, below: PathSet): string | null {
    const look = this.#place?.treeBelow;
    if (look === undefined || (!below.hasLinks && !below.isText)) return null;
    for (const folder of this.#current) {
      const tree = look(resolvePath(folder, path));
      const what = tree === null ? "holds too many files to be checked" : findFault(tree, below);
      if (what !== null) return `\`${path}\` ${what}`;
      const isOfGit = below.inGit !== undefined && below.isText;
      const odd = isOfGit ? this.#place?.oddNamesInGit?.(folder, below.inGit) : [];
      if (!odd) return "git does not tell which names it would print";
      if (odd[0] !== undefined) return `the repository holds \`${odd[0]}\`, ${ODD_NAME_FAULT}`;
    }
    return null;
  }

  mayBecomeOption(pattern: string): boolean {
    if (!/^[-*?[]/.test(pattern)) return false;
    const look = this.#place?.realPaths;
    return (
      look === undefined || this.#current.some((folder) => look(followPath(folder, "-*"), true).length > 0)
    );
  }

  /** Whether undo can give back everything at and below a path, as it is written. */
  canRestore(path: string): boolean {
    const look = this.#place?.canRestore;
    const isPattern = /[*?[]/.test(path);
    // The value of a variable is known only at run time.
    if (look === undefined || /[$`]/.test(path) || this.explainOutside(path, isPattern) !== null)
      return false;
    return this.#current.every((folder) => {
      const paths = isPattern ? this.#realPaths(folder, path, true) : [resolvePath(folder, path)];
      return paths.every(look);
    });
  }

  hasFileAbove(pattern: string): boolean {
    const look = this.#place?.realPaths;
    if (look === undefined) return true;
    const folders = this.#current.flatMap((folder) => {
      const steps = this.#toRelativePath(folder).split("/");
      return steps.map((_, index) => resolvePath(folder, "../".repeat(index))).concat(this.top);
    });
    return folders.some((folder) => look(followPath(folder, pattern), true).length > 0);
  }

  findProjectFolder(program: string): string | null {
    return this.#place?.projectFolderOf?.(program) ?? null;
  }

  /** Explains why a file that would be written is protected, by its name or where its links lead; or null. */
  explainProtected(path: string, isPattern = false): string | null {
    return this.#findCached(`protected ${isPattern} ${path}`, () => this.#explainProtection(path, isPattern));
  }

  #explainProtection(path: string, isPattern: boolean): string | null {
    for (const folder of this.#current) {
      const below = this.#toRelativePath(folder);
      const named = path.startsWith("/") || below === "" ? path : `${below}/${path}`;
      for (const place of [named, ...this.#realPaths(folder, path, isPattern)]) {
        // The names of folders above the root are no reason to ask about everything inside it.
        const what = explainProtectedFile(
          place.startsWith("/") ? this.#toRelativePath(resolvePath("/", place)) : place,
        );
        if (what !== null) return what;
      }
    }
    return null;
  }

  /** Lists where a path may be, relative to the root: as it is spelled, and where its links lead. */
  listLocations(path: string): string[] {
    return this.#current.flatMap((folder) => {
      const real = this.#realPaths(folder, path, false).map((one) => resolvePath("/", one));
      const inside = [resolvePath(folder, path), ...real].filter((place) => isInFolder(place, this.top));
      return inside.map((place) => this.#toRelativePath(place));
    });
  }

  /** Every file below a folder, relative to the root; null when that is not known. */
  listPathsBelow(path: string): string[] | null {
    return this.#listPaths((folder) => {
      // After a link, `..` leads to a different folder than the path suggests.
      const places = [...new Set([resolvePath(folder, path), followPath(folder, path)])];
      const found = places.map((place) => this.#place?.filesBelow?.(place));
      return found.every((files) => files) ? found.flatMap((files) => files ?? []) : null;
    });
  }

  /** Returns the files whose content git can show, relative to the root; null when they are not known. */
  listGitPaths(words: readonly string[]): string[] | null {
    return this.#listPaths((folder) => this.#place?.pathsInGit?.(folder, words));
  }

  #listPaths(find: (folder: string) => readonly string[] | null | undefined): string[] | null {
    const found = this.#current.map(find);
    if (found.some((paths) => !paths)) return null;
    return found.flatMap((paths) => paths ?? []).map((path) => this.#toRelativePath(resolvePath("/", path)));
  }

  repositoryFault(use: GitUse): RepositoryFault | null {
    for (const folder of this.#current) {
      if (!this.#isInside(folder)) return { nature: "outside", what: "the repository is outside the root" };
      const look = this.#place?.repositoryFault;
      if (look !== undefined) {
        const fault = look(folder, use);
        if (fault !== null) return fault;
      } else if (folder !== this.#start) {
        return { nature: "program", what: "this folder may be a repository of its own" };
      }
    }
    return null;
  }

  #isInside(path: string): boolean {
    const included = this.#place?.includeDirectories ?? [];
    return [this.top, ...included.map((one) => resolvePath("/", one))].some((one) => isInFolder(path, one));
  }

  /** Returns the path relative to the root, or unchanged if it is outside. */
  #toRelativePath(path: string): string {
    return isInFolder(path, this.top) ? path.slice(this.top.length).replace(/^\//, "") : path;
  }

  #realPaths(folder: string, path: string, isPattern: boolean): readonly string[] {
    return this.#place?.realPaths?.(followPath(folder, path), isPattern) ?? [];
  }
}

function findFault({ linksOut, oddNames }: TreeBelow, { names, hasLinks, isText }: PathSet): string | null {
  const odd = isText
    ? oddNames.find(({ name, isFolder }) => isFolder || matchesEveryPattern(name, names))
    : undefined;
  if (odd !== undefined) return `holds \`${odd.name}\`, ${ODD_NAME_FAULT}`;
  const link = hasLinks ? linksOut.find((name) => matchesEveryPattern(name, names)) : undefined;
  return link === undefined ? null : `holds the link \`${link}\`, which leads out of the root`;
}

/** Matches names as `find` does, ignoring case. */
export function matchesEveryPattern(name: string, patterns: readonly string[]): boolean {
  return patterns.every((pattern) => createGlobMatcher(`./${pattern}`, { caseSensitive: false })(name));
}

/** Resolves a path by its text alone. */
function resolvePath(folder: string, path: string): string {
  const segments: string[] = [];
  for (const segment of followPath(folder, path).split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}

/** Resolves a path as the system does, link by link. */
function followPath(folder: string, path: string): string {
  return path.startsWith("/") ? path : `${folder}/${path}`;
}

/** Compares two absolute paths, or two paths relative to the root, where an empty text is the root. */
export function isInFolder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(/^\/?$/.test(folder) ? folder : `${folder}/`);
}
