import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { replaceFile } from "@burin/files/workspace/replace-file";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SandboxFixture } from "../../tests/sandbox-room.ts";
import { fileHelpers } from "../file-helpers.ts";
import { openCommands } from "../shell/commands.ts";

let room: SandboxFixture;
let root: string;
const run: SandboxFixture["run"] = (...line) => room.run(...line);

beforeEach(() => {
  room = new SandboxFixture();
  root = room.root;
});

afterEach(() => room.remove());

const AS = "git -c user.name=a -c user.email=a@b -c commit.gpgsign=false";

function git(...words: string[]): string {
  const as = ["-c", "user.name=a", "-c", "user.email=a@b"];
  return execFileSync("git", ["-C", root, ...as, ...words], { encoding: "utf8", stdio: "pipe" });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Two commits on `main`, and a branch `other` that changes the same line. */
function makeRepository(): void {
  git("init", "-q", "-b", "main", ".");
  for (const text of ["one\n", "two\n"]) {
    write("a.txt", text);
    git("add", "-A");
    git("commit", "-qm", text.trim());
  }
  git("checkout", "-q", "-b", "other", "HEAD~1");
  write("a.txt", "three\n");
  git("commit", "-qam", "three");
}

const there = (...paths: string[]) => paths.filter((path) => existsSync(join(root, path)));

const PLANTED = [".envrc", ".npmrc", ".husky/pre-commit", ".vscode/tasks.json", ".mcp.json"];
const plant = `for f in ${PLANTED.join(" ")}; do mkdir -p $(dirname $f); echo evil > $f; done`;

describe("what a command makes is no evidence of where it comes from", requirePrograms("bwrap"), () => {
  it.each([
    ["a repository made in the root", `${plant}; git init -q; git add -f .; ${AS} commit -qm x`],
    ["one made below it", `mkdir sub; cd sub; ${plant}; git init -q; git add -f .; ${AS} commit -qm x`],
    [
      "a clone of one that it made",
      `mkdir x; cd x; ${plant}; git init -q; git add -f .; ${AS} commit -qm x; cd ..; git clone -q x y`,
    ],
  ])("P53 its own commit: %s", async (_title, command) => {
    const { run: done } = await run(command);
    const left = spawnSync("find", [".", "-path", "*/.git", "-prune", "-o", "-type", "f", "-print"], {
      cwd: root,
    });
    expect(left.stdout.toString()).toBe("");
    expect((await done.takenBack()).length).toBeGreaterThan(0);
  });

  it.each([
    ["a commit on top", `${plant}; git add -f .; ${AS} commit -qm x`],
    ["a commit in the place of another", `${plant}; git add -f .; ${AS} commit -q --amend -m x`],
    ["a tag, a note and a stash", `${plant}; git add -f .; ${AS} stash -q; git stash apply -q`],
    [
      "another object under the id of the last commit's tree",
      `${plant}; git add -f .; new=$(git write-tree); old=$(git rev-parse HEAD^{tree}); cd .git/objects; chmod u+w $(echo $old | cut -c1-2)/*; cp -f $(echo $new | sed 's|^..|&/|') $(echo $old | sed 's|^..|&/|'); git cat-file -p $old; true`,
    ],
    [
      "a replacement of the last commit",
      `c=$(git rev-parse HEAD); ${plant}; git add -f .; n=$(git write-tree); git replace $(git rev-parse HEAD^{tree}) $n; git rev-parse $c`,
    ],
  ])("P53 nor one in a repository that was there: %s", async (_title, command) => {
    makeRepository();
    await run(command);
    expect(there(...PLANTED)).toEqual([]);
  });

  it("P53 nor what an earlier command of the session committed without writing a file", async () => {
    makeRepository();
    const blob = "b=$(echo evil | git hash-object -w --stdin)";
    const tree = `t=$(printf '100644 blob %s\\t.envrc\\n' $b | git mktree)`;
    await run(`${blob}; ${tree}; git update-ref refs/heads/evil $(${AS} commit-tree -m x $t)`);
    const { run: done } = await run("git checkout -q evil -- .envrc");
    expect((await done.takenBack()).map(({ path }) => path)).toEqual([join(root, ".envrc")]);
  });

  it("P53 what the repository had before stays: of a branch, of an old commit, of a stash, in a work tree", async () => {
    makeRepository();
    write(".envrc", "old\n");
    write(".vscode/tasks.json", "{}\n");
    git("add", "-A");
    git("commit", "-qm", "settings");
    git("rm", "-rq", ".envrc", ".vscode");
    git("commit", "-qm", "without");
    git("checkout", "-q", "main");
    write(".npmrc", "stashed\n");
    git("add", ".npmrc");
    git("stash", "-q");
    const steps: [string, string[]][] = [
      ["git checkout -q other~1", [".envrc", ".vscode/tasks.json"]],
      [`git worktree add -q wt other~1`, ["wt/.envrc", "wt/.vscode/tasks.json"]],
      [`${AS} stash pop -q`, [".npmrc"]],
    ];
    for (const [line, names] of steps) {
      const { code, run: done } = await run(line);
      expect([line, code, await done.takenBack(), there(...names)]).toEqual([line, 0, [], names]);
    }
  });
});

describe(
  "what the user allows is a path with its content, for the length of its call",
  requirePrograms("bwrap"),
  () => {
    const openOther = (name: string) => {
      const other = join(room.base, name);
      mkdirSync(other, { recursive: true });
      const own = {
        roots: [other],
        home: room.home,
        environment: process.env,
        sandbox: "workspace-write",
      } as const;
      return {
        root: other,
        commands: openCommands({ ...own, network: false, passEnvironment: [], secretEnvironment: [] }),
      };
    };

    /** Runs the line in the sandbox while a command without limits goes on. */
    async function beside(unlimited: SandboxFixture["commands"], place: string, line: string) {
      const wide = await unlimited.start({
        command: "touch started; sleep 2",
        directory: place,
        exception: "unlimited",
      });
      while (!existsSync(join(place, "started"))) await new Promise((done) => setTimeout(done, 10));
      const { run: done } = await run(line);
      await wide.shellEnded;
      return done.takenBack();
    }

    it("P53 nobody else's: not a command in the sandbox of another project", async () => {
      const other = openOther("other");
      const taken = await beside(other.commands, other.root, plant);
      await other.commands.close();
      expect(there(...PLANTED)).toEqual([]);
      expect(taken.length).toBe(5);
    });

    it("P53 nor one in the same project, of the same session or of another, which is told as uncertain", async () => {
      const other = openOther("project");
      for (const commands of [room.commands, other.commands]) {
        const taken = await beside(commands, root, plant);
        expect(there(...PLANTED)).toEqual([]);
        expect(taken.map(({ why }) => why).join()).toContain("which of them made it is not known");
      }
      await other.commands.close();
    });

    it("P53 a file that the user allowed covers no other one beside it, and no other content", async () => {
      const line =
        "touch up; until [ -e .vscode/settings.json ]; do sleep 0.01; done; echo evil > .vscode/tasks.json; sleep 60";
      const server = await room.commands.start({ command: line, directory: root, exception: "none" });
      while (!existsSync(join(root, "up"))) await new Promise((done) => setTimeout(done, 10));
      await allowed(".vscode/settings.json", "{}");
      await expect.poll(() => there(".vscode/tasks.json"), { timeout: 20_000 }).toEqual([]);
      await expect.poll(async () => (await server.takenBack()).length, { timeout: 20_000 }).toBe(1);
      expect(readFileSync(join(root, ".vscode/settings.json"), "utf8")).toBe("{}");
      appendFileSync(join(root, ".vscode/settings.json"), "changed by the server");
      await server.end();
      expect(there(".vscode/settings.json")).toEqual([]);
    });

    it("P53 a permission that has ended covers nothing that a later command makes", async () => {
      await allowed(".envrc", "same\n");
      rmSync(join(root, ".envrc"));
      await run("echo same > .envrc");
      expect(there(".envrc")).toEqual([]);
    });

    /** As write_file does it after the user's yes. */
    async function allowed(path: string, text: string): Promise<void> {
      const file = join(root, path);
      const content = { writeTo: async (to: number) => writeFileSync(to, text), isOf: async () => true };
      await replaceFile({
        file,
        real: file,
        roots: [root],
        stats: null,
        content,
        home: room.home,
        helpers: fileHelpers,
      });
    }
  },
);

describe("a look that is not whole", requirePrograms("bwrap"), () => {
  it("P53 is never taken for one at a clean project: what lies behind 30,000 folders is found", async () => {
    const many = "seq 1 30000 | sed 's|^|a/|' | xargs mkdir -p";
    const { run: done } = await run(`${many}; mkdir -p a/30000/z; cd a/30000/z; ${plant}`);
    expect((await done.takenBack()).length).toBe(5);
    expect(readdirSync(join(root, "a/30000/z"))).toEqual([]);
    // And by one command after another, where the first has made the folders.
    await run(`cd a/30000/z; ${plant}`);
    expect(readdirSync(join(root, "a/30000/z"))).toEqual([]);
  }, 120_000);
});

describe("git's own folder", requirePrograms("bwrap"), () => {
  const stopRebase = () => {
    makeRepository();
    expect(spawnSync("git", ["-C", root, "rebase", "-q", "main"]).status).not.toBe(0);
    writeFileSync(join(root, "a.txt"), "solved\n");
    git("add", "a.txt");
  };
  const evil = `touch ${"$PWD"}/sung`;

  it.each([
    ["a line more", `echo "exec ${evil}" >> .git/rebase-merge/git-rebase-todo`],
    ["in short", `printf ' \\tx ${evil}\\n' >> .git/rebase-merge/git-rebase-todo`],
    ["another file in its place", `echo "exec ${evil}" > t; mv t .git/rebase-merge/git-rebase-todo`],
    [
      "another folder in its place",
      `cp -r .git/rebase-merge r; echo "x ${evil}" >> r/git-rebase-todo; rm -r .git/rebase-merge; mv r .git/rebase-merge`,
    ],
    ["a strategy", `echo evil > .git/rebase-merge/strategy`],
  ])("P53 a rebase that has stopped runs nothing that a command put there: %s", async (_title, command) => {
    stopRebase();
    const { run: done } = await run(command);
    expect((await done.takenBack()).length).toBe(1);
    const went = spawnSync("git", [
      "-C",
      root,
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "-c",
      "core.editor=true",
      "rebase",
      "--continue",
    ]);
    expect([went.status, there("sung")]).toEqual([0, []]);
    expect(git("log", "--format=%s").trim().split("\n")).toEqual(["three", "two", "one"]);
  });

  it("P53 a rebase that was never begun is none that runs something", async () => {
    makeRepository();
    await run(
      `mkdir .git/rebase-merge; cd .git/rebase-merge; echo refs/heads/other > head-name; git rev-parse HEAD | tee onto > orig-head; touch interactive; echo "exec ${evil}" > git-rebase-todo`,
    );
    spawnSync("git", ["-C", root, "rebase", "--continue"]);
    expect(there("sung")).toEqual([]);
  });

  it("P53 the user's own steps that run something stay, while a command goes on with the rebase", async () => {
    makeRepository();
    spawnSync("git", [
      "-C",
      root,
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "rebase",
      "-q",
      "-x",
      "echo ran >> ran",
      "main",
    ]);
    const todo = join(root, ".git/rebase-merge/git-rebase-todo");
    expect(readFileSync(todo, "utf8")).toContain("exec echo ran");
    const { run: done, code } = await run("echo solved > a.txt && git add a.txt && git status");
    expect([code, await done.takenBack()]).toEqual([0, []]);
    expect(readFileSync(todo, "utf8")).toContain("exec echo ran");
    expect((await run(`${AS} -c core.editor=true rebase --continue`)).code).toBe(0);
    expect(readFileSync(join(root, "ran"), "utf8")).toBe("ran\n");
  });

  it.each([
    ["info/attributes", "echo '*.txt filter=x diff=x' > .git/info/attributes"],
    ["info/grafts", "mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts"],
    [
      "objects/info/alternates",
      "mkdir -p .git/objects/info; echo ../../elsewhere > .git/objects/info/alternates",
    ],
    ["remotes/origin", "mkdir -p .git/remotes; echo 'URL: ext::sh -c x' > .git/remotes/origin"],
    ["branches/origin", "mkdir -p .git/branches; echo '../elsewhere' > .git/branches/origin"],
    ["sl", "mkdir .git/sl; echo '[hooks]' > .git/sl/config"],
    ["BISECT_NAMES", `echo "; ${evil}" > .git/BISECT_NAMES`],
  ])("P53 has nothing new in it that git does not write itself: %s", async (name, command) => {
    makeRepository();
    rmSync(join(root, ".git/info"), { recursive: true, force: true });
    mkdirSync(join(root, ".git/info"));
    const { run: done, code } = await run(command);
    expect((await done.takenBack()).length === 1 || code !== 0).toBe(true);
    expect(there(`.git/${name}`)).toEqual([]);
  });

  it("P53 takes all of git's ordinary work: rebase, bisect, cherry-pick, revert, am, gc, notes, rerere, sparse", async () => {
    makeRepository();
    const lines = [
      `${AS} rebase -q main; echo both > a.txt; git add a.txt; ${AS} -c core.editor=true rebase --continue`,
      "git bisect start HEAD HEAD~2 && git bisect log && git bisect reset",
      "git bisect start HEAD HEAD~2 -- a.txt && git bisect run true && git bisect reset",
      `git branch c && ${AS} commit -q --allow-empty -m e && ${AS} cherry-pick --allow-empty -x c..HEAD; ${AS} cherry-pick --abort; true`,
      `${AS} revert --no-edit HEAD~2`,
      `git format-patch -q -1 --stdout > p && git reset -q --hard HEAD~1 && ${AS} am -q p`,
      `${AS} notes add -m n && git gc -q && git pack-refs --all && git fsck`,
      `${AS} tag -a -m t t1 && git worktree add -q wt && git worktree list && git worktree prune`,
      `${AS} merge -q main -m m; ${AS} merge --abort; git sparse-checkout list; true`,
      `echo w > a.txt && ${AS} stash -q && git stash pop -q && ${AS} commit -qam w && git reflog && git maintenance run`,
    ];
    for (const line of lines) {
      const { code, text, run: done } = await run(line);
      expect([line, code, text, await done.takenBack()]).toEqual([line, 0, expect.any(String), []]);
    }
  });
});

describe("a file that runs as its owner", requirePrograms("bwrap"), () => {
  const ways: [string, string][] = [
    ["chmod", "cp /bin/true t; chmod u+s t; chmod 2755 t; chmod 6755 t"],
    ["install", "install -m 4755 /bin/true t; install -m 2755 /bin/true t2"],
    [
      "python",
      `python3 -c "import os; os.close(os.open('t', os.O_CREAT|os.O_WRONLY, 0o4755)); os.mknod('m', 0o104755)"; python3 -c "import os; os.open('t3', os.O_CREAT|os.O_WRONLY, 0o6755); os.fchmod(os.open('t4', os.O_CREAT|os.O_WRONLY, 0o755), 0o4755)"`,
    ],
    [
      "openat2",
      `python3 -c "import ctypes, struct; how = struct.pack('QQQ', 0o101, 0o4755, 0); ctypes.CDLL(None).syscall(437, -100, b't', how, 24)"`,
    ],
  ];
  it.each(ways)("P53 cannot be made by a command: %s", async (_title, command) => {
    await run(command);
    const bits = readdirSync(root).filter((name) => (lstatSync(join(root, name)).mode & 0o6000) !== 0);
    expect(bits).toEqual([]);
  });

  it("P53 and all other modes are as ever", async () => {
    const { code } = await run(
      "mkdir -p d && cp /bin/true d/t && chmod 1777 d && chmod 755 d/t && d/t && umask 077 && echo x > f && chmod +x f",
    );
    expect([code, statSync(join(root, "d")).mode & 0o7777, statSync(join(root, "f")).mode & 0o7777]).toEqual([
      0, 0o1777, 0o700,
    ]);
  });
});
