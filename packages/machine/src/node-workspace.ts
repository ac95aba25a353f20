import { realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import type {
  ChangedText,
  FilePreview,
  FileSnapshot,
  FileWrite,
  FileWritten,
} from "@burin/contract/machine/file-change";
import type { FileContent, LineRange } from "@burin/contract/machine/file-content";
import type { FindRequest, FoundFiles } from "@burin/contract/machine/find-request";
import type { SearchRequest, SearchResult } from "@burin/contract/machine/search-request";
import {
  type Listing,
  type ListOptions,
  type Workspace,
  WorkspaceError,
} from "@burin/contract/machine/workspace";
import type { AccessSettings } from "./files/access.ts";
import type { ReadMemory } from "./files/read-record.ts";
import type { OnChange } from "./files/replace-file.ts";
import { asWorkspaceError } from "./files/system-error.ts";
import type { Machine } from "./machine.ts";

const NO_ACCESS_SETTINGS: AccessSettings = { ignoreFileNames: [], ignore: [], denied: [] };

export interface WorkspaceSettings extends AccessSettings {
  /** Resolves to what is told of each change of a file; it is asked for with the first call of a tool. */
  readonly openJournal?: () => Promise<OnChange>;
  /** What the model was shown in an earlier process, and is shown now. */
  readonly reads?: ReadMemory;
}

/** The workspace of real folders, the first being the root. They must exist; their links are resolved once. */
export function openWorkspace(
  root: string,
  includeDirectories: readonly string[] = [],
  settings: WorkspaceSettings = NO_ACCESS_SETTINGS,
): Workspace {
  const real = realDirectory(root);
  const more = includeDirectories.map((directory) => realDirectory(resolve(real, directory)));
  return new NodeWorkspace([real, ...more], settings);
}

/** The real path of a folder to work in. Throws when there is none. */
export function realDirectory(path: string): string {
  if (typeof path !== "string" || path === "") {
    throw new WorkspaceError("invalid_path", "The folder to work in must be given as a path.");
  }
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    throw asWorkspaceError(error, resolve(path));
  }
  if (!statSync(real).isDirectory()) {
    throw new WorkspaceError("not_a_directory", `${path} is not a directory.`);
  }
  return real;
}

class NodeWorkspace implements Workspace {
  readonly root: string;
  readonly roots: readonly string[];
  readonly #settings: WorkspaceSettings;
  #machine: Promise<Machine> | undefined;

  constructor(roots: readonly [string, ...string[]], settings: WorkspaceSettings) {
    this.root = roots[0];
    this.roots = roots;
    this.#settings = settings;
  }

  relative(path: string): string {
    return relative(this.root, resolve(this.root, path)).split(sep).join("/") || ".";
  }

  async resolve(path: string): Promise<string> {
    return (await this.#work()).resolve(path);
  }

  async list(directory: string, options: ListOptions, signal: AbortSignal): Promise<Listing> {
    return (await this.#work()).list(directory, options, signal);
  }

  async find(directory: string, request: FindRequest, signal: AbortSignal): Promise<FoundFiles> {
    return (await this.#work()).find(directory, request, signal);
  }

  async search(path: string, request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    return (await this.#work()).search(path, request, signal);
  }

  async read(file: string, range: LineRange, signal: AbortSignal): Promise<FileContent> {
    return (await this.#work()).read(file, range, signal);
  }

  async snapshot(file: string, changes?: readonly ChangedText[]): Promise<FileSnapshot> {
    return (await this.#work()).snapshot(file, changes);
  }

  async preview(file: string, content: string, basis?: FileSnapshot): Promise<FilePreview> {
    return (await this.#work()).preview(file, content, basis);
  }

  async write(change: FileWrite, signal: AbortSignal): Promise<FileWritten> {
    return (await this.#work()).write(change, signal);
  }

  #work(): Promise<Machine> {
    this.#machine ??= this.#opened();
    return this.#machine;
  }

  async #opened(): Promise<Machine> {
    const { openJournal, reads } = this.#settings;
    const [{ Machine }, onChange] = await Promise.all([import("./machine.ts"), openJournal?.()]);
    return new Machine(this.roots, this.#settings, { onChange, reads });
  }
}
