import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { beforeEach, expect, it } from "vitest";
import { BURIN, buildEnvironment, burin } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";
import { ScreenTerminal } from "./screen-terminal.ts";

const GIT = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
const at = (name: string) => join(root, name);
const read = (name: string) => readFileSync(at(name), "utf8");
const treeFolder = (name: string) => join(dirname(root), ".burin-worktrees", basename(root), name);

function git(...words: string[]): string {
  return execFileSync("git", words, { cwd: root, encoding: "utf8", env: { ...process.env, ...GIT } });
}

const running = (command: string): FakeReply => ({
  calls: [{ name: "run_shell_command", args: { command } }],
});

/** A session in a work tree that runs the command. */
async function work(name: string, command: string) {
  const env = await modelEnv(running(command), { text: "done" });
  return burin(["-w", name, "-p", "go", "-y", "--sandbox", "off"], { cwd: root, env: { ...env, ...GIT } });
}

const worktrees = (...words: string[]) => burin(["worktrees", ...words], { cwd: root, env: GIT });
const undo = () => burin(["undo"], { cwd: root, env: GIT });

beforeEach(() => {
  put("src/a.txt", LINES);
  put("src/gone.txt", "gone\n");
  put(".gitignore", "node_modules/\n.env*\n.home/\n");
  git("init", "-q", "-b", "main");
  git("config", "user.name", "a");
  git("config", "user.email", "a@b");
  git("add", "-A");
  git("commit", "-qm", "First");
  put(".env", "KEY=1\n");
  put("node_modules/dep/index.js", "module.exports = 1;\n");
});

it("P25 burin -w works in a tree of its own, with .env and dependencies, and merge brings it back as one change", async () => {
  put("src/mine.txt", "mine\n");
  const command =
    "cat .env > seen.txt; node -p 'require(\"dep\")' >> seen.txt; sed -i s/two/TWO/ src/a.txt; rm src/gone.txt; " +
    "git add -A; git commit -qm Work; chmod +x src/a.txt";
  const { stderr } = await work("topic", command);
  expect(stderr).toContain("1 file that you have not committed is not in it.");
  expect(stderr).toContain("the work tree topic is kept");
  expect([read("src/a.txt"), existsSync(at("seen.txt"))]).toEqual([LINES, false]);
  expect((await worktrees()).stdout).toMatch(/^topic +3 files to merge /);
  writeFileSync(at("src/a.txt"), LINES.replace("nine", "NINE"));
  const merged = await worktrees("merge", "topic");
  expect(merged).toMatchObject({
    code: 0,
    stdout: "merged      seen.txt\nmerged      src/a.txt\nmerged      src/gone.txt\n",
  });
  expect(read("src/a.txt")).toBe(LINES.replace("nine", "NINE").replace("two", "TWO"));
  expect([read("seen.txt"), existsSync(at("src/gone.txt"))]).toEqual(["KEY=1\n1\n", false]);
  expect((await worktrees()).stdout).toMatch(/^topic +nothing to merge /);
  await undo();
  expect(read("src/a.txt")).toBe(LINES.replace("nine", "NINE"));
  expect([existsSync(at("seen.txt")), read("src/gone.txt")]).toEqual([false, "gone\n"]);
  expect(await worktrees("rm", "topic")).toMatchObject({ code: 0 });
  expect(git("branch", "--list", "burin/*")).toBe("");
});

it("P25 a work tree that changed nothing is removed at the end, and one with changes only when that is said", async () => {
  const { stderr } = await work("idle", "true");
  expect(stderr).toContain("the work tree idle had nothing to keep, and is removed.");
  await work("busy", "echo new > new.txt");
  expect(await worktrees("rm", "busy")).toMatchObject({ code: 2 });
  expect(await worktrees("rm", "busy", "--yes")).toMatchObject({ code: 0 });
  expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
});

it("P25 leaves alone at a merge what both sides changed, takes the rest, and takes a side when that is said", async () => {
  await work("topic", "sed -i s/two/TWO/ src/a.txt; echo new > new.txt");
  writeFileSync(at("src/a.txt"), LINES.replace("two", "deux"));
  const merged = await worktrees("merge", "topic");
  expect(merged.code).toBe(1);
  expect(merged.stdout).toBe("merged      new.txt\nleft alone  src/a.txt: both sides changed the same\n");
  expect(read("src/a.txt")).toBe(LINES.replace("two", "deux"));
  expect(await worktrees("merge", "topic", "src/a.txt", "--ours")).toMatchObject({ code: 0, stdout: "" });
  expect(read("src/a.txt")).toBe(LINES.replace("two", "deux"));
  expect(await worktrees("merge", "topic", "src/a.txt", "--theirs")).toMatchObject({ code: 0 });
  expect(read("src/a.txt")).toBe(LINES.replace("two", "TWO"));
});

