// Kills a session of 30 calls at random moments and goes on with it. Every finished effect must be known, and none
// happen twice. node packages/core/tests/faults/kill-session.mjs [times]
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SESSION = fileURLToPath(new URL("./session-steps.mjs", import.meta.url));
const STEPS = 30;

/**
 * @param {number} times
 * @returns {Promise<{ killed: number, inTheMiddle: number, maybe: number }>}
 */
export async function killSessions(times) {
  const found = { killed: 0, inTheMiddle: 0, maybe: 0 };
  let usual = await inNewPlace(async (root, home) => (await live(root, home, null)).milliseconds);
  while (found.killed < times) {
    await inNewPlace(async (root, home) => {
      const { wasKilled, milliseconds } = await live(root, home, usual * Math.random());
      if (!wasKilled) usual = Math.min(usual, milliseconds);
      const before = appended(root);
      if (wasKilled) found.killed += 1;
      if (wasKilled && before.length > 0 && before.length < STEPS) found.inTheMiddle += 1;
      found.maybe += await goneOnWith(root, home);
    });
  }
  return found;
}

/**
 * Goes on with the session to its end, and compares what it knows with what was done. Gives how many calls may have run.
 * @param {string} root
 * @param {string} home
 */
async function goneOnWith(root, home) {
  const { stdout, code } = await live(root, home, null);
  assert.equal(code, 0, stdout);
  const { known } = JSON.parse(stdout.replace("begun", ""));
  const done = appended(root);
  assert.equal(new Set(done).size, done.length, `an effect happened twice: ${done}`);
  const steps = Array.from({ length: STEPS }, (_, index) => String(index + 1));
  for (const step of steps.filter((one) => known[one] === "done")) {
    assert.ok(done.includes(step), `step ${step} is known and was not done`);
  }
  const maybe = steps.filter((step) => known[step] !== "done");
  for (const step of maybe) assert.equal(known[step], "maybe");
  return maybe.length;
}

/**
 * @template T
 * @param {(root: string, home: string) => Promise<T>} work
 */
async function inNewPlace(work) {
  const top = mkdtempSync(join(tmpdir(), "burin-kill-session-"));
  const root = join(top, "project");
  mkdirSync(root);
  try {
    return await work(root, join(top, "home"));
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

/** @param {string} root */
function appended(root) {
  const ledger = join(root, "ledger");
  return existsSync(ledger) ? readFileSync(ledger, "utf8").trimEnd().split("\n") : [];
}

/**
 * @param {string} root
 * @param {string} home
 * @param {number | null} lifetime how long it may work before it is killed
 * @returns {Promise<{ milliseconds: number, wasKilled: boolean, code: number | null, stdout: string }>}
 */
function live(root, home, lifetime) {
  let begun = 0;
  const child = spawn(process.execPath, [SESSION, root, home], { stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
    if (begun === 0 && lifetime !== null) setTimeout(() => child.kill("SIGKILL"), lifetime).unref();
    begun ||= performance.now();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      resolve({ milliseconds: performance.now() - begun, wasKilled: signal !== null, code, stdout });
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${JSON.stringify(await killSessions(Number(process.argv[2] ?? 300)))}\n`);
}
