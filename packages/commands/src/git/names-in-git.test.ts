import { join } from "node:path";
import { createGitHome, type GitHome } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { createRepositoryInspector } from "./git-repository.ts";

let root: string;
let environment: GitHome["environment"];
let write: GitHome["write"];
let gitIn: GitHome["git"];
let makeRepository: GitHome["makeRepository"];

beforeEach(() => {
  ({ root, environment, write, git: gitIn, makeRepository } = createGitHome());
  write("root/src/a.txt", "a\n");
});

describe("names in git", () => {
  const oddNames = (...words: string[]) =>
    createRepositoryInspector({ roots: [root], environment, passEnvironment: [] }).oddNamesInGit(root, words);

  it("P21 tells those in the index and in the commits that words name, and nothing without a repository", () => {
    expect(oddNames()).toBeNull();
    makeRepository(root);
    write("root/an old one.txt", "x\n");
    write("root/-rf", "x\n");
    gitIn(root, "add", "-A");
    gitIn(root, "commit", "-q", "-m", "odd");
    gitIn(root, "rm", "-q", "--", "-rf", "an old one.txt");
    expect(oddNames("src")).toEqual([]);
    for (const word of ["HEAD", "HEAD~1..HEAD", "HEAD^!", "HEAD~1...HEAD"])
      expect(oddNames(word)?.toSorted(), word).toEqual(expect.arrayContaining(["-rf", "an old one.txt"]));
  });
});

describe("paths in git", () => {
  const pathsInGit = (folder: string, ...words: string[]) =>
    createRepositoryInspector({ roots: [root], environment, passEnvironment: [] }).pathsInGit(folder, words);

  it("P19 tells all that git keeps the content of: of any commit, in the index, behind the stash", () => {
    expect(pathsInGit(root)).toEqual([]);
    makeRepository(root);
    write("root/secret/old", "once\n");
    gitIn(root, "add", "-A");
    gitIn(root, "commit", "-q", "-m", "old");
    gitIn(root, "rm", "-q", "-r", "secret");
    gitIn(root, "commit", "-q", "-m", "gone");
    write("root/stashed", "x\n");
    gitIn(root, "add", "-A");
    gitIn(root, "stash", "-q");
    write("root/staged here", "y\n");
    gitIn(root, "add", "-A");
    write("root/only here", "z\n");
    const inRoot = ["secret/old", "stashed", "staged here"].map((name) => join(root, name));
    const found = pathsInGit(join(root, ".git/../."));
    expect(found).toEqual(expect.arrayContaining(inRoot));
    expect(found).not.toContain(join(root, "only here"));
  });

  it("P19 tells those of a commit that nothing leads to, and nothing of content without a path", () => {
    makeRepository(root);
    write("root/lost", "lost\n");
    gitIn(root, "add", "-A");
    gitIn(root, "stash", "-q");
    const stash = gitIn(root, "rev-parse", "stash").trim();
    gitIn(root, "stash", "drop", "-q");
    expect(pathsInGit(root)).not.toContain(join(root, "lost"));
    expect(pathsInGit(root, stash)).toContain(join(root, "lost"));
    const blob = gitIn(root, "rev-parse", `${stash}:lost`).trim();
    gitIn(root, "tag", "content", blob);
    for (const word of [blob, blob.slice(0, 10), "content"]) expect(pathsInGit(root, word), word).toBeNull();
  });
});
