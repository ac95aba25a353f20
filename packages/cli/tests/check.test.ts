import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FakeReply } from "@burin/core/testing";
import { describe, expect, it } from "vitest";
import { burin } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";

const writing = (content: string): FakeReply => ({
  calls: [{ name: "write_file", args: { file_path: join(root, "a.txt"), content } }],
});
const running = (command: string): FakeReply => ({
  calls: [{ name: "run_shell_command", args: { command } }],
});
const SAYING: FakeReply = { text: "done" };

async function run(args: readonly string[], ...replies: FakeReply[]) {
  const env = await modelEnv(...replies);
  return burin(["-p", "go", "-y", "--sandbox", "off", ...args], { cwd: root, env });
}

const asked = () => JSON.stringify(server.requests.at(-1)?.body);

describe("--check", () => {
  const check = "grep good a.txt";

  it("sends its failure back to the model until it passes, and says so in the document", async () => {
    const { code, stdout } = await run(
      ["--check", check, "--json"],
      writing("bad"),
      SAYING,
      writing("good"),
      { text: "put right" },
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      status: "success",
      result: "put right",
      check: { command: check, passed: true, exitCode: 0, attempts: 2 },
    });
    expect(asked()).toContain("The check that has to pass");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("good");
  });

  it("fails the run when the model changes nothing more, rc 1", async () => {
    const { code, stdout } = await run(["--check", check, "--json"], writing("bad"), SAYING, SAYING);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      status: "error",
      error: { type: "check_failed" },
      check: { passed: false, exitCode: 1, attempts: 2 },
    });
  });

  it("ends within the budget", async () => {
    const usage = { inputTokens: 600, outputTokens: 1 };
    const replies = [writing("bad"), SAYING, writing("worse"), SAYING].map((reply) => ({ ...reply, usage }));
    const { code, stdout } = await run(
      ["--check", check, "--budget", "1000", "--json"],
      ...(replies as FakeReply[]),
    );
    expect(code).toBe(4);
    expect(JSON.parse(stdout).error.type).toBe("budget");
  });

  it("P44 a check that never ends is ended with the budget of time", async () => {
    const { code, stdout } = await run(["--check", "sleep 300", "--budget", "2s", "--json"], SAYING);
    expect(code).toBe(4);
    const { status, error, check: result } = JSON.parse(stdout);
    expect([status, error.type, result.passed]).toEqual(["limit", "budget", false]);
    expect(error.message).toBe(
      'The check "sleep 300" does not pass (did not end). The budget of 2 seconds is used up.',
    );
  });

  it("may stand in the settings", async () => {
    const file = put("more.json", { check: "exit 0" });
    const { stdout } = await run(["--settings", file, "--json"], SAYING);
    expect(JSON.parse(stdout).check).toMatchObject({ command: "exit 0", passed: true, attempts: 1 });
  });
});

describe("the end of a run that changed files", () => {
  it("names the tests that ran after the last change, by their exit codes, and those that did not", async () => {
    const scripts = { lint: "exit 0", test: "exit 0", build: "exit 3" };
    put("package.json", { scripts });
    const { stdout } = await run(
      ["--json"],
      running("npm run lint"),
      writing("one"),
      running("npm test"),
      writing("two"),
      running("npm run build"),
      running("npm test 2>&1 | tail -1"),
      running("cat a.txt; ls tests; echo npm test"),
      SAYING,
    );
    const { changed, checked, notSince } = JSON.parse(stdout).proof;
    expect(changed).toEqual([join(root, "a.txt")]);
    expect(checked).toEqual([
      { command: "npm run build", exitCode: 3 },
      { command: "npm test 2>&1 | tail -1", exitCode: null },
    ]);
    expect(notSince).toEqual(["npm run lint", "npm test"]);
  });

  it("says in words that nothing ran", async () => {
    const { stderr } = await run([], writing("one"), SAYING);
    expect(stderr).toContain("1 file changed; no test or build ran since");
  });

  it("says nothing where nothing was changed", async () => {
    const { stdout } = await run(["--json"], running("npm test"), SAYING);
    expect(JSON.parse(stdout)).not.toHaveProperty("proof");
  });
});

