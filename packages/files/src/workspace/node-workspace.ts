import { realpathSync, statSync } from "node:fs";
import { posix, relative, resolve, sep } from "node:path";
import { createLazyMethods } from "@burin/contract/async/lazy-methods";
import { once } from "@burin/contract/async/once";
import type { FileHelpers } from "@burin/contract/machine/file-helpers";
import { type Workspace, WorkspaceError } from "@burin/contract/machine/workspace";
import { resolvePossiblyMissing } from "../disk/disk-looks.ts";
import { toWorkspaceError } from "../disk/system-error.ts";
import { NO_ACCESS_SETTINGS } from "../ignore/access-settings.ts";
import type { FileFunctions } from "./function-place.ts";
import type { WorkspaceSettings } from "./workspace-settings.ts";

export type { FileFunctions, NamedEntry, PathStat } from "./function-place.ts";
export type { ReadMemory, SeenFile } from "./read-record.ts";
export type { WorkspaceSettings };

export type OpenWorkspace = (
  root: string,
  includeDirectories?: readonly string[],
  settings?: WorkspaceSettings,
) => Workspace;

const METHODS = ["resolve", "list", "find", "search", "read", "findClosedFolder", "openFolder"] as const;
const CHANGE_METHODS = ["snapshot", "preview", "write"] as const;

/**
 * Returns a function that opens real folders, of which the first is the root. They must exist; those in `readable` need
 * not. Links are resolved once.
 */
export function createWorkspaceOpener(loadHelpers: () => Promise<FileHelpers>): OpenWorkspace {
  return (root, includeDirectories = [], settings = NO_ACCESS_SETTINGS) => {
    const real = resolveDirectory(root);
    const more = includeDirectories.map((directory) => resolveDirectory(resolve(real, directory)));
    const roots = [real, ...more];
    // Resolved now: if a command later replaces a folder with a link, that must not decide what can be read.
    const readable = (settings.readable ?? []).map(resolvePossiblyMissing);
    const access = { ...settings, readable, opened: settings.opened ?? [] };
    const files = once(async () => {
      const [{ NodeFiles }, helpers] = await Promise.all([import("./files.ts"), loadHelpers()]);
      return new NodeFiles(roots, { ...access, helpers });
    });
    return {
      root: real,
      roots,
      relative: (path) => formatRelative(real, resolve(real, path)),
      ...createLazyMethods(files, METHODS),
      ...createLazyMethods(async () => (await files()).changes(), CHANGE_METHODS),
    };
  };
}

/** Most paths are in the root; then the slower comparison of segments is not needed. */
function formatRelative(root: string, absolute: string): string {
  const inner = absolute.startsWith(root + sep) ? absolute.slice(root.length + 1) : relative(root, absolute);
  return (sep === "/" ? inner : inner.split(sep).join("/")) || ".";
}

/** Returns the real path of a folder to work in. Throws when it does not exist. */
export function resolveDirectory(path: string): string {
  if (typeof path !== "string" || path === "") {
    throw new WorkspaceError("invalid_path", "The folder to work in must be given as a path.");
  }
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    throw toWorkspaceError(error, resolve(path));
  }
  throw new WorkspaceError("not_a_directory", `${path} is not a directory.`);
}

const FILE_METHODS = ["resolve", "list", "find", "search", "read", "snapshot", "preview", "write"] as const;

/** Opens folders of a machine that a few functions reach; the first folder is the root. Reads nothing yet. */
export function openFunctionFiles(
  functions: FileFunctions,
  [given, ...more]: readonly [string, ...string[]],
  settings: WorkspaceSettings,
): Workspace {
  const root = resolveFolder("/", given);
  const roots = [root, ...more.map((folder) => resolveFolder(root, folder))];
  const open = once(async () => {
    const { FunctionWorkspace } = await import("./function-workspace.ts");
    return new FunctionWorkspace(functions, roots, settings);
  });
  const toRelativePath = (path: string) => posix.relative(root, posix.resolve(root, path)) || ".";
  return { root, roots, relative: toRelativePath, ...createLazyMethods(open, FILE_METHODS) };
}

function resolveFolder(base: string, folder: string): string {
  if (typeof folder === "string" && folder !== "" && !folder.includes("\0"))
    return posix.resolve(base, folder);
  throw new WorkspaceError("invalid_path", "The folder to work in must be given as a path.");
}
