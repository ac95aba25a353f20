import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import type { GitUse, RepositoryFault } from "./grammar/git-use.ts";
import type { Below, Reach } from "./programs/finding.ts";
import { protectedFile } from "./protected-files.ts";

/** Where a command would run, and what is known of that place. */
export interface CommandPlace {
  /** The real path of the folder that all work stays in. */
  readonly root: string;
  /** Real paths of more folders that may be used beside it. */
  readonly includeDirectories?: readonly string[];
  /** The real path of the folder in which the command starts; the root when absent. */
  readonly directory?: string;
  /**
   * Whether an absolute path, followed step by step through links as the system does, ends outside the
   * root; for a pattern, whether any file that it matches does. Without it only names are judged.
   */
  readonly leadsOutside?: (path: string, isPattern: boolean) => boolean;
  /** Where an absolute path, or each file that a pattern matches, really is. Without it only names are judged. */
  readonly realPaths?: (path: string, isPattern: boolean) => readonly string[];
  /** The absolute paths of all files below a folder; null when they are too many to look through. */
  readonly filesBelow?: (folder: string) => readonly string[] | null;
  /** What a look at the tree below a folder shows; null when it is too large to be looked through. */
  readonly treeBelow?: (folder: string) => TreeBelow | null;
  /** The folder of the project in which alone a program would be found, or null. Without it none is. */
  readonly projectFolderOf?: (program: string) => string | null;
  /** The command is for cmd or PowerShell, whose grammar nobody here reads. */
  readonly isOtherShell?: boolean;
  /** What git would do in that folder beside what its words say, or null. Without it only the first folder is trusted. */
  readonly repositoryFault?: (directory: string, use: GitUse) => RepositoryFault | null;
}

/** What is known of all paths below a folder, links followed. */
interface TreeBelow {
  /** Links that lead out of the root, by their last part. */
  readonly linksOut: readonly string[];
  /** Names that a program which takes text apart would take for something else. */
  readonly oddNames: readonly { readonly name: string; readonly isFolder: boolean }[];
}

const STREAMS = new Set(["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"]);
const PIPE = /^\/dev\/fd\/\d+$/;
const SYSTEM = /^\/(?:dev|proc|sys)(?:\/|$)/;

/** Segments below the root, or null for a folder that is not below it. */
type Folder = readonly string[] | null;

/** Judges paths while a command line moves from folder to folder. */
export class CommandReach implements Reach {
  readonly #place: CommandPlace | undefined;
  readonly #start: Folder;
  /** Where the next command may run when nothing is known about what succeeded before. */
  #possible: readonly Folder[];
  /** Where it runs if everything so far succeeded. */
  #definite: readonly Folder[];
  #current: readonly Folder[];

  constructor(place: CommandPlace | undefined) {
    this.#place = place;
    this.#start = place === undefined ? [] : below(place.directory ?? place.root, place.root);
    this.#possible = [this.#start];
    this.#definite = this.#possible;
    this.#current = this.#possible;
  }

