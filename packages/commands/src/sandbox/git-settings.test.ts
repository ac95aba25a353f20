import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SandboxFixture } from "../../tests/sandbox-room.ts";

let room: SandboxFixture;
let root: string;

function git(folder: string, ...words: string[]): string {
  return execFileSync("git", ["-C", folder, ...words], { stdio: "pipe", encoding: "utf8" }).trim();
}

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text, { mode });
}

/** A clone whose other repository has the branches `main` and `daves`; it has a branch `topic` of its own. */
beforeEach(() => {
  room = new SandboxFixture();
  ({ root } = room);
  const other = join(room.base, "other.git");
  git(".", "init", "-q", "-b", "main", root);
  writeFileSync(join(root, ".git/config"), "[user]\n\tname = a\n\temail = a@b\n", { flag: "a" });
  write("a.txt", "a\n");
  write("src/b.txt", "b\n");
  git(root, "add", "-A");
  git(root, "commit", "-qm", "one");
  git(root, "branch", "daves");
  git(".", "clone", "-q", "--bare", root, other);
  git(root, "remote", "add", "origin", other);
  git(root, "fetch", "-q", "origin");
  git(root, "branch", "-D", "daves");
  git(root, "branch", "-q", "--track", "topic", "origin/main");
});

afterEach(() => room.remove());

const settings = (folder = root) => readFileSync(join(folder, ".git/config"), "utf8");

