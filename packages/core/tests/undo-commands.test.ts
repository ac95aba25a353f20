import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createToolbox } from "@burin/core";
import { listUndoEntries, undo } from "@burin/core/sessions";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { beforeEach, describe, expect, it } from "vitest";

let root: string;
let home: string;
const at = (name: string) => join(root, name);
const environment = () => ({ ...process.env, BURIN_HOME: home });
const GIT = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

const GIT_QUESTIONS = [
  "symbolic-ref -q HEAD",
  "rev-parse HEAD",
  "for-each-ref",
  "ls-files -s",
  "stash list",
  "status --porcelain -uall",
  "config --local --list",
];
const SCRIPT = `import os, pathlib
pathlib.Path('out').mkdir()
pathlib.Path('out/data.bin').write_bytes(bytes(range(256)))
os.rename('src/a.txt', 'moved.txt')
os.remove('src/b.txt')
os.symlink('out', 'src/b.txt')
`;

beforeEach(() => {
  const top = createTemporaryFolder();
  root = join(top, "project");
  home = join(top, "home");
  mkdirSync(root);
});

function git(...words: string[]): string {
  const who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.editor=true"];
  return execFileSync("git", [...who, ...words], {
    cwd: root,
    encoding: "utf8",
    stdio: "pipe",
    env: { ...process.env, ...GIT },
  });
}

function makeRepository(): void {
  git("init", "-q", "-b", "main");
  git("config", "user.name", "a");
  git("config", "user.email", "a@b");
  write("src/a.txt", "one\ntwo\nthree\nfour\nfive\n");
  write("src/b.txt", "b\n");
  write(".gitignore", "node_modules/\n.env\n");
  git("add", "-A");
  git("commit", "-qm", "First");
}

function write(name: string, text: string): void {
  mkdirSync(join(at(name), ".."), { recursive: true });
  writeFileSync(at(name), text);
}

async function run(command: string): Promise<string> {
  const toolbox = createToolbox({ root, environment: environment(), approvalMode: "yolo", record: true });
  const { llmContent, error } = await toolbox.call("run_shell_command", { command });
  await toolbox.close();
  expect(error, String(llmContent)).toBeUndefined();
  return String(llmContent);
}

const back = (more = {}) => undo({ home, root, environment: environment(), ...more });

/** Files, links and folders with their modes, and git's state apart from what an index knows of times. */
function stateNow(): Record<string, string> {
  const state: Record<string, string> = {};
  const look = (folder: string): void => {
    for (const name of readdirSync(at(folder))) {
      const path = join(folder, name);
      if (name === ".git") continue;
      const stats = lstatSync(at(path));
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isSymbolicLink()) state[path] = `to ${readlinkSync(at(path))}`;
      else if (stats.isDirectory()) {
        state[path] = mode;
        look(path);
      } else state[path] = `${mode} ${readFileSync(at(path), "latin1")}`;
    }
  };
  look("");
  if (existsSync(at(".git"))) {
    for (const words of GIT_QUESTIONS) {
      try {
        state[`git ${words}`] = git(...words.split(" "));
      } catch (error) {
        state[`git ${words}`] = `failed: ${(error as { status: number }).status}`;
      }
    }
  }
  return state;
}

async function takesBack(command: string, { isRedone = true } = {}): Promise<void> {
  const before = stateNow();
  await run(command);
  const after = stateNow();
  expect(after).not.toEqual(before);
  for (const state of isRedone ? [before, after, before] : [before]) {
    const { files } = await back();
    expect(files.filter(({ what }) => what === "refused")).toEqual([]);
    expect(stateNow()).toEqual(state);
  }
}

