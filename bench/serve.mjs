// What it costs to be served: a call over MCP beside a server that only echoes, 1,000 calls at once, and the time from
// an editor's prompt to the first request to the model beside that of a session in the same process.
import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { median } from "./measure.mjs";

const BURIN = fileURLToPath(new URL("../packages/cli/dist/burin.cjs", import.meta.url));
const SESSION = fileURLToPath(new URL("serve-session.mjs", import.meta.url));
const ECHO = fileURLToPath(new URL("serve-echo.mjs", import.meta.url));
const LEAST = fileURLToPath(new URL("serve-least.mjs", import.meta.url));
/** Only measured with; the product has its own side of each protocol. */
const MCP = "@modelcontextprotocol/client";
const ACP = "@agentclientprotocol/sdk";
const ROUNDS = 6;
const CALLS = 200;
const AT_ONCE = 1000;
const PROMPTS = 8;
const BEFORE_MS = 500;
const REPLY = `data: {"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;

export async function run() {
  // The client's library listens once for each call that waits for room in the pipe.
  EventEmitter.defaultMaxListeners = AT_ONCE;
  const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-bench-")));
  writeFileSync(join(top, "a.txt"), "one\ntwo\nthree\n");
  const env = { ...process.env, BURIN_HOME: join(top, "home") };
  try {
    await calls(top, env);
    await prompts(top, env);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

/**
 * @param {string} top
 * @param {NodeJS.ProcessEnv} env
 */
async function calls(top, env) {
  const [{ Client }, { StdioClientTransport }] = await Promise.all([import(MCP), import(`${MCP}/stdio`)]);
  const path = join(top, "a.txt");
  const order = { name: "read_file", arguments: { file_path: path } };
  /** @param {string[]} args */
  const connect = async (args) => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args,
      cwd: top,
      env,
      stderr: "ignore",
    });
    const client = new Client({ name: "bench", version: "1" });
    await client.connect(transport);
    const call = () => client.callTool(order);
    for (let count = 0; count < CALLS; count += 1) await call();
    return { client, call, pid: transport.pid };
  };
  const burin = await connect([BURIN, "serve", "mcp"]);
  const [echo, least] = [await connect([ECHO, path]), await connect([LEAST, path])];
  /** @type {Map<typeof burin, number[]>} */
  const times = new Map([
    [burin, []],
    [echo, []],
    [least, []],
  ]);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [server, taken] of times) {
      for (let count = 0; count < CALLS; count += 1) {
        const begun = process.hrtime.bigint();
        await server.call();
        taken.push(Number(process.hrtime.bigint() - begun) / 1e6);
      }
    }
  }
  const [own = 0, bare = 1, read = 0] = [burin, echo, least].map((server) => median(times.get(server) ?? []));
  console.log(
    `read_file over stdio: ${own.toFixed(2)} ms, an echo ${bare.toFixed(2)} ms: ${(own / bare).toFixed(2)}x (goal 1.3x; the least safe read ${(read / bare).toFixed(2)}x)`,
  );
  const memory = [];
  for (let round = 0; round < 5; round += 1) {
    const begun = process.hrtime.bigint();
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, burin.call));
    const lost = AT_ONCE - answers.filter(({ isError }) => !isError).length;
    const milliseconds = Number(process.hrtime.bigint() - begun) / 1e6;
    memory.push(memoryOf(burin.pid));
    if (round === 4)
      console.log(
        `${AT_ONCE} calls at once: ${milliseconds.toFixed(0)} ms, ${lost} lost; memory after each of 5 rounds: ${memory.join(", ")} MB`,
      );
  }
  await Promise.all([burin, echo, least].map(({ client }) => client.close()));
}

/** @param {number | null} pid */
function memoryOf(pid) {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

/**
 * Each round has two fresh processes, whose first prompt loads what a session needs, and some more prompts.
 * @param {string} top
 * @param {NodeJS.ProcessEnv} env
 */
async function prompts(top, env) {
  /** @type {bigint[]} */
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(process.hrtime.bigint());
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(REPLY);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}/v1`;
  const environment = { ...env, OPENAI_BASE_URL: url, OPENAI_MODEL: "m", OPENAI_API_KEY: "k" };
  const own = { first: [0], later: [0] };
  const served = { first: [0], later: [0] };
  /**
   * @param {typeof own} times
   * @param {(top: string, env: NodeJS.ProcessEnv) => Promise<bigint[]>} run
   */
  const measure = async (times, run) => {
    asked.length = 0;
    const begun = await run(top, environment);
    const [first = 0, ...later] = begun.map((at, index) => Number((asked[index] ?? at) - at) / 1e6);
    times.first.push(first);
    times.later.push(...later);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await measure(own, inSession);
    await measure(served, inEditor);
  }
  server.close();
  for (const key of /** @type {const} */ (["first", "later"])) {
    const [there, here] = [served, own].map((times) => median(times[key].slice(1)));
    const more = ((there ?? 0) - (here ?? 0)).toFixed(1);
    console.log(
      `${key} prompt to its request: ${there?.toFixed(1)} ms in an editor, ${here?.toFixed(1)} ms in a session: ${more} ms more (goal 10)`,
    );
  }
}

/**
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 */
async function inSession(cwd, env) {
  const child = spawn(process.execPath, [SESSION, `${PROMPTS}`, `${BEFORE_MS}`], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  await new Promise((resolve) => child.on("close", resolve));
  return text.trim().split("\n").map(BigInt);
}

/**
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 */
async function inEditor(cwd, env) {
  const child = spawn(process.execPath, [BURIN, "serve", "acp"], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const { client, methods, ndJsonStream } = await import(ACP);
  const { agent } = client({ name: "bench" })
    .onNotification(methods.client.session.update, () => {})
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  await pause(BEFORE_MS);
  const prompt = [{ type: "text", text: "hello" }];
  const begun = [];
  for (let count = 0; count < PROMPTS; count += 1) {
    begun.push(process.hrtime.bigint());
    await agent.request(methods.agent.session.prompt, { sessionId, prompt });
  }
  child.stdin.end();
  await new Promise((resolve) => child.on("close", resolve));
  return begun;
}
