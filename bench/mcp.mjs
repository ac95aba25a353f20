// What MCP servers cost: the time to the first request to the model, a call, and the size of a request.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median } from "./measure.mjs";

const BURIN = fileURLToPath(new URL("../packages/cli/dist/burin.cjs", import.meta.url));
const CORE = new URL("../packages/core/dist/index.js", import.meta.url).href;
const SERVER = fileURLToPath(new URL("../packages/core/tests/mcp/stdio-server.mjs", import.meta.url));
/** Only compared with: what Burin itself uses of it stands in one place. */
const SDK = "@modelcontextprotocol/client";
const RUNS = 7;
const CALLS = 300;
const REPLY = `data: {"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;

/** A model that answers one word, and notes when it was asked and how much the tools took. */
async function startModel() {
  const seen = { at: 0n, toolBytes: 0 };
  const server = createServer((request, response) => {
    seen.at = process.hrtime.bigint();
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      seen.toolBytes = JSON.stringify(JSON.parse(body).tools ?? []).length;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(REPLY);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { server, seen, url: `http://127.0.0.1:${port}/v1` };
}

/**
 * A home with these servers.
 * @param {string} top
 * @param {string} name
 * @param {Record<string, readonly string[]>} servers
 */
function home(top, name, servers) {
  const folder = join(top, name);
  mkdirSync(folder);
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([alias, args]) => [
      alias,
      { command: process.execPath, args: [SERVER, ...args] },
    ]),
  );
  writeFileSync(join(folder, "settings.json"), JSON.stringify({ mcpServers }));
  return folder;
}

/**
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @param {string} cwd
 */
async function burin(args, env, cwd) {
  const started = process.hrtime.bigint();
  const child = spawn(process.execPath, [BURIN, ...args], { env, cwd, stdio: "ignore" });
  await new Promise((resolve) => child.on("close", resolve));
  return started;
}

export async function run() {
  const top = mkdtempSync(join(tmpdir(), "burin-bench-"));
  const { server, seen, url } = await startModel();
  const env = { ...process.env, OPENAI_BASE_URL: url, OPENAI_MODEL: "m", OPENAI_API_KEY: "k" };
  const nineteen = Object.fromEntries(Array.from({ length: 19 }, (_, n) => [`s${n}`, ["plain"]]));
  const none = home(top, "none", {});
  const fresh = { ...nineteen, s19: ["plain"] };
  const twenty = home(top, "twenty", { ...nineteen, slow: ["sleep", "60000"] });
  try {
    const firstRequest = async (/** @type {string} */ BURIN_HOME) => {
      const started = await burin(["-p", "hi", "--no-session"], { ...env, BURIN_HOME }, top);
      return Number(seen.at - started) / 1e6;
    };
    /** @type {number[][]} */
    const times = [[], [], []];
    for (let round = 0; round < RUNS; round += 1) {
      times[0]?.push(await firstRequest(none));
      times[1]?.push(await firstRequest(home(top, `fresh${round}`, fresh)));
      times[2]?.push(await firstRequest(twenty));
    }
    const [bare = 0, first = 0, later = 0] = times.map(median);
    console.log(`first request: ${bare.toFixed(1)} ms without servers`);
    console.log(`  20 servers, never seen before, which are waited for: +${(first - bare).toFixed(1)} ms`);
    console.log(`  20 servers, one sleeping 60 s, again: +${(later - bare).toFixed(1)} ms (goal 20)`);
    await declarations({ top, env, seen });
    await calls(top);
  } finally {
    server.close();
    rmSync(top, { recursive: true, force: true });
  }
}

/** @param {{ top: string, env: NodeJS.ProcessEnv, seen: { toolBytes: number } }} place */
async function declarations({ top, env, seen }) {
  for (const count of ["0", "200", "1000"]) {
    const BURIN_HOME = home(top, `many${count}`, { many: ["many", count] });
    await burin(["mcp", "test", "many"], { ...env, BURIN_HOME }, top);
    await burin(["-p", "hi", "--no-session"], { ...env, BURIN_HOME }, top);
    console.log(`declarations in the first request with ${count} tools: ${seen.toolBytes} bytes`);
  }
}

/** @param {string} top */
async function calls(top) {
  const [{ Client }, { StdioClientTransport }] = await Promise.all([import(SDK), import(`${SDK}/stdio`)]);
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER], cwd: top }));
  const { createToolbox } = await import(pathToFileURL(fileURLToPath(CORE)).href);
  const toolbox = createToolbox({
    root: top,
    environment: { ...process.env, BURIN_HOME: join(top, "calls") },
    settings: { mcpServers: { s: { command: process.execPath, args: [SERVER] } } },
    approvalMode: "yolo",
  });
  await toolbox.ready();
  /** @type {number[][]} */
  const times = [[], []];
  const timed = async (/** @type {number} */ which, /** @type {() => Promise<unknown>} */ call) => {
    const started = process.hrtime.bigint();
    await call();
    times[which]?.push(Number(process.hrtime.bigint() - started) / 1e6);
  };
  for (let n = 0; n < CALLS; n += 1) {
    await timed(0, () => client.callTool({ name: "echo", arguments: { text: "x" } }));
    await timed(1, () => toolbox.call("s__echo", { text: "x" }));
  }
  const [sdk = 0, ours = 0] = times.map((all) => median(all.slice(20)));
  console.log(
    `a call: ${sdk.toFixed(2)} ms by the SDK's client, ${ours.toFixed(2)} ms by burin (+${(ours - sdk).toFixed(2)}, goal 1)`,
  );
  await Promise.all([client.close(), toolbox.close()]);
}
