// What a command costs, against a bare spawn of the same shell and against bare bubblewrap in the same run.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { median, printResult } from "./measure.mjs";
import { measureDecisions } from "./shell-decision.mjs";

/** As it ships; by its address, so that the bundle is not type-checked. */
const BUILT = new URL("../packages/core/dist/index.js", import.meta.url);

const RUNS = 60;
const OUTPUT_BYTES = 100_000_000;
const OUTPUT_RUNS = 7;

/** @param {string} program @param {readonly string[]} args @param {string} cwd */
async function bareMs(program, args, cwd) {
  const started = process.hrtime.bigint();
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let bytes = 0;
  child.stdout.on("data", (chunk) => {
    bytes += chunk.length;
  });
  await new Promise((resolve) => child.on("close", resolve));
  return { ms: Number(process.hrtime.bigint() - started) / 1e6, bytes };
}

/** @param {import("@burin/core").Toolbox} toolbox @param {string} command @param {string} wanted */
async function toolMs(toolbox, command, wanted) {
  const started = process.hrtime.bigint();
  const { llmContent, error } = await toolbox.call("run_shell_command", { command });
  const ms = Number(process.hrtime.bigint() - started) / 1e6;
  if (error || !String(llmContent).includes(wanted)) throw new Error(`The tool answered: ${llmContent}`);
  return ms;
}

/** @param {string} root @param {"off" | "workspace-write"} mode @param {string} home */
async function toolboxWith(root, mode, home) {
  const { createToolbox } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
  const environment = { ...process.env, BURIN_HOME: home };
  return createToolbox({ root, approvalMode: "yolo", environment, settings: { sandbox: { mode } } });
}

export async function run() {
  await measureDecisions();
  const base = mkdtempSync(join(tmpdir(), "burin-bench-"));
  const root = mkdtempSync(join(base, "project-"));
  // The whole output goes to a file; on a memory disk the figure is that of the program and not of the disk.
  const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const home = mkdtempSync(join(memory, "burin-bench-home-"));
  const open = await toolboxWith(root, "off", home);
  const limited = await toolboxWith(root, "workspace-write", home);
  try {
    await startFigures(root, open, limited);
    await outputFigures(root, open, home);
    await repeatedOutputs(root, open, home);
  } finally {
    await open.close();
    await limited.close();
    rmSync(base, { recursive: true, force: true });
    rmSync(home, { recursive: true, force: true });
  }
}

/** @param {string} root @param {import("@burin/core").Toolbox} open @param {import("@burin/core").Toolbox} limited */
async function startFigures(root, open, limited) {
  const bubblewrap = [
    "--ro-bind",
    "/",
    "/",
    "--unshare-pid",
    "--unshare-net",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
  ];
  const walls = { bare: [0], open: [0], wrapped: [0], limited: [0] };
  for (let index = 0; index < RUNS; index += 1) {
    walls.bare[index] = (await bareMs("/bin/bash", ["-c", "true"], root)).ms;
    walls.open[index] = await toolMs(open, "true", "Exit code: 0");
    walls.wrapped[index] = (await bareMs("bwrap", [...bubblewrap, "/bin/bash", "-c", "true"], root)).ms;
    walls.limited[index] = await toolMs(limited, "true", "Exit code: 0");
  }
  const [bare, wrapped] = [median(walls.bare), median(walls.wrapped)];
  console.log(
    `bare bash: ${bare.toFixed(2)} ms; bare bwrap: ${wrapped.toFixed(2)} ms; ${RUNS} rounds, medians`,
  );
  printResult({
    what: "`true` without sandbox",
    value: median(walls.open) / bare,
    unit: "x bare spawn",
    most: 1.5,
    more: `${median(walls.open).toFixed(2)} ms`,
  });
  printResult({
    what: "`true` in the sandbox, above bare bwrap",
    value: median(walls.limited) - wrapped,
    unit: "ms",
    most: 15,
  });
}

/** Lines as servers log them: words, numbers, addresses and long names. */
function logText() {
  const lines = Array.from({ length: 5000 }, (_, at) => {
    const id = ((at * 2_654_435_761) % 2 ** 32).toString(16);
    const time = `2026-11-28T23:${at % 60}:01.${at % 997}Z`;
    const request = `GET /api/v1/users/${at * 7919} 200 ${at % 90}ms`;
    return `${time} INFO [worker-${at % 7}] ${request} id=${id} see https://example.org/path/${at}\n`;
  });
  const text = lines.join("");
  return text.repeat(Math.ceil(OUTPUT_BYTES / text.length)).slice(0, OUTPUT_BYTES);
}

/**
 * Measures ten long outputs one after the other in one session, each beside a plain Node that reads the same.
 * @param {string} root
 * @param {import("@burin/core").Toolbox} open
 * @param {string} home
 */
async function repeatedOutputs(root, open, home) {
  const file = join(home, "log.txt");
  writeFileSync(file, logText());
  const command = `cat ${file}`;
  const ratios = [];
  const cpu = [];
  const lag = monitorEventLoopDelay({ resolution: 1 });
  for (let index = 0; index < 10; index += 1) {
    const bare = await bareMs("/bin/bash", ["-c", command], root);
    const before = process.cpuUsage();
    lag.enable();
    ratios.push((await toolMs(open, command, `${OUTPUT_BYTES} bytes`)) / bare.ms);
    lag.disable();
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1e6);
  }
  rmSync(join(home, "output"), { recursive: true });
  for (const [name, at] of /** @type {const} */ ([
    ["second", 1],
    ["tenth", 9],
  ])) {
    const more = `${cpu[at]?.toFixed(2)} s of CPU`;
    const what = `${OUTPUT_BYTES / 1e6} MB of a log, the ${name} time`;
    printResult({ what, value: ratios[at] ?? 0, unit: "x plain Node reading it", most: 1.5, more });
  }
  const value = lag.percentile(99) / 1e6;
  printResult({ what: "99th percentile of how long a key waits meanwhile", value, unit: "ms", most: 16 });
}

/** @param {string} root @param {import("@burin/core").Toolbox} open @param {string} home */
async function outputFigures(root, open, home) {
  const command = `head -c ${OUTPUT_BYTES} /dev/zero`;
  /** @type {number[]} */
  const ratios = [];
  const grown = [];
  for (let index = 0; index < OUTPUT_RUNS; index += 1) {
    const bare = await bareMs("/bin/bash", ["-c", command], root);
    if (bare.bytes !== OUTPUT_BYTES) throw new Error(`The bare run read ${bare.bytes} bytes.`);
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    const ms = await toolMs(open, command, `${OUTPUT_BYTES} bytes`);
    clearInterval(watch);
    ratios.push(ms / bare.ms);
    grown.push((peak - before) / 1e6);
    rmSync(join(home, "output"), { recursive: true });
  }
  printResult({
    what: `${OUTPUT_BYTES / 1e6} MB of output`,
    value: median(ratios),
    unit: "x plain Node reading it",
    most: 1.5,
  });
  printResult({ what: "memory growth meanwhile", value: Math.max(...grown), unit: "MB", most: 30 });
}
