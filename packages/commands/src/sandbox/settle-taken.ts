import { dirname, relative } from "node:path";
import { orElse } from "@burin/contract/or-else";
import { lstatOf } from "@burin/files/disk/disk-looks";
import { makeFolders } from "@burin/files/disk/make-folders";
import { gitTopOf } from "@burin/files/ignore/git-excludes";
import { askGit, gitLooking } from "../git/git-programs.ts";
import { findHelper, helperPath } from "../processes/helper-program.ts";
import type { TakenBack } from "../processes/limited-program.ts";
import { beginAllowedCall } from "./permissions.ts";
import { moveBack } from "./taken-back.ts";

/** Puts back what the user wants to keep. Returns what could not be put back, as something else is there by now. */
export function putBack(taken: readonly TakenBack[], home: string): readonly TakenBack[] {
  return taken.filter((one) => {
    const { path, kept } = one;
    if (kept === null || lstatOf(path) !== null) return true;
    // A command that goes on is guarded, and its guard must know.
    const call = beginAllowedCall({ home, paths: [path] });
    const isBack = orElse(false, () => {
      makeFolders(dirname(path));
      moveBack(kept, path);
      return true;
    });
    if (isBack) call.endWithFiles();
    else call.end();
    return !isBack;
  });
}

/** What git tracks by now stays as it is in git: git neither shows nor commits that it was removed. */
export function leaveOutOfGit(taken: readonly TakenBack[]): void {
  for (const { path, kept } of taken) {
    const top = kept === null ? null : gitTopOf(dirname(path));
    if (top === null || lstatOf(path) !== null) continue;
    const tracked = ask(top, ["ls-files", "-z", "--", relative(top, path)]);
    if (tracked !== "") ask(top, ["update-index", "--skip-worktree", "-z", "--stdin"], tracked);
  }
}

function ask(cwd: string, words: readonly string[], input?: string): string {
  const { PATH, HOME = "/" } = process.env;
  const env = { ...gitLooking({ isSandboxed: false }), PATH: helperPath(PATH), HOME };
  const asking = { git: findHelper("git", PATH), cwd, env, ...(input === undefined ? {} : { input }) };
  return askGit(words, asking).output.toString();
}
