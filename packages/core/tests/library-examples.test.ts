import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { createTemporaryFolder } from "@burin/testing/made-files";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
const closing: (() => unknown)[] = [];

let folder: string;

/** A program of somebody else's beside the built library. */
beforeEach(() => {
  folder = createTemporaryFolder();
  mkdirSync(join(folder, "node_modules/@burin"), { recursive: true });
  symlinkSync(join(repository, "packages/core"), join(folder, "node_modules/@burin/core"));
  symlinkSync(join(repository, "node_modules/openai"), join(folder, "node_modules/openai"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function codeWith(words: string): string {
  const page = readFileSync(join(repository, "docs/library.md"), "utf8");
  const blocks = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = ""]) => code);
  return blocks.find((code) => code.includes(words)) ?? "";
}

function environment(baseUrl: string): NodeJS.ProcessEnv {
  const model = { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: "none", OPENAI_MODEL: "m" };
  return { ...process.env, BURIN_HOME: join(folder, ".home"), ...model };
}

/** Runs a program to its end, whatever its exit code. */
async function run(name: string, env: NodeJS.ProcessEnv): Promise<{ code: number; stdout: string }> {
  const { stdout, code } = await promisify(execFile)(process.execPath, [name], { cwd: folder, env }).then(
    ({ stdout }) => ({ stdout, code: 0 }),
    (error: { stdout: string; code: number }) => error,
  );
  return { code, stdout };
}

async function fakeModel(replies: readonly FakeReply[]) {
  const server = await startFakeModelServer(replies);
  closing.push(() => server.close());
  return server;
}

describe("the page on the library", () => {
  it("its loop with OpenAI's SDK runs a tool and gives its answer back", async () => {
    const service = await fakeModel([
      { calls: [{ name: "list_directory", args: { path: "." } }] },
      { text: "There are some." },
    ]);
    writeFileSync(join(folder, "loop.js"), codeWith('from "openai"'));
    expect(await run("loop.js", environment(service.baseUrl))).toEqual({
      code: 0,
      stdout: "There are some.\n",
    });
    const messages = service.requests[1]?.body.messages as unknown[];
    expect(messages.at(-1)).toMatchObject({
      role: "tool",
      tool_call_id: "call_1",
      content: expect.stringContaining("node_modules"),
    });
  });

  it("its test without a model runs a call against the fake service", async () => {
    writeFileSync(join(folder, "fake.js"), codeWith("@burin/core/testing"));
    expect(await run("fake.js", environment("http://127.0.0.1:9"))).toEqual({
      code: 0,
      stdout: "There are a few.\n2 requests, the last message is of a tool\nproblems: 0, replies left: 0\n",
    });
  });

  it("its machine of one's own refuses to write", async () => {
    writeFileSync(join(folder, "machine.js"), codeWith("...nodeMachine"));
    expect(await run("machine.js", environment("http://127.0.0.1:9"))).toEqual({
      code: 0,
      stdout: "Files can only be read here.\n",
    });
    expect(existsSync(join(folder, "a.txt"))).toBe(false);
  });
});

describe("examples/review-bot", () => {
  const git = (...args: string[]) => {
    const author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    execFileSync("git", [...author, ...args], { cwd: folder });
  };

  it("has at most 40 lines, is given the change, and prints its findings", async () => {
    cpSync(join(repository, "examples/review-bot/review.mjs"), join(folder, "review.mjs"));
    expect(readFileSync(join(folder, "review.mjs"), "utf8").trim().split("\n").length).toBeLessThanOrEqual(
      40,
    );
    git("init", "-q", "-b", "main");
    git("commit", "-q", "--allow-empty", "-m", "start");
    git("update-ref", "refs/remotes/origin/main", "HEAD");
    writeFileSync(join(folder, "sum.js"), "export const sum = (a, b) => a - b;\n");
    git("add", "sum.js");
    git("commit", "-q", "-m", "sum");
    const findings = [{ file: "sum.js", line: 1, text: "it subtracts" }];
    const found = await fakeModel([
      { calls: [{ name: "read_file", args: { absolute_path: join(folder, "sum.js") } }] },
      { text: JSON.stringify({ findings }) },
      { text: JSON.stringify({ findings: [] }) },
    ]);
    const env = environment(found.baseUrl);
    expect(await run("review.mjs", env)).toEqual({ code: 1, stdout: "sum.js:1: it subtracts\n" });
    const request = JSON.stringify(found.requests[0]?.body);
    expect(request).toContain("+export const sum = (a, b) => a - b;");
    expect(request).not.toContain("run_shell_command");
    expect(await run("review.mjs", env)).toEqual({ code: 0, stdout: "" });
  });
});

describe("examples/session-server", () => {
  async function startServer(baseUrl: string): Promise<string> {
    cpSync(join(repository, "examples/session-server/server.mjs"), join(folder, "server.mjs"));
    const env = { ...environment(baseUrl), PORT: "0", TOKEN: "secret" };
    const child: ChildProcess = spawn(process.execPath, ["server.mjs"], { cwd: folder, env });
    closing.push(() => child.kill());
    const [first] = await new Promise<Buffer[]>((resolve) => child.stdout?.once("data", (b) => resolve([b])));
    return String(first).split(" ")[0] ?? "";
  }

  it("keeps the histories of its sessions apart, has questions answered, and asks for its token", async () => {
    const model = await fakeModel([
      { text: "Noted." },
      { text: "I know of nothing." },
      { calls: [{ name: "write_file", args: { file_path: join(folder, "a.txt"), content: "one\n" } }] },
      { text: "Written." },
    ]);
    const url = await startServer(model.baseUrl);
    // A connection that has waited for five seconds may be closed at the moment in which it is used again.
    const headers = { authorization: "Bearer secret", connection: "close" };
    const post = (path: string, body = "") => fetch(`${url}${path}`, { method: "POST", headers, body });
    expect((await fetch(`${url}/sessions`, { method: "POST" })).status).toBe(401);
    const open = async () => ((await (await post("/sessions")).json()) as { id: string }).id;
    const [one, two] = [await open(), await open()];
    expect(await (await post(`/sessions/${one}/prompts`, "The word is sesame.")).text()).toContain("Noted.");
    await (await post(`/sessions/${two}/prompts`, "Which word?")).text();
    expect(JSON.stringify(model.requests[1]?.body)).not.toContain("sesame");
    const running = await post(`/sessions/${two}/prompts`, "Write it.");
    let said = "";
    let answered: Response | null = null;
    for await (const chunk of running.body ?? []) {
      said += Buffer.from(chunk).toString();
      const question = /"type":"question","id":"([^"]+)"/.exec(said)?.[1];
      if (question === undefined || answered !== null) continue;
      answered = await post(`/sessions/${two}/answers/${question}`, '{"outcome":"once"}');
    }
    expect(answered?.status).toBe(200);
    expect(said).toContain("Written.");
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("one\n");
    expect((await post(`/sessions/${two}/answers/none`, '{"outcome":"once"}')).status).toBe(409);
    expect((await fetch(`${url}/sessions/${one}`, { method: "DELETE", headers })).status).toBe(200);
    expect((await post(`/sessions/${one}/prompts`, "Again?")).status).toBe(404);
  });
});
