// What a subagent costs beyond its work: CPU of 50 reads by one, against the same reads by the session itself.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOnce, startServer } from "./agent.mjs";
import { median, printResult } from "./measure.mjs";

const READS = 50;
const PAIRS = 9;
const WINDOW = 1_000_000;

export async function run() {
  const base = mkdtempSync(join(tmpdir(), "burin-bench-task-"));
  const file = join(base, "file.txt");
  writeFileSync(file, "A line of a file that is read.\n".repeat(64));
  const places = [base, join(base, "home"), String(WINDOW)];
  const nothing = await startServer(file, 0);
  const own = await startServer(file, READS);
  const task = await startServer(file, READS, "You explore.");
  const ratios = [];
  const costs = [];
  for (let index = 0; index < PAIRS; index += 1) {
    const start = await runOnce("agent", [nothing.url, ...places]);
    const session = await runOnce("agent", [own.url, ...places]);
    const subagent = await runOnce("agent", [task.url, ...places]);
    // The start of the program is not counted; that of the subagent is.
    ratios.push((subagent.cpuMs - start.cpuMs) / (session.cpuMs - start.cpuMs));
    costs.push(subagent.cpuMs - start.cpuMs);
  }
  for (const { server } of [nothing, own, task]) server.disconnect();
  printResult({
    what: `CPU of ${READS} reads by a subagent, against the session's own`,
    value: median(ratios),
    unit: "x",
    most: 1.3,
    more: `${median(costs).toFixed(0)} ms, ${PAIRS} pairs, medians`,
  });
  rmSync(base, { recursive: true });
}
