import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

/**
 * true when the person has said that this very folder, by its real path, may bring its own settings.
 * Nobody is trusted by default, and a trust file that cannot be read trusts nobody.
 */
export function isTrusted(home: string, root: string): boolean {
  try {
    const trusted: unknown = JSON.parse(readFileSync(join(home, "trust.json"), "utf8"));
    const folders = (trusted as { folders?: unknown }).folders;
    return Array.isArray(folders) && folders.includes(realpathSync(root));
  } catch {
    return false;
  }
}
