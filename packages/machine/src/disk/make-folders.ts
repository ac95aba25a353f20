import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../files/system-error.ts";

/**
 * Makes a folder for its owner alone, with those above it. Node's own way never ends where the system lets nothing be
 * made and says that the folder above is missing, as in /proc.
 */
export function makeFolders(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "ENOENT") {
      // There already; what may not be made says so only where it is missing.
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
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
