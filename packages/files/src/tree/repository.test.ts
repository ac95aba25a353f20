import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { expect, it } from "vitest";
import { findRepository, readNewParents } from "./repository.ts";

it("P1 knows the parents of a new commit from its own file, and believes no forged one", () => {
  const top = createTemporaryFolder();
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], {
      cwd: top,
      encoding: "utf8",
    }).trim();
  git("init", "-q");
  git("commit", "-q", "--allow-empty", "-m", "one\n\nparent of nothing");
  const first = git("rev-parse", "HEAD");
  git("commit", "-q", "--allow-empty", "-m", "two");
  const second = git("rev-parse", "HEAD");
  const repository = findRepository(top);
  if (repository === null) throw new Error("There is no repository.");

  expect(readNewParents(repository, first)).toEqual([]);
  expect(readNewParents(repository, second)).toEqual([first]);
  expect(readNewParents(repository, git("rev-parse", "HEAD^{tree}"))).toBeNull();
  expect(readNewParents(repository, "0".repeat(40))).toBeNull();
  const file = join(top, ".git/objects", second.slice(0, 2), second.slice(2));
  chmodSync(file, 0o644);
  writeFileSync(file, deflateSync(Buffer.from(`commit 60\0tree ${first}\nparent ${"1".repeat(40)}\n\nx`)));
  expect(readNewParents(repository, second)).toBeNull();
  writeFileSync(file, readFileSync(file).subarray(0, 10));
  expect(readNewParents(repository, second)).toBeNull();
});
