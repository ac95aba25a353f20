import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readBranch } from "./status-facts.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "branch-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function git(folder: string, ...words: readonly string[]): string {
  const own = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-C", folder];
  return execFileSync("git", [...own, ...words], { encoding: "utf8" }).trim();
}

describe("the branch in the last line", () => {
  it("P30 is read from a folder below, from a second working tree, and from a bare commit", () => {
    git(root, "init", "-q", "-b", "feature/one");
    mkdirSync(join(root, "src/deep"), { recursive: true });
    expect(readBranch(join(root, "src/deep"))).toBe("feature/one");
    git(root, "commit", "-q", "--allow-empty", "-m", "begin");
    git(root, "worktree", "add", "-q", "-b", "two", join(root, "other"));
    expect(readBranch(join(root, "other"))).toBe("two");
    git(root, "checkout", "-q", "--detach");
    expect(readBranch(root)).toBe(git(root, "rev-parse", "HEAD").slice(0, 7));
  });

  it("P30 is nothing where a repository is broken, or a folder has none of its own", () => {
    mkdirSync(join(root, ".git"));
    expect(readBranch(root)).toBe("");
    writeFileSync(join(root, ".git/HEAD"), "anything else\n");
    expect(readBranch(root)).toBe("");
  });
});
