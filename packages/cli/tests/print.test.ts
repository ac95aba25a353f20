import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@burin/core";
import { buildHistory } from "@burin/core/sessions";
import type { FakeReply } from "@burin/core/testing";
import { requirePrograms } from "@burin/testing/needs";
import { beforeEach, describe, expect, it } from "vitest";
import { BURIN, buildEnvironment, burin, matchFailure, type RunOptions, waitForExit } from "./burin.ts";
import { modelEnv, server } from "./fake-model.ts";
import { put, root } from "./project.ts";

beforeEach(async () => {
  put("a.txt", "alpha\n");
});

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

function run(args: readonly string[], env: Record<string, string> = {}, more: Partial<RunOptions> = {}) {
  return burin(args, { cwd: root, env, ...more });
}

/** The lines that a prompt shows at a terminal. */
async function atTerminal(env: Record<string, string>): Promise<string[]> {
  const command = `"${process.execPath}" "${BURIN}" -p go --no-session`;
  const args = process.platform === "darwin" ? ["-q", "/dev/null", "sh", "-c", command] : ["-qec", command];
  const child = spawn("script", process.platform === "darwin" ? args : [...args, "/dev/null"], {
    cwd: root,
    env: buildEnvironment(root, { NO_COLOR: "1", ...env }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let shown = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) shown += chunk;
  return shown.replaceAll("\r", "").split("\n");
}

/** Runs a script of bash in which "$@" is Burin with these arguments. */
async function inBash(script: string, args: readonly string[], env: Record<string, string>) {
  const child = spawn("bash", ["-c", script, "bash", process.execPath, BURIN, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root, BURIN_HOME: root, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return waitForExit(child);
}

const eventsIn = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AgentEvent);
const reading = () => ({ name: "read_file", args: { absolute_path: join(root, "a.txt") } });

describe("burin -p", () => {
  it("text: the final answer alone on stdout, all else on stderr", async () => {
    const env = await modelEnv({ text: "I look.", calls: [reading()] }, { text: "It says alpha." });
    const { code, stdout, stderr } = await run(["-p", "what does a.txt say?"], env);
    expect(stdout).toBe("It says alpha.\n");
    expect(stderr).toContain("Read a.txt");
    expect(code).toBe(0);
  });

  it("text: the model's words before its calls and the time go to stderr, and --quiet leaves them out", async () => {
    const replies = [
      { text: "I look.", calls: [reading()] },
      { text: "It says alpha.", usage: { inputTokens: 70, outputTokens: 20 } },
    ];
    const { stderr } = await run(["-p", "what does a.txt say?"], await modelEnv(...replies));
    expect(stderr).toMatch(/^I look\.\n> Read a\.txt\n/);
    expect(stderr).toMatch(/\n\d+\.\d s, 1 tool call, 70 tokens read, 20 written\n/);
    const quiet = await run(["-p", "-q", "again"], await modelEnv(...replies));
    expect(quiet).toEqual({ code: 0, stdout: "It says alpha.\n", stderr: "" });
  });

  it(
    "text: at a terminal the model's words come as they are written, each once",
    requirePrograms("script"),
    async () => {
      const env = await modelEnv(
        { text: "I look.", calls: [reading()] },
        { text: "It says \u001b[2Jalpha." },
      );
      expect((await atTerminal(env)).slice(0, 4)).toEqual([
        "I look.",
        "> Read a.txt",
        "  Read 1 line.",
        "It says \\x1b[2Jalpha.",
      ]);
    },
  );

  it(
    "P42 text: at a terminal what joins emoji and letters stays, also between two pieces of a reply",
    requirePrograms("script"),
    async () => {
      const emoji = "\u{1f468}\u{1f3fd}\u200d\u{1f469}\u200d\u{1f467} \u2764\ufe0f\u200d\u{1f525}";
      const persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645";
      // A reply comes in pieces of seven characters: of seven such lines, each is cut elsewhere.
      const lines = Array.from({ length: 7 }, (_, n) => `${"x".repeat(n)} ${emoji} ${persian}`);
      const shown = await atTerminal(await modelEnv({ text: `${lines.join("\n")}\nrm\u200b -\u200drf` }));
      expect(shown.slice(0, 8)).toEqual([...lines, "rm\\u{200b} -\\u{200d}rf"]);
    },
  );

  it("R37 text: what a tool shows of its result is shown, in short and without power over the terminal", async () => {
    const content = `${Array.from({ length: 30 }, (_, n) => `line ${n}`).join("\n")}\n\u001b]0;title\u0007`;
    const todos = [{ id: "1", content: "look", status: "in_progress" }];
    const calls = [
      reading(),
      { name: "write_file", args: { file_path: join(root, "new.txt"), content } },
      { name: "todo_write", args: { todos } },
    ];
    const env = await modelEnv({ calls }, { text: "done" });
    const { stdout, stderr } = await run(["-p", "go", "-y"], env);
    expect(stdout).toBe("done\n");
    expect(stderr).toContain("> Read a.txt\n  Read 1 line.\n");
    expect(stderr).toContain("  +line 0\n");
    expect(stderr).toMatch(/\n {2}\[\d+ lines\]\n/);
    expect(stderr).toContain("  [>] look\n");
    expect(stderr).not.toContain("\u001b]");
  });

  it("json: one document", async () => {
    const env = await modelEnv(
      { calls: [reading(), { name: "nothing", args: {} }] },
      { text: "done", usage: { inputTokens: 7, outputTokens: 2 } },
    );
    const { code, stdout } = await run(["-p", "go", "--output-format", "json"], env);
    expect(JSON.parse(stdout)).toMatchObject({
      sessionId: expect.stringMatching(/^\d{8}T\d{6}-[0-9a-f]{6}$/),
      status: "success",
      result: "done",
      turns: 2,
      toolCalls: [
        { name: "read_file", status: "success" },
        { name: "nothing", status: "error" },
      ],
      usage: { inputTokens: 7, outputTokens: 2 },
      durationMs: expect.any(Number),
    });
    expect(code).toBe(0);
  });

  it("R37 stream-json: one event a line, folding back to the history that the model was sent", async () => {
    const env = await modelEnv(
      { text: "I look.", calls: [reading(), { name: "nope", args: {} }] },
      { text: "done" },
    );
    const { stdout } = await run(["-p", "go", "--output-format", "stream-json"], env);
    const events = eventsIn(stdout);
    expect(events[0]).toMatchObject({ type: "session", model: "fake", root });
    expect(events.at(-1)).toMatchObject({ type: "done", status: "success" });
    expect(
      events.some(
        (event) =>
          event.type === "tool_call" &&
          event.call.status === "success" &&
          event.call.returnDisplay === "Read 1 line.",
      ),
    ).toBe(true);
    const roles = buildHistory(events).map((message) => message.role);
    expect(roles).toEqual(["user", "model", "user", "model"]);
    const sent = server.requests[1]?.body as { messages: { role: string; content: string | null }[] };
    const answered = buildHistory(events)[2]?.parts.map((part) => part.functionResponse?.response);
    expect(
      sent.messages.filter((message) => message.role === "tool").map((message) => message.content),
    ).toEqual([answered?.[0]?.output, expect.stringContaining(String(answered?.[1]?.error))]);
  });

  it("P9 an answer that stays cut by the output limit says so in every format", async () => {
    const cut = (content: string): FakeReply => ({
      raw: (_request, response) => {
        const chunk = { choices: [{ index: 0, delta: { content }, finish_reason: "length" }] };
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
      },
    });
    const pair = [cut("One, "), cut("two, ")];
    const env = await modelEnv(...pair, ...pair, ...pair);
    const words = "The answer was cut by the model's output limit.";
    const plain = await run(["-p", "count"], env);
    expect([plain.stdout, plain.code]).toEqual(["One, two, \n", 0]);
    expect(plain.stderr).toContain(words);
    const document = JSON.parse((await run(["-p", "count", "--output-format", "json"], env)).stdout);
    expect(document).toMatchObject({ status: "success", result: "One, two, ", cut: true });
    const { stdout } = await run(["-p", "count", "--output-format", "stream-json"], env);
    const events = eventsIn(stdout);
    expect(events).toContainEqual({ type: "notice", message: words });
    expect(events.at(-1)).toMatchObject({ type: "done", result: "One, two, ", cut: true });
  });

  it("adds stdin to the prompt, and is what burin does without a terminal", async () => {
    const env = await modelEnv({ text: "ok" }, { text: "ok" });
    await run(["-p", "review"], env, { stdin: "the diff" });
    await run(["review", "this"], env);
    const prompts = server.requests.map((request) => JSON.stringify(request.body));
    expect(prompts?.[0]).toContain("review\\n\\nthe diff");
    expect(prompts?.[1]).toContain('"review this"');
  });

  it("P12 sends a piped image or PDF as what it is, and a piped text in another encoding as text", async () => {
    const env = await modelEnv(...Array.from({ length: 4 }, () => ({ text: "ok" })));
    await run(["-p", "what is it?"], env, { stdin: PNG });
    await run(["-p", "what is it?"], env, { stdin: PNG.subarray(0, -12) });
    await run([], env, { stdin: PNG });
    const wide = Buffer.from("\ufeffthe diff", "utf16le");
    await run(["-p", "review"], { ...env, OPENAI_API_KEY: "" }, { stdin: wide });
    const sent = server.requests.map((request) => JSON.stringify(request.body));
    const image = `"url":"data:image/png;base64,${PNG.toString("base64")}"`;
    expect(sent[0]).toContain('"text":"what is it?"');
    expect(sent[0]).toContain(image);
    expect(sent[1]).toContain("cut off");
    expect(sent[1]).toContain('"url":"data:image/png;base64,');
    expect(sent[2]).toContain(image);
    expect(sent[3]).toContain("review\\n\\nthe diff");
    const pdf = Buffer.from("%PDF-1.4\ntrailer<</Root 1 0 R>>\n%%EOF\n");
    await run(["-p", "what is it?", "-m", "openai-responses/fake"], await modelEnv({ text: "ok" }), {
      stdin: pdf,
    });
    expect(JSON.stringify(server.requests[0]?.body)).toContain(pdf.toString("base64"));
  });

  it.each([
    ["a damaged image", PNG.subarray(0, 40), "the image/png file is damaged: it ends too early"],
    ["of no kind that can be shown", Buffer.from([0, 1, 2, 3]), "neither text nor an image"],
  ])("P12 says so where what is piped is %s: exit code 2", async (_what, stdin, words) => {
    const ended = await run(["-p", "what is it?"], await modelEnv(), { stdin });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(words);
    expect(server.requests).toEqual([]);
  });

  it("P44 does not wait for an open stdin that says nothing", async () => {
    const env = await modelEnv({ text: "ok" });
    expect(await run(["-p", "go"], env, { openStdin: true })).toMatchObject({ code: 0, stdout: "ok\n" });
  });

  it("P44 a failing service: exit code 1, the error in the document, never the key", async () => {
    const env = await modelEnv({
      error: { type: "unauthorized", message: "bad key sk-secret-key", status: 401 },
    });
    const { code, stdout, stderr } = await run(["-p", "go", "--output-format", "json"], env);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: "error", error: { type: "unauthorized" } });
    expect(stdout + stderr).not.toContain("sk-secret");
  });

  it("P44 a refused call: exit code 3 with the reason, though the model goes on", async () => {
    const env = await modelEnv({ calls: [reading()] }, { text: "I could not." });
    const { code, stdout, stderr } = await run(["-p", "go", "--deny", "read_file"], env);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "I could not.\n" });
    expect(stderr).toContain("deny read_file");
  });

  it("P44 the limit of turns: exit code 4", async () => {
    const env = await modelEnv({ calls: [reading()] });
    expect(await run(["-p", "go", "--max-turns", "1"], env)).toEqual(matchFailure(4, "--max-turns"));
  });

  it("a budget: exit code 4 when it is used up, 2 when it cannot be read or has no price", async () => {
    const call = { calls: [reading()] };
    const env = await modelEnv(call, call);
    expect(await run(["-p", "go", "--budget", "1 call, 1m"], env)).toEqual(
      matchFailure(4, "The budget of 1 call is used up"),
    );
    expect(await run(["-p", "go", "--budget", "lots"], env)).toEqual(matchFailure(2, "write tokens as 200k"));
    expect(await run(["-p", "go", "--budget", "$1"], env)).toEqual(
      matchFailure(2, "needs the price of fake"),
    );
  });

  it.each([
    ["nobody listening", "http://127.0.0.1:9/v1", "127.0.0.1:9"],
    ["a host that does not exist", "http://no-such-host.invalid/v1", "no-such-host.invalid"],
    ["an address that is none", "not-a-url", "http://host:port/v1"],
  ])("a service that cannot be reached (%s): exit code 1, no stack", async (_title, url, words) => {
    const { code, stderr } = await run(["-p", "go"], { OPENAI_BASE_URL: url, OPENAI_MODEL: "m" });
    expect(code).toBe(1);
    expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it("no model: says exactly what to set, exit code 2", async () => {
    const { code, stderr } = await run(["-p", "go"]);
    expect(code).toBe(2);
    expect(stderr).toContain("OPENAI_BASE_URL=http://<host>/v1 OPENAI_MODEL=<model>");
  });

  it("P54 broken settings: exit code 2, line and column, the bytes kept; JSON stays JSON", async () => {
    const file = put(".home/settings.json", "{ model: }");
    const { code, stdout, stderr } = await run(["-p", "go", "--output-format", "json"], await modelEnv());
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}:1:`);
    expect(JSON.parse(stdout)).toMatchObject({ status: "error", error: { type: "settings" } });
    expect(await readFile(file, "utf8")).toBe("{ model: }");
  });

  it.each([
    ["Ctrl-C while the model is silent: exit code 130, the run ends", ["SIGINT"], 130],
    ["P13 a hang-up that is told twice, by the system and by the shell", ["SIGHUP", "SIGHUP"], 129],
  ] as const)("%s", async (_title, signals, code) => {
    const env = await modelEnv({ raw: () => {} });
    const child = spawn(process.execPath, [BURIN, "-p", "go", "--output-format", "json"], {
      cwd: root,
      env: { PATH: process.env.PATH, HOME: root, BURIN_HOME: root, ...env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const end = waitForExit(child);
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const signal of signals) {
      child.kill(signal);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const { code: ended, stdout } = await end;
    expect(ended).toBe(code);
    expect(JSON.parse(stdout)).toMatchObject({ status: "cancelled" });
  });

  it("P11 Ctrl-C while a host is looked up that never answers: by the signal, as Node would wait for it", async () => {
    // A thread that waits for a writer stands for one that waits for a name server.
    spawnSync("mkfifo", [join(root, "fifo")]);
    const waits =
      'require("fs").open("fifo", () => {}); process.getActiveResourcesInfo = () => ["GetAddrInfoReqWrap"];';
    const hanging = put("hanging.cjs", waits);
    const child = spawn(process.execPath, ["--require", hanging, BURIN, "-p", "go"], {
      cwd: root,
      env: { PATH: process.env.PATH, HOME: root, ...(await modelEnv({ raw: () => {} })) },
      stdio: "ignore",
    });
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill("SIGINT");
    const ended = await new Promise((resolve) =>
      child.on("close", (code, signal) => resolve([code, signal])),
    );
    expect(ended).toEqual([null, "SIGINT"]);
  });

  it.runIf(existsSync("/dev/full"))(
    "a full disk under the output is told in words, without a stack",
    async () => {
      for (const args of ["--version", "help", "tools"]) {
        const shell = ["-c", '"$@" > /dev/full', "bash", process.execPath, BURIN, args];
        const { status, stderr } = spawnSync("bash", shell, { cwd: root, encoding: "utf8" });
        expect([args, status]).toEqual([args, 1]);
        expect(stderr).toMatch(/^burin: the output failed \(ENOSPC/);
        expect(stderr).not.toMatch(/\n\s+at /);
      }
    },
  );

  it.runIf(existsSync("/dev/full"))(
    "P44 a run whose notes cannot be written succeeds all the same",
    async () => {
      const env = await modelEnv({ text: "done" });
      const { code, stdout } = await inBash('"$@" 2> /dev/full', ["-p", "hi"], env);
      expect([code, stdout.trim()]).toEqual([0, "done"]);
    },
  );

  it("a closed output pipe ends the run in words, without a stack", async () => {
    const env = await modelEnv({ text: "x".repeat(300_000) });
    const { code, stderr } = await inBash(`"$@" | true; exit \${PIPESTATUS[0]}`, ["-p", "go"], env);
    expect(code).toBe(1);
    expect(stderr).toContain("output pipe was closed");
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
