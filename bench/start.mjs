// How long Burin takes to start, against a bare Node in the same run.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { measure, median, printResult } from "./measure.mjs";

const BURIN = fileURLToPath(new URL("../packages/cli/dist/burin.cjs", import.meta.url));
const BARE = [process.execPath, "-e", "0"];
const RUNS = 25;

/** The same work with nothing around it: the least that any client on this Node can do. */
const BARE_CLIENT = `fetch(process.env.OPENAI_BASE_URL + "/chat/completions", { method: "POST", body: "{}" }).then((r) => r.text())`;

const REPLY = [
  `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"hello"}}]}`,
  `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
  "data: [DONE]",
  "",
].join("\n\n");

/** A server that answers one word and notes when the first byte of a request came, and how long it was. */
async function startServer() {
  const seen = { at: 0n, bytes: 0, tools: 0 };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      seen.bytes = Buffer.byteLength(body);
      seen.tools = JSON.parse(body).tools?.length ?? 0;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(REPLY);
    });
  });
  server.on("connection", (socket) => {
    socket.once("data", () => {
      seen.at = process.hrtime.bigint();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { server, seen, url: `http://127.0.0.1:${port}/v1` };
}

/**
 * @param {readonly string[]} command
 * @param {NodeJS.ProcessEnv} env
 * @param {{ at: bigint }} seen
 */
async function msToFirstRequest([program = "", ...args], env, seen) {
  const started = process.hrtime.bigint();
  const child = spawn(program, args, { env, stdio: "ignore" });
  await new Promise((resolve) => child.on("close", resolve));
  return Number(seen.at - started) / 1e6;
}

/**
 * @param {readonly string[]} command
 * @param {NodeJS.ProcessEnv} env
 */
async function wallMs([program = "", ...args], env = process.env) {
  const started = process.hrtime.bigint();
  const child = spawn(program, args, { env, stdio: "ignore" });
  await new Promise((resolve) => child.on("close", resolve));
  return Number(process.hrtime.bigint() - started) / 1e6;
}

export async function run() {
  const { server, seen, url } = await startServer();
  const home = mkdtempSync(join(tmpdir(), "burin-bench-"));
  const env = {
    ...process.env,
    OPENAI_BASE_URL: url,
    OPENAI_MODEL: "m",
    OPENAI_API_KEY: "k",
    BURIN_HOME: home,
  };
  const prompt = [process.execPath, BURIN, "-p", "say hello", "--root", home];
  const version = [process.execPath, BURIN, "--version"];
  /** @type {Record<"versionRatio" | "requestRatio" | "clientRatio" | "bareMs", number[]>} */
  const walls = { versionRatio: [], requestRatio: [], clientRatio: [], bareMs: [] };
  for (let index = 0; index < RUNS; index += 1) {
    const bare = await wallMs(BARE, env);
    walls.bareMs.push(bare);
    walls.versionRatio.push((await wallMs(version, env)) / bare);
    walls.requestRatio.push((await msToFirstRequest(prompt, env, seen)) / bare);
    walls.clientRatio.push((await msToFirstRequest([process.execPath, "-e", BARE_CLIENT], env, seen)) / bare);
  }
  const cpu = await cpuFigures({ bare: BARE, version, prompt }, env);
  console.log(
    `bare Node: ${median(walls.bareMs).toFixed(1)} ms wall, ${cpu.bare.toFixed(1)} ms CPU; ${RUNS} pairs, medians`,
  );
  console.log(`a bare fetch client, first request: ${median(walls.clientRatio).toFixed(2)} x bare Node`);
  printResult({
    what: "burin --version, wall",
    value: median(walls.versionRatio),
    unit: "x bare Node",
    most: 1.15,
    more: `CPU ${(cpu.version / cpu.bare).toFixed(2)} x`,
  });
  printResult({
    what: "spawn to first byte of the first request, wall",
    value: median(walls.requestRatio),
    unit: "x bare Node",
    most: 2,
    more: `CPU of the whole one-turn run ${(cpu.prompt / cpu.bare).toFixed(2)} x`,
  });
  printResult({ what: "peak memory of the one-turn run", value: cpu.peakMb, unit: "MB", most: 85 });
  // 12,000 bytes are the goal for all fourteen tools.
  printResult({ what: `first request, ${seen.tools} tools`, value: seen.bytes, unit: "bytes", most: 12_000 });
  server.close();
  server.closeAllConnections();
  rmSync(home, { recursive: true });
}

/**
 * @param {{ bare: string[], version: string[], prompt: string[] }} commands
 * @param {NodeJS.ProcessEnv} env
 */
async function cpuFigures({ bare, version, prompt }, env) {
  const runs = {
    bare: /** @type {number[]} */ ([]),
    version: /** @type {number[]} */ ([]),
    prompt: /** @type {number[]} */ ([]),
  };
  const peaks = [];
  for (let index = 0; index < 10; index += 1) {
    runs.bare.push((await measure(bare, env)).cpuMs);
    runs.version.push((await measure(version, env)).cpuMs);
    const one = await measure(prompt, env);
    if (one.exitCode !== 0) throw new Error(`The one-turn run ended with exit code ${one.exitCode}.`);
    runs.prompt.push(one.cpuMs);
    peaks.push(one.peakMb);
  }
  return {
    bare: median(runs.bare),
    version: median(runs.version),
    prompt: median(runs.prompt),
    peakMb: Math.max(...peaks),
  };
}
