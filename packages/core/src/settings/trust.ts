import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";

/**
 * true when the person has said that this very folder, by its real path, may bring its own settings.
 * Nobody is trusted by default, and a trust file that cannot be read trusts nobody.
 */
export async function isTrusted(home: string, root: string): Promise<boolean> {
  try {
    const trusted: unknown = JSON.parse(await readFile(join(home, "trust.json"), "utf8"));
    const folders = (trusted as { folders?: unknown }).folders;
    return Array.isArray(folders) && folders.includes(await realpath(root));
  } catch {
    return false;
  }
}
