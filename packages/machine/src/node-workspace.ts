import { realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { once } from "@burin/contract/async/once";
import { type Workspace, WorkspaceError } from "@burin/contract/machine/workspace";
import { realPlace } from "./disk/disk-looks.ts";
import { asWorkspaceError } from "./disk/system-error.ts";
import type { WorkspaceSettings } from "./files/access.ts";
import { lazily } from "./files/lazily.ts";

export const NO_ACCESS_SETTINGS: WorkspaceSettings = { ignoreFileNames: [], ignore: [], denied: [] };

export type { WorkspaceSettings };

const METHODS = ["resolve", "list", "find", "search", "read"] as const;
const CHANGING = ["snapshot", "preview", "write"] as const;

/** Opens real folders; the first is the root. They must exist, those of `readable` need not. Links are resolved once. */
export function openWorkspace(
  root: string,
  includeDirectories: readonly string[] = [],
  settings: WorkspaceSettings = NO_ACCESS_SETTINGS,
): Workspace {
  const real = realDirectory(root);
  const more = includeDirectories.map((directory) => realDirectory(resolve(real, directory)));
  const roots = [real, ...more];
  // Now: a folder that a command replaces with a link later must not let it choose what can be read.
  const access = { ...settings, readable: (settings.readable ?? []).map(realPlace) };
  const files = once(async () => new (await import("./files/files.ts")).NodeFiles(roots, access));
  return {
    root: real,
    roots,
    relative: (path) => fromRoot(real, resolve(real, path)),
    ...lazily(files, METHODS),
    ...lazily(async () => (await files()).changes(), CHANGING),
  };
}

/** Most paths are in the root; then the slower comparison of segments is not needed. */
function fromRoot(root: string, absolute: string): string {
  const inner = absolute.startsWith(root + sep) ? absolute.slice(root.length + 1) : relative(root, absolute);
  return (sep === "/" ? inner : inner.split(sep).join("/")) || ".";
}

/** Returns the real path of a folder to work in. Throws when it does not exist. */
export function realDirectory(path: string): string {
  if (typeof path !== "string" || path === "") {
    throw new WorkspaceError("invalid_path", "The folder to work in must be given as a path.");
  }
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    throw asWorkspaceError(error, resolve(path));
  }
  throw new WorkspaceError("not_a_directory", `${path} is not a directory.`);
}
