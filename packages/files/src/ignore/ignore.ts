import { basename, dirname, join, relative, sep } from "node:path";
import { getOrCreate } from "@burin/contract/async/once";
import { findWorkTreeTop, isWorkTreeTop, readSmallFile, tryLstat } from "../disk/disk-looks.ts";
import { isWithin } from "../paths/paths.ts";
import { type GitExcludes, readGitExcludes } from "./git-excludes.ts";
import { IgnoreFile } from "./ignore-file.ts";

/** Whether a path is visible to tools, or hidden by git's rules or by Burin's own. */
export type Visibility = "shown" | "git" | "own";

export interface IgnoreSettings {
  /** The names of further ignore files that work like `.burinignore`. */
  readonly ignoreFileNames: readonly string[];
  /** Globs in the syntax of ignore files; nothing in a project can undo them. */
  readonly ignore: readonly string[];
  /** Where to look for git's settings and helper programs, instead of in this process's own environment. */
  readonly environment?: NodeJS.ProcessEnv;
}

const BURIN_IGNORE_FILE = ".burinignore";

/** One ignore file as seen from a folder: `prefix` is the path from the ignore file's folder to that folder. */
interface Layer {
  readonly file: IgnoreFile;
  readonly prefix: string;
}

/**
 * Decides, for every tool, whether a path is ignored. Created for each call, so that a changed ignore file applies
 * at once; within a call each folder's rules are read once.
 */
export class IgnoreRules {
  readonly #roots: readonly string[];
  readonly #ownNames: readonly string[];
  /** The rules from the settings; null when there are none, which is the usual case. */
  readonly #settings: IgnoreFile | null;
  readonly #folders = new Map<string, FolderRules>();
  readonly #environment: NodeJS.ProcessEnv | null;

  /** If git's rules do not apply, no git file is read. Rules that hide a file from all tools apply in any case. */
  constructor(roots: readonly string[], settings: IgnoreSettings, withGit = true) {
    this.#roots = roots;
    this.#environment = withGit ? (settings.environment ?? {}) : null;
    this.#ownNames = listOwnIgnoreFiles(settings);
    this.#settings = settings.ignore.length === 0 ? null : new IgnoreFile(settings.ignore.join("\n"));
  }

  /** Returns the rules for what is directly in a folder of one of the roots. */
  readFolderRules(path: string): FolderRules {
    return getOrCreate(this.#folders, path, () =>
      this.#isOutermostRoot(path)
        ? this.#readTopRules(path)
        : this.readFolderRules(dirname(path)).readChildRules(basename(path), () => true),
    );
  }

  /**
   * Returns the rules for what is directly in a folder that was named explicitly. It is opened even if git ignores it,
   * and only git's rules inside it apply.
   */
  readNamedFolderRules(path: string): FolderRules {
    const rules = this.readFolderRules(path);
    return rules.visibility === "git" ? rules.withoutOuterGitRules() : rules;
  }

  judgePath(path: string, isFolder: boolean): Visibility {
    if (this.#isOutermostRoot(path) || (this.#environment === null && !this.#hasOwnRules(path)))
      return "shown";
    return this.readFolderRules(dirname(path)).findVisibility(basename(path), isFolder);
  }

  /** Most folders have no rules of our own, and that is cheap to check. */
  #hasOwnRules(path: string): boolean {
    const folder = dirname(path);
    if (this.#ownNames.some((name) => tryLstat(folder + sep + name) !== null)) return true;
    return this.#isOutermostRoot(folder) ? this.#settings !== null : this.#hasOwnRules(folder);
  }

  /** A root inside another root counts as an ordinary folder of that root. */
  #isOutermostRoot(path: string): boolean {
    return this.#roots.every((root) => root === path || !isWithin(path, root)) || dirname(path) === path;
  }

