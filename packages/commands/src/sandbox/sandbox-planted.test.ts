import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { replaceFile } from "@burin/files/workspace/replace-file";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SandboxFixture } from "../../tests/sandbox-room.ts";
import { fileHelpers } from "../file-helpers.ts";

let room: SandboxFixture;
let base: string;
let root: string;
const run: SandboxFixture["run"] = (...line) => room.run(...line);

const IDENTITY = ["-c", "user.name=a", "-c", "user.email=a@b"];

/** What each test gets a copy of: to make it anew takes longer than most of them. */
let original: string;

beforeAll(() => {
  original = createTemporaryFolder();
  makeProject(original);
});

afterAll(() => rmSync(original, { recursive: true }));

beforeEach(() => {
  room = new SandboxFixture();
  ({ base, root } = room);
  copyProject();
});

afterEach(() => room.remove());

function git(folder: string, ...args: string[]): void {
  execFileSync("git", ["-C", folder, ...IDENTITY, "-c", "protocol.file.allow=always", ...args], {
    stdio: "pipe",
  });
}

/** A repository with a submodule, a work tree of its own and two folders that are none. */
function makeProject(folder: string): void {
  const [project, library] = [join(folder, "project"), join(folder, "library")];
  mkdirSync(join(project, "plain"), { recursive: true });
  for (const each of [project, library]) {
    execFileSync("git", ["init", "-q", "-b", "main", each]);
    writeFileSync(join(each, "a.txt"), "a\n");
    git(each, "add", "-A");
    git(each, "commit", "-qm", "one");
  }
  git(project, "submodule", "--quiet", "add", library, "lib");
  git(project, "worktree", "add", "-q", "tree");
  writeFileSync(join(project, "plain/b.txt"), "b\n");
  writeFileSync(join(project, ".gitignore"), "tree\nplain\n");
  git(project, "add", "-A");
  git(project, "commit", "-qm", "two");
}

/** Where git has written down the place of the repository or of another one. */
const PLACES = [".git/config", ".git/modules/lib/config", ".git/worktrees/tree/gitdir", "tree/.git"];

function copyProject(): void {
  cpSync(original, base, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  for (const file of PLACES) {
    const path = join(root, file);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(original, base));
  }
  // All that git has planned to run by the time the canary sings.
  const canary = `#!/bin/sh\necho "$0 $*" >> '${base}/canary'\ncat >/dev/null 2>&1 </dev/null\n`;
  writeFileSync(join(root, "canary.sh"), canary, { mode: 0o755 });
}

/** What a user may type next, anywhere in the project. */
function useGit(): void {
  const looking = "git status; git diff; git log -p -2";
  const acting =
    "echo x >> a.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm next; git checkout -q -b b$RANDOM";
  const folders = ["plain", "plain/deep/down", "lib", "tree", ".dot", "new", "node_modules/p"];
  const each = folders.map((folder) => `(cd ${folder} && { ${looking}; })`).join("; ");
  const some = ["plain", "lib", "."].map((folder) => `(cd ${folder} && { ${acting}; })`).join("; ");
  spawnSync("bash", ["-c", `${looking}; ${each}; ${some}`], { cwd: root, timeout: 30_000 });
}

