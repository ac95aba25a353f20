// Kills Burin at random moments while it runs a tree that does not want to end, then starts it again: nothing may
// be alive 5 s later. node packages/core/tests/faults/crash.mjs [rounds]
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const BURIN = fileURLToPath(new URL("../../../cli/dist/burin.cjs", import.meta.url));
const ROUNDS = Number(process.argv[2] ?? 20);
const base = mkdtempSync(join(tmpdir(), "burin-crash-"));
const env = { PATH: process.env.PATH, HOME: base, BURIN_HOME: join(base, "home") };

/** @param {string} name */
function tree(name) {
  const loop = `trap "" TERM HUP INT; while :; do sleep 0.2; done`;
  return [
    `(setsid sh -c '${loop}' ${name} </dev/null >/dev/null 2>&1 &)`,
    `(setsid setsid sh -c '${loop}' ${name} </dev/null >/dev/null 2>&1 &)`,
    `sh -c 'sh -c "$0" ${name} & while :; do sleep 0.2; done' '${loop.replaceAll('"', '\\"')}' ${name}`,
  ].join("; ");
}

/** @param {string} name */
function alive(name) {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").at(-2) === name;
    } catch {
      return false;
    }
  });
}

for (const mode of ["off", "workspace-write"]) {
  let most = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `crash-${mode}-${round}-${process.pid}`;
    const root = mkdtempSync(join(base, "project-"));
    const args = JSON.stringify({ command: tree(name) });
    const call = [BURIN, "call", "run_shell_command", args, "-y", "--sandbox", mode, "--root", root];
    const burin = spawn(process.execPath, call, { env, stdio: "ignore" });
    await pause(50 + Math.random() * 700);
    most = Math.max(most, alive(name).length);
    burin.kill("SIGKILL");
    await new Promise((resolve) => burin.once("exit", resolve));
    const next = spawnSync(
      process.execPath,
      [BURIN, "call", "list_directory", '{"path":"."}', "--root", root],
      {
        env,
        encoding: "utf8",
      },
    );
    assert.equal(next.status, 0, next.stderr);
    for (let waited = 0; waited < 5000 && alive(name).length > 0; waited += 50) await pause(50);
    assert.deepEqual(alive(name), [], `round ${round}, sandbox ${mode}`);
    assert.deepEqual(readdirSync(root), [], "stand-ins were left in the project");
  }
  assert.ok(most > 0, "no tree was ever seen alive");
  process.stdout.write(`sandbox ${mode}: ${ROUNDS} crashes, up to ${most} processes, none left\n`);
}
rmSync(base, { recursive: true });
