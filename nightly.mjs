// npm run nightly: proofs that take longer than a change should wait for. All run, also behind one that failed.
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const PROOFS = [
  "build.mjs",
  "packaging/run.mjs --all",
  "packaging/bare-machine.mjs --whole",
  "packaging/fleet-newcomer.mjs",
  "bench/faults/run.mjs fleet",
  "bench/faults/run.mjs journal",
  "bench/faults/run.mjs steps",
  "bench/faults/run.mjs store",
];
/** Of the faults of the fleet and the journal. */
const AMOUNTS = { KILLS: "200", TASKS: "300", STEPS: "500", COMMANDS: "5000" };

for (const proof of PROOFS) {
  const { status } = spawnSync(process.execPath, proof.split(" "), {
    cwd: dirname(fileURLToPath(import.meta.url)),
    env: { ...AMOUNTS, ...process.env },
    stdio: "inherit",
  });
  process.stdout.write(`${status === 0 ? "ok" : "FAILED"}  ${proof}\n`);
  if (status !== 0) process.exitCode = 1;
}
