import { readFileSync } from "node:fs";
import type { Confirm } from "@burin/core";
import { root } from "./folder.ts";
import { type ReadWriteSession, readWriteSession } from "./read-write-session.ts";

export { file, makeFolders, root } from "./folder.ts";

export function text(path: string): string {
  return readFileSync(path, "utf8");
}

export function session(confirm?: Confirm): ReadWriteSession {
  return readWriteSession(root, confirm);
}
