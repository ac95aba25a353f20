// What it costs to decide about a command.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, printResult } from "./measure.mjs";

const BUILT = new URL("../packages/core/dist/index.js", import.meta.url);

const RUNS = 40;
const PARTS = 200;

/** As people and models write them: what only reads, what a rule covers, and what must be asked about. */
const KINDS = {
  "that only reads": ["ls src", "git log -1 src/a.txt", "grep -rn alpha src", "cat src/a.txt | head -5"],
  "that rules cover": ["npm test", "npm run build", "make all", "echo done"],
  "that asks": ["touch src/new", "npm publish", "cp src/a.txt src/b.txt", "rm src/a.txt"],
};

export async function measureDecisions() {
  const base = mkdtempSync(join(tmpdir(), "burin-bench-"));
  try {
    const root = join(base, "project");
    mkdirSync(join(root, "src"), { recursive: true });
    writeFileSync(join(root, "src/a.txt"), "alpha\n");
    spawnSync("git", ["init", "-q"], { cwd: root });
    const environment = { ...process.env, BURIN_HOME: join(base, "home") };
    for (const [kind, commands] of Object.entries(KINDS)) await decide(kind, commands, { root, environment });
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/**
 * @param {string} kind
 * @param {readonly string[]} commands
 * @param {{ root: string, environment: NodeJS.ProcessEnv }} place
 */
async function decide(kind, commands, { root, environment }) {
  const { createToolbox } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
  const allow = ["npm test", "npm run", "make", "git diff"].map((words) => `run_shell_command(${words})`);
  const toolbox = createToolbox({ root, environment, settings: { permissions: { allow } } });
  /** @type {number[]} */
  const times = [];
  for (let index = 0; index < RUNS; index += 1) {
    const parts = Array.from({ length: PARTS }, (_, part) => commands[(part + index) % commands.length]);
    const command = parts.join(index % 2 === 0 ? " && " : "\n");
    // Processor time, because nothing here waits, and a busy machine would be measured with it.
    const before = process.cpuUsage();
    const { parts: judged = [] } = await toolbox.explain(command);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
    if (judged.length < PARTS) throw new Error(`Only ${judged.length} parts were judged.`);
  }
  await toolbox.close();
  const more = `the first, with loading: ${(times[0] ?? 0).toFixed(1)} ms`;
  printResult({
    what: `deciding on ${PARTS} parts ${kind}`,
    value: median(times.slice(5)),
    unit: "ms",
    // Git is asked where its repository is and what that names, in two processes.
    most: kind === "that only reads" ? 13 : 5,
    more,
  });
}
