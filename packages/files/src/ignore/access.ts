import { relative, resolve, sep } from "node:path";
import type { FileHelpers } from "@burin/contract/machine/file-helpers";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import { isWithin, isWithinAny } from "../paths/paths.ts";
import type { AccessSettings } from "./access-settings.ts";
import { type FolderRules, IgnoreRules } from "./ignore.ts";

/** What a workspace is opened with, and who helps it. */
export interface AccessMeans extends AccessSettings {
  readonly helpers: FileHelpers;
}

const IGNORES_CASE = process.platform === "darwin" || process.platform === "win32";

/** Decides which files inside the roots may be used. */
export class Access {
  readonly roots: readonly string[];
  readonly #settings: AccessMeans;
  readonly #denials: readonly { readonly pattern: string; readonly matches: (path: string) => boolean }[];

  constructor(roots: readonly string[], settings: AccessMeans) {
    this.roots = roots;
    this.#settings = settings;
    this.#denials = settings.denied.map((pattern) => ({
      pattern,
      matches: globMatcher(pattern, { caseSensitive: !IGNORES_CASE }),
    }));
  }

  /** Where to look for helper programs. */
  get environment(): NodeJS.ProcessEnv {
    return this.#settings.environment ?? {};
  }

  get helpers(): FileHelpers {
    return this.#settings.helpers;
  }

  get home(): string | undefined {
    return this.#settings.home;
  }

  /** All folders from which a file may be read. */
  get readableRoots(): readonly string[] {
    return [...this.roots, ...(this.#settings.readable ?? [])];
  }

  /** The ignore rules as the files say now. */
  ignoreRules(): IgnoreRules {
    return new IgnoreRules(this.roots, this.#settings);
  }

  /** The same without git's rules, which do not hide a file that is named. */
  ownRules(): IgnoreRules {
    return new IgnoreRules(this.roots, this.#settings, false);
  }

  /** Returns why a file may not be opened, or null when it may be. */
  refusal(path: string, rules: IgnoreRules): WorkspaceError | null {
    const pattern = this.deniedBy(path);
    if (pattern !== null) {
      return new WorkspaceError(
        "denied_path",
        `${path} may not be opened: the deny rule "${pattern}" covers it.`,
      );
    }
    return isWithinAny(path, this.roots) && rules.visibility(path, false) === "own" ? ignored(path) : null;
  }

  /** Checks the file that was opened, and the name by which it was requested. */
  assertAllowed(file: string, realPath: string): void {
    const rules = this.ownRules();
    const named = file === realPath ? realPath : resolve(this.roots[0] ?? "", file);
    const refusal = this.refusal(named, rules) ?? (named === realPath ? null : this.refusal(realPath, rules));
    if (refusal !== null) throw refusal;
  }

  get hasDenials(): boolean {
    return this.#denials.length > 0;
  }

  /** Returns the pattern of the deny rule that covers the path or a folder above it. */
  deniedBy(path: string): string | null {
    if (!this.hasDenials) return null;
    for (const root of this.roots.filter((one) => isWithin(path, one))) {
      const segments = relative(root, path).split(sep);
      const names = [...segments.map((_, index) => segments.slice(0, index + 1).join("/")), path];
      const found = this.#denials.find(({ matches }) => names.some((name) => matches(name)));
      if (found !== undefined) return found.pattern;
    }
    return null;
  }

  /** The rules inside a folder that was named. Throws when it is hidden from all tools. */
  namedFolder(realPath: string, rules: IgnoreRules): FolderRules {
    const folder = rules.namedFolder(realPath);
    if (folder.visibility === "own") throw ignored(realPath);
    return folder;
  }
}

function ignored(path: string): WorkspaceError {
  return new WorkspaceError(
    "ignored",
    `${path} is hidden from all tools by .burinignore or by the ignore settings; only the user can change that.`,
  );
}