  #readTopRules(root: string): FolderRules {
    const environment = this.#environment;
    const top = environment === null ? null : findWorkTreeTop(root);
    const base = top ?? root;
    const git =
      top === null && environment !== null ? buildExcludeLayers(readGitExcludes(null, environment)) : [];
    const none = {
      own: [],
      settings: [],
      gitInside: [],
      ignoresCase: false,
      path: "",
      visibility: "shown",
    } as const;
    const above = new FolderRules({ ...none, ownNames: this.#ownNames, git, environment });
    let rules = above.combineWithFolderFiles(base, base === root ? () => true : isGitIgnoreFile);
    let folder = base;
    for (const name of relative(base, root).split(sep)) {
      if (name === "") continue;
      folder = join(folder, name);
      rules = rules.readChildRules(name, folder === root ? () => true : isGitIgnoreFile);
    }
    return rules.asRoot(this.#settings === null ? [] : [{ file: this.#settings, prefix: "" }]);
  }
}

/** Above a root, only git's own ignore files apply. */
function isGitIgnoreFile(name: string): boolean {
  return name === ".gitignore" || name === ".git";
}

function buildExcludeLayers({ excludes, ignoresCase }: GitExcludes): Layer[] {
  return excludes
    .map((text) => createIgnoreLayer(text, undefined, ignoresCase))
    .filter(({ file }) => !file.isEmpty);
}

/** All rules that apply in one folder. */
interface FolderState {
  /** The layers of rules, the strongest first. */
  readonly git: readonly Layer[];
  readonly own: readonly Layer[];
  readonly settings: readonly Layer[];
  /** null when git's rules do not apply. */
  readonly environment: NodeJS.ProcessEnv | null;
  readonly ownNames: readonly string[];
  /** Whether git's rules ignore case. */
  readonly ignoresCase: boolean;
  readonly visibility: Visibility;
  readonly path: string;
  /** Git's rules in this folder's own file, without those from above. */
  readonly gitInside: readonly Layer[];
}

/** The names of Burin's own ignore files. */
export function listOwnIgnoreFiles({ ignoreFileNames }: Pick<IgnoreSettings, "ignoreFileNames">): string[] {
  return [BURIN_IGNORE_FILE, ...ignoreFileNames];
}

/** Returns the rules of a root on another machine before its ignore files are read: only those of the settings. */
export function createSettingsRules({ ignore }: Pick<IgnoreSettings, "ignore">): FolderRules {
  const settings = ignore.length === 0 ? [] : [createIgnoreLayer(ignore.join("\n"))];
  const none = { git: [], own: [], gitInside: [], ownNames: [], ignoresCase: false, path: "" };
  return new FolderRules({ ...none, settings, environment: null, visibility: "shown" });
}

/** The rules for the entries of one folder. */
export class FolderRules {
  readonly #state: FolderState;

  constructor(state: FolderState) {
    this.#state = state;
  }

  get visibility(): Visibility {
    return this.#state.visibility;
  }

  /**
   * Finds what the rules say about an entry. Everything in an ignored folder is ignored too. A name that Burin's own
   * ignore files keep is shown even if git ignores it.
   */
  findVisibility(name: string, isFolder: boolean): Visibility {
    const { git, own, settings, visibility } = this.#state;
    if (visibility === "own") return "own";
    if (settings.length > 0 && judgeByLayers(settings, name, isFolder) === "ignored") return "own";
    const ours = own.length > 0 ? judgeByLayers(own, name, isFolder) : null;
    if (ours === "ignored") return "own";
    if (visibility === "git") return "git";
    if (ours === "kept" || git.length === 0) return "shown";
    return judgeByLayers(git, name, isFolder) === "ignored" ? "git" : "shown";
  }

  /**
   * Returns the rules of a subfolder. `hasEntry` tells whether the subfolder contains a file with a given name, if known.
   */
  readChildRules(name: string, hasEntry: (name: string) => boolean): FolderRules {
    const addPrefix = (layers: readonly Layer[]) =>
      layers.map(({ file, prefix }) => ({ file, prefix: `${prefix}${name}/` }));
    const { git, own, settings, path } = this.#state;
    const layers = { git: addPrefix(git), own: addPrefix(own), settings: addPrefix(settings) };
    const visibility = this.findVisibility(name, true);
    return new FolderRules({ ...this.#state, ...layers, visibility }).combineWithFolderFiles(
      joinPath(path, name),
      hasEntry,
    );
  }

  /** Returns these rules together with those of the ignore files in `path`, which is this folder. */
  combineWithFolderFiles(path: string, hasEntry: (name: string) => boolean): FolderRules {
    const { ownNames, environment, ...above } = this.#state;
    const gitFile = joinPath(path, ".gitignore");
    const text = environment !== null && hasEntry(".gitignore") ? readSmallFile(gitFile, false) : null;
    const isNewTop = environment !== null && above.path !== path && hasEntry(".git") && isWorkTreeTop(path);
    const rules = isNewTop ? readGitExcludes(path, environment) : null;
    const { ignoresCase } = rules ?? above;
    const gitInside = text === null ? [] : [createIgnoreLayer(text, gitFile, ignoresCase)];
    const git = [...gitInside, ...(rules === null ? above.git : buildExcludeLayers(rules))];
    const own = [...above.own];
    for (const ownName of ownNames) {
      const file = joinPath(path, ownName);
      const ownText = hasEntry(ownName) ? readSmallFile(file, true) : null;
      if (ownText !== null) own.unshift(createIgnoreLayer(ownText, file));
    }
    return new FolderRules({ ...this.#state, git, own, path, gitInside, ignoresCase });
  }

  /** Returns these rules together with the given texts of the folder's ignore files, which are not on this computer. */
  withIgnoreFiles(path: string, git: string | null, own: readonly string[]): FolderRules {
    const { git: gitAbove, own: ownAbove } = this.#state;
    const gitInside = git === null ? [] : [createIgnoreLayer(git, joinPath(path, ".gitignore"))];
    const ours = own.map((text) => createIgnoreLayer(text, path)).reverse();
    const layers = { git: [...gitInside, ...gitAbove], own: [...ours, ...ownAbove] };
    return new FolderRules({ ...this.#state, ...layers, gitInside, path });
  }

  /** Returns the rules of this folder without git's rules from the folders above. */
  withoutOuterGitRules(): FolderRules {
    return new FolderRules({ ...this.#state, git: this.#state.gitInside, visibility: "shown" });
  }

  /** Returns the rules of this folder as a root: a root is never ignored itself. */
  asRoot(settings: readonly Layer[]): FolderRules {
    const base = this.visibility === "shown" ? this : this.withoutOuterGitRules();
    return new FolderRules({ ...base.#state, settings, visibility: "shown" });
  }
}

/** Joins two paths without `join`, which would normalize dots in both parts for each folder of a walk. */
function joinPath(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
}

function createIgnoreLayer(text: string, place?: string, ignoresCase = false): Layer {
  return { file: new IgnoreFile(text, place, ignoresCase), prefix: "" };
}

function judgeByLayers(layers: readonly Layer[], name: string, isFolder: boolean): "ignored" | "kept" | null {
  for (const { file, prefix } of layers) {
    const verdict = file.judge(prefix, name, isFolder);
    if (verdict !== null) return verdict;
  }
  return null;
}