function hasSung(): string | null {
  const file = join(base, "canary");
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

const EVIL = "core.fsmonitor $PWD/canary.sh";
const hook = (folder: string) =>
  `mkdir -p ${folder} && cp canary.sh ${folder}/post-index-change && cp canary.sh ${folder}/post-checkout && cp canary.sh ${folder}/pre-commit`;
const bare = (folder: string) =>
  `git init -q --bare ${folder} && git -C ${folder} config --unset core.bare && git -C ${folder} config core.worktree .. && git -C ${folder} config ${EVIL}`;

const PLANTS: readonly (readonly [string, string])[] = [
  [
    "another common folder",
    `cp -r .git evil && git --git-dir=evil config ${EVIL} && echo ../evil > .git/commondir`,
  ],
  ["a repository below", `git init -q plain && git -C plain config ${EVIL}`],
  ["a repository far below", `git init -q plain/deep/down && git -C plain/deep/down config ${EVIL}`],
  ["a repository in a dot folder", `git init -q .dot && git -C .dot config ${EVIL}`],
  ["a repository in a package", `git init -q node_modules/p && git -C node_modules/p config ${EVIL}`],
  ["hooks of a new repository", `git init -q plain && ${hook("plain/.git/hooks")}`],
  [
    "hooks that are a link",
    `git init -q plain && ${hook("h")} && rm -rf plain/.git/hooks && ln -s ../../h plain/.git/hooks`,
  ],
  ["a hooks path", `git init -q plain && ${hook("h")} && git -C plain config core.hooksPath ../h`],
  [
    "an included file",
    `git init -q plain && git config -f plain/inc ${EVIL} && git -C plain config include.path ../inc`,
  ],
  [
    "a text converter",
    `git init -q plain && echo '* diff=x' > plain/.git/info/attributes && git -C plain config diff.x.textconv $PWD/canary.sh && cd plain && echo b > b && git add b && git -c user.name=a -c user.email=b commit -qm b`,
  ],
  [
    "a value over two lines",
    `git init -q plain && printf '[core]\\n\\tfsmonitor = \\\\\\n%s\\n' $PWD/canary.sh >> plain/.git/config`,
  ],
  [
    "a gitlink in the index",
    `git init -q new && (cd new && git -c user.name=a -c user.email=b commit -q --allow-empty -m x) && git add new && git -C new config ${EVIL}`,
  ],
  ["a git file", `${bare("evil")} && echo "gitdir: ../evil" > plain/.git`],
  [
    "a git file of a submodule that leads elsewhere",
    `mv lib lib2; mkdir lib; git init -q lib && git -C lib config ${EVIL}`,
  ],
  [
    "a link to a git folder",
    `git init -q x && git -C x config ${EVIL} && mv x/.git evil && ln -s ../evil plain/.git`,
  ],
  [
    "a folder with the form of a repository",
    `mkdir -p plain && cd plain && mkdir objects refs && echo 'ref: refs/heads/main' > HEAD && git config -f config core.fsmonitor $OLDPWD/canary.sh && git config -f config core.worktree . && git config -f config core.repositoryformatversion 0`,
  ],
  [
    "the same with a common folder",
    `cp -r .git evil; git --git-dir=evil config diff.x.textconv $PWD/canary.sh; mkdir -p evil/info; echo '* diff=x' > evil/info/attributes; cd plain && echo 'ref: refs/heads/main' > HEAD && echo ../evil > commondir`,
  ],
  [
    "another common folder of a work tree",
    `cp -r .git evil; git --git-dir=evil config ${EVIL}; mv .git/worktrees/tree .git/worktrees/t2 && cp -r .git/worktrees/t2 .git/worktrees/tree && echo ../../../evil > .git/worktrees/tree/commondir`,
  ],
  [
    "a submodule's folder replaced",
    `mv .git/modules/lib m && cp -r m .git/modules/lib && git config -f .git/modules/lib/config ${EVIL}`,
  ],
  [
    "modules that are a link",
    `cp -r .git/modules e && git config -f e/lib/config ${EVIL} && git config -f e/lib/config core.worktree ../../lib && mv .git/modules .git/m2 && ln -s ../e .git/modules`,
  ],
  [
    "a work tree of its own making",
    `git worktree add -q new && cp -r .git evil && git --git-dir=evil config ${EVIL} && echo $PWD/evil > .git/worktrees/new/commondir`,
  ],
  [
    "hooks in a folder moved in the place of another",
    `git init -q x && ${hook("x/.git/hooks")} && mv plain old && mv x plain`,
  ],
  [
    "the temporary folder behind a link",
    `git init -q /tmp/evil && git -C /tmp/evil config ${EVIL} && outer=$(sed -n 's|^[^ ]* [^ ]* [^ ]* \\([^ ]*\\) /tmp .*|\\1|p' /proc/self/mountinfo) && ln -s "/tmp\${outer#*/tmp}/evil" new`,
  ],
];

/** Each makes something in the place that comes first. */
const NAMES: readonly (readonly [string, string])[] = [
  ...".env .npmrc .gitconfig .pre-commit-config.yaml .mcp.json .envrc sub/.env a/b/c/d/e/.npmrc"
    .split(" ")
    .map((name) => [name, `mkdir -p ${dirname(name)} && echo x > ${name}`] as const),
  ...".husky .githooks .devcontainer .gemini .codex .burin .vscode sub/.vscode sub/.burin .d/.idea"
    .split(" ")
    .map((name) => [name, `mkdir -p ${name} && echo x > ${name}/tasks.json`] as const),
  [".ENV", "echo x > .ENV"],
  [".Vscode", "mkdir .Vscode"],
  [".vscode", "mkdir v && touch v/tasks.json && mv v .vscode"],
  [".env", "ln -s a.txt .env"],
  [".env", "ln a.txt .env"],
  [".npmrc", "mkfifo .npmrc"],
];

if (process.platform === "linux") {
  describe("what a command in the sandbox leaves for git", requirePrograms("bwrap"), () => {
    it.each(PLANTS)("P53 the user's next git command runs nothing of it: %s", async (_title, command) => {
      const { run: done, code } = await run(command);
      const taken = await done.takenBack();
      useGit();
      expect(hasSung()).toBeNull();
      // What is mounted read-only is refused, and all else taken back.
      expect(taken.length > 0 || code !== 0).toBe(true);
      for (const { kept } of taken) expect(lstatSync(kept ?? "").size).toBeGreaterThan(0);
    });

    it.each(PLANTS)(
      "without the sandbox it runs, so that this proves something: %s",
      async (title, command) => {
        if (title === "the temporary folder behind a link") return;
        await run(command, "unlimited");
        useGit();
        expect(hasSung()).not.toBeNull();
      },
    );
  });
  describe("folders of git that a command makes look like a repository", requirePrograms("bwrap"), () => {
    const SINGS = `core.fsmonitor "touch $PWD/../canary; false"`;
    const elsewhere = `cp -r .git evil; git --git-dir=evil config ${SINGS}; echo $PWD/evil`;
    it.each([
      ["modules/deep/lib", `git config -f .git/modules/deep/lib/config ${SINGS}`],
      ["modules/deep/info", `git config -f .git/modules/deep/info/config ${SINGS}`],
      ["worktrees/tree", `${elsewhere} > .git/worktrees/tree/commondir`],
    ])("P53 hide nothing in them from what is protected: %s", async (place, plant) => {
      const folder = join(".git", dirname(place));
      git(root, "submodule", "--quiet", "add", "-f", join(base, "library"), `deep/${basename(place)}`);
      await run(`mkdir ${folder}/objects ${folder}/refs && echo x > ${folder}/HEAD`);
      await run(plant);
      useGit();
      expect(hasSung()).toBeNull();
    });
  });

  describe("what the user's own configuration names in the project", requirePrograms("bwrap"), () => {
    it.each([
      ["a hooks folder", "core.hooksPath", "tools/hooks", "tools/hooks/pre-commit"],
      ["a hooks folder that is not there yet", "core.hooksPath", "later", "later/pre-commit"],
      ["an included file", "include.path", "../git.inc", "git.inc"],
      ["an included file that is not there yet", "include.path", "../later.inc", "later.inc"],
      ["a filter", "filter.x.clean", "sh tools/clean.sh", "tools/clean.sh"],
    ])("P53 cannot be changed or made: %s", async (...row) => {
      const [, key, value, target] = row;
      mkdirSync(join(root, "tools/hooks"), { recursive: true });
      for (const name of ["git.inc", "tools/clean.sh", "tools/hooks/x"]) writeFileSync(join(root, name), "");
      git(root, "config", key, value);
      await run(`mkdir -p ${dirname(target)}; cp canary.sh ${target}; git config -f ${target} ${EVIL}; true`);
      const path = join(root, target);
      expect(existsSync(path) ? readFileSync(path, "utf8") : "").toBe("");
      expect((await run("echo x > tools/other && cat tools/other")).text).toBe("x\n");
    });
  });
  describe("everyday git in the sandbox", requirePrograms("bwrap"), () => {
    it("P53 commits, branches, stashes, work trees, clones and submodules work, and stay whole", async () => {
      writeFileSync(join(root, "a.txt"), "changed\n");
      mkdirSync(join(base, "library/.husky"));
      for (const name of [".npmrc", ".husky/pre-push"])
        writeFileSync(join(base, "library", name), "brought\n");
      git(join(base, "library"), "add", "-Af");
      git(join(base, "library"), "commit", "-qm", "files");
      git(root, "clone", "-q", "--bare", join(base, "library"), "store");
      git(root, "submodule", "--quiet", "add", "./store", "module");
      for (const folder of ["module", ".git/modules/module"]) rmSync(join(root, folder), { recursive: true });
      const as = "git -c user.name=a -c user.email=a@b -c protocol.file.allow=always";
      const lines = [
        `${as} stash -q && git stash pop -q && ${as} commit -qam changed`,
        "git checkout -q -b other && git checkout -q main && git merge -q other && git branch -D other",
        `git worktree add -q second && cd second && echo x > n && git add n && ${as} commit -qm n && git status`,
        `${as} clone -q store copy && cat copy/.npmrc copy/.husky/pre-push && git -C copy log --oneline`,
        `cd copy && echo y > y && git add y && ${as} commit -qm y && git push -q origin HEAD:next`,
        `${as} submodule update -q module && cat module/.npmrc module/.husky/pre-push && git -C module status`,
        "git init -q fresh && cd fresh && touch f && git add f && git status --short",
        "mv fresh old && mv copy other-copy && git -C other-copy status",
      ];
      for (const line of lines) {
        const { run: done, code, text } = await run(line);
        expect([line, code, text, await done.takenBack()]).toEqual([line, 0, expect.any(String), []]);
      }
      git(root, "fsck");
    });

    it("P53 a submodule whose git folder is still being made when a check comes keeps its link", async () => {
      const made = "mkdir -p new .git/modules/new/refs && echo 'gitdir: ../.git/modules/new' > new/.git";
      const head = "cd .git/modules/new && echo 'ref: refs/heads/main' > HEAD && sleep 0.8 && mkdir objects";
      const { run: done, code } = await run(`${made} && ${head} && git -C ../../../new status`);
      expect([code, await done.takenBack()]).toEqual([0, []]);
    });

    function commitToOther(...names: string[]): void {
      git(root, "checkout", "-q", "-b", "other");
      for (const name of names) writeFileSync(join(root, name), "brought\n");
      git(root, "add", "-A");
      git(root, "commit", "-qm", "settings");
      git(root, "checkout", "-q", "main");
    }

    it("P53 what a branch had before the command stays, and what a command makes beside it does not", async () => {
      mkdirSync(join(root, ".vscode"));
      commitToOther(".npmrc", ".vscode/tasks.json");
      const { run: done, code } = await run("git checkout -q other && echo x > .envrc && echo x > .vscode/x");
      const taken = (await done.takenBack()).map(({ path }) => path).toSorted();
      expect([code, taken]).toEqual([0, [join(root, ".envrc"), join(root, ".vscode/x")]]);
      expect((await run("git status --porcelain")).text).toBe("");
      expect(readFileSync(join(root, ".vscode/tasks.json"), "utf8")).toBe("brought\n");
    });

    it("P53 what a command commits itself is told as git's when it is taken, with the way to have it", async () => {
      const { run: done } = await run(
        "echo x > .npmrc && git add -f .npmrc && git -c user.name=a -c user.email=a@b commit -qm x",
      );
      const taken = await done.takenBack();
      expect(taken.map(({ path, isCommitted }) => [path, isCommitted])).toEqual([
        [join(root, ".npmrc"), true],
      ]);
      const restore = `git checkout --ignore-skip-worktree-bits HEAD -- ${join(root, ".npmrc")}`;
      await run(restore, "unlimited");
      expect((await run("git status --porcelain .npmrc")).text).toBe("");
    });

    it("P53 what a clone brings under a protected name stays only as it was committed", async () => {
      const library = join(base, "library");
      for (const name of [".npmrc", ".yarnrc"]) writeFileSync(join(library, name), "brought\n");
      git(library, "add", "-Af");
      git(library, "commit", "-qm", "files");
      git(root, "clone", "-q", "--bare", library, "store");
      const line = "rm -r plain && git clone -q store plain && cd plain && echo evil > .npmrc && touch .env";
      const { run: done } = await run(line);
      expect((await done.takenBack()).map(({ path }) => path).sort()).toEqual([
        join(root, "plain/.env"),
        join(root, "plain/.npmrc"),
      ]);
      expect(existsSync(join(root, "plain/.yarnrc"))).toBe(true);
    });
  });
  describe("protected names that are not there", requirePrograms("bwrap"), () => {
    it.each(NAMES)(
      "P53 %s is gone when the command has ended, and the user can be told: %s",
      async (name, command) => {
        const { run: done } = await run(command);
        expect((await done.takenBack()).map(({ path }) => path)).toEqual([join(root, name)]);
        expect(spawnSync("ls", ["-d", join(root, name)]).status).not.toBe(0);
      },
    );

    it("P53 are taken from a command that goes on in the background too, and what a file tool or the user's leave made stays", async () => {
      const server = await room.commands.start({
        command: "sleep 0.5; touch .env; sleep 60",
        directory: root,
        exception: "none",
      });
      // Not asked of the command, which would look itself.
      await expect.poll(() => existsSync(join(base, "home/taken-back")), { timeout: 20_000 }).toBe(true);
      expect(existsSync(join(root, ".env"))).toBe(false);
      expect((await server.takenBack()).map(({ path }) => path)).toEqual([join(root, ".env")]);
      await room.runUnlimited("echo x > .npmrc", [".npmrc"]);
      const file = join(root, ".vscode/tasks.json");
      const content = { writeTo: async (to: number) => writeFileSync(to, "{}"), isOf: async () => true };
      const means = { home: room.home, helpers: fileHelpers };
      await replaceFile({ file, real: file, roots: [root], stats: null, content, ...means });
      await server.end();
      expect(await server.takenBack()).toHaveLength(1);
      expect([existsSync(join(root, ".npmrc")), existsSync(join(root, ".vscode/tasks.json"))]).toEqual([
        true,
        true,
      ]);
    });

    it("P53 are taken before leave for an unlimited command begins, and all that is made after that stays", async () => {
      const line = "touch begun; until [ -e go ]; do sleep 0.01; done; touch .env && touch made; sleep 60";
      const server = await room.commands.start({ command: line, directory: root, exception: "none" });
      await expect.poll(() => existsSync(join(root, "begun"))).toBe(true);
      writeFileSync(join(root, "go"), "");
      // Without a turn of this process, which would take it away at once.
      while (!existsSync(join(root, "made"))) spawnSync("sleep", ["0.01"]);
      expect(existsSync(join(root, ".env"))).toBe(true);
      const { text } = await room.runUnlimited("ls -a; echo x > .npmrc", [".npmrc"]);
      expect(text.split("\n")).not.toContain(".env");
      await server.end();
      expect((await server.takenBack()).map(({ path }) => path)).toEqual([join(root, ".env")]);
      expect(existsSync(join(root, ".npmrc"))).toBe(true);
    });

    it("P53 lower down none that is there can be changed, moved away with its folder, or reached by another name", async () => {
      const names = ["sub/.env", "x/y/z/1/2/3/.npmrc", ".dot/.vscode/tasks.json", "sub/.burin/settings.json"];
      for (const name of names) {
        mkdirSync(dirname(join(root, name)), { recursive: true });
        writeFileSync(join(root, name), "before\n");
      }
      linkSync(join(root, "sub/.env"), join(root, "other-name"));
      for (const name of names) {
        const folder = name.split("/")[0];
        await run(
          `echo evil > ${name}; rm -rf ${name}; mv ${folder} moved; mkdir -p ${dirname(name)}; echo evil > ${name}; echo evil > other-name`,
        );
        const now = [name, name.replace(/^[^/]+/, "moved")].filter((one) => existsSync(join(root, one)));
        expect(now.map((one) => readFileSync(join(root, one), "utf8"))).toEqual(["before\n"]);
        await run(`rm -rf ${folder}; mv moved ${folder}`, "unlimited");
      }
    });
  });
}
