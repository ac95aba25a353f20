import { namedWrites } from "@burin/shell-judge";
import { realPlace } from "../disk/disk-looks.ts";
import type { SandboxedCommand } from "../sandbox/sandbox.ts";
import type { CommandRequest } from "./command-request.ts";

/** What an approved command gets because of the git commands in it. */
export function gitUse(
  { command, directory, reads }: CommandRequest,
  roots: readonly string[],
): Pick<SandboxedCommand, "usesGit"> {
  // What only reads was not asked about.
  if (reads !== undefined) return {};
  const [root = "/"] = roots;
  const place = {
    ...{ root, directory, includeDirectories: roots.slice(1) },
    realPaths: (path: string) => [realPlace(path)],
  };
  return namedWrites(command, place).git.length > 0 ? { usesGit: true } : {};
}
