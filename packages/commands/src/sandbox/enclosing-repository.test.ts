import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Commands, openCommands } from "../shell/commands.ts";

let base: string;
let shop: string;
let commands: Commands;

const SETTINGS = "[user]\n\tname = a\n\temail = a@b\n";

function git(folder: string, ...words: string[]): string {
  return execFileSync("git", ["-C", folder, ...words], { stdio: "pipe", encoding: "utf8" }).trim();
}

function makeRepository(folder: string): void {
  mkdirSync(join(folder, "packages/one"), { recursive: true });
  git(".", "init", "-q", "-b", "main", folder);
  writeFileSync(join(folder, ".git/config"), SETTINGS, { flag: "a" });
  writeFileSync(join(folder, "top.txt"), "top\n");
  writeFileSync(join(folder, "packages/one/a.txt"), "a\n");
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", "First");
}

function open(root: string): void {
  commands = openCommands({
    roots: [root],
    home: join(base, "home"),
    environment: { ...process.env },
    sandbox: "workspace-write",
    network: false,
    passEnvironment: [],
    secretEnvironment: [],
  });
}

async function run(command: string, directory: string, writes: readonly string[] = []) {
  const started = await commands.start({ command, directory, exception: "none", writes });
  const { exitCode } = await started.shellEnded;
  const taken = (await started.takenBack()).map(({ path }) => path);
  return { exitCode, taken, text: started.output.soFar().head.toString() };
}

beforeEach(() => {
  base = createTemporaryFolder();
  shop = join(base, "shop");
  makeRepository(shop);
});

afterEach(async () => {
  await commands.close();
  rmSync(base, { recursive: true });
});

