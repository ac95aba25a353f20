import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { withFallback } from "@burin/contract/with-fallback";

/** Resolves a path as the user or model probably meant it: accepts quotes, `~` and `file:` URLs. */
export function resolveUserPath(given: string, root: string): string {
  const path = given.trim().replace(/^(["'`])(.*)\1$/, "$2");
  if (/^file:\/\//i.test(path)) return withFallback(resolve(root, path), () => fileURLToPath(path));
  if (/^~(?:[/\\]|$)/.test(path)) return join(process.getBuiltinModule("node:os").homedir(), path.slice(1));
  return resolve(root, path);
}