describe("git's own configuration", requirePrograms("bwrap"), () => {
  it.each([
    "git checkout -q -b mine origin/daves",
    "git switch -q daves && git switch -q main",
    "git checkout -q --track origin/daves",
    "git branch -q -u origin/daves topic",
    "git branch -m topic other && git branch --unset-upstream other",
    "git branch -D topic",
    "cd src && git branch -d topic",
    "git remote add up ../up.git && git remote rename up upper && git remote remove origin",
    "git remote set-url origin https://example.org/x.git",
    "git config push.default current && git config --get push.default",
    "git config --local --unset user.email; git config user.email c@d",
    "git sparse-checkout set src && git status --short",
    "git -C src branch copy origin/daves",
    "git branch -d topic 2>/dev/null || true",
    "git branch -D topic 2>&1 | tail -1; ls src; git branch -vv | grep -c main > /dev/null",
  ])("P53 changes as in plain bash: %s", async (line) => {
    const plain = join(room.base, "plain", basename(root));
    cpSync(root, plain, { recursive: true, preserveTimestamps: true });
    const code = spawnSync("bash", ["-c", line], { cwd: plain, stdio: "ignore" }).status;
    const done = await room.run(line);
    expect({ code: done.code, taken: await done.run.takenBack() }).toEqual({ code, taken: [] });
    expect(settings()).toBe(settings(plain));
    expect(git(root, "branch", "-a", "-vv")).toBe(git(plain, "branch", "-a", "-vv"));
  });

  it("P53 a hook that git does not run for it changes nothing about that", async () => {
    write(".git/hooks/post-commit", "#!/bin/sh\n", 0o755);
    expect((await room.run("git branch -m topic other")).code).toBe(0);
    expect(git(root, "config", "branch.other.merge")).toBe("refs/heads/main");
  });

  it.each([
    ["a script", "sh s.sh"],
    ["a script beside git", "git branch -d topic; sh s.sh"],
    ["a script in a substitution", "git branch -d $(sh s.sh)"],
    ["a function with git's name", "git() { sh s.sh; }; git branch -d topic"],
    ["an alias", "git config alias.x '!sh s.sh'; git x"],
    ["an alias of the repository", "git planted"],
    ["a setting by words", "git config core.hooksPath src"],
    ["one with other letters", "git config CORE.fsMonitor ./s.sh"],
    ["an include", "git config include.path ../src/b.txt"],
    ["a filter", "git config filter.x.clean 'sh s.sh'"],
    ["a helper", "git config --add credential.helper '!sh s.sh'"],
    ["a diff driver", "git config diff.x.textconv ./s.sh"],
    ["the program of a submodule", "git config submodule.x.update '!sh s.sh'"],
    ["the program of a remote", "git config remote.origin.uploadpack ./s.sh"],
    ["a rewritten address", "git config url.ext::sh.insteadOf https://"],
    ["another file", "git config --file .git/config core.pager ./s.sh"],
    ["a section", "git config --rename-section user alias"],
    ["for one command", "git -c core.hooksPath=src checkout -q -b mine origin/daves"],
    ["in a variable", "GIT_CONFIG_COUNT=1 git branch -d topic; sh s.sh"],
    ["a remote that runs a command", "git remote add evil 'ext::sh s.sh'"],
    ["a program for the other side", "git fetch -q --upload-pack='sh s.sh; git-upload-pack' origin"],
    ["a branch with a line in it", "git branch \"$(printf 'x\\n[alias]\\nst=!sh')\" origin/daves"],
    ["a redirection", "git branch -d topic; git log > .git/config"],
    ["a link", "git branch -d topic; ln -sf ../s.sh .git/config"],
    ["a pipe file", "git branch -d topic; rm -f .git/config; mkfifo .git/config"],
    ["a hook", "git checkout -q -b mine origin/daves", ".git/hooks/post-checkout"],
    ["a hook of every change", "git branch -D topic", ".git/hooks/reference-transaction"],
  ])("P22 gets no setting that names a program: %s", async (_name, line, hook?: string) => {
    const script =
      "#!/bin/sh\ngit config core.hooksPath src\nprintf '[alias]\\n\\tst = !sh\\n' >> .git/config\nln -sf ../src/b.txt .git/config\n";
    write("s.sh", script, 0o755);
    git(root, "config", "alias.planted", "!sh s.sh");
    if (hook !== undefined) write(hook, script, 0o755);
    const before = programsOf(root);
    const { run } = await room.run(line);
    await run.takenBack();
    expect(programsOf(root)).toBe(before);
    expect(existsSync(join(root, ".git/config"))).toBe(true);
  });

  const LATER =
    "(while ! grep -q daves .git/config; do :; done; printf '[alias]\\n\\tst = !sh\\n' >> .git/config) &";
  const ATTACKS = [
    ["writes it", "printf '[alias]\\n\\tst = !sh\\n' >> .git/config"],
    ["removes it", "rm -f .git/config; mv -f src/b.txt .git/config"],
    ["waits for git to change it", `setsid sh -c "${LATER.replaceAll('"', '\\"')}" >&2`],
    ["opens its git", "for p in /proc/[0-9]*; do echo '[alias]' >> $p/root$PWD/.git/config; done"],
    ["unmounts it", "umount .git/config; unshare -rm umount .git/config; echo '[alias]' >> .git/config"],
    [
      "leads git elsewhere",
      "mkdir x && cp .git/config x && echo '[alias]' >> x/config && echo ../x > .git/commondir",
    ],
    ["adds settings", "echo '[alias]' > .git/config.worktree"],
  ].flatMap(([name, attack]) => [
    [name, attack, "post-checkout", "git checkout -q -b mine origin/daves"] as const,
    [name, attack, "pre-push", "git push -q -u origin main:daves"] as const,
  ]);
  it.each(ATTACKS)("P22 a hook for which git may write it never can: one that %s (%#)", async (...row) => {
    const [, attack, hook, line] = row;
    cpSync(join(room.base, "other.git"), join(root, "sub/other.git"), { recursive: true });
    git(root, "remote", "set-url", "origin", "./sub/other.git");
    write(`.git/hooks/${hook}`, `#!/bin/sh\n{ ${attack}; } 2>/dev/null\ntouch ran\n`, 0o755);
    const programs = programsOf(root);
    const seen: string[] = [];
    const watcher = watch(join(root, ".git"), () => {
      if (existsSync(join(root, ".git/config"))) seen.push(settings());
    });
    const { run } = await room.run(line);
    await run.takenBack();
    watcher.close();
    expect(existsSync(join(root, "ran"))).toBe(true);
    expect(seen.filter((text) => text.includes("[alias]"))).toEqual([]);
    expect(programsOf(root)).toBe(programs);
    expect(existsSync(join(root, ".git/commondir"))).toBe(false);
  });

  it("P22 a filter that git would run keeps it read-only", async () => {
    write("s.sh", "git config core.hooksPath src; cat\n", 0o755);
    git(root, "config", "filter.x.smudge", "sh s.sh");
    write(".git/info/attributes", "* filter=x\n");
    const before = programsOf(root);
    await room.run("git sparse-checkout set src; git checkout -q -b mine origin/daves; git checkout -q -- .");
    expect(programsOf(root)).toBe(before);
  });

  it("P22 a command that goes on beside it cannot write it", async () => {
    write(
      "s.sh",
      "touch ready; while [ ! -e done ]; do :; done; echo '[alias]' >> .git/config; touch over\n",
    );
    const beside = await room.run("sh s.sh & while [ ! -e ready ]; do :; done");
    await room.run("git branch -D topic; git config push.default current");
    await room.run("touch done; while [ ! -e over ]; do :; done");
    await beside.run.takenBack();
    expect(settings()).not.toContain("[alias]");
  });

  it.each([
    "git branch -m topic other",
    "git checkout -q -b mine origin/daves",
    "git config push.default current",
  ])("P53 changes beside a server in the background, which cannot write it: %s", async (line) => {
    const script = "touch ready; while [ ! -e done ]; do :; done; echo '[alias]' >> .git/config; touch over";
    const request = { directory: root, exception: "none", isBackground: true } as const;
    const server = await room.commands.start({ ...request, command: script });
    const isThere = (name: string) => existsSync(join(root, name));
    await expect.poll(() => isThere("ready")).toBe(true);
    const plain = join(room.base, "plain", basename(root));
    cpSync(root, plain, { recursive: true, preserveTimestamps: true });
    spawnSync("bash", ["-c", line], { cwd: plain, stdio: "ignore" });
    expect((await room.run(line)).code).toBe(0);
    expect(settings()).toBe(settings(plain));
    await room.run("touch done");
    await expect.poll(() => isThere("over")).toBe(true);
    await server.end();
    expect(settings()).toBe(settings(plain));
  });

  it.each([
    ["pre-commit", "git checkout -q -b mine origin/daves"],
    ["pre-push", "git checkout -q --track origin/daves"],
    ["post-merge", "git sparse-checkout set src"],
  ])("P53 changes beside a hook that git does not run for it: %s, %s", async (hook, line) => {
    write(`.git/hooks/${hook}`, "#!/bin/sh\n", 0o755);
    const before = settings();
    const { code, text } = await room.run(line);
    expect({ code, text }).toMatchObject({ code: 0 });
    expect(settings()).not.toBe(before);
    expect(text).not.toContain("could not write config");
  });

  it.each([
    ["post-checkout", "git checkout -q -b mine origin/daves"],
    ["post-checkout", "git switch daves"],
    ["post-checkout", "git fetch -q && cd src && git checkout -q --track origin/daves && echo done"],
    ["post-checkout", "git worktree add -q -b mine tree origin/daves"],
    ["pre-push", "git push -q -u origin topic"],
    ["pre-push", "git push -q --set-upstream origin HEAD:refs/heads/new"],
    ["pre-commit", "git submodule -q init"],
  ])("P53 changes as in plain bash where a hook must run: %s, %s", async (hook, line) => {
    const other = join(root, "sub/other.git");
    cpSync(join(room.base, "other.git"), other, { recursive: true });
    git(root, "remote", "set-url", "origin", "./sub/other.git");
    git(root, "config", "--file", ".gitmodules", "submodule.s.path", "s");
    git(root, "config", "--file", ".gitmodules", "submodule.s.url", "./sub/other.git");
    git(root, "update-index", "--add", "--cacheinfo", `160000,${git(root, "rev-parse", "HEAD")},s`);
    const script = `#!/bin/sh
{ echo "$(basename "$0") $# $(git config core.hooksPath) $(git branch --show-current)"; [ ${hook} != pre-push ] || cat; } >> ran.txt
git config --get branch.topic.merge
[ ${hook} = pre-push ] || exit 3
`;
    write(`.git/hooks/${hook}`, script, 0o755);
    const plain = join(room.base, "plain", basename(root));
    cpSync(root, plain, { recursive: true, preserveTimestamps: true });
    const asking = room.commands.protectedWrites({ command: line, directory: root, exception: "none" });
    // Root's commands cannot make the namespaces that the hook would need.
    if (process.getuid?.() === 0 && hook !== "pre-commit") {
      await expect(asking).rejects.toThrow(`git runs the hook ${hook} for it`);
      return;
    }
    expect(await asking).toEqual([]);
    const done = spawnSync("bash", ["-c", `exec 2>&1; ${line}`], { cwd: plain, encoding: "utf8" });
    const { code, text, run } = await room.run(line);
    expect({ code, text, taken: await run.takenBack() }).toEqual({
      ...{ code: done.status, text: done.stdout, taken: [] },
    });
    expect(settings()).toBe(settings(plain));
    const notes = (folder: string) =>
      ["ran.txt", "tree/ran.txt"].flatMap((name) =>
        existsSync(join(folder, name)) ? [readFileSync(join(folder, name), "utf8")] : [],
      );
    expect(notes(root)).toEqual(notes(plain));
    expect(notes(root).length).toBe(hook === "pre-commit" ? 0 : 1);
  });

  it.each(["sh s.sh", "cd src; bash -e ../s.sh", "./s.sh"])(
    "P53 a script that names hooks for git is asked about before, and whole after a yes: %s",
    async (command) => {
      write("s.sh", "#!/bin/sh\nset -e\necho 1 > one.txt\ngit config core.hooksPath .husky\n", 0o755);
      const request = { command, directory: root, exception: "none" } as const;
      const writes = await room.commands.protectedWrites(request);
      expect(writes.map(({ path }) => path)).toEqual([join(root, ".git/config")]);
      const started = await room.commands.start({ ...request, writes: writes.map(({ path }) => path) });
      expect((await started.shellEnded).exitCode).toBe(0);
      expect(await started.takenBack()).toEqual([]);
      expect(git(root, "config", "core.hooksPath")).toBe(".husky");
    },
  );

  it.each([
    ["another program's script", "#!/usr/bin/env python3\n# git config core.hooksPath x\n", "./s.sh"],
    ["one that is only shown", "git config core.hooksPath x\n", "cat s.sh"],
    ["a harmless setting", "git config push.default current\n", "sh s.sh"],
  ])("P53 a script is not asked about: %s", async (_name, text, command) => {
    write("s.sh", text, 0o755);
    expect(await room.commands.protectedWrites({ command, directory: root, exception: "none" })).toEqual([]);
  });

  it.each([
    ["git checkout -b mine origin/daves && sh s.sh", "call git checkout as a command of its own"],
    ["git switch daves; touch x", "other programs run"],
    ["git branch mine origin/daves | sed p", "other programs run"],
    ["git branch -d topic; printf -v 'a[$(sh s.sh)]' x", "other programs run"],
    ["git branch -d topic && touch x", "other programs run"],
    ["git submodule update --init && make", "other programs run"],
    ["git push -u origin topic | tee log", "other programs run"],
    ["git update-index -q --refresh; git checkout -b mine origin/daves", "other programs run"],
  ])("P53 is refused before it changes anything where git could not write it: %s", async (command, words) => {
    const request = { command, directory: root, exception: "none" } as const;
    await expect(room.commands.protectedWrites(request)).rejects.toThrow(/^Nothing was run: .*\.git\/config/);
    await expect(room.commands.protectedWrites(request)).rejects.toThrow(words);
    const unlimited = { ...request, exception: "unlimited" } as const;
    expect(await room.commands.protectedWrites(unlimited)).toEqual([]);
  });

  it.each([
    "git checkout topic && sh s.sh",
    "git checkout -b mine && sh s.sh",
    "git checkout -b mine main; touch x",
    "git switch --no-track -c mine origin/daves && sh s.sh",
    "git push origin topic | tail -3",
    "git checkout -- src && sh s.sh",
    "git branch -a -vv | cat",
    "git branch mine && sh s.sh",
    "git submodule status | cat",
  ])("P53 is asked about as before where git does not write it: %s", async (command) => {
    const request = { command, directory: root, exception: "none" } as const;
    expect(await room.commands.protectedWrites(request)).toEqual([]);
  });

  it("P53 takes a program after a yes that names the file, and no other line does", async () => {
    const line = "git config core.hooksPath .husky";
    const request = { command: line, directory: root, exception: "none" } as const;
    const named = await room.commands.protectedWrites(request);
    expect(named).toEqual([
      { path: join(root, ".git/config"), why: "git can run programs that its settings name" },
    ]);
    const run = await room.commands.start({ ...request, writes: named.map(({ path }) => path) });
    expect((await run.shellEnded).exitCode).toBe(0);
    expect(await run.takenBack()).toEqual([]);
    expect(git(root, "config", "core.hooksPath")).toBe(".husky");
    for (const other of [
      "git config user.name b",
      "git config --get core.pager",
      "git config --global core.pager x",
    ])
      expect(await room.commands.protectedWrites({ ...request, command: other })).toEqual([]);
  });

  it("P22 a command that began while git could write it leaves no program in it", async () => {
    execFileSync("mkfifo", [join(root, "begin"), join(root, "end")]);
    const request = { directory: root, exception: "none" } as const;
    const line = "git rev-parse HEAD < begin && git config push.default current && git rev-parse HEAD < end";
    const changing = await room.commands.start({ ...request, command: line });
    const script =
      "while ! grep -q current .git/config; do :; done; printf '[alias]\\n\\tst = !sh\\n' >> .git/config";
    const beside = await room.commands.start({ ...request, command: `: > begin; ${script}; : > end` });
    await changing.shellEnded;
    await beside.shellEnded;
    const taken = [...(await changing.takenBack()), ...(await beside.takenBack())];
    expect(settings()).not.toContain("[alias]");
    expect(taken.map(({ path }) => path)).toEqual([join(root, ".git/config")]);
  });
});

/** The settings of a repository in which git could be told to run something. */
function programsOf(folder: string): string {
  const all = git(folder, "config", "--list", "--local", "--no-includes").split("\n");
  const plain =
    /^(?:branch|user)\.|^core\.(?:bare|filemode|log|repo|sparse)|^remote\.origin\.(?:url|fetch)=|^push\./;
  return all.filter((line) => !plain.test(line)).join("\n");
}
