import { relative, resolve, sep } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { globMatcher } from "@burin/contract/patterns/glob-pattern";
import { lstatOf, realOf } from "./disk-looks.ts";
import { type FolderRules, IgnoreRules, type IgnoreSettings } from "./ignore.ts";
import { isWithin } from "./paths.ts";

export interface AccessSettings extends IgnoreSettings {
  /** Globs of paths, from a root, that no tool may open: the patterns of deny rules for reading. */
  readonly denied: readonly string[];
  /** Folders outside the roots whose files may be read, e.g. that of long outputs. They need not exist yet. */
  readonly readable?: readonly string[];
}

export const NO_ACCESS_SETTINGS: AccessSettings = { ignoreFileNames: [], ignore: [], denied: [] };

const IGNORES_CASE = process.platform === "darwin" || process.platform === "win32";

/** What may be used of that which lies inside the roots. */
export class Access {
  readonly roots: readonly string[];
  readonly #settings: AccessSettings;
  /** Real paths of those folders that are there; they are looked up once. */
  readonly #readable = new Map<string, string>();
  readonly #denials: readonly { readonly pattern: string; readonly matches: (path: string) => boolean }[];

  constructor(roots: readonly string[], settings: AccessSettings) {
    this.roots = roots;
    this.#settings = settings;
    this.#denials = settings.denied.map((pattern) => ({
      pattern,
      matches: globMatcher(pattern, { caseSensitive: !IGNORES_CASE }),
    }));
  }

  /** Where programs are looked for that help with the files. */
  get environment(): NodeJS.ProcessEnv {
    return this.#settings.environment ?? process.env;
  }

  /** Where a file may lie that is only read. */
  get readableRoots(): readonly string[] {
    const readable = (this.#settings.readable ?? []).map((path) => {
      // To be told by an error that it is not there takes longer than all else of reading a small file.
      const real = this.#readable.get(path) ?? (lstatOf(path) === null ? null : realOf(path));
      if (real !== null) this.#readable.set(path, real);
      return real ?? path;
    });
    return [...this.roots, ...readable];
  }

  /** The ignore rules as the files say now. */
  ignoreRules(): IgnoreRules {
    return new IgnoreRules(this.roots, this.#settings);
  }

  /** The same without git's, which hide no file that is named. */
  ownRules(): IgnoreRules {
    return new IgnoreRules(this.roots, this.#settings, false);
  }

  /** Why a file may not be opened; null when it may. */
  refusal(path: string, rules: IgnoreRules): WorkspaceError | null {
    const pattern = this.deniedBy(path);
    if (pattern !== null) {
      return new WorkspaceError(
        "denied_path",
        `${path} may not be opened: the deny rule "${pattern}" covers it.`,
      );
    }
    const isInside = this.roots.some((root) => isWithin(path, root));
    return isInside && rules.visibility(path, false) === "own" ? ignored(path) : null;
  }

  /** Of what was opened it is asked, and of the name by which somebody asked for it. */
  assertAllowed(file: string, realPath: string): void {
    const rules = this.ownRules();
    for (const place of new Set([resolve(this.roots[0] ?? "", file), realPath])) {
      const refusal = this.refusal(place, rules);
      if (refusal !== null) throw refusal;
    }
  }

  get hasDenials(): boolean {
    return this.#denials.length > 0;
  }

  /** The pattern of the deny rule that covers the path or a folder that it is in. */
  deniedBy(path: string): string | null {
    if (!this.hasDenials) return null;
    for (const root of this.roots) {
      if (!isWithin(path, root)) continue;
      const segments = relative(root, path).split(sep);
      for (let count = 1; count <= segments.length; count += 1) {
        const part = segments.slice(0, count).join("/");
        const whole = count === segments.length ? path : null;
        const found = this.#denials.find(
          ({ matches }) => matches(part) || (whole !== null && matches(whole)),
        );
        if (found !== undefined) return found.pattern;
      }
    }
    return null;
  }

  /** The rules inside a folder that somebody named. Throws when it is hidden from every tool. */
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