it("P25 lists what a killed making or removal left of a work tree, and removes it; work in it only when that is said", async () => {
  git("worktree", "add", "-q", "-b", "burin/half", treeFolder("half"));
  git("worktree", "add", "-q", "--lock", "-b", "burin/gone", treeFolder("gone"));
  rmSync(treeFolder("gone"), { recursive: true });
  git("branch", "burin/named");
  git("branch", "burin/worked");
  const commit = git("commit-tree", "-m", "Work", "HEAD^{tree}").trim();
  git("update-ref", "refs/heads/burin/worked", commit);
  mkdirSync(treeFolder("empty"));
  const { stdout } = await worktrees();
  expect(stdout).toMatch(/^empty +not a whole work tree: nothing to keep; burin -w empty makes it again, /m);
  expect(stdout).toMatch(/^gone +not a whole work tree: nothing to keep/m);
  expect(stdout).toMatch(
    /^half +not a whole work tree: files in .*half; burin worktrees rm half removes it$/m,
  );
  expect(stdout).toMatch(
    /^worked +not a whole work tree: commits on the branch burin\/worked that are on no other/m,
  );
  expect((await worktrees("rm", "empty", "gone", "named")).stdout).toBe(
    "removed  empty\nremoved  gone\nremoved  named\n",
  );
  expect(await worktrees("rm", "half")).toMatchObject({ code: 2 });
  expect(await worktrees("rm", "worked")).toMatchObject({ code: 2 });
  expect((await work("half", "true")).stderr).toContain("burin worktrees rm half --yes removes them");
  expect(await worktrees("rm", "half", "worked", "--yes")).toMatchObject({ code: 0 });
  expect((await worktrees()).stdout).toBe("There is no work tree; burin -w makes one.\n");
  expect([git("branch", "--list", "burin/*"), git("worktree", "list").trim().split("\n").length]).toEqual([
    "",
    1,
  ]);
  expect((await work("half", "cat src/a.txt > copy.txt")).stderr).toContain("a new work tree half");
});

it("P25 a work tree whose session was killed keeps its work", async () => {
  const env = await modelEnv(running("echo kept > kept.txt; touch begun; sleep 60"));
  const words = [BURIN, "-w", "killed", "-p", "go", "-y", "--sandbox", "off"];
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: buildEnvironment(root, { ...env, ...GIT }),
    stdio: "ignore",
  });
  const tree = treeFolder("killed");
  await expect.poll(() => existsSync(join(tree, "begun")), { timeout: 30_000 }).toBe(true);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("close", resolve));
  expect((await worktrees("merge", "killed")).stdout).toBe("merged      begun\nmerged      kept.txt\n");
  expect(read("kept.txt")).toBe("kept\n");
});

it("P25 /merge shows the parts of each file and takes those that are chosen", async () => {
  const command = "sed -i 's/one/ONE/; s/ten/TEN/' src/a.txt; echo new > new.txt";
  const env = await modelEnv(running(command), { text: "All done." });
  const args = ["-w", "topic", "-y", "--sandbox", "off"];
  const terminal = new ScreenTerminal({ cwd: root, args, env: { ...env, ...GIT }, columns: 100, rows: 40 });
  try {
    await terminal.shows("fake · ");
    await terminal.enter("go\r", "All done.", "? for keys");
    await terminal.enter("/merge \r", /new\.txt {2}1 of 2$/m);
    await terminal.enter("\u001b[C", /src\/a\.txt {2}2 of 2$/m, "[x] 1/2");
    await terminal.enter("x", "[ ] 1/2");
    await terminal.enter("\r", "taken: src/a.txt", "so the work tree is kept");
    expect([read("src/a.txt"), read("new.txt")]).toEqual([LINES.replace("ten", "TEN"), "new\n"]);
  } finally {
    terminal.close();
  }
});

it("P25 /merge NAME takes a conflict with git's marks when that is chosen, and undo takes it back", async () => {
  await work("topic", "sed -i s/two/TWO/ src/a.txt");
  const own = LINES.replace("two", "deux");
  writeFileSync(at("src/a.txt"), own);
  const env = { ...(await modelEnv()), ...GIT };
  const terminal = new ScreenTerminal({ cwd: root, env, columns: 100, rows: 40 });
  try {
    await terminal.shows("fake · ");
    await terminal.enter("/merge topic\r", /src\/a\.txt {2}1 of 1$/m, "<<<<<<< yours");
    await terminal.enter("x", "[x] 1/");
    await terminal.enter("\r", "taken: src/a.txt");
  } finally {
    terminal.close();
  }
  const marked = "<<<<<<< yours\ndeux\n=======\nTWO\n>>>>>>> work tree";
  expect(read("src/a.txt")).toBe(LINES.replace("two", marked));
  await undo();
  expect(read("src/a.txt")).toBe(own);
});

it("P25 a session whose work tree was removed goes on in the project's folder", async () => {
  const { stderr } = await work("gone", "echo new > new.txt");
  const id = /burin -r (\S+)/.exec(stderr)?.[1] ?? "";
  expect(await worktrees("rm", "gone", "--yes")).toMatchObject({ code: 0 });
  const env = { ...(await modelEnv({ text: "Here." })), ...GIT };
  const resumed = await burin(["-r", id, "-p", "go on"], { cwd: root, env });
  expect(resumed, resumed.stderr).toMatchObject({ code: 0, stdout: "Here.\n" });
  const asked = JSON.stringify(server.requests.at(-1)?.body);
  expect(asked).toContain("echo new > new.txt");
  expect(asked).not.toContain(treeFolder("gone"));
});
