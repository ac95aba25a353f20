// How long it takes, and how much memory, to take up a session whose record has 100 MB.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { measure, median, printResult } from "./measure.mjs";

const RESUME = fileURLToPath(new URL("./session/resume-once.mjs", import.meta.url));
const MAX_BYTES = 100 * 1024 * 1024;
/** As many turns fill a window of some 200,000 tokens. */
const TURNS_BETWEEN_COMPACTIONS = 80;
const RUNS = 7;

/** Lines of source text, each a little different. */
function sourceText(/** @type {number} */ seed, /** @type {number} */ lines) {
  return Array.from(
    { length: lines },
    (_, line) => `  const value${seed}_${line} = compute("${seed}", ${line}); // «${line}»`,
  ).join("\n");
}

/** @param {number} turn */
function* eventsOfTurn(turn) {
  yield { type: "text", role: "model", text: `Turn ${turn}: I look at the next file and change it.` };
  const read = { callId: `r${turn}`, name: "read_file", args: { absolute_path: `/p/${turn}.ts` } };
  const edit = {
    callId: `e${turn}`,
    name: "edit",
    args: { file_path: `/p/${turn}.ts`, old_string: sourceText(turn, 10), new_string: sourceText(-turn, 10) },
  };
  const before = sourceText(turn, 120);
  const after = sourceText(turn + 1, 120);
  const display = {
    kind: "file_diff",
    fileName: "x.ts",
    fileDiff: sourceText(turn, 20),
    originalContent: before,
    newContent: after,
    addedLines: 1,
    removedLines: 1,
  };
  for (const call of [read, edit]) {
    yield { type: "tool_call", call: { ...call, description: "", status: "validating" } };
  }
  const done = { description: "d", status: "success" };
  yield { type: "tool_call", call: { ...read, description: "d", status: "executing" } };
  yield { type: "tool_call", call: { ...read, ...done, llmContent: before, returnDisplay: "Read." } };
  yield { type: "tool_call", call: { ...edit, description: "d", status: "executing" } };
  yield { type: "tool_call", call: { ...edit, ...done, llmContent: "Edited.", returnDisplay: display } };
  yield { type: "usage", usage: { inputTokens: 100_000, outputTokens: 300, cachedTokens: 90_000 } };
  if (turn % TURNS_BETWEEN_COMPACTIONS === 0) {
    const text = sourceText(turn, 100);
    yield { type: "compaction", text, summary: text, kept: 4, tokensBefore: 180_000, tokensAfter: 20_000 };
  }
}

/** @param {string} path @param {string} root */
function writeSession(path, root) {
  const file = openSync(path, "w");
  let n = 0;
  let bytes = 0;
  const write = (/** @type {object} */ event) => {
    n += 1;
    const rest = Buffer.from(`"n":${n},"at":"2026-01-01T00:00:00.000Z","event":${JSON.stringify(event)}}`);
    const sum = crc32(rest).toString(16).padStart(8, "0");
    const line = Buffer.concat([
      Buffer.from(`{"len":${rest.length},"sum":"${sum}",`),
      rest,
      Buffer.from("\n"),
    ]);
    bytes += line.length;
    writeSync(file, line);
  };
  write({ type: "session", sessionId: "big", model: "m", root });
  write({ type: "text", role: "user", text: "Go through all files." });
  for (let turn = 1; bytes < MAX_BYTES; turn += 1) for (const event of eventsOfTurn(turn)) write(event);
  closeSync(file);
  return n;
}

/** @param {readonly string[]} command */
function printed([program = "", ...args]) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  return new Promise((resolve) => child.on("close", () => resolve(Number(text))));
}

export async function run() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-bench-")));
  try {
    const root = join(top, "project");
    const home = join(top, "home");
    mkdirSync(root);
    const folder = await folderOf(root, home);
    mkdirSync(folder, { recursive: true });
    const records = writeSession(join(folder, "big.jsonl"), root);
    const command = [process.execPath, RESUME, root, home];
    const times = [];
    const peaks = [];
    for (let index = 0; index < RUNS; index += 1) {
      times.push(await printed(command));
      peaks.push((await measure(command)).peakMb);
    }
    console.log(`100 MB, ${records} records, ${RUNS} runs, medians`);
    printResult({ what: "taking the session up, wall", value: median(times), unit: "ms", most: 1000 });
    printResult({ what: "peak memory of the whole process", value: median(peaks), unit: "MB", most: 200 });
  } finally {
    rmSync(top, { recursive: true });
  }
}

/** Where a session of that project is kept: a first one is made to see. */
async function folderOf(/** @type {string} */ root, /** @type {string} */ home) {
  const [{ createSession }, { findSession }] = await Promise.all(
    ["index", "internal"].map(
      (door) => import(new URL(`../packages/core/dist/${door}.js`, import.meta.url).href),
    ),
  );
  const model = {
    name: "m",
    async *stream() {
      yield { type: "end", reason: "stop" };
    },
  };
  const session = createSession({ root, environment: { BURIN_HOME: home }, model, record: true });
  for await (const _event of session.run("first"));
  await session.close();
  const { path } = await findSession(home, root);
  rmSync(path);
  return join(path, "..");
}
