import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGitHome, type GitHome } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { createRepositoryInspector } from "./git-repository.ts";

let base: string;
let root: string;
let environment: GitHome["environment"];
let write: GitHome["write"];
let makeRepository: GitHome["makeRepository"];

beforeEach(() => {
  ({ base, root, environment, write, makeRepository } = createGitHome());
  write("root/src/a.txt", "a\n");
});

const LOOK = { changes: false, readsFiles: true, subcommand: "status" };

function fault(folder = root, { use = LOOK } = {}) {
  return createRepositoryInspector({ roots: [root], environment, passEnvironment: [] }).repositoryFault(
    folder,
    use,
  );
}

describe("what git would show of places outside", () => {
  it.each(["rebase-merge/done", "worktrees/x/locked", "logs/refs/heads/x", "refs/heads/hooks/modules/x"])(
    "P21 a link in .git/%s that leads out is asked about, and one that stays inside is not",
    (path) => {
      makeRepository(root);
      const link = join(root, ".git", path);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, "src/a.txt"), link);
      expect(fault()).toBeNull();
      rmSync(link);
      symlinkSync(write("secret.txt", "secret\n"), link);
      expect(fault()).toMatchObject({ nature: "outside", what: expect.stringContaining(path) });
    },
  );

  it.each(["src", "src/in", "src/in/deeper"])(
    "P21 a link out of the root in the place of the folder %s is asked about when git looks at the files",
    (path) => {
      write("root/src/in/deeper/b.txt", "b\n");
      makeRepository(root);
      const folder = join(root, path);
      renameSync(folder, join(root, "kept"));
      symlinkSync(join(root, "kept"), folder);
      expect(fault()).toBeNull();
      rmSync(folder);
      symlinkSync(base, folder);
      expect(fault()).toMatchObject({ nature: "outside", what: expect.stringContaining(folder) });
      expect(fault(root, { use: { ...LOOK, readsFiles: false, subcommand: "log" } })).toBeNull();
    },
  );

  it.each([
    ['[url "https://x:secret@example.net/"]\n\tpushInsteadOf = https://example.net/\n'],
    ['[remote "x"]\n\turl = https://secret@example.net/x\n'],
  ])("P21 a password that the user's own settings put into addresses is not shown unasked: %j", (text) => {
    const remote = { ...LOOK, readsFiles: false, subcommand: "remote" };
    const settings = join(base, "home/.gitconfig");
    makeRepository(root);
    appendFileSync(settings, '[url "ssh://git@example.org/"]\n\tinsteadOf = https://example.org/\n');
    expect(fault(root, { use: remote })).toBeNull();
    appendFileSync(settings, text);
    expect(fault(root, { use: remote })).toMatchObject({ nature: "outside" });
    expect(fault()).toBeNull();
  });
});
