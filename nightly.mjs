// npm run nightly: proofs that take longer than a change should wait for. All run, also behind one that failed.
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const PROOFS = ["packaging/bare-machine.mjs --whole"];

for (const proof of PROOFS) {
  const { status } = spawnSync(process.execPath, proof.split(" "), {
    cwd: dirname(fileURLToPath(import.meta.url)),
    stdio: "inherit",
  });
  process.stdout.write(`${status === 0 ? "ok" : "FAILED"}  ${proof}\n`);
  if (status !== 0) process.exitCode = 1;
}
