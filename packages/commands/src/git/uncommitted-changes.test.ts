import { execFileSync } from "node:child_process";
import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { describe, expect, it } from "vitest";
import { listUncommittedChanges } from "./git-work.ts";

describe("P21 what is not committed", () => {
  it("is not asked for where git would run what the repository names", async () => {
    const root = realpathSync(createTemporaryFolder());
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: root });
    const ask = () => {
      const ground = { roots: [root], environment: process.env, passEnvironment: [] };
      return listUncommittedChanges(ground, new AbortController().signal);
    };
    expect(await ask()).toBeNull();
    git("init", "-q");
    writeFileSync(join(root, "a.txt"), "one\n");
    git("add", ".");
    git("commit", "-q", "-m", "one");
    expect(await ask()).toBe("");
    writeFileSync(join(root, "a.txt"), "two\n");
    expect(await ask()).toBe(" M a.txt");
    writeFileSync(join(root, ".git/info/attributes"), "* filter=x\n");
    const trap = join(root, "..", "ran");
    git("config", "filter.x.clean", `touch '${trap}'; cat`);
    expect(await ask()).toBeNull();
    expect(existsSync(trap)).toBe(false);
    git("status");
    expect(existsSync(trap)).toBe(true);
  });
});
