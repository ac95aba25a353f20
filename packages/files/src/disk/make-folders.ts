import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { codeOf } from "./system-error.ts";

/**
 * Makes a folder, and the missing folders above it, for its owner alone. Node's own recursive mkdir never ends
 * where the system allows nothing to be made but says that the parent is missing, as in /proc.
 */
export function makeFolders(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "ENOENT") {
      // An existing folder is fine; any other reason is an error.
      if (!isFolder(path)) throw error;
      return;
    }
    const above = dirname(path);
    if (above === path || isFolder(above)) throw error;
    makeFolders(above);
    mkdirSync(path, { mode: 0o700 });
  }
}

export function isFolder(path: string): boolean {
  return orElse(false, () => statSync(path).isDirectory());
}