describe("burin call", () => {
  it("of a command that fails ends with 1", async () => {
    const call = (command: string) =>
      burin(["call", "run_shell_command", JSON.stringify({ command }), "-y"], { cwd: root });
    expect((await call("exit 7")).code).toBe(1);
    expect((await call("true")).code).toBe(0);
  });
});

describe("a rule that allows a bare launcher", () => {
  it.each(["python3", "sh -s", "env A=b", "npx"])("P21 is warned about: %s", async (words) => {
    const { stderr } = await run(["--allow", `run_shell_command(${words})`], SAYING);
    expect(stderr).toContain(
      `--allow run_shell_command(${words}): this lets ${words.split(" ")[0]} run whatever`,
    );
  });

  it("P22 is not, where it names a script or a package", async () => {
    const words = ["python3 a.py", "sh -c ls", "npx tsc", "npm test", "node --test"];
    const { stderr } = await run(
      words.flatMap((one) => ["--allow", `run_shell_command(${one})`]),
      SAYING,
    );
    expect(stderr).not.toContain("run whatever");
  });
});

describe("a rule of the command line that names no tool", () => {
  it("is told of, with the near name", async () => {
    const { stderr } = await run(["--allow", "read_fiel"], SAYING);
    expect(stderr).toContain(
      "--allow read_fiel: there is no tool of that name here; did you mean read_file?",
    );
    const foreign = await run(["--allow", "Bash(npm test)"], SAYING);
    expect(foreign.stderr).toContain(
      "--allow Bash: there is no tool of that name here; did you mean run_she",
    );
    const permissions = { deny: ["web_fetch", "write_fiel(*.md)"] };
    const tools = { exclude: ["web_fetch", "web_serch", "x*"] };
    const hooks = [
      { event: "before_tool", tools: ["edit(src/**)", "Bash"], command: "true" },
      { event: "session_start", command: "true" },
    ];
    const file = put("names.json", { permissions, tools, hooks });
    const named = await burin(["tools", "--settings", file], { cwd: root });
    expect(named.stderr.split("\n").filter((line) => line.includes("no tool of that name"))).toEqual([
      "burin: permissions.deny write_fiel: there is no tool of that name here; did you mean write_file?",
      "burin: tools.exclude web_serch: there is no tool of that name here; did you mean web_search?",
      "burin: hooks.tools Bash: there is no tool of that name here; did you mean run_shell_command?",
    ]);
    const guard = put("guard.json", { hooks: hooks.slice(0, 1) });
    expect((await run(["--settings", guard], SAYING)).stderr).toContain("hooks.tools Bash: there is no tool");
    expect((await run(["--allow", "read_file", "--deny", "x__*"], SAYING)).stderr).not.toContain(
      "no tool of that name",
    );
  });
});

describe("burin tools", () => {
  it("says what it waits for, and waits for 10 s at most", async () => {
    const silent = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] };
    const file = put("more.json", { mcpServers: { slow: silent } });
    const { code, stdout, stderr } = await burin(["tools", "--settings", file], { cwd: root });
    expect(code).toBe(0);
    expect(stderr).toContain("starting slow, at most 10 s");
    expect(stdout).toContain("read_file");
  });
});

describe("a call that nobody was there to approve", () => {
  it("is told of once, with what would let it run", async () => {
    const replies = [running("touch x"), { text: "could not" }];
    const env = await modelEnv(...replies);
    const { code, stderr } = await burin(["-p", "go"], { cwd: root, env });
    expect(code).toBe(3);
    expect(stderr.match(/needs an approval \(/g)).toHaveLength(1);
    expect(stderr).toMatch(/to run it unasked: --allow 'run_shell_command\(touch x;\)', or --yes/);
    const again = await burin(["-p", "go", "-q"], { cwd: root, env: await modelEnv(...replies) });
    expect(again.stderr).toContain("needs an approval");
  });
});
