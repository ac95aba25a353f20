import { isAbsolute, join, relative, resolve } from "node:path";
import { lstatOf, realPlace } from "@burin/files/disk/disk-looks";
import { isWithin, isWithinAny } from "@burin/files/paths/paths";
import { namedWrites, protectedFile, readGitLine } from "@burin/shell-judge";
import { protectedByGit } from "../git/git-writes.ts";
import { folderOfLink, isHarmlessKey } from "../sandbox/judge-repository.ts";
import type { SandboxedCommand } from "../sandbox/sandbox.ts";
import { placeAt } from "../sandbox/sandbox-place.ts";
import { Surveyor } from "../sandbox/sandbox-survey.ts";
import type { CommandRequest, ProtectedWrite } from "./command-request.ts";

/** What the words of a command name, what is in folders that it removes, and what git would write. Runs nothing. */
export async function findProtectedWrites(
  { command, directory }: Pick<CommandRequest, "command" | "directory">,
  roots: readonly string[],
): Promise<readonly ProtectedWrite[]> {
  const [root = "/"] = roots;
  const { paths, removed, git } = namedWrites(command, placeIn(directory, roots));
  const found = new Map<string, string>();
  const note = (path: string, why: string | null): void => {
    if (why !== null && isWithinAny(path, roots) && !roots.includes(path)) found.set(path, why);
  };
  for (const path of paths) note(join(root, path), whyOf(join(root, path), root));
  const folders = removed.map((path) => join(root, path));
  for (const { folder, words } of git) {
    for (const path of protectedByGit(join(root, folder), words)) note(path, whyOf(path, root));
    for (const path of removedByGit(words).map((word) => resolve(root, folder, word))) {
      folders.push(path);
      const link = placeAt(join(path, ".git"), "", "git link");
      const own = link?.kind === "file" ? folderOfLink(link) : null;
      if (own !== null && /\/worktrees\/[^/]+$/.test(own))
        note(own, "git keeps there what belongs to the work tree");
    }
  }
  for (const folder of new Set(folders)) note(folder, await whyInside(folder, roots));
  return [...found].map(([path, why]) => ({ path, why }));
}

/** What an approved command gets because of the git commands in it. */
export function gitUse(
  { command, directory, reads, terminal = false }: CommandRequest,
  roots: readonly string[],
): Pick<SandboxedCommand, "usesGit" | "gitSettings"> {
  // What only reads was not asked about.
  if (reads !== undefined || namedWrites(command, placeIn(directory, roots)).git.length === 0) return {};
  const line = terminal ? null : readGitLine(command);
  if (line === null || !line.keys.every(isHarmlessKey)) return { usesGit: true };
  return { usesGit: true, gitSettings: line.runsHooks ? "with hooks" : "without hooks" };
}

function placeIn(directory: string, [root = "/", ...includeDirectories]: readonly string[]) {
  return { root, directory, includeDirectories, realPaths: (path: string) => [realPlace(path)] };
}

function removedByGit(words: readonly string[]): string[] {
  const isWorkTree = words[0] === "worktree" && /^(?:remove|move)$/.test(words[1] ?? "");
  const from = isWorkTree ? 2 : /^(?:rm|mv)$/.test(words[0] ?? "") ? 1 : words.length;
  return words.slice(from).filter((word) => word !== "" && !word.startsWith("-"));
}

function whyOf(path: string, root: string): string | null {
  return protectedFile(relative(root, path));
}

/** Why a folder cannot be removed without a question: the first protected thing in it. */
async function whyInside(folder: string, roots: readonly string[]): Promise<string | null> {
  if (!isAbsolute(folder) || !isWithinAny(folder, roots)) return null;
  const stats = lstatOf(folder);
  if (stats === null) return null;
  const own = protectedFile(relative(roots.find((root) => isWithin(folder, root)) ?? "/", folder));
  if (own !== null || !stats.isDirectory()) return own;
  const { places } = await new Surveyor([folder], folder).lookInSlices();
  const [first] = [...places.values()].filter(({ part }) => part !== "way out");
  return first === undefined ? null : `it holds ${relative(folder, first.path)}`;
}
