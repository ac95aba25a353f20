import { existsSync } from "node:fs";

/**
 * Whether the optional package for pseudo-terminals is installed for this system, looked for as Node does.
 * Every start asks, so nothing is loaded for the answer.
 */
export function hasTerminal(platform = `${process.platform}-${process.arch}`): boolean {
  const native = `node_modules/@lydell/node-pty-${platform}/package.json`;
  const nested = `node_modules/@lydell/node-pty/${native}`;
  for (let folder = new URL(".", import.meta.url); ; folder = new URL("..", folder)) {
    if (existsSync(new URL(native, folder)) || existsSync(new URL(nested, folder))) return true;
    if (folder.href === new URL("..", folder).href) return false;
  }
}
