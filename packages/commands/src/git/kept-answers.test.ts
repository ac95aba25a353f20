import { appendFileSync, chmodSync, cpSync, mkdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createGitHome, type GitHome } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { createRepositoryInspector } from "./git-repository.ts";

let base: string;
let root: string;
let environment: GitHome["environment"];
let write: GitHome["write"];
let gitIn: GitHome["git"];
let makeRepository: GitHome["makeRepository"];

beforeEach(() => {
  ({ base, root, environment, write, git: gitIn, makeRepository } = createGitHome());
  mkdirSync(join(root, "src"));
});

const edit = (path: string, text: string) => appendFileSync(join(base, path), text);

function fault(folder: string) {
  const use = { changes: false, readsFiles: true, subcommand: "status" };
  return createRepositoryInspector({ roots: [root], environment, passEnvironment: [] }).repositoryFault(
    folder,
    use,
  );
}

describe("what git has said before", () => {
  /** Until an answer is old enough to be kept, each look asks git anew; from then on none does. */
  function lookUntilKept(folder: string): void {
    const log = join(base, "asked");
    const real = gitIn(base, "--exec-path").trim();
    write("programs/git", `#!/bin/sh\necho "$@" >> ${log}\nexec ${real}/git "$@"\n`);
    chmodSync(join(base, "programs/git"), 0o755);
    environment = { ...environment, PATH: `${join(base, "programs")}:${environment.PATH}` };
    const asked = () => readFileSync(log, "utf8").length;
    expect(fault(folder)).toBeNull();
    for (let before = 0; before !== asked(); ) {
      before = asked();
      expect(fault(folder)).toBeNull();
    }
  }

  const program = "[diff]\n\texternal = ./run\n";

  it.each<[string, () => void]>([
    ["a setting", () => edit("root/.git/config", program)],
    ["a setting of the work tree", () => write("root/.git/config.worktree", program)],
    ["a file that is included", () => edit("root/more", program)],
    ["a file that is included and was not there", () => write("root/missing", program)],
    ["a link to settings", () => edit("root/shared", program)],
    [
      "the repository",
      () => {
        renameSync(join(root, ".git"), join(base, "old"));
        cpSync(join(base, "planted"), join(root, ".git"), { recursive: true });
      },
    ],
    ["the file that names the repository", () => write("root/src/.git", `gitdir: ${join(base, "planted")}`)],
    [
      "a folder that only looks like a repository",
      () => {
        for (const name of ["HEAD", "config"]) cpSync(join(base, "planted", name), join(root, "src", name));
        for (const name of ["objects", "refs"]) mkdirSync(join(root, "src", name));
      },
    ],
    [
      "a submodule in the index",
      () => {
        cpSync(join(base, "planted"), join(root, "sub/.git"), { recursive: true });
        const commit = gitIn(root, "rev-parse", "HEAD").trim();
        gitIn(root, "update-index", "--add", "--cacheinfo", `160000,${commit},sub`);
      },
    ],
  ])("P21 does not count when %s has changed", (_what, change) => {
    makeRepository(root);
    gitIn(root, "config", "extensions.worktreeConfig", "true");
    gitIn(root, "config", "--add", "include.path", "../more");
    gitIn(root, "config", "--add", "include.path", "../missing");
    gitIn(root, "config", "--add", "include.path", "../link");
    write("root/more", "");
    write("root/shared", "");
    symlinkSync("shared", join(root, "link"));
    makeRepository(join(base, "other"));
    cpSync(join(base, "other/.git"), join(base, "planted"), { recursive: true });
    edit("planted/config", program);
    lookUntilKept(join(root, "src"));
    change();
    expect(fault(join(root, "src"))).not.toBeNull();
  });

  it("P21 does not count either when there was no repository before", () => {
    lookUntilKept(join(root, "src"));
    makeRepository(root);
    edit("root/.git/config", program);
    expect(fault(join(root, "src"))).not.toBeNull();
  });
});
