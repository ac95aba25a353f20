import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SandboxFixture } from "../../tests/sandbox-room.ts";

let room: SandboxFixture;
let root: string;
/** What each test gets a copy of. */
let original: string;

function gitIn(folder: string, ...words: string[]): void {
  execFileSync("git", ["-C", folder, ...words], { stdio: "pipe" });
}

const SETTINGS =
  "[user]\n\tname = a\n\temail = a@b\n[core]\n\teditor = true\n[advice]\n\tdetachedHead = false\n";

/** `main` and `feat`, which has protected files and another `.env.test`; a stash, and a folder to be removed. */
function makeProject(folder: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  gitIn(".", "init", "-q", "-b", "main", folder);
  writeFileSync(join(folder, ".git/config"), SETTINGS, { flag: "a" });
  write("a.txt", "a\n");
  write(".env.example", "KEY=1\n");
  write(".env.test", "TEST=1\n");
  write("list.txt", "examples/demo\n.env.test\n");
  write(".vscode/settings.json", "{}\n");
  write("examples/demo/.vscode/tasks.json", "{}\n");
  write("examples/demo/b.txt", "b\n");
  gitIn(folder, "add", "-Af");
  gitIn(folder, "commit", "-qm", "one");
  gitIn(folder, "checkout", "-qb", "feat");
  write(".env.test", "TEST=2\n");
  write(".husky/pre-commit", "echo hook\n");
  write(".npmrc", "x=1\n");
  write(".vscode/tasks.json", "{}\n");
  gitIn(folder, "rm", "-q", ".vscode/settings.json");
  gitIn(folder, "add", "-Af");
  gitIn(folder, "commit", "-qm", "two");
  gitIn(folder, "checkout", "-q", "main");
  gitIn(folder, "worktree", "add", "-q", join(folder, "tree"), "feat~1");
  write(".git/info/exclude", "tree\n");
}

beforeAll(() => {
  original = join(createTemporaryFolder(), "project");
  makeProject(original);
});

afterAll(() => rmSync(dirname(original), { recursive: true }));

beforeEach(() => {
  room = new SandboxFixture();
  ({ root } = room);
  copyProject(root);
});

afterEach(() => room.remove());

