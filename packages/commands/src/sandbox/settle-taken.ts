import { dirname, relative } from "node:path";
import { withFallback } from "@burin/contract/with-fallback";
import { findWorkTreeTop, tryLstat } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/own-files";
import { buildReadOnlyEnvironment, runGit } from "../git/git-programs.ts";
import { buildHelperPath, findHelper } from "../processes/helper-program.ts";
import type { TakenBack } from "../processes/limited-program.ts";
import { beginAllowedCall } from "./permissions.ts";
import { moveBack } from "./taken-back.ts";

/** Restores what the user wants to keep. Returns what could not be restored because something else is there now. */
export function restoreTaken(taken: readonly TakenBack[], home: string): readonly TakenBack[] {
  return taken.filter((one) => {
    const { path, kept } = one;
    if (kept === null || tryLstat(path) !== null) return true;
    // A command that still runs has a guard, which must learn of this permission.
    const call = beginAllowedCall({ home, paths: [path] });
    const isBack = withFallback(false, () => {
      makeFolders(dirname(path));
      moveBack(kept, path);
      return true;
    });
    if (isBack) call.endWithFiles();
    else call.end();
    return !isBack;
  });
}

/** Hides the removal of tracked files from git: git neither shows it nor commits it. */
export function hideFromGit(taken: readonly TakenBack[], environment: NodeJS.ProcessEnv): void {
  for (const { path, kept } of taken) {
    const top = kept === null ? null : findWorkTreeTop(dirname(path));
    if (top === null || tryLstat(path) !== null) continue;
    const git = { top, environment };
    const tracked = runGitWithInput(git, ["ls-files", "-z", "--", relative(top, path)]);
    if (tracked !== "") runGitWithInput(git, ["update-index", "--skip-worktree", "-z", "--stdin"], tracked);
  }
}

function runGitWithInput(
  { top: cwd, environment }: { readonly top: string; readonly environment: NodeJS.ProcessEnv },
  words: readonly string[],
  input?: string,
): string {
  const { PATH, HOME = "/" } = environment;
  const env = { ...buildReadOnlyEnvironment({ isSandboxed: false }), PATH: buildHelperPath(PATH), HOME };
  const asking = { git: findHelper("git", PATH), cwd, env, ...(input === undefined ? {} : { input }) };
  return runGit(words, asking).output.toString();
}