  /** A reach that starts where this one is now, for a shell inside the command. */
  inner(): CommandReach {
    const reach = new CommandReach(this.#place);
    reach.#possible = this.#current;
    reach.#definite = this.#current;
    reach.#current = this.#current;
    return reach;
  }

  next(followsSuccess: boolean): void {
    if (!followsSuccess) this.#definite = this.#possible;
    this.#current = this.#definite;
  }

  /** The command `cd path` ran; in a shell of its own it moves only what else runs there. */
  move(path: string, isApart: boolean): void {
    const moved = this.#current.map((folder) => this.#joined(folder, path));
    this.#possible = unique([...this.#possible, ...moved]);
    this.#definite = isApart ? this.#possible : moved;
  }

  outside(path: string, isGlob: boolean): string | null {
    if (path === "" || path === "-" || STREAMS.has(path) || PIPE.test(path)) return null;
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
    if (this.#isIncluded(path) && !this.#leadsOutside([], path, isGlob)) return null;
    for (const folder of this.#current) {
      const there = this.#joined(folder, path);
      if (there === null || SYSTEM.test(path)) return `\`${path}\` is outside the root`;
      if (this.#leadsOutside(folder, path, isGlob)) return `\`${path}\` leads out of the root through a link`;
    }
    return null;
  }

  outsideBelow(below: Below): string | null {
    const look = this.#place?.treeBelow;
    for (const path of below.folders) {
      const outside = this.outside(path, false);
      if (outside !== null) return outside;
      if (look === undefined || (!below.hasLinks && !below.isText)) continue;
      for (const folder of this.#current) {
        const start = this.#joined(folder, path);
        const tree = look(start === null ? path : absolute(this.#place?.root ?? "", start));
        const what = tree === null ? "holds too many files to be looked through" : faultOf(tree, below);
        if (what !== null) return `\`${path}\` ${what}`;
      }
    }
    return null;
  }

  projectFolderOf(program: string): string | null {
    return this.#place?.projectFolderOf?.(program) ?? null;
  }

  /** What makes a file that would be written a protected one, by its name or by where its links lead; or null. */
  protectedBy(path: string, isPattern = false): string | null {
    const { root = "", realPaths } = this.#place ?? {};
    for (const folder of this.#current) {
      const named = [...(folder ?? []), path].join("/");
      const spelled = path.startsWith("/") ? path : `${absolute(root, folder ?? [])}/${path}`;
      for (const place of [named, ...(realPaths?.(spelled, isPattern) ?? [])]) {
        // The names of the folders above the root are no reason to ask about all that is in it.
        const what = protectedFile(below(place, root)?.join("/") ?? place);
        if (what !== null) return what;
      }
    }
    return null;
  }

  /** Where a path inside the root may be, counted from there: as it is spelled, and where its links lead. */
  placesOf(path: string): string[] {
    const { root = "", realPaths } = this.#place ?? {};
    return this.#current.flatMap((folder) => {
      const spelled = path.startsWith("/") ? path : `${absolute(root, folder ?? [])}/${path}`;
      const real = folder === null ? [] : (realPaths?.(spelled, false) ?? []);
      const places = [this.#joined(folder, path), ...real.map((one) => below(one, root))];
      return places.flatMap((place) => (place === null ? [] : [place.join("/")]));
    });
  }

  /** Every file below a folder inside the root, counted from there; null when that cannot be known. */
  pathsBelow(path: string): string[] | null {
    const { root = "", filesBelow } = this.#place ?? {};
    const found: string[] = [];
    for (const folder of this.#current) {
      const start = this.#joined(folder, path);
      const files = start === null ? [] : (filesBelow?.(absolute(root, start)) ?? null);
      if (files === null) return null;
      for (const file of files) found.push(below(file, root)?.join("/") ?? file);
    }
    return found;
  }

  repositoryFault(use: GitUse): RepositoryFault | null {
    const { root = "", repositoryFault } = this.#place ?? {};
    for (const folder of this.#current) {
      if (folder === null) return { nature: "outside", what: "the repository is outside the root" };
      if (repositoryFault !== undefined) {
        const fault = repositoryFault(absolute(root, folder), use);
        if (fault !== null) return fault;
      } else if (folder.join("/") !== this.#start?.join("/")) {
        return { nature: "program", what: "this folder may be a repository of its own" };
      }
    }
    return null;
  }

  #isIncluded(path: string): boolean {
    const folders = this.#place?.includeDirectories ?? [];
    return path.startsWith("/") && folders.some((folder) => below(path, folder) !== null);
  }

  #leadsOutside(folder: Folder, path: string, isGlob: boolean): boolean {
    const { root, leadsOutside } = this.#place ?? {};
    if (root === undefined || leadsOutside === undefined || folder === null) return false;
    const spelled = path.startsWith("/") ? path : `${absolute(root, folder)}/${path}`;
    return leadsOutside(spelled, isGlob);
  }

  #joined(folder: Folder, path: string): Folder {
    if (path.startsWith("/")) return this.#place === undefined ? null : below(path, this.#place.root);
    if (folder === null) return null;
    const joined = [...folder];
    for (const segment of path.split("/")) {
      if (segment === "" || segment === ".") continue;
      if (segment !== "..") joined.push(segment);
      else if (joined.pop() === undefined) return null;
    }
    return joined;
  }
}

function faultOf({ linksOut, oddNames }: TreeBelow, { names, hasLinks, isText }: Below): string | null {
  const odd = isText ? oddNames.find(({ name, isFolder }) => isFolder || matchesAll(name, names)) : undefined;
  if (odd !== undefined) return `holds \`${odd.name}\`, a name with blanks or signs in it`;
  const link = hasLinks ? linksOut.find((name) => matchesAll(name, names)) : undefined;
  return link === undefined ? null : `holds the link \`${link}\`, which leads out of the root`;
}

function matchesAll(name: string, patterns: readonly string[]): boolean {
  return patterns.every((pattern) => globMatcher(`./${pattern}`, { caseSensitive: false })(name));
}

function below(path: string, root: string): Folder {
  const base = root.replace(/\/+$/, "");
  if (path !== base && path !== root && !path.startsWith(`${base}/`)) return null;
  const segments = path.slice(base.length).split("/");
  return segments.filter((segment) => segment !== "" && segment !== ".");
}

function absolute(root: string, folder: readonly string[]): string {
  return [root.replace(/\/+$/, ""), ...folder].join("/") || "/";
}

function unique(folders: readonly Folder[]): Folder[] {
  return [...new Map(folders.map((folder) => [folder?.join("/") ?? null, folder])).values()];
}
