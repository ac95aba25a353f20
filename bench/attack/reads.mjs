// Generated command lines whose verdict is that they only read are run for real, and strace says what they did.
// They run without the sandbox, so that the judge alone is proven.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { commandLine, makeRandom } from "./reads-grammar.mjs";
import { faultsIn } from "./reads-trace.mjs";
import { makeTree } from "./reads-tree.mjs";

/** As it ships. */
const BUILT = new URL("../../packages/core/dist/index.js", import.meta.url);
/** Commands in one run of strace. */
const BATCH = 50;
/** Lines are drawn until so many times the wanted number were judged. */
const MOST_DRAWN = 40;

/** Each must be found out, or the trace proves nothing. Before the others, since a canary stays. */
const BAD = [
  "cat link.txt",
  "find . -name out.txt -exec cat {} +",
  "ls | xargs cat",
  ": > canary",
  "bin/ls",
  "sort -o canary a.txt",
];

/** @param {{ seed?: number, count?: number }} [options] Runs so many commands that are judged to read. */
export async function run({ seed = 1, count = 1000 } = {}) {
  if (spawnSync("strace", ["-V"]).status !== 0)
    throw new Error("strace is missing, without which nothing is proven.");
  const base = realpathSync(mkdtempSync(join(tmpdir(), "burin-reads-")));
  try {
    const tree = makeTree(base);
    const { createToolbox } = await import(BUILT.href);
    const environment = { ...tree.environment, BURIN_HOME: join(base, "burin") };
    const toolbox = createToolbox({ root: tree.root, environment });
    const random = makeRandom(seed);
    /** @type {string[]} */
    const reading = [];
    let drawn = 0;
    while (reading.length < count && drawn < count * MOST_DRAWN) {
      drawn += 1;
      const command = commandLine(random);
      const { verdict, rule } = await toolbox.explain(command);
      if (verdict === "allow" && rule === undefined) reading.push(command);
    }
    await toolbox.close();
    const seen = new Set(runTraced(BAD, { ...tree, base }).map(({ command }) => command));
    const missed = BAD.filter((command) => !seen.has(command));
    if (missed.length > 0)
      throw new Error(`The trace does not show what is bad about ${JSON.stringify(missed)}.`);
    const faults = [];
    for (let at = 0; at < reading.length; at += BATCH) {
      faults.push(...runTraced(reading.slice(at, at + BATCH), { ...tree, base }));
    }
    for (const { command, what } of faults) console.log(`FAULT ${JSON.stringify(command)}: ${what}`);
    const share = ((100 * reading.length) / drawn).toFixed(1);
    console.log(
      `reads: seed ${seed}, ${drawn} lines, ${reading.length} judged as reading (${share} %), ${faults.length} faults`,
    );
    if (faults.length > 0 || reading.length < count) process.exitCode = 1;
    return { ran: reading.length, faults: faults.length };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/**
 * One strace for many commands, each in a shell of its own that its number names.
 * @param {readonly string[]} commands
 * @param {{ root: string, base: string, environment: Record<string, string> }} place
 */
function runTraced(commands, { root, base, environment }) {
  const lines = join(base, "lines.sh");
  const trace = join(base, "trace");
  const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", "'\\''")}'`;
  const script = commands.map(
    (command, index) =>
      `BURIN_LINE=${index} timeout 3 bash --norc --noprofile -c ${quoted(command)} </dev/null >/dev/null 2>&1`,
  );
  writeFileSync(lines, `${script.join("\n")}\ntrue\n`);
  const options = [
    "-f",
    "-qq",
    "-y",
    "-s",
    "4096",
    "-o",
    trace,
    "-e",
    "trace=%file,%process,%network,ftruncate",
  ];
  const { error } = spawnSync("strace", [...options, "-v", "bash", "--norc", lines], {
    cwd: root,
    env: environment,
    stdio: "ignore",
  });
  if (error || !existsSync(trace)) throw new Error(`strace could not run: ${error?.message ?? "no trace"}`);
  return faultsIn({ trace, commands, root, base });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { seed: { type: "string" }, count: { type: "string" } } });
  await run({ seed: Number(values.seed ?? 1), count: Number(values.count ?? 1000) });
}
