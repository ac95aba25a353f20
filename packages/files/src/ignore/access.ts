import { relative, resolve, sep } from "node:path";
import type { FileHelpers } from "@burin/contract/machine/file-helpers";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { createGlobMatcher } from "@burin/contract/patterns/glob-pattern";
import { isWithin, isWithinAny } from "../paths/paths.ts";
import type { AccessSettings } from "./access-settings.ts";
import { type FolderRules, IgnoreRules } from "./ignore.ts";

/** The settings of a workspace, and the helper programs that it may use. */
export interface AccessOptions extends AccessSettings {
  readonly helpers: FileHelpers;
}

const IS_CASE_INSENSITIVE = process.platform === "darwin" || process.platform === "win32";

/** Decides which files inside the roots may be used. */
export class Access {
  readonly roots: readonly string[];
  readonly #settings: AccessOptions;
  readonly #denials: readonly { readonly pattern: string; readonly matches: (path: string) => boolean }[];

  constructor(roots: readonly string[], settings: AccessOptions) {
    this.roots = roots;
    this.#settings = settings;
    this.#denials = settings.denied.map((pattern) => ({
      pattern,
      matches: createGlobMatcher(pattern, { caseSensitive: !IS_CASE_INSENSITIVE }),
    }));
  }

  /** The environment in which helper programs are searched for. */
  get environment(): NodeJS.ProcessEnv {
    return this.#settings.environment ?? {};
  }

  get helpers(): FileHelpers {
    return this.#settings.helpers;
  }

  get home(): string | undefined {
    return this.#settings.home;
  }

  /** The roots, and the folders that the user has opened for reading. */
  get searchableRoots(): readonly string[] {
    const { opened = [] } = this.#settings;
    return opened.length === 0 ? this.roots : [...this.roots, ...opened];
  }

  /** All folders from which a file may be read. */
  get readableRoots(): readonly string[] {
    return [...this.searchableRoots, ...(this.#settings.readable ?? [])];
  }

  /** The ignore rules according to the files' current content. */
  createIgnoreRules(): IgnoreRules {
    return new IgnoreRules(this.searchableRoots, this.#settings);
  }

  /** The ignore rules without git's, because git's rules do not hide a file that the user names. */
  createRulesWithoutGit(): IgnoreRules {
    return new IgnoreRules(this.searchableRoots, this.#settings, false);
  }

  /** Returns why a file may not be opened, or null when it may be. */
  findRefusal(path: string, rules: IgnoreRules): WorkspaceError | null {
    const pattern = this.findDenyRule(path);
    if (pattern !== null) {
      return new WorkspaceError(
        "denied_path",
        `${path} may not be opened: the deny rule "${pattern}" covers it.`,
      );
    }
    return isWithinAny(path, this.searchableRoots) && rules.judgePath(path, false) === "own"
      ? createIgnoredError(path)
      : null;
  }

  /** Checks the file that was opened, and the name by which it was requested. */
  assertAllowed(file: string, realPath: string): void {
    const rules = this.createRulesWithoutGit();
    const named = file === realPath ? realPath : resolve(this.roots[0] ?? "", file);
    const refusal =
      this.findRefusal(named, rules) ?? (named === realPath ? null : this.findRefusal(realPath, rules));
    if (refusal !== null) throw refusal;
  }

  get hasDenials(): boolean {
    return this.#denials.length > 0;
  }

  /** Returns the pattern of the deny rule that covers the path or a folder above it. */
  findDenyRule(path: string): string | null {
    if (!this.hasDenials) return null;
    // Rules are written from the root, so they hold in opened folders from there, too.
    const bases = this.searchableRoots.filter((one) => isWithin(path, one));
    if (bases.length === 0) return null;
    for (const base of new Set([...bases, ...this.roots.slice(0, 1)])) {
      const segments = relative(base, path).split(sep);
      const names = [...segments.map((_, index) => segments.slice(0, index + 1).join("/")), path];
      const found = this.#denials.find(({ matches }) => names.some((name) => matches(name)));
      if (found !== undefined) return found.pattern;
    }
    return null;
  }

  /** Returns the rules inside a folder that was named explicitly. Throws when the folder is hidden from all tools. */
  readNamedFolderRules(realPath: string, rules: IgnoreRules): FolderRules {
    const folder = rules.readNamedFolderRules(realPath);
    if (folder.visibility === "own") throw createIgnoredError(realPath);
    return folder;
  }
}

function createIgnoredError(path: string): WorkspaceError {
  return new WorkspaceError(
    "ignored",
    `${path} is hidden from all tools by .burinignore or by the ignore settings; only the user can change that.`,
  );
}