describe("burin undo after a command", () => {
  it("P1 takes back rm -rf of work that git does not know, with links, modes and empty folders", async () => {
    makeRepository();
    write("notes/deep/plan.md", "my plan\n");
    mkdirSync(at("notes/empty"));
    symlinkSync("deep/plan.md", at("notes/link"));
    write("notes/run.sh", "#!/bin/sh\n");
    chmodSync(at("notes/run.sh"), 0o755);
    chmodSync(at("notes/deep"), 0o700);
    await takesBack("rm -rf notes src/b.txt");
  });

  it("P1 takes back git reset --hard over work that is not committed, staged or not", async () => {
    makeRepository();
    write("src/a.txt", "changed\n");
    write("src/new.txt", "staged\n");
    git("add", "src/new.txt");
    await takesBack("git reset --hard");
  });

  it("P1 takes back git stash drop, of any of several stashes, also when git has cleaned up since", async () => {
    makeRepository();
    for (const text of ["first\n", "second\n"]) {
      write("src/a.txt", text);
      git("stash");
    }
    const before = stateNow();
    await run("git stash drop stash@{1}");
    git("reflog", "expire", "--expire=now", "--all", "--expire-unreachable=now");
    const dropped = stateNow();
    expect(dropped["git stash list"]).not.toBe(before["git stash list"]);
    await back();
    await takesBack("git stash clear");
  });

  it("P1 takes back the removal of all refs, without which git sees no repository", async () => {
    makeRepository();
    git("branch", "topic");
    await takesBack("rm -rf .git/refs", { isRedone: false });
  });

  it("P1 takes back git branch -D, with its commits, also when git has cleaned up since", async () => {
    makeRepository();
    git("switch", "-qc", "topic");
    write("topic.txt", "topic\n");
    git("add", "-A");
    git("commit", "-qm", "Topic");
    git("switch", "-q", "main");
    const before = stateNow();
    await run("git branch -D topic");
    git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all");
    git("gc", "-q", "--prune=now");
    await back();
    expect(stateNow()).toEqual(before);
    expect(git("show", "topic:topic.txt")).toBe("topic\n");
    await takesBack("git branch -D topic");
  });

  it("P1 takes back a checkout over changes, and a switch of branches", async () => {
    makeRepository();
    git("branch", "other");
    write("src/a.txt", "changed\n");
    await takesBack("git checkout -- src");
    await takesBack("git switch -q other && git commit -qam other");
  });

  it("P1 takes back a commit, an amended one, a merge, a rebase that stopped, and a detached HEAD", async () => {
    makeRepository();
    git("switch", "-qc", "topic");
    write("src/a.txt", "topic\n");
    git("commit", "-qam", "Topic");
    git("switch", "-q", "main");
    write("src/a.txt", "main\n");
    await takesBack("git commit -qam Main");
    git("commit", "-qam", "Main");
    await takesBack("git commit -q --amend -m Better");
    await takesBack("git merge topic || true");
    await takesBack("git rebase topic || true");
    await takesBack("git checkout -q HEAD~1");
    await takesBack("git tag -a v1 -m one");
    await takesBack("git branch -m topic renamed");
  });

  it("P1 takes back sed -i in many files, and keeps what the user changed in other lines since", async () => {
    makeRepository();
    await run("sed -i s/two/TWO/ src/a.txt");
    write("src/a.txt", "one\nTWO\nthree\nfour\nmine\n");
    write("mine.txt", "mine\n");
    await back();
    expect(readFileSync(at("src/a.txt"), "utf8")).toBe("one\ntwo\nthree\nfour\nmine\n");
    expect(readFileSync(at("mine.txt"), "utf8")).toBe("mine\n");
    await takesBack("sed -i s/one/ONE/ src/a.txt .gitignore && chmod 600 src/b.txt");
  });

  it("P1 takes back what a formatter did to 500 files, with git, and what removed them without", async () => {
    for (let n = 0; n < 500; n += 1) write(`lib/${n % 10}/file${n}.txt`, `line ${n}  \nend\n`);
    const formatting = "find lib -name '*.txt' -exec sed -i 's/ *$//' {} +";
    await run(formatting);
    const formatted = stateNow();
    await run("rm -r lib");
    await back();
    expect(stateNow()).toEqual(formatted);
    makeRepository();
    await takesBack("find lib -name '*.txt' -exec sed -i s/end/END/ {} +", { isRedone: false });
  }, 120_000);

  it(
    "P1 takes back what a Python script wrote, renamed and removed",
    requirePrograms("python3"),
    async () => {
      makeRepository();
      write("work.py", SCRIPT);
      await takesBack("python3 work.py");
    },
  );

  it("P1 takes back what happened to .env, which git ignores, and leaves dependencies alone", async () => {
    makeRepository();
    write(".env", "KEY=1\n");
    const before = stateNow();
    await run("echo KEY=2 > .env && mkdir -p node_modules/x && echo 1 > node_modules/x/index.js");
    await run("mkdir app && echo 1 > app/a.txt && mkdir app/node_modules && echo 1 > app/node_modules/b.js");
    await back({ count: 2 });
    expect(existsSync(at("app/node_modules/b.js"))).toBe(true);
    for (const left of ["node_modules", "app"]) rmSync(at(left), { recursive: true });
    expect(stateNow()).toEqual(before);
    const [project = ""] = readdirSync(join(home, "undo"));
    const secrets = readdirSync(join(home, "undo", project)).filter((name) => name.startsWith("secret-"));
    expect(secrets.map((name) => lstatSync(join(home, "undo", project, name)).mode & 0o777)).toContain(0o600);
  });

  it("P1 never takes back what others changed between two calls", async () => {
    makeRepository();
    await run("echo 1 > made.txt");
    write("src/b.txt", "mine\n");
    write("mine.txt", "mine\n");
    await run("echo 2 >> made.txt");
    await back({ count: 2 });
    expect([
      existsSync(at("made.txt")),
      readFileSync(at("src/b.txt"), "utf8"),
      existsSync(at("mine.txt")),
    ]).toEqual([false, "mine\n", true]);
  });

  it("P1 leaves all of a call alone when git has moved on since", async () => {
    makeRepository();
    write("src/a.txt", "changed\n");
    await run("git commit -qam Second");
    write("src/b.txt", "mine\n");
    git("commit", "-qam", "Third");
    const before = stateNow();
    const { files } = await back();
    expect(files).toMatchObject([
      { file: ".git", what: "refused", reason: expect.stringContaining("refs/heads/main has moved on") },
    ]);
    expect(stateNow()).toEqual(before);
  });

  it("P1 takes back git init and a clone inside of the project, and leaves one alone that was worked in since", async () => {
    write("a.txt", "a\n");
    await takesBack("git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm First");
    await run("mkdir sub && cd sub && git init -q");
    write("sub/mine.txt", "mine\n");
    execFileSync("git", ["add", "mine.txt"], { cwd: at("sub"), stdio: "pipe" });
    const { files } = await back();
    expect(files).toContainEqual({ file: "sub", what: "unchanged" });
    const reasons = files.map(({ file, what }) => [file, what]);
    expect(reasons).toContainEqual(["sub/.git", "refused"]);
    expect(existsSync(at("sub/.git/HEAD"))).toBe(true);
    await run("git init -q inner && cd inner && git config user.name a && git config user.email a@b");
    const made = readFileSync(at("inner/.git/HEAD"), "utf8");
    await run("cd inner && echo 1 > a && git add a && git commit -qm a");
    await back({ count: 1 });
    expect([readFileSync(at("inner/.git/HEAD"), "utf8"), existsSync(at("inner/a"))]).toEqual([made, false]);
    await back({ count: 1 });
    expect(existsSync(at("inner"))).toBe(false);
  });

  it("P1 takes back a folder that was moved, and leaves alone what was ignored until a command changed the rules", async () => {
    makeRepository();
    write("node_modules/x/index.js", "x\n");
    write("big.log", "x\n");
    await takesBack("mv src lib && mkdir src && mv lib/a.txt src/c.txt");
    const before = stateNow();
    await run("echo > .gitignore && mv src lib");
    await back();
    expect(stateNow()).toEqual(before);
    expect(readFileSync(at("node_modules/x/index.js"), "utf8")).toBe("x\n");
  });

  it.each([
    ["large and ignored", "data/table.db", "mv data moved"],
    ["large and ignored, by a script", "data/table.db", "sh -c 'mkdir moved; mv data/* moved'"],
    ["of a folder that tools generate", "node_modules/table.db", "mv node_modules moved"],
    ["beside the project", "../table.db", "mkdir moved && mv ../table.db moved"],
  ])("P1 never loses a file that was moved without a copy: %s", async (_name, file, command) => {
    makeRepository();
    write(".gitignore", "data/\nnode_modules/\n");
    const text = "row\n".repeat(1_000_000);
    write(file, text);
    // Older than the call by more than a step of the clock.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await run(command);
    await back();
    const places = [file, "moved/table.db"].filter((name) => existsSync(at(name)));
    expect(places.map((name) => readFileSync(at(name), "utf8") === text)).toEqual([true]);
  });

  it.each([
    ["a copy of a folder", "cp -r src {data,src}"],
    ["a new file", "head -c 3000000 /dev/zero > data/new.db && mv data/new.db data/made.db"],
  ])(
    "P1 takes away what a command made that is ignored and too large to keep: %s",
    async (_name, command) => {
      makeRepository();
      write(".gitignore", "data/\n");
      write("data/table.db", "r".repeat(3_000_000));
      // cp says that it cannot copy src into itself.
      await takesBack(`${command} || true`);
    },
  );

  it("P1 leaves alone a file too large to keep that a command replaced", async () => {
    makeRepository();
    write(".gitignore", "data/\n");
    write("data/table.db", "r".repeat(3_000_000));
    await run("echo new > data/next && mv data/next data/table.db && touch made.txt");
    await back();
    expect([existsSync(at("made.txt")), readFileSync(at("data/table.db"), "utf8")]).toEqual([false, "new\n"]);
  });

  it("P1 of two sessions and a user in one folder each undo takes back its own, and what overlapped is marked", async () => {
    makeRepository();
    const options = { root, environment: environment(), approvalMode: "yolo", record: true } as const;
    const [one, two] = [createToolbox(options), createToolbox(options)];
    const edit = (name: string) => two.call("write_file", { file_path: at(name), content: "2\n" });
    await one.call("run_shell_command", { command: "echo 1 > one.txt" });
    write("mine.txt", "mine\n");
    await edit("two.txt");
    const waiting = "touch begun; until test -e go; do sleep 0.05; done; echo 1 > slow.txt; rm go begun";
    const slow = one.call("run_shell_command", { command: waiting });
    await expect.poll(() => existsSync(at("begun"))).toBe(true);
    await edit("edit.txt");
    await two.call("run_shell_command", { command: "echo 2 > beside.txt" });
    write("go", "");
    await slow;
    await Promise.all([one.close(), two.close()]);
    const entries = await listUndoEntries({ home, root });
    const changed = entries.map(({ files, isShared = false }) => [files.join(" "), isShared]).reverse();
    expect(changed).toContainEqual(["one.txt", false]);
    expect(changed).toContainEqual(["edit.txt", false]);
    expect(changed).toContainEqual(["slow.txt", true]);
    expect(changed.filter(([files]) => files === "beside.txt")).toEqual([["beside.txt", true]]);
    const session = entries.find(({ files }) => files.includes("one.txt"))?.writer ?? "";
    await undo({ home, root, environment: environment(), session });
    const left = ["one.txt", "slow.txt", "two.txt", "edit.txt", "beside.txt", "mine.txt"];
    expect(left.filter((name) => existsSync(at(name)))).toEqual(left.slice(2));
  });

  it("P1 what a Burin that was killed has left marks nothing as shared", async () => {
    write("a.txt", "a\n");
    await run("echo 1 > a.txt");
    const [project = ""] = readdirSync(join(home, "undo"));
    const { pid } = spawnSync("true");
    writeFileSync(join(home, "undo", project, "left.open"), JSON.stringify({ pid }));
    await run("echo 2 > a.txt");
    const entries = await listUndoEntries({ home, root });
    expect(entries.map(({ isShared = false }) => isShared)).toEqual([false, false]);
  });
});
