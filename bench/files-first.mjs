// What the first call of a tool in a process costs above the second, each measured in processes of its own: at once,
// and when the toolbox had half a second before.
import { spawnSync } from "node:child_process";
import { median, printResult } from "./measure.mjs";

const CORE = new URL("../packages/core/dist/index.js", import.meta.url).href;
const PROCESSES = 9;
const MAX_MS = 8;
const WAITS = [0, 500];

/** What each tool is called with; `turn` makes every call another one. */
const SCRIPT = `
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createToolbox } from ${JSON.stringify(CORE)};
const root = mkdtempSync(join(tmpdir(), "burin-bench-first-"));
const path = join(root, "a.txt");
writeFileSync(path, "line 1\\nline 2\\n");
const environment = { ...process.env, BURIN_HOME: join(root, "home") };
const toolbox = createToolbox({ root, approvalMode: "yolo", environment });
const args = {
  read_file: () => ({ path }),
  list_directory: () => ({ path: root }),
  glob: () => ({ pattern: "*.txt" }),
  search_file_content: () => ({ pattern: "line 1" }),
  edit: (turn) => ({ file_path: path, old_string: "line 2" + "x".repeat(turn), new_string: "line 2" + "x".repeat(turn + 1) }),
  write_file: (turn) => ({ file_path: join(root, turn + ".txt"), content: "text\\n" }),
  run_shell_command: () => ({ command: "true" }),
};
const [, tool, waitMs] = process.argv;
if (waitMs !== "0") await pause(Number(waitMs));
const taken = [];
for (const turn of [0, 1]) {
  const start = performance.now();
  const { error } = await toolbox.call(tool, args[tool](turn));
  taken.push(performance.now() - start);
  if (error) throw new Error(error.message);
}
await toolbox.close();
rmSync(root, { recursive: true, force: true });
console.log(JSON.stringify(taken));`;

const TOOLS = [
  ...["read_file", "list_directory", "glob", "search_file_content", "edit", "write_file"],
  "run_shell_command",
];

export function run() {
  for (const waitMs of WAITS) for (const tool of TOOLS) measure(tool, waitMs);
}

/** @param {string} tool @param {number} waitMs */
function measure(tool, waitMs) {
  const pairs = Array.from({ length: PROCESSES }, () => {
    const words = ["--input-type=module", "-e", SCRIPT, tool, String(waitMs)];
    const { stdout, stderr } = spawnSync(process.execPath, words);
    if (stdout.length === 0) throw new Error(`${tool}: ${stderr}`);
    return /** @type {[number, number]} */ (JSON.parse(String(stdout)));
  });
  const [first, second] = [median(pairs.map(([one]) => one)), median(pairs.map(([, one]) => one))];
  printResult({
    what: `first ${tool} above the second, ${waitMs === 0 ? "at once" : `after ${waitMs} ms`}`,
    value: first - second,
    unit: "ms",
    most: MAX_MS,
    more: `${first.toFixed(1)} and ${second.toFixed(1)} ms`,
  });
}
