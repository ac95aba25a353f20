import { posix } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { sortByCodePoints } from "@burin/contract/text/code-point-order";
import type { AccessSettings } from "../ignore/access-settings.ts";
import { createSettingsRules, type FolderRules, listOwnIgnoreFiles } from "../ignore/ignore.ts";
import { type FoundEntry, type FunctionPlaces, isInside } from "./function-place.ts";

const GIT_FILE = ".gitignore";
const ALWAYS_SKIPPED = new Set(["node_modules", ".git"]);

/** Decides which files of a machine may be used, by rules that are read there. */
export class FunctionAccess {
  readonly places: FunctionPlaces;
  readonly #settings: AccessSettings;
  readonly #denials: readonly { readonly pattern: string; readonly matches: (path: string) => boolean }[];

  constructor(places: FunctionPlaces, settings: AccessSettings) {
    this.places = places;
    this.#settings = settings;
    this.#denials = settings.denied.map((pattern) => ({
      pattern,
      matches: createGlobMatcher(pattern, { caseSensitive: true }),
    }));
  }

  /** Returns the rules for what is in a folder, including those of all folders above it. */
  async readRules(folder: string): Promise<FolderRules> {
    const root = this.#findRoot(folder);
    let rules = await this.#withFiles(createSettingsRules(this.#settings), root);
    let place = root;
    for (const name of posix.relative(root, folder).split("/").filter(Boolean)) {
      place = posix.join(place, name);
      rules = await this.#withFiles(
        rules.readChildRules(name, () => false),
        place,
      );
    }
    return rules;
  }

  /** Returns the rules for what is in a folder that was named, which is opened even if git ignores it. */
  async readNamedRules(folder: string): Promise<FolderRules> {
    const rules = await this.readRules(folder);
    if (rules.visibility === "own") throw makeHiddenError(folder);
    return rules.visibility === "git" ? rules.withoutOuterGitRules() : rules;
  }

  /** Returns the rules of a subfolder of a folder whose rules are known. */
  async readRulesBelow(
    above: FolderRules,
    folder: string,
    entries: readonly FoundEntry[],
  ): Promise<FolderRules> {
    const names = new Set(entries.map(({ name }) => name));
    return this.#withFiles(above, folder, (name) => names.has(name));
  }

  /** Throws when a rule keeps the file from being opened. */
  async assertAllowed(path: string): Promise<void> {
    const pattern = this.findDenial(path);
    if (pattern !== null)
      throw new WorkspaceError(
        "denied_path",
        `${path} may not be opened: the deny rule "${pattern}" covers it.`,
      );
    if (path === this.#findRoot(path)) return;
    const rules = await this.readRules(posix.dirname(path));
    if (rules.findVisibility(posix.basename(path), false) === "own") throw makeHiddenError(path);
  }

  /** Returns the deny rule that covers the path or a folder above it. */
  findDenial(path: string): string | null {
    if (this.#denials.length === 0) return null;
    const segments = posix.relative(this.#findRoot(path), path).split("/");
    const names = [...segments.map((_, index) => segments.slice(0, index + 1).join("/")), path];
    return this.#denials.find(({ matches }) => names.some((name) => matches(name)))?.pattern ?? null;
  }

  #findRoot(path: string): string {
    const { roots, root } = this.places;
    return roots.find((one) => isInside(path, [one])) ?? root;
  }

  async #withFiles(
    rules: FolderRules,
    folder: string,
    holds: (name: string) => boolean = () => true,
  ): Promise<FolderRules> {
    const readIgnoreFile = async (name: string) => {
      const bytes = holds(name)
        ? await this.places.read(posix.join(folder, name)).catch(ignoreFolderError)
        : null;
      return bytes?.toString("utf8") ?? null;
    };
    const [git = null, ...own] = await Promise.all(
      [GIT_FILE, ...listOwnIgnoreFiles(this.#settings)].map(readIgnoreFile),
    );
    const texts = own.filter((text) => text !== null);
    return git === null && texts.length === 0 ? rules : rules.withIgnoreFiles(folder, git, texts);
  }
}

/**
 * Returns null for a folder that has the name of an ignore file. Throws any other failure, because it might hide rules.
 */
function ignoreFolderError(error: unknown): null {
  if (error instanceof WorkspaceError && error.code === "is_a_directory") return null;
  throw error;
}

function makeHiddenError(path: string): WorkspaceError {
  return new WorkspaceError(
    "ignored",
    `${path} is hidden from all tools by .burinignore or by the ignore settings; only the user can change that.`,
  );
}

/** How a walk can end early: by a time limit or the signal. */
export interface WalkMeans {
  readonly respectGitIgnore: boolean;
  readonly signal: AbortSignal;
  /** A value of `performance.now()`. */
  readonly stopAt: number;
}

/** Folders deeper than this can only come from a loop. */
const MAX_DEPTH = 100;
/** How many folders are read at the same time. */
const AT_ONCE = 8;

/** Folders that are still to be walked through, by their paths from the start. */
type Level = readonly { readonly below: string; readonly rules: FolderRules }[];

/** Walks through a folder and yields the files folder by folder, each with its names in order. */
export class FunctionWalk {
  unreadable = 0;
  isPartial = false;
  readonly #access: FunctionAccess;
  #means: WalkMeans;
  readonly #ignored = { files: [] as string[], folders: [] as Level[number][] };

  constructor(access: FunctionAccess, means: WalkMeans) {
    this.#access = access;
    this.#means = means;
  }

  /** Whether something was left out because git ignores it. */
  get hasIgnored(): boolean {
    return this.#ignored.files.length + this.#ignored.folders.length > 0;
  }

  /** Returns the files' paths relative to the folder, in the order of their names. */
  async files(folder: string): Promise<string[]> {
    return this.#walk(folder, [{ below: "", rules: await this.#access.readNamedRules(folder) }]);
  }

  /** Returns the files that were left out because git ignores them. Stops at the given time. */
  async ignoredFiles(folder: string, stopAt: number): Promise<string[]> {
    const { files, folders } = this.#ignored;
    this.#means = { ...this.#means, respectGitIgnore: false, stopAt };
    return [...files, ...(await this.#walk(folder, folders))];
  }

  async #walk(folder: string, start: Level): Promise<string[]> {
    const found: string[] = [];
    let level = start;
    for (let depth = 0; level.length > 0 && depth < MAX_DEPTH; depth += 1) {
      const next: Level[number][] = [];
      for (let at = 0; at < level.length; at += AT_ONCE) {
        this.#means.signal.throwIfAborted();
        if (performance.now() > this.#means.stopAt) {
          this.isPartial = true;
          return sortByCodePoints(found);
        }
        const some = await Promise.all(
          level.slice(at, at + AT_ONCE).map((one) => this.#walkFolder(folder, one)),
        );
        for (const { files, folders } of some) {
          for (const file of files) found.push(file);
          next.push(...folders);
        }
      }
      level = next;
    }
    if (level.length > 0) this.isPartial = true;
    return sortByCodePoints(found);
  }

  async #walkFolder(
    folder: string,
    { below, rules: above }: { readonly below: string; readonly rules: FolderRules },
  ) {
    const place = posix.resolve(folder, below);
    const { places } = this.#access;
    // Do not follow a link: it may lead out of the folder, or in a circle.
    if (below !== "" && !(await places.hasNoLinks(place))) return { files: [], folders: [] };
    const entries = await places.listEntries(place).catch(() => null);
    if (entries === null) this.unreadable += 1;
    // The rules of the start are complete.
    const rules = below === "" ? above : await this.#access.readRulesBelow(above, place, entries ?? []);
    const files: string[] = [];
    const folders: { readonly below: string; readonly rules: FolderRules }[] = [];
    for (const { name, isDirectory } of entries ?? []) {
      const path = below + name;
      const visibility = rules.findVisibility(name, isDirectory);
      if (
        visibility === "own" ||
        name === ".git" ||
        (isDirectory && ALWAYS_SKIPPED.has(name)) ||
        this.#access.findDenial(posix.join(folder, path)) !== null
      )
        continue;
      const into = visibility === "git" && this.#means.respectGitIgnore ? this.#ignored : { files, folders };
      if (isDirectory)
        into.folders.push({ below: `${path}/`, rules: rules.readChildRules(name, () => false) });
      else into.files.push(path);
    }
    return { files, folders };
  }
}
