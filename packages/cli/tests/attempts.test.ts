import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { beforeEach, expect, it } from "vitest";
import { BURIN, buildEnvironment, burin, waitForExit } from "./burin.ts";
import { modelEnv } from "./fake-model.ts";
import { put, root } from "./project.ts";
import { ScreenTerminal } from "./screen-terminal.ts";

const GIT = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
const at = (name: string) => join(root, name);
const read = (name: string) => readFileSync(at(name), "utf8");
const treesFolder = () => join(dirname(root), ".burin-worktrees", basename(root));

function git(...words: string[]): string {
  return execFileSync("git", words, { cwd: root, encoding: "utf8", env: { ...process.env, ...GIT } });
}

/** Each model has a command that it runs first; then it says which model it is. */
function answering(commands: Readonly<Record<string, string>>, count = 2): FakeReply[] {
  const reply: FakeReply = ({ body }) => {
    const model = String(body.model);
    const isDone = JSON.stringify(body.messages).includes('"role":"tool"');
    const command = commands[model] ?? "true";
    return isDone
      ? { text: `I am ${model}.` }
      : { calls: [{ name: "run_shell_command", args: { command } }] };
  };
  return Array.from({ length: Object.keys(commands).length * count }, () => reply);
}

const attempts = (words: readonly string[], env: object = {}) =>
  burin(["attempts", ...words], { cwd: root, env: { ...env, ...GIT } });
const FREE = ["-y", "--sandbox", "off"];

beforeEach(() => {
  put("src/a.txt", LINES);
  put(".gitignore", ".home/\n");
  git("init", "-q", "-b", "main");
  git("config", "user.name", "a");
  git("config", "user.email", "a@b");
  git("add", "-A");
  git("commit", "-qm", "First");
});

it("P25 burin attempts works on a prompt side by side, compares what came out, and takes files of several", async () => {
  const env = await modelEnv(
    ...answering({
      good: "sed -i s/two/TWO/ src/a.txt; touch passes; echo good > good.txt",
      bad: "sed -i s/nine/NINE/ src/a.txt; echo bad > bad.txt",
    }),
    { text: "I cannot." },
  );
  const words = ["-m", "good,bad", "--check", "test -e passes", "--max-turns", "2", ...FREE, "improve it"];
  const { code, stdout, stderr } = await attempts(words, env);
  expect(code, stderr).toBe(0);
  const [head, columns, good, bad] = stdout.split("\n");
  expect(head).toMatch(/^\d\d-\d\d-\w{4} {2}improve it$/);
  expect(columns).toMatch(/^ +state +check +change +time +cost +model$/);
  expect(good).toMatch(/^1 +success +passed +3 files \+2 -1 +\d+\.\d s +\S.* good$/);
  expect(bad).toMatch(/^2 +(?:limit|error) +failed +2 files \+2 -1 +\d+\.\d s +\S.* bad$/);
  expect(stderr).toContain("1 | ");
  expect([read("src/a.txt"), existsSync(at("good.txt"))]).toEqual([LINES, false]);

  const shown = await attempts(["show", "1"]);
  expect(shown.stdout).toContain("I am good.");
  expect(shown.stdout).toContain("+TWO");
  expect((await attempts(["take", "1"])).stdout).toBe(
    "merged      good.txt\nmerged      passes\nmerged      src/a.txt\n",
  );
  expect((await attempts(["take", "2", "src/a.txt"])).stdout).toBe("merged      src/a.txt\n");
  expect(read("src/a.txt")).toBe(LINES.replace("two", "TWO").replace("nine", "NINE"));
  expect([read("good.txt"), existsSync(at("bad.txt"))]).toEqual(["good\n", false]);
  const listed = JSON.parse((await attempts(["--json"])).stdout);
  expect(listed).toMatchObject([
    { number: 1, model: "good", check: "passed", status: "success", isMerged: true, files: 3 },
    { number: 2, model: "bad", check: "failed", isMerged: false, files: 2 },
  ]);
  expect(await attempts(["rm"])).toMatchObject({ code: 2 });
  expect(await attempts(["rm", "--yes"])).toMatchObject({ code: 0 });
  expect([git("branch", "--list", "burin/*"), existsSync(treesFolder())]).toEqual(["", false]);
});

it("P25 attempts work in the mode auto unless one is named, and say of a conflict what both sides changed", async () => {
  const env = await modelEnv(...answering({ fake: "sed -i s/two/TWO/ src/a.txt" }));
  const { stdout, stderr } = await attempts(["1", "--json", "go"], env);
  expect(JSON.parse(stdout), stderr).toMatchObject([{ status: "success", files: 1, added: 1, removed: 1 }]);
  writeFileSync(at("src/a.txt"), LINES.replace("two", "deux"));
  expect((await attempts(["show", "1"])).stdout).toContain("src/a.txt: both sides changed the same");
  expect(await attempts(["take", "1"])).toMatchObject({
    code: 1,
    stdout: "left alone  src/a.txt: both sides changed the same\n",
  });
  expect(await attempts(["take", "1", "--ours"])).toMatchObject({ code: 0, stdout: "" });
  expect(read("src/a.txt")).toBe(LINES.replace("two", "deux"));
});

/** Attempts that have each begun a command that does not end. */
async function startSleeping() {
  const env = await modelEnv(...answering({ one: "echo kept > kept.txt; touch begun; sleep 60", two: "" }));
  const words = [BURIN, "attempts", "2", "-m", "one", ...FREE, "go"];
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: buildEnvironment(root, { ...env, ...GIT }),
  });
  const ended = waitForExit(child);
  const hasBegun = (number: number) => {
    const group = git("branch", "--list", "burin/*", "--format=%(refname:lstrip=3)").split(".")[0];
    return existsSync(join(treesFolder(), `${group}.${number}`, "begun"));
  };
  await expect.poll(() => hasBegun(1) && hasBegun(2), { timeout: 60_000 }).toBe(true);
  return { child, ended };
}

it("P25 attempts that were killed are listed with what they had done, and nothing of it is lost", async () => {
  const { child, ended } = await startSleeping();
  child.kill("SIGKILL");
  await ended;
  expect((await attempts([])).stdout).toMatch(/^1 +interrupted .*\n2 +interrupted /m);
  expect((await attempts(["take", "2"])).stdout).toBe("merged      begun\nmerged      kept.txt\n");
  expect(read("kept.txt")).toBe("kept\n");
});

it("P25 ctrl+c ends all attempts, and their table says so", async () => {
  const { child, ended } = await startSleeping();
  child.kill("SIGINT");
  const { code, stdout } = await ended;
  expect(code).toBe(130);
  expect(stdout).toMatch(/^1 +cancelled +2 files .*\n2 +cancelled +2 files /m);
});

it("P25 /merge in the app takes parts of an attempt into the user's files", async () => {
  const env = await modelEnv(...answering({ fake: "sed -i 's/one/ONE/; s/ten/TEN/' src/a.txt" }));
  await attempts(["1", ...FREE, "go"], env);
  const terminal = new ScreenTerminal({ cwd: root, env: { ...env, ...GIT }, columns: 100, rows: 40 });
  try {
    await terminal.shows("fake · ");
    await terminal.enter("/merge \r", "Take changes of which work tree?", "src/a.txt");
    await terminal.enter("\r", /src\/a\.txt {2}1 of 1$/m, "[x] 1/2");
    await terminal.enter("x", "[ ] 1/2");
    await terminal.enter("\r", "taken: src/a.txt", "so the work tree is kept");
    expect(read("src/a.txt")).toBe(LINES.replace("ten", "TEN"));
  } finally {
    terminal.close();
  }
});
