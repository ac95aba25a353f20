import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { readErrorCode } from "./system-error.ts";

/**
 * Creates a folder and its missing parents, accessible to its owner alone. Node's recursive mkdir loops forever where
 * nothing can be created but the parent is reported missing, as in /proc.
 */
export function makeFolders(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (readErrorCode(error) !== "ENOENT") {
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
  return withFallback(false, () => statSync(path).isDirectory());
}
