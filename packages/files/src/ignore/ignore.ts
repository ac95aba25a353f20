import { basename, dirname, join, relative, sep } from "node:path";
import { onceFor } from "@burin/contract/async/once";
import { lstatOf } from "../disk/disk-looks.ts";
import { isWithin } from "../paths/paths.ts";
import { type GitRules, gitRulesOf, gitTopOf, isGitTop, readSmallFile } from "./git-excludes.ts";
import { IgnoreFile } from "./ignore-file.ts";

/** Whether a path is hidden from tools, and by which rules: git's, or Burin's own. */
export type Visibility = "shown" | "git" | "own";

export interface IgnoreSettings {
  /** Names of further ignore files like `.burinignore`. */
  readonly ignoreFileNames: readonly string[];
  /** Globs in the syntax of ignore files; nothing in a project can undo them. */
  readonly ignore: readonly string[];
  /** Where to look for git's settings and helper programs, instead of in this process's own environment. */
  readonly environment?: NodeJS.ProcessEnv;
}

const OWN_FILE = ".burinignore";

/** One ignore file as seen from some folder: `prefix` leads from the file's folder to there. */
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
  /** null when they have no rules, which is the usual case. */
  readonly #settings: IgnoreFile | null;
  readonly #folders = new Map<string, FolderRules>();
  readonly #environment: NodeJS.ProcessEnv | null;

  /** Without git's rules no git file is read: what is hidden from all tools does not depend on them. */
  constructor(roots: readonly string[], settings: IgnoreSettings, withGit = true) {
    this.#roots = roots;
    this.#environment = withGit ? (settings.environment ?? {}) : null;
    this.#ownNames = [OWN_FILE, ...settings.ignoreFileNames];
    this.#settings = settings.ignore.length === 0 ? null : new IgnoreFile(settings.ignore.join("\n"));
  }

  /** The rules for what is directly in a folder of one of the roots. */
  folder(path: string): FolderRules {
    return onceFor(this.#folders, path, () =>
      this.#isTop(path) ? this.#top(path) : this.folder(dirname(path)).child(basename(path), () => true),
    );
  }

  /**
   * The same for a folder that was named: even if git ignores that folder, it is opened, and only git's rules
   * inside it apply.
   */
  namedFolder(path: string): FolderRules {
    const rules = this.folder(path);
    return rules.visibility === "git" ? rules.opened() : rules;
  }

  visibility(path: string, isFolder: boolean): Visibility {
    if (this.#isTop(path) || (this.#environment === null && !this.#hasOwnRules(path))) return "shown";
    return this.folder(dirname(path)).visibilityOf(basename(path), isFolder);
  }

  /** Usually there are none, and that is cheap to see. */
  #hasOwnRules(path: string): boolean {
    const folder = dirname(path);
    if (this.#ownNames.some((name) => lstatOf(folder + sep + name) !== null)) return true;
    return this.#isTop(folder) ? this.#settings !== null : this.#hasOwnRules(folder);
  }

  /** A root inside another root is an ordinary folder of that one. */
  #isTop(path: string): boolean {
    return this.#roots.every((root) => root === path || !isWithin(path, root)) || dirname(path) === path;
  }

  #top(root: string): FolderRules {
    const environment = this.#environment;
    const top = environment === null ? null : gitTopOf(root);
    const base = top ?? root;
    const git = top === null && environment !== null ? excludeLayers(gitRulesOf(null, environment)) : [];
    const none = {
      own: [],
      settings: [],
      gitInside: [],
      ignoresCase: false,
      path: "",
      visibility: "shown",
    } as const;
    const above = new FolderRules({ ...none, ownNames: this.#ownNames, git, environment });
    let rules = above.withFilesOf(base, base === root ? () => true : gitFilesOnly);
    let folder = base;
    for (const name of relative(base, root).split(sep)) {
      if (name === "") continue;
      folder = join(folder, name);
      rules = rules.child(name, folder === root ? () => true : gitFilesOnly);
    }
    return rules.asRoot(this.#settings === null ? [] : [{ file: this.#settings, prefix: "" }]);
  }
}

/** Above a root only git's own files count. */
function gitFilesOnly(name: string): boolean {
  return name === ".gitignore" || name === ".git";
}

function excludeLayers({ excludes, ignoresCase }: GitRules): Layer[] {
  return excludes.map((text) => layerOf(text, undefined, ignoresCase)).filter(({ file }) => !file.isEmpty);
}

/** Everything that decides about one folder. */
interface FolderState {
  /** The strongest first. */
  readonly git: readonly Layer[];
  readonly own: readonly Layer[];
  readonly settings: readonly Layer[];
  /** null when git's rules do not apply. */
  readonly environment: NodeJS.ProcessEnv | null;
  readonly ownNames: readonly string[];
  /** Of git's rules. */
  readonly ignoresCase: boolean;
  readonly visibility: Visibility;
  readonly path: string;
  /** Git's rules in this folder's own file, without those from above. */
  readonly gitInside: readonly Layer[];
}

/** The rules for what is directly in one folder. */
export class FolderRules {
  readonly #state: FolderState;

  constructor(state: FolderState) {
    this.#state = state;
  }

  get visibility(): Visibility {
    return this.#state.visibility;
  }

  /** Everything in an ignored folder is ignored too; a name that our own files keep wins over git. */
  visibilityOf(name: string, isFolder: boolean): Visibility {
    const { git, own, settings, visibility } = this.#state;
    if (visibility === "own") return "own";
    if (settings.length > 0 && verdictOf(settings, name, isFolder) === "ignored") return "own";
    const ours = own.length > 0 ? verdictOf(own, name, isFolder) : null;
    if (ours === "ignored") return "own";
    if (visibility === "git") return "git";
    if (ours === "kept" || git.length === 0) return "shown";
    return verdictOf(git, name, isFolder) === "ignored" ? "git" : "shown";
  }

  /** The rules of a folder in this one. `holds` says whether that folder has a file with a name, if that is known. */
  child(name: string, holds: (name: string) => boolean): FolderRules {
    const below = (layers: readonly Layer[]) =>
      layers.map(({ file, prefix }) => ({ file, prefix: `${prefix}${name}/` }));
    const { git, own, settings, path } = this.#state;
    const layers = { git: below(git), own: below(own), settings: below(settings) };
    const visibility = this.visibilityOf(name, true);
    return new FolderRules({ ...this.#state, ...layers, visibility }).withFilesOf(pathIn(path, name), holds);
  }

  /** These rules with those of the ignore files in `path`, which is this folder. */
  withFilesOf(path: string, holds: (name: string) => boolean): FolderRules {
    const { ownNames, environment, ...above } = this.#state;
    const gitFile = pathIn(path, ".gitignore");
    const text = environment !== null && holds(".gitignore") ? readSmallFile(gitFile, false) : null;
    const isNewTop = environment !== null && above.path !== path && holds(".git") && isGitTop(path);
    const rules = isNewTop ? gitRulesOf(path, environment) : null;
    const { ignoresCase } = rules ?? above;
    const gitInside = text === null ? [] : [layerOf(text, gitFile, ignoresCase)];
    const git = [...gitInside, ...(rules === null ? above.git : excludeLayers(rules))];
    const own = [...above.own];
    for (const ownName of ownNames) {
      const file = pathIn(path, ownName);
      const ownText = holds(ownName) ? readSmallFile(file, true) : null;
      if (ownText !== null) own.unshift(layerOf(ownText, file));
    }
    return new FolderRules({ ...this.#state, git, own, path, gitInside, ignoresCase });
  }

  /** The same folder without git's rules from above it. */
  opened(): FolderRules {
    return new FolderRules({ ...this.#state, git: this.#state.gitInside, visibility: "shown" });
  }

  /** The same folder as a root of the work: a root is never ignored itself. */
  asRoot(settings: readonly Layer[]): FolderRules {
    const base = this.visibility === "shown" ? this : this.opened();
    return new FolderRules({ ...base.#state, settings, visibility: "shown" });
  }
}

/** `join` would look for dots in both, in each folder of a walk. */
function pathIn(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
}

function layerOf(text: string, place?: string, ignoresCase = false): Layer {
  return { file: new IgnoreFile(text, place, ignoresCase), prefix: "" };
}

function verdictOf(layers: readonly Layer[], name: string, isFolder: boolean): "ignored" | "kept" | null {
  for (const { file, prefix } of layers) {
    const verdict = file.verdict(prefix, name, isFolder);
    if (verdict !== null) return verdict;
  }
  return null;
}
