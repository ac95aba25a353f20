import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { orElse } from "@burin/contract/or-else";

/** Returns the absolute path that was probably meant: understands quotes, `~` and `file:`. */
export function meantPath(given: string, root: string): string {
  const path = given.trim().replace(/^(["'`])(.*)\1$/, "$2");
  if (/^file:\/\//i.test(path)) return orElse(resolve(root, path), () => fileURLToPath(path));
  if (/^~(?:[/\\]|$)/.test(path)) return join(process.getBuiltinModule("node:os").homedir(), path.slice(1));
  return resolve(root, path);
}