describe("the repository that the project is a part of", requirePrograms("bwrap"), () => {
  const COMMIT = "echo b > b.txt && git add b.txt && git commit -qm Second && git status --porcelain";

  it("P53 a package of a monorepo commits, and git sees the other packages", async () => {
    const root = join(shop, "packages/one");
    open(root);
    expect(await run(COMMIT, root)).toEqual({ exitCode: 0, taken: [], text: "" });
    expect(git(shop, "log", "--format=%s")).toBe("Second\nFirst");
    expect(git(shop, "status", "--porcelain")).toBe("");
  });

  it("P53 a linked work tree commits, and makes and removes branches", async () => {
    const linked = join(base, "linked");
    git(shop, "worktree", "add", "-q", "-b", "side", linked);
    open(linked);
    const { exitCode, taken } = await run(`${COMMIT} && git branch x && git tag t`, linked);
    expect({ exitCode, taken }).toEqual({ exitCode: 0, taken: [] });
    expect(git(shop, "log", "--format=%s", "side")).toBe("Second\nFirst");
    expect(git(shop, "branch", "--format=%(refname:short)")).toBe("main\nside\nx");
  });

  it("P53 a submodule commits", async () => {
    const other = join(base, "other");
    makeRepository(other);
    git(shop, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub");
    writeFileSync(join(shop, ".git/modules/sub/config"), SETTINGS, { flag: "a" });
    const root = join(shop, "sub");
    open(root);
    const { exitCode, taken } = await run(COMMIT, root);
    expect({ exitCode, taken }).toEqual({ exitCode: 0, taken: [] });
    expect(git(root, "log", "--format=%s")).toBe("Second\nFirst");
  });

  it.each([
    ["a hook", "git status; echo 'touch owned' > $G/hooks/post-commit; chmod +x $G/hooks/post-commit"],
    ["a key", "git config core.fsmonitor 'touch owned'"],
    ["a key written by hand", "git status; printf '[alias]\\n\\tst = !sh\\n' >> $G/config"],
    ["another configuration", "git status; mv $G/config $G/c; printf '[alias]\\n\\tst = !sh\\n' > $G/config"],
    [
      "a configuration of the work tree",
      "git status; printf '[alias]\\n\\tst = !sh\\n' > $G/config.worktree",
    ],
    ["attributes", "git status; mkdir -p $G/info; echo '* filter=x' > $G/info/attributes"],
    [
      "steps of a rebase",
      "git status; mkdir $G/rebase-merge; echo 'exec sh' > $G/rebase-merge/git-rebase-todo",
    ],
    ["a link for the hooks", "git status; mv $G/hooks $G/h; ln -s $PWD $G/hooks"],
    ["a program among git's files", "git status; mkdir $G/tools; echo x > $G/tools/run"],
    ["another repository", "git status; mv $G $G.old; git init -q ../..; echo x > $G/hooks/post-commit"],
  ])("P22 a command leaves in it nothing that git runs or follows: %s", async (_name, line) => {
    const root = join(shop, "packages/one");
    open(root);
    const before = stateOf(shop);
    await run(`G=${shop}/.git; ${line}`, root);
    expect(stateOf(shop)).toBe(before);
  });

  it("P22 only commands with git in their words write there", async () => {
    const root = join(shop, "packages/one");
    open(root);
    await run(`echo x > ${shop}/.git/refs/heads/x; rm ${shop}/.git/HEAD; echo x > ${shop}/top.txt`, root);
    expect(git(shop, "branch", "--format=%(refname:short)")).toBe("main");
    expect(readFileSync(join(shop, "top.txt"), "utf8")).toBe("top\n");
  });

  it.each(["file", "link", "file of a work tree"])(
    "P22 a .git %s that came with the project opens no other repository",
    async (kind) => {
      const root = join(base, "came");
      mkdirSync(root);
      const own = join(shop, ".git/worktrees/came");
      if (kind === "link") symlinkSync(join(shop, ".git"), join(root, ".git"));
      else writeFileSync(join(root, ".git"), `gitdir: ${kind === "file" ? join(shop, ".git") : own}\n`);
      if (kind === "file of a work tree") {
        git(shop, "worktree", "add", "-q", "-b", "side", join(base, "linked"));
        spawnSync("mv", [join(shop, ".git/worktrees/linked"), own]);
      }
      open(root);
      await run("git branch planted; git tag planted", root);
      expect(git(shop, "branch", "--list", "planted") + git(shop, "tag")).toBe("");
    },
  );

  it("P22 what a command makes its .git lead to opens no other repository", async () => {
    const root = join(base, "plain");
    mkdirSync(root);
    open(root);
    await run(`echo gitdir: ${shop}/.git > .git`, root);
    await run("git branch planted", root);
    expect(git(shop, "branch", "--list", "planted")).toBe("");
  });
});

describe("git commands that change other packages of the repository", requirePrograms("bwrap"), () => {
  let root: string;

  /** The branch `feat` changes both packages, `own` only the one that is open; `origin/main` is ahead. */
  beforeEach(() => {
    root = join(shop, "packages/one");
    mkdirSync(join(shop, "packages/two"));
    writeFileSync(join(shop, "packages/two/b.txt"), "b\n");
    git(shop, "add", "-A");
    git(shop, "commit", "-qm", "Two");
    for (const [branch, names] of Object.entries({ own: ["one/a.txt"], feat: ["one/a.txt", "two/b.txt"] })) {
      git(shop, "switch", "-qc", branch, "main");
      for (const name of names) writeFileSync(join(shop, "packages", name), `${branch}\n`);
      git(shop, "commit", "-qam", branch);
    }
    git(".", "clone", "-q", "--bare", shop, join(shop, ".git/other.git"));
    git(join(shop, ".git/other.git"), "branch", "-f", "main", "feat");
    git(shop, "switch", "-q", "main");
    git(shop, "remote", "add", "origin", join(shop, ".git/other.git"));
    git(shop, "config", "branch.main.remote", "origin");
    git(shop, "config", "branch.main.merge", "refs/heads/main");
    open(root);
  });

  const named = async (command: string) => {
    const found = await commands.protectedWrites({ command, directory: root, exception: "none" });
    return found.map(({ path }) => path);
  };
  const textOf = (name: string) => readFileSync(join(shop, "packages", name), "utf8");

  it.each(["git checkout feat", "git merge -q feat", "git switch -q feat && git status --short"])(
    "P53 are whole after a yes that names the files: %s",
    async (line) => {
      const writes = await named(line);
      expect(writes).toEqual([join(shop, "packages/two/b.txt")]);
      expect((await run(line, root, writes)).exitCode).toBe(0);
      expect([textOf("one/a.txt"), textOf("two/b.txt")]).toEqual(["feat\n", "feat\n"]);
      expect(git(shop, "status", "--porcelain")).toBe("");
    },
  );

  it("P53 are whole after a yes to all of the repository, where only the other side knows the files", async () => {
    const writes = await named("git pull -q");
    expect(writes).toEqual([shop]);
    expect((await run("git pull -q", root, writes)).exitCode).toBe(0);
    expect([textOf("one/a.txt"), textOf("two/b.txt")]).toEqual(["feat\n", "feat\n"]);
  });

  it.each([
    "git checkout own",
    "git checkout feat -- a.txt",
    "git restore .",
    "git commit -qam x",
    "git stash",
  ])("P53 name nothing outside when they change nothing there: %s", async (line) => {
    writeFileSync(join(root, "a.txt"), line.includes("own") ? "a\n" : "changed\n");
    expect(await named(line)).toEqual([]);
    const { exitCode, text } = await run(line, root);
    expect({ exitCode, text }).toMatchObject({ exitCode: 0 });
    expect(textOf("two/b.txt")).toBe("b\n");
  });

  it.each([
    ["a hook", "git checkout feat"],
    ["a hook", "git pull"],
    ["another program", "git checkout feat; sh s.sh"],
    ["a filter", "git checkout feat"],
  ])("P22 P53 are refused before anything changes where %s could write too: %s", async (what, line) => {
    const name = line === "git pull" ? "post-merge" : "post-checkout";
    if (what === "a hook") writeFileSync(join(shop, ".git/hooks", name), "#!/bin/sh\n", { mode: 0o755 });
    if (what === "a filter") git(shop, "config", "filter.x.smudge", "sh s.sh");
    await expect(named(line)).rejects.toThrow(/^Nothing was run: .*sandbox_exception/);
    const request = { command: line, directory: root, exception: "unlimited" } as const;
    expect(await commands.protectedWrites(request)).toEqual([]);
  });

  it("P22 what a yes names is closed to all but git", async () => {
    const other = join(shop, "packages/two/b.txt");
    await run(`git status; echo owned > ${other}; touch ${shop}/new`, root, [other, shop]);
    expect([textOf("two/b.txt"), existsSync(join(shop, "new"))]).toEqual(["b\n", false]);
  });

  it("P53 a script commits", async () => {
    writeFileSync(join(root, "release.sh"), "echo 2 > a.txt && git commit -qam Release && git tag v2\n");
    expect((await run("sh release.sh", root)).exitCode).toBe(0);
    expect(git(shop, "log", "-1", "--format=%s%d")).toBe("Release (HEAD -> main, tag: v2)");
  });
});

/** What git runs or follows in a repository. */
function stateOf(folder: string): string {
  const own = join(folder, ".git");
  const names = ["config", "config.worktree", "info/attributes", "tools", "hooks/post-commit"];
  const there = names.map((name) => `${name} ${existsSync(join(own, name))}`);
  const steps = spawnSync("cat", [join(own, "rebase-merge/git-rebase-todo")], { encoding: "utf8" }).stdout;
  return [
    steps,
    readFileSync(join(own, "config"), "utf8"),
    lstatSync(join(own, "hooks")).mode,
    ...there,
  ].join("\n");
}