function copyProject(to: string): void {
  cpSync(original, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  for (const file of [".git/worktrees/tree/gitdir", "tree/.git"])
    if (existsSync(join(to, file)))
      writeFileSync(join(to, file), readFileSync(join(to, file), "utf8").replaceAll(original, to));
}

/** Runs the line after a yes to what the question says. */
async function approved(line: string) {
  const request = { command: line, directory: root, exception: "none" } as const;
  const writes = (await room.commands.protectedWrites(request)).map(({ path }) => path);
  const run = await room.commands.start({ ...request, writes });
  const { exitCode } = await run.shellEnded;
  return {
    exitCode,
    writes: writes.map((path) => path.slice(root.length + 1)),
    taken: await run.takenBack(),
  };
}

/** All files with their content, and what git says about them. */
function stateOf(folder: string): string {
  const list =
    "find . -name .git -prune -o -type f -printf '%p %m ' -exec sh -c 'md5sum < \"$1\"' _ {} \\; | sort";
  const look = `${list}; git status --porcelain; git stash list --format=%gs; git worktree list | wc -l; git log --format=%s -3; git branch`;
  return spawnSync("bash", ["-c", look], { cwd: folder, encoding: "utf8" }).stdout;
}

describe("what was approved happens whole", requirePrograms("bwrap"), () => {
  it.each([
    "cp .env.example .env",
    "cp .env.example .env && echo X=1 >> .env",
    "mkdir -p sub && (cd sub && touch .npmrc) && tee sub/.envrc < a.txt",
    "bash -c 'echo x > .npmrc'",
    "git checkout -q feat",
    "git switch -q feat && git switch -q main",
    "git merge -q feat",
    "git checkout -q feat -- .env.test .husky",
    "git rebase -q feat",
    "git cherry-pick feat",
    "git reset -q --hard feat",
    "git restore -q --source feat .env.test",
    "echo changed > .env.test; git stash -q",
    "echo changed > .env.test; git stash -q && git stash pop -q",
    "echo changed > .env.test; git checkout -q -- .env.test",
    "sed -i s/1/3/ .env.test && git commit -qam three",
    "rm -rf examples/demo",
    "mv examples/demo moved",
    "mv .vscode/settings.json .vscode/other.json",
    "rm .env.test .vscode/settings.json",
    "git rm -rq examples .vscode",
    "git worktree remove --force tree",
    "git worktree add -q tree2 feat && git worktree list",
    "rm -rf .git",
    "chmod -R g+w .",
    "chmod -R go-r examples && chmod g+w .env.test",
    "X=examples/demo; rm -rf $X",
    'for d in examples/demo src; do rm -rf "$d"; done',
    "rm -rf ex*",
    "rm -rf examples/*/ .vs*",
    "find examples -delete",
    "find . -mindepth 1 -not -path './.git*' -not -path './tree*' -delete",
    "find . -name .vscode -prune -exec rm -rf {} +",
    "find examples -type f -name '*.json' -exec rm {} \\;",
    "find examples -name tasks.json -print0 | xargs -0 rm -f",
    "find . -maxdepth 1 -name 'ex*' | sort | xargs -I{} rm -rf {}",
    "git ls-files examples | xargs rm",
    "echo examples/demo | xargs rm -r",
    "printf 'examples/demo\\n.env.test\\n' | xargs rm -r",
    "xargs rm -r < list.txt",
    "mkdir -p new/.idea && touch new/.idea/x.xml .envrc && git clean -qfdx",
    "(cd examples && rm -r demo)",
    "chmod 600 .env*",
    "find . -name '*.json' -not -path './tree/*' -exec sed -i 's/{/[/' {} +",
  ])("P53 as in plain bash, after one yes: %s", async (line) => {
    const plain = join(room.base, "plain", basename(root));
    copyProject(plain);
    const code = spawnSync("bash", ["-c", line], { cwd: plain }).status;
    const { exitCode, taken } = await approved(line);
    expect({ exitCode, taken, state: stateOf(root) }).toEqual({
      exitCode: code,
      taken: [],
      state: stateOf(plain),
    });
  });

  it.each([
    [
      "git checkout feat",
      [".env.test", ".husky/pre-commit", ".npmrc", ".vscode/settings.json", ".vscode/tasks.json"],
    ],
    ["cp .env.example .env", [".env"]],
    ["rm -rf examples/demo", ["examples/demo"]],
    ["rm -rf ex* && rm -f *.txt", ["examples"]],
    ["find . -name '*.json' -path './ex*' -delete", ["examples/demo/.vscode/tasks.json"]],
    [
      "find . -name '*.txt' -delete; find . -name '*.js' | xargs rm; ls | xargs cat; find . -name '*.json'",
      [],
    ],
    ["find . -maxdepth 1 -name '.v*' -exec rm -r {} +", [".vscode"]],
    ["cat .env.test && ls .vscode && git status && git log -p && git diff feat", []],
    ["npm test && git add -A && git commit -m .env && git branch x && git checkout -b y", []],
    ["git stash", []],
  ])("P53 and the question names it: %s", async (command, names) => {
    const found = await room.commands.protectedWrites({ command, directory: root, exception: "none" });
    expect(found.map(({ path }) => path.slice(root.length + 1)).sort()).toEqual(names);
    for (const { why } of found) expect(why).not.toBe("");
  });

  it("P53 a yes covers the named paths and no others, in their folders too", async () => {
    const line =
      "echo x > .vscode/new.json; echo y > .vscode/tasks.json; echo z > .vscode/settings.json; sh s.sh";
    writeFileSync(
      join(root, "s.sh"),
      "echo evil > .envrc; echo evil > .vscode/extensions.json; echo evil >> .env.test; mv .vscode v\n",
    );
    rmSync(join(root, ".vscode/settings.json"));
    writeFileSync(join(root, ".vscode/launch.json"), "{}\n");
    const request = { command: line, directory: root, exception: "none" } as const;
    const writes = [".vscode/new.json", ".vscode/tasks.json"].map((path) => join(root, path));
    const run = await room.commands.start({ ...request, writes });
    await run.shellEnded;
    const taken = (await run.takenBack()).map(({ path }) => path.slice(root.length + 1)).sort();
    expect(taken).toEqual([".envrc", ".vscode/extensions.json", ".vscode/settings.json"]);
    const left = spawnSync("ls", ["-A", join(root, ".vscode")], { encoding: "utf8" })
      .stdout.trim()
      .split("\n");
    expect(left).toEqual(["launch.json", "new.json", "tasks.json"]);
    expect(readFileSync(join(root, ".env.test"), "utf8")).toBe("TEST=1\n");
  });
});
