import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { BURIN, buildEnvironment, burin, matchFailure } from "./burin.ts";
import { modelEnv } from "./fake-model.ts";
import { put, root } from "./project.ts";

const SERVER = fileURLToPath(new URL("../../core/tests/mcp/stdio-server.mjs", import.meta.url));

const SECRETS = /lizard-4711|gecko-0815|axolotl-2342|c0bra7Fq|newt1x2y/;
const run = (...args: string[]) => burin(args, { cwd: root });
const settingsFile = () => join(root, ".home", "settings.json");

describe("burin mcp", () => {
  it("adds a server, tries it, lists it, uses it and takes it out again; all else in the file stays", async () => {
    await run("call", "list_directory", "{}");
    await rm(join(root, ".home"), { recursive: true, force: true });
    const added = await run(
      "mcp",
      "add",
      "--env",
      "WHO=me",
      "mine",
      process.execPath,
      SERVER,
      "plain",
      "--yes",
    );
    expect(added).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("mine: 3 tools, 0 prompts, 0 resources"),
    });
    const text = await readFile(settingsFile(), "utf8");
    expect(JSON.parse(text).mcpServers.mine).toEqual({
      command: process.execPath,
      args: [SERVER, "plain", "--yes"],
      env: { WHO: "me" },
    });
    await writeFile(settingsFile(), text.replace("{\n", "{\n  // a comment\n"));
    expect((await run("mcp", "list")).stdout).toBe(
      `mine  ${process.execPath} ${SERVER} plain --yes  connected, 3 tools\n`,
    );
    expect((await run("tools")).stdout).toContain("mine__echo  (mcp:mine)");
    const called = await run("call", "mine__echo", '{"text":"hello"}', "--allow", "mine__*");
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") });
    expect(await run("call", "mine__echo", "{}")).toMatchObject({ code: 3 });
    expect(await run("mcp", "remove", "mine")).toMatchObject({ code: 0 });
    expect(await readFile(settingsFile(), "utf8")).toContain("// a comment");
    expect((await run("mcp", "list", "--json")).stdout).toBe("[]\n");
  });

  it("P54 takes options after a URL too, where other agents write them", async () => {
    await run("mcp", "add", "far", "http://127.0.0.1:9/mcp", "--header", "A: b", "--scope", "user");
    expect(JSON.parse(await readFile(settingsFile(), "utf8")).mcpServers.far).toEqual({
      url: "http://127.0.0.1:9/mcp",
      headers: { A: "b" },
    });
  });

  it("R21 says what is wrong with a server, and with a command line", async () => {
    const broken = await run("mcp", "add", "broken", process.execPath, SERVER, "exit");
    expect(broken).toEqual(matchFailure(1, "the licence is missing"));
    for (const [args, words] of [
      [["add", "only-an-alias"], "the command or URL"],
      [["add", "a b", "x"], "cannot be an alias"],
      [["add", "--env", "novalue", "a", "x"], "--env NAME=value"],
      [["add", "--scope", "moon", "a", "x"], "user or project"],
      [["remove", "nobody"], 'no MCP server "nobody"'],
      [["test", "nobody"], 'no MCP server "nobody"'],
      [["dance"], 'no "dance"'],
    ] as const) {
      expect(await run("mcp", ...args)).toEqual(matchFailure(2, words));
    }
  });

  it("R24 list says which servers can be reached now, and why not", async () => {
    await run("mcp", "add", "good", process.execPath, SERVER, "plain");
    await run("mcp", "add", "dead", process.execPath, SERVER, "exit");
    await run("mcp", "add", "gone", "http://127.0.0.1:9/mcp");
    await run("mcp", "add", "none", "no-such-program -y x");
    const { OPENAI_BASE_URL: notMcp } = await modelEnv();
    await run("mcp", "add", "wrong", `${notMcp}/mcp`);
    await run("mcp", "add", "lost", "http://no-such-host.invalid/mcp");
    const { code, stdout } = await run("mcp", "list");
    expect(code).toBe(0);
    const [good, dead, gone, none, wrong, lost] = stdout.split("\n");
    expect(good).toMatch(/^good {2}.* {2}connected, 3 tools$/);
    expect(dead).toMatch(/^dead {2}.*could not be started.*the licence is missing/);
    expect(gone).toMatch(/^gone {2}http:\/\/127\.0\.0\.1:9\/mcp \(auto\) {2}.*ECONNREFUSED/);
    expect(none).toMatch(/there is no program "no-such-program -y x", .*; its arguments belong in "args"\.$/);
    expect(wrong).toContain('"wrong" could not be reached: it answered HTTP 404: check the URL.');
    expect(lost).toMatch(/could not be reached: .*host "no-such-host\.invalid"/);
    const listed = JSON.parse((await run("mcp", "list", "--json")).stdout);
    expect(listed).toMatchObject([
      { alias: "good", connected: true, tools: 3 },
      { alias: "dead", connected: false, error: expect.stringContaining("the licence is missing") },
      { alias: "gone", connected: false },
      { alias: "none", connected: false },
      { alias: "wrong", connected: false },
      { alias: "lost", connected: false },
    ]);
  });

  it.runIf(process.platform !== "win32")(
    "R24 one that ends at once is said to have ended, with what it wrote on either stream",
    async () => {
      const wrong = await run("mcp", "add", "wrong", "sh", "-c", "echo usage: give a folder; exit 2");
      const told = 'The MCP server "wrong" could not be started: it has ended. Its last output: ';
      expect(wrong).toEqual(matchFailure(1, `${told}Not an MCP message: usage: give a folder`));
      const sick = await run("mcp", "add", "sick", "sh", "-c", "echo no key >&2");
      expect(sick).toEqual(
        matchFailure(1, 'The MCP server "sick" could not be started: it has ended. Its last output: no key'),
      );
    },
  );

  it("R24 one that does not work is added with one line that says so, and each start has one line of it", async () => {
    const added = await run("mcp", "add", "broken", process.execPath, "/nope.mjs");
    const why =
      "The MCP server \"broken\" could not be started: it has ended. Its last output: Error: Cannot find module '/nope.mjs'";
    expect(added).toEqual({
      code: 1,
      stdout: "",
      stderr: `burin: added broken to ${settingsFile()}, but it does not work yet: ${why} Try it again with burin mcp test broken, or take it out with burin mcp remove broken.\n`,
    });
    expect((await run("mcp", "test", "broken")).stderr).toBe(`burin: ${why}\n`);
    const env = await modelEnv({ text: "Hello" });
    const { stdout, stderr } = await burin(["-p", "hi"], { cwd: root, env });
    expect(stdout).toBe("Hello\n");
    expect(stderr.split("\n").filter((line) => /nope|node:|^ /.test(line))).toEqual([
      `burin: Tools from mcp:broken: ${why}`,
    ]);
  });

  it("R23 counts one tool as one", async () => {
    const one = await run("mcp", "add", "one", process.execPath, SERVER, "changed");
    expect(one.stdout).toMatch(/^one: 1 tool, 0 prompts, 0 resources\n/);
    expect((await run("mcp", "list")).stdout).toContain("connected, 1 tool\n");
  });

  it("P19 list shows no password of an address, and none that a server was given", async () => {
    const mcpServers = {
      far: { url: "http://me:lizard-4711-x@127.0.0.1:9/mcp" },
      near: {
        url: "http://127.0.0.1:9/mcp?token=axolotl-2342",
        headers: { Authorization: "Bearer newt1x2y3z" },
      },
      loud: {
        command: process.execPath,
        args: [
          "-e",
          "console.error(process.env.MY_API_TOKEN, process.env.ACCOUNT, 'newt1x2y3z'); process.exit(3)",
        ],
        env: { MY_API_TOKEN: "gecko-0815-yz", ACCOUNT: "c0bra7Fq2LmX9tRw" },
      },
    };
    put(".home/settings.json", { mcpServers });
    const text = (await run("mcp", "list")).stdout + (await run("mcp", "list", "--json")).stdout;
    expect(text).toContain("far  http://me:[redacted: password]@127.0.0.1:9/mcp");
    expect(text).toContain("near  http://127.0.0.1:9/mcp?token=[redacted: token]");
    const marks = "[redacted: MY_API_TOKEN] [redacted: ACCOUNT] ";
    expect(text).toContain(`${marks}[redacted:`);
    const taken = await run("mcp", "add", "near", "other-program");
    expect(text + taken.stderr).not.toMatch(SECRETS);
    const env = await modelEnv({ text: "Hello" });
    await burin(["-p", "hi", "--output-format", "json"], { cwd: root, env });
    const sessions = join(root, ".home", "sessions");
    const logs = (await readdir(sessions, { recursive: true })).filter((name) => name.endsWith(".jsonl"));
    const log = await readFile(join(sessions, logs[0] ?? ""), "utf8");
    expect(log).toContain(marks);
    expect(log).not.toMatch(SECRETS);
  });

  it("P19 what a server says when it fails shows none of what it was given, in its arguments neither", async () => {
    const script = "console.error(process.env.MY_API_TOKEN, ...process.argv); process.exit(3)";
    const args = [
      "-e",
      script,
      "--",
      "--api-key",
      "gecko-0815-yz",
      "--header",
      "Authorization: Bearer newt1x2y3z",
    ];
    const env = { MY_API_TOKEN: "axolotl-2342" };
    put(".home/settings.json", { mcpServers: { loud: { command: process.execPath, args, env } } });
    const tested = await run("mcp", "test", "loud");
    expect(tested).toEqual(matchFailure(1, "[redacted: MY_API_TOKEN]"));
    const examined = await run("doctor", "--online");
    const service = await modelEnv({ text: "Hello" });
    const asked = await burin(["-p", "hi"], { cwd: root, env: service });
    const listed = await run("mcp", "list");
    expect(listed.stdout).toContain("--api-key [redacted: api-key]");
    const all = [tested, examined, asked, listed].map(({ stdout, stderr }) => stdout + stderr).join("");
    expect(all).not.toMatch(SECRETS);
  });

  it("P54 a name that is taken is changed only with --replace", async () => {
    await run("mcp", "add", "mine", process.execPath, SERVER, "plain");
    const before = await readFile(settingsFile(), "utf8");
    const again = await run("mcp", "add", "mine", "other-program");
    expect(again).toEqual(matchFailure(2, "--replace"));
    expect(await readFile(settingsFile(), "utf8")).toBe(before);
    await run("mcp", "add", "--replace", "mine", process.execPath, SERVER, "workers");
    expect(JSON.parse(await readFile(settingsFile(), "utf8")).mcpServers.mine.args).toEqual([
      SERVER,
      "workers",
    ]);
  });

  it("P24 a server of the project is written, and starts only after burin trust", async () => {
    const added = await run("mcp", "add", "--scope", "project", "theirs", process.execPath, SERVER);
    expect(added.stderr).toContain("burin trust");
    expect(
      JSON.parse(await readFile(join(root, ".burin", "settings.json"), "utf8")).mcpServers.theirs,
    ).toBeDefined();
    expect((await run("tools")).stdout).not.toContain("theirs__");
    expect(existsSync(join(root, "starts"))).toBe(false);
  });
});

