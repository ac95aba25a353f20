// What the loop costs: CPU of a turn that reads a file, against a bare loop in the same run, and memory over many.
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median, printResult } from "./measure.mjs";

const SERVER = fileURLToPath(new URL("agent/server.mjs", import.meta.url));
const CLIENT = fileURLToPath(new URL("agent/client.mjs", import.meta.url));
const PAIRS = 7;
/** A turn costs what the many take beyond the few, so that the start is not counted. */
const FEW = 10;
const TURNS = 210;
const MANY_TURNS = 2000;
/** A window in which the paired turns need no compaction, and one in which the many turns need several. */
const LARGE_WINDOW = 1_000_000;
const USUAL_WINDOW = 128_000;
/** No model begins to reply sooner. */
const THOUGHT_MS = 600;
const NEXT_PAIRS = 15;

/** With the mark of a subagent the reads are its own. @param {string} path @param {number} turns @param {string} subagent */
export async function startServer(path, turns, subagent = "") {
  const server = fork(SERVER, [String(turns), path, subagent]);
  const [port] = await once(server, "message");
  return { server, url: `http://127.0.0.1:${port}/v1`, port };
}

/** @param {string} kind @param {readonly string[]} args */
export async function runOnce(kind, args) {
  const { stdout } = await promisify(execFile)(process.execPath, [CLIENT, kind, ...args], {
    maxBuffer: 1 << 24,
  });
  return /** @type {{ cpuMs: number, peakMb: number }} */ (JSON.parse(stdout));
}

/**
 * How long a client takes from the first reply to its next request, with the read that stands between, as the service
 * sees it.
 * @param {string} file
 */
async function startFirstReply(file) {
  const seen = { repliedAt: 0n, nextMs: 0 };
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const isNext = Buffer.concat(pieces).includes('"role":"tool"');
    if (isNext) seen.nextMs = Number(process.hrtime.bigint() - seen.repliedAt) / 1e6;
    else await new Promise((resolve) => setTimeout(resolve, THOUGHT_MS));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const call = { index: 0, id: "one", function: { name: "read_file", arguments: "" } };
    call.function.arguments = JSON.stringify({ absolute_path: file });
    const delta = isNext ? { content: "All is well." } : { tool_calls: [call] };
    const chunk = { choices: [{ index: 0, delta, finish_reason: isNext ? "stop" : "tool_calls" }] };
    seen.repliedAt = process.hrtime.bigint();
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { seen, url: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
}

/** @param {string} file @param {readonly string[]} args */
async function measureFirstReply(file, args) {
  const { seen, url, close } = await startFirstReply(file);
  /** @param {string} kind */
  const nextMs = async (kind) => {
    await runOnce(kind, [url, ...args]);
    return seen.nextMs;
  };
  const bare = [];
  const more = [];
  for (let index = 0; index < NEXT_PAIRS; index += 1) {
    const least = await nextMs("bare");
    bare.push(least);
    more.push((await nextMs("agent")) - least);
  }
  close();
  printResult({
    what: "first reply to next request, one read_file",
    value: median(more),
    unit: "ms more than a bare loop",
    most: 8,
    more: `bare ${median(bare).toFixed(1)} ms, ${NEXT_PAIRS} pairs, the reply comes after ${THOUGHT_MS} ms`,
  });
}

export async function run() {
  const base = mkdtempSync(join(tmpdir(), "burin-bench-agent-"));
  const places = { root: base, home: join(base, "home") };
  writeFileSync(join(base, "file.txt"), `${"A line of a file that is read.\n".repeat(64)}`);
  const file = join(base, "file.txt");
  const few = await startServer(file, FEW);
  const more = await startServer(file, TURNS);
  /** @param {string} kind */
  const turnMs = async (kind) => {
    const args = [base, places.home, String(LARGE_WINDOW)];
    const start = await runOnce(kind, [few.url, ...args]);
    const whole = await runOnce(kind, [more.url, ...args]);
    return (whole.cpuMs - start.cpuMs) / (TURNS - FEW);
  };
  const bare = [];
  const agent = [];
  for (let index = 0; index < PAIRS; index += 1) {
    bare.push(await turnMs("bare"));
    agent.push(await turnMs("agent"));
  }
  few.server.disconnect();
  more.server.disconnect();
  const many = await startServer(file, MANY_TURNS);
  const long = await runOnce("agent", [many.url, base, places.home, String(USUAL_WINDOW)]);
  const firstBytes = Number(await (await fetch(`http://127.0.0.1:${many.port}/first`)).text());
  many.server.disconnect();
  console.log(`${PAIRS} pairs of ${TURNS - FEW} read-tool turns, medians`);
  // 3 ms where a bare loop takes 1.6; a busy machine makes both slower.
  printResult({
    what: "CPU of a read-tool turn",
    value: median(agent) / median(bare),
    unit: "x a bare loop",
    most: 1.9,
    more: `${median(agent).toFixed(2)} ms, bare ${median(bare).toFixed(2)} ms`,
  });
  printResult({
    what: `peak memory over ${MANY_TURNS} turns`,
    value: long.peakMb,
    unit: "MB",
    most: 120,
    more: `CPU ${(long.cpuMs / MANY_TURNS).toFixed(2)} ms a turn`,
  });
  await measureFirstReply(file, [base, places.home, String(USUAL_WINDOW)]);
  printResult({ what: "first request with all tools", value: firstBytes, unit: "bytes", most: 12_000 });
  rmSync(base, { recursive: true });
}
