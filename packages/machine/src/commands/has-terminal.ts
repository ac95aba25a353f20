import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** Whether the optional package for terminals is installed. Searches as Node does, but loads nothing. */
export function hasTerminal(
  platform = `${process.platform}-${process.arch}`,
  start = import.meta.dirname,
): boolean {
  const native = `@lydell/node-pty-${platform}/package.json`;
  for (let folder = start; ; folder = dirname(folder)) {
    const modules = join(folder, "node_modules");
    const nested = join(modules, "@lydell/node-pty/node_modules");
    if (existsSync(join(modules, native)) || existsSync(join(nested, native))) return true;
    if (folder === dirname(folder)) return false;
  }
}
