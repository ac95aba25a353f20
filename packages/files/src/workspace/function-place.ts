import { posix } from "node:path";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { readErrorCode, toWorkspaceError } from "../disk/system-error.ts";
import { createOutsideError } from "../paths/paths.ts";

/** What a machine says of a path where nothing is. */
const NOTHING_THERE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "not_found"]);

/** What `stat` says of a path; the `Stats` of Node fit. */
export interface PathStat {
  readonly isDirectory: boolean | (() => boolean);
  /** In bytes. */
  readonly size?: number;
  /** When it was last changed, in milliseconds since 1970. */
  readonly mtimeMs?: number;
}

/** What `readdir` says of a name; the `Dirent` of Node fits. */
export interface NamedEntry {
  readonly name: string;
  readonly isDirectory: boolean | (() => boolean);
}

/**
 * How to reach the files of a machine. Paths are absolute, with `/`. Where nothing is, `stat` gives null, or any of them
 * rejects with the code ENOENT or a WorkspaceError `not_found`: the functions of `node:fs/promises` fit.
 */
export interface FileFunctions {
  /** The content of a file. */
  readFile(path: string): Promise<Uint8Array | string>;
  /** Replaces a file, or creates it with the folders above it. */
  writeFile(path: string, content: Uint8Array): Promise<unknown>;
  /** What is at a path, behind a link too; null when nothing is. */
  stat(path: string): Promise<PathStat | null | undefined>;
  /** What is directly in a folder: names, or names with their kind, which saves a `stat` for each. */
  readdir(path: string): Promise<readonly (string | NamedEntry)[]>;
  /** Only for a machine with links: the path without any. Then nothing outside the root is reached through a link. */
  realpath?(path: string): Promise<string>;
}

export interface FoundEntry {
  readonly name: string;
  readonly isDirectory: boolean;
}

/** A path inside the roots, as it was named and as it really is. */
export interface RealPlace {
  readonly path: string;
  readonly real: string;
}

/** Reaches files through the functions, and keeps to the roots. */
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

  async locate(path: string): Promise<RealPlace> {
    if (typeof path !== "string" || path.includes("\0"))
      throw new WorkspaceError("invalid_path", "A path must be a text without NUL.");
    const absolute = posix.resolve(this.root, path);
    if (!isInside(absolute, this.roots)) throw createOutsideError(absolute, this.roots);
    return { path: absolute, real: await this.#findInRoots(absolute) };
  }

  /** Whether no link leads to this path, as far as the machine says. */
  async isPlain(path: string): Promise<boolean> {
    return (await this.#findInRoots(path).catch(() => null)) === path;
  }

  /** The same path without links. A root keeps its name, wherever it is really. */
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

  /** The content; null when there is no such file. */
  async read(path: string): Promise<Buffer | null> {
    const content = await this.#askOrNull(path, () => this.#functions.readFile(path));
    if (content === null || content === undefined) return null;
    if (typeof content === "string") return Buffer.from(content, "utf8");
    return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  }

  async write(path: string, content: Uint8Array): Promise<void> {
    await this.#callSafely(path, () => this.#functions.writeFile(path, content));
  }

  /** What is in a folder, in the order of the names; throws when there is none. */
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
    // A name is one segment: others would lead elsewhere.
    return entries.filter(({ name }) => name !== "" && name !== "." && name !== ".." && !name.includes("/"));
  }

  /** A link that leads nowhere would be written through. */
  async assertNoLink({ path, real }: RealPlace): Promise<void> {
    if (this.#functions.realpath === undefined) return;
    const entries = await this.listEntries(posix.dirname(real)).catch(() => []);
    if (entries.some(({ name }) => name === posix.basename(real)))
      throw new WorkspaceError("not_a_regular_file", `${path} is a link that leads nowhere.`);
  }

  /** Without links; of what does not exist yet, as far as it exists. */
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
      throw makeFailure(error, path);
    }
  }

  async #callSafely<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw makeFailure(error, path);
    }
  }
}

export function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some(
    (folder) => path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`),
  );
}

/** `isDirectory` as a value, or as Node has it. */
export function isFolder(entry: PathStat | NamedEntry): boolean {
  return typeof entry.isDirectory === "function" ? entry.isDirectory() : entry.isDirectory;
}

/** A link of Node's `Dirent` does not say what it leads to. */
function isLink(entry: NamedEntry): boolean {
  const { isSymbolicLink } = entry as { isSymbolicLink?: unknown };
  return typeof isSymbolicLink === "function" && isSymbolicLink.call(entry) === true;
}

function makeFailure(error: unknown, path: string): Error {
  if (error instanceof WorkspaceError) return error;
  const known = toWorkspaceError(error, path);
  if (known instanceof WorkspaceError) return known;
  return new WorkspaceError("io_error", `${path} could not be reached: ${known.message}`);
}
