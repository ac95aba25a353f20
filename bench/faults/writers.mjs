// Several processes change one file at the same time, through toolboxes of the built package, each with a home of
// its own: what is reported as done must be in the file, and whoever dies with the lock must hold nobody up.
//   node bench/faults/writers.mjs [edits of a process] [runs]
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SELF = fileURLToPath(import.meta.url);
const CORE = new URL("../../packages/core/dist/index.js", import.meta.url).href;
const PROCESSES = 8;
/** Far more than any change needs; where nobody says anything for so long, all wait for ever. */
const MAX_MS = 60_000;

/** @typedef {{ kind: "edits" | "facts", count: number, kills: number }} Round */
/** @typedef {{ number: number, failure: string | null }} Said */

/** @param {number} writer @param {number} number @param {string} state */
const lineOf = (writer, number, state) => `writer ${writer} line ${number} ${state}`;
/** @param {number} writer @param {number} number */
const factOf = (writer, number) => `Writer ${writer} prefers the number ${number}.`;
/** @param {number} count */
const numbers = (count) => Array.from({ length: count }, (_, at) => at);

/**
 * Says of each of its changes how it ended.
 * @param {{ kind: string, writer: number, count: number, root: string }} given
 */
async function work({ kind, writer, count, root }) {
  const { createToolbox } = await import(CORE);
  const toolbox = createToolbox({ root, approvalMode: "yolo" });
  for (const number of numbers(count)) {
    const result =
      kind === "facts"
        ? await toolbox.call("save_memory", { fact: factOf(writer, number) })
        : await toolbox.call("edit", {
            file_path: join(root, "lines.txt"),
            old_string: lineOf(writer, number, "old"),
            new_string: lineOf(writer, number, "new"),
          });
    process.send?.({ number, failure: result.error?.message ?? null });
  }
  await toolbox.close();
  process.disconnect();
}

/**
 * Runs the writers to their end, killing some where that is asked for; gives what each said.
 * @param {Round} round
 * @param {string} place
 */
async function runWriters({ kind, count, kills }, place) {
  const root = join(place, "project");
  mkdirSync(root);
  if (kind === "edits") {
    const lines = numbers(PROCESSES).flatMap((writer) =>
      numbers(count).map((number) => lineOf(writer, number, "old")),
    );
    writeFileSync(join(root, "lines.txt"), `${lines.join("\n")}\n`);
  }
  const writers = numbers(PROCESSES).map((writer) => {
    const home = join(place, `home-${writer}`);
    mkdirSync(home);
    const given = JSON.stringify({ kind, writer, count, root });
    const child = fork(SELF, ["--writer", given], {
      env: { ...process.env, HOME: home, BURIN_HOME: join(home, ".burin"), TMPDIR: home },
    });
    /** @type {Said[]} */
    const said = [];
    child.on("message", (message) => said.push(/** @type {Said} */ (message)));
    const ended = new Promise((resolve) => child.on("exit", (code, signal) => resolve(signal ?? code)));
    return { writer, child, said, ended };
  });
  const timer = setTimeout(() => {
    for (const { child } of writers) child.kill("SIGKILL");
  }, MAX_MS);
  for (const { child } of writers) child.on("message", () => timer.refresh());
  // Half of them die in the middle of their work, the lock in their hands as often as not.
  for (const { child, said } of writers.slice(0, kills)) {
    const after = Math.max(1, Math.floor(Math.random() * count * 0.8));
    child.on("message", () => {
      if (said.length === after) setTimeout(() => child.kill("SIGKILL"), Math.random() * 4);
    });
  }
  const ends = await Promise.all(writers.map(({ ended }) => ended));
  clearTimeout(timer);
  return { root, writers, ends };
}

/** @param {Round} round */
async function runOnce(round) {
  const { kind, count, kills } = round;
  const place = realpathSync(mkdtempSync(join(tmpdir(), "burin-writers-")));
  const begun = performance.now();
  try {
    const { root, writers, ends } = await runWriters(round, place);
    const text = readFileSync(join(root, kind === "edits" ? "lines.txt" : "AGENTS.md"), "utf8");
    const present = new Set(text.split("\n"));
    /** @param {number} writer @param {number} number */
    const isThere = (writer, number) =>
      kind === "edits"
        ? present.has(lineOf(writer, number, "new"))
        : present.has(`- ${factOf(writer, number)}`);
    /** @type {string[]} */
    const faults = [];
    let landed = 0;
    for (const { writer, said } of writers) {
      for (const { number, failure } of said) {
        if (failure !== null) faults.push(`writer ${writer}, change ${number}: ${failure}`);
        else if (isThere(writer, number)) landed += 1;
        else faults.push(`writer ${writer}, change ${number}: reported as done and not in the file`);
      }
      const isKilled = writer < kills;
      if (!isKilled && (ends[writer] !== 0 || said.length !== count))
        faults.push(`writer ${writer} ended with ${ends[writer]} after ${said.length} changes`);
    }
    if (kind === "edits" && text.split("\n").length !== PROCESSES * count + 1) faults.push("lines are gone");
    return { landed, faults, seconds: (performance.now() - begun) / 1000 };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

export async function run({ edits = 400, runs = 10 } = {}) {
  const facts = Math.min(edits, 50);
  /** @type {Round[]} */
  const rounds = [
    ...numbers(runs).map(() => /** @type {Round} */ ({ kind: "edits", count: edits, kills: 0 })),
    { kind: "facts", count: facts, kills: 0 },
    { kind: "edits", count: Math.min(edits, 100), kills: PROCESSES / 2 },
    { kind: "facts", count: facts, kills: PROCESSES / 2 },
  ];
  const all = [];
  for (const round of rounds) {
    const { kind, count, kills } = round;
    const { landed, faults, seconds } = await runOnce(round);
    const killed = kills > 0 ? `, ${kills} of them killed` : "";
    console.log(
      `${PROCESSES} processes x ${count} ${kind}${killed}: ${landed} landed, ${faults.length} faults, ${seconds.toFixed(1)} s`,
    );
    for (const fault of faults.slice(0, 5)) console.log(`  ${fault}`);
    all.push(...faults);
  }
  assert.deepEqual(all, []);
}

if (process.argv[2] === "--writer") await work(JSON.parse(process.argv[3] ?? ""));
else if (process.argv[1] === SELF) {
  const [edits = 400, runs = 10] = process.argv.slice(2).map(Number);
  await run({ edits, runs });
}