describe("P26 nothing of a server is left", () => {
  /** A zombie has ended: where nobody looks after orphans, as in many containers, it stays in the table. */
  const isZombie = (pid: number) =>
    process.platform === "linux" && /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  const alive = (pids: readonly number[]) =>
    pids.filter((pid) => {
      try {
        process.kill(pid, 0);
        return !isZombie(pid);
      } catch {
        return false;
      }
    });
  const pidsOf = async () => (await readFile(join(root, "worker"), "utf8")).split(" ").map(Number);
  const untilGone = (pids: readonly number[]) => expect.poll(() => alive(pids)).toEqual([]);

  it("after a call that ended", async () => {
    await run("mcp", "add", "w", process.execPath, SERVER, "workers");
    await rm(join(root, "worker"));
    expect(await run("call", "w__echo", '{"text":"x"}', "--yes")).toMatchObject({ code: 0 });
    await untilGone(await pidsOf());
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const)(
    "after %s in a call; after a crash by the next start",
    async (signal) => {
      await run("mcp", "add", "w", process.execPath, SERVER, "workers");
      await rm(join(root, "worker"));
      const child = spawn(process.execPath, [BURIN, "call", "w__wait", "{}", "--yes"], {
        cwd: root,
        env: buildEnvironment(root),
        stdio: "ignore",
      });
      await expect.poll(() => existsSync(join(root, "called"))).toBe(true);
      const pids = await pidsOf();
      expect(alive(pids)).toHaveLength(2);
      child.kill(signal);
      await new Promise((resolve) => child.once("close", resolve));
      if (signal === "SIGKILL") await run("call", "run_shell_command", '{"command":"true"}', "--yes");
      await untilGone(pids);
    },
  );
});
