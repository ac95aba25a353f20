import { posix } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { readErrorCode, toWorkspaceError } from "../disk/system-error.ts";
import { createOutsideError } from "../paths/paths.ts";

/** The error codes of a machine for a path that does not exist. */
const NOTHING_THERE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "not_found"]);

/** The result of `stat`; Node's `Stats` fit. */
export interface PathStat {
  readonly isDirectory: boolean | (() => boolean);
  /** The size in bytes. */
  readonly size?: number;
  /** The time of the last change, in milliseconds since 1970. */
  readonly mtimeMs?: number;
}

/** An entry in the result of `readdir`; Node's `Dirent` fits. */
export interface NamedEntry {
  readonly name: string;
  readonly isDirectory: boolean | (() => boolean);
}

/**
 * The functions that reach the files of a machine. Paths are absolute, with `/`. For a path that does not exist, `stat`
 * returns null, or any function rejects with the code ENOENT or a WorkspaceError `not_found`. The functions of
 * `node:fs/promises` fit.
 */
export interface FileFunctions {
  /** Returns the content of a file. */
  readFile(path: string): Promise<Uint8Array | string>;
  /** Replaces a file, or creates it and its missing folders. */
  writeFile(path: string, content: Uint8Array): Promise<unknown>;
  /** Returns the stats of a path, with links followed; null when nothing is there. */
  stat(path: string): Promise<PathStat | null | undefined>;
  /** Lists a folder: names, or names with their kind, which saves a `stat` for each. */
  readdir(path: string): Promise<readonly (string | NamedEntry)[]>;
  /**
   * Resolves the links in a path. Only needed for a machine with links: then nothing outside the root is reached
   * through a link.
   */
  realpath?(path: string): Promise<string>;
}

export interface FoundEntry {
  readonly name: string;
  readonly isDirectory: boolean;
}

/** A path inside the roots: as it was given, and with links resolved. */
export interface RealPath {
  readonly path: string;
  readonly real: string;
}

/** Reaches files through the machine's functions, and only inside the roots. */
export class FunctionPlaces {
  readonly roots: readonly string[];
  readonly #functions: FileFunctions;
  #realRoots: Promise<readonly string[]> | undefined;

  constructor(functions: FileFunctions, roots: readonly string[]) {
    this.#functions = functions;
    this.roots = roots;
  }

  get root(): string {
    return this.roots[0] ?? "/";
  }

  async locate(path: string): Promise<RealPath> {
    if (typeof path !== "string" || path.includes("\0"))
      throw new WorkspaceError("invalid_path", "A path must be a text without NUL.");
    const absolute = posix.resolve(this.root, path);
    if (!isInside(absolute, this.roots)) throw createOutsideError(absolute, this.roots);
    return { path: absolute, real: await this.#findInRoots(absolute) };
  }

  /** Whether the path contains no link, as far as the machine says. */
  async hasNoLinks(path: string): Promise<boolean> {
    return (await this.#findInRoots(path).catch(() => null)) === path;
  }

  /** Resolves the links in the path. A root keeps its name, even if that is a link. */
  async #findInRoots(path: string): Promise<string> {
    if (this.#functions.realpath === undefined) return path;
    this.#realRoots ??= Promise.all(this.roots.map((root) => this.#findReal(root)));
    const [real, realRoots] = await Promise.all([this.#findReal(path), this.#realRoots]);
    const at = realRoots.findIndex((root) => isInside(real, [root]));
    if (at === -1) throw createOutsideError(path, this.roots);
    return posix.join(this.roots[at] ?? "/", posix.relative(realRoots[at] ?? "/", real));
  }

  async stat(path: string): Promise<PathStat | null> {
    return (await this.#askOrNull(path, () => this.#functions.stat(path))) ?? null;
  }

  /** Returns the content; null when there is no such file. */
  async read(path: string): Promise<Buffer | null> {
    const content = await this.#askOrNull(path, () => this.#functions.readFile(path));
    if (content === null || content === undefined) return null;
    if (typeof content === "string") return Buffer.from(content, "utf8");
    return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  }

  async write(path: string, content: Uint8Array): Promise<void> {
    await this.#callSafely(path, () => this.#functions.writeFile(path, content));
  }

  /** Lists a folder in the order of the names; throws when there is none. */
  async listEntries(folder: string): Promise<FoundEntry[]> {
    const given = await this.#callSafely(folder, () => this.#functions.readdir(folder));
    const entries = await Promise.all(
      given.map(async (entry) => {
        if (typeof entry !== "string" && !isLink(entry))
          return { name: entry.name, isDirectory: isFolder(entry) };
        const name = typeof entry === "string" ? entry : entry.name;
        const found = await this.stat(posix.join(folder, name)).catch(() => null);
        return { name, isDirectory: found !== null && isFolder(found) };
      }),
    );
    // Accept only names of one segment: others would lead elsewhere.
    return entries.filter(({ name }) => name !== "" && name !== "." && name !== ".." && !name.includes("/"));
  }

  /** Throws for a link whose target does not exist, because writing would create the target. */
  async assertNoLink({ path, real }: RealPath): Promise<void> {
    if (this.#functions.realpath === undefined) return;
    const entries = await this.listEntries(posix.dirname(real)).catch(() => []);
    if (entries.some(({ name }) => name === posix.basename(real)))
      throw new WorkspaceError("not_a_regular_file", `${path} is a link that leads nowhere.`);
  }

  /** Resolves the links in the part of the path that exists. */
  async #findReal(path: string): Promise<string> {
    const real = await this.#askOrNull(path, () => this.#functions.realpath?.(path) ?? Promise.resolve(path));
    if (typeof real === "string") return posix.normalize(real);
    const above = posix.dirname(path);
    return above === path ? path : posix.join(await this.#findReal(above), posix.basename(path));
  }

  async #askOrNull<T>(path: string, ask: () => Promise<T>): Promise<T | null> {
    try {
      return await ask();
    } catch (error) {
      if (NOTHING_THERE.has(readErrorCode(error) ?? "")) return null;
      throw createPlaceError(error, path);
    }
  }

  async #callSafely<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw createPlaceError(error, path);
    }
  }
}

export function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some(
    (folder) => path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`),
  );
}

/** Reads `isDirectory` as a value or, as in Node, as a method. */
export function isFolder(entry: PathStat | NamedEntry): boolean {
  return typeof entry.isDirectory === "function" ? entry.isDirectory() : entry.isDirectory;
}

/** Whether the entry is a link: Node's `Dirent` does not say what it leads to. */
function isLink(entry: NamedEntry): boolean {
  const { isSymbolicLink } = entry as { isSymbolicLink?: unknown };
  return typeof isSymbolicLink === "function" && isSymbolicLink.call(entry) === true;
}

function createPlaceError(error: unknown, path: string): Error {
  if (error instanceof WorkspaceError) return error;
  const known = toWorkspaceError(error, path);
  if (known instanceof WorkspaceError) return known;
  return new WorkspaceError("io_error", `${path} could not be reached: ${known.message}`);
}
