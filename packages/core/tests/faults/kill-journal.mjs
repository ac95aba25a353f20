// Kills Burin at random moments of a command, of the look at what it changed, and of an undo. Afterwards all must be as
// before the command, and every journal readable. node packages/core/tests/faults/kill-journal.mjs [times] [seed]
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { undo, undoEntries } from "./core.mjs";

const CALL = fileURLToPath(new URL("./journal-call.mjs", import.meta.url));
const GIT = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
const COMMANDS = [
  "for f in src/*.txt; do sed -i 's/one/ONE/' $f; sleep 0.02; done; echo SECRET=2 > .env",
  "rm -rf notes src/1.txt; sleep 0.05; git add -A; git commit -qm Second; sleep 0.05; echo new > new.txt",
  "rm .env; sleep 0.05; git reset --hard -q; sleep 0.05; git clean -fdq",
  "git stash -q -u; sleep 0.05; git stash drop -q; sleep 0.05; echo after > after.txt",
  "git checkout -q -b topic; echo t > t.txt; git add t.txt; git commit -qm Topic; sleep 0.05; git checkout -q main; git branch -qD topic",
  "mkdir made; mv src/2.txt made/; sleep 0.03; ln -s made link2; rm src/b.txt; sleep 0.03; ln -s ../notes src/b.txt; chmod 755 src/3.txt; rm link; mkdir link",
];

/** @param {number} seed */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * @param {number} times
 * @param {number} [seed]
 * @returns {Promise<{ killed: number, inCommand: number, inUndo: number, locks: number }>}
 */
export async function killJournals(times, seed = Date.now() % 1e6) {
  const random = randomFrom(seed);
  const found = { killed: 0, inCommand: 0, inUndo: 0, locks: 0 };
  /** How long each takes without a kill, in milliseconds. @type {Map<string, number>} */
  const usual = new Map();
  for (let round = 0; found.killed < times; round += 1) {
    const command = COMMANDS[Math.floor(random() * COMMANDS.length)] ?? "";
    const phase = random() < 0.4 ? "inUndo" : "inCommand";
    const lifetime = (usual.get(phase + command) ?? 900) * random() * 1.1;
    const what = `seed ${seed}, round ${round}, killed ${phase} of ${command}`;
    await inNewPlace(async (root, home) => {
      if (phase === "inUndo") await live([root, home, command], null);
      const words = phase === "inUndo" ? [root, home] : [root, home, command];
      const { wasKilled, milliseconds } = await live(words, lifetime);
      if (wasKilled) found.killed += 1;
      if (wasKilled) found[phase] += 1;
      else usual.set(phase + command, milliseconds);
      found.locks += await restore(root, home, what);
    });
  }
  return found;
}

/**
 * Takes back all that is in effect, and compares. Gives how many locks git itself had left.
 * @param {string} root
 * @param {string} home
 * @param {string} what
 */
async function restore(root, home, what) {
  const environment = { ...process.env, BURIN_HOME: home };
  const entries = await undoEntries({ home, root });
  const locks = removeLocks(join(root, ".git"));
  const refused = [];
  for (const { id, kind, isInForce } of entries) {
    if (kind !== "call" || !isInForce) continue;
    const { files } = await undo({ home, root, environment, call: id });
    refused.push(...files.filter((/** @type {{ what: string }} */ one) => one.what === "refused"));
  }
  const before = stateOf(root);
  assert.deepEqual(before, firstState, `${what}\n${JSON.stringify({ refused, entries }, null, 1)}`);
  assert.deepEqual(refused, [], what);
  assertReadable(home, what);
  return locks;
}

/** @param {string} folder */
function removeLocks(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const locks = names.filter((name) => name.endsWith(".lock") && !name.startsWith("objects"));
  for (const name of locks) rmSync(join(folder, name));
  return locks.length;
}

/**
 * @param {string} home
 * @param {string} what
 */
function assertReadable(home, what) {
  const folder = join(home, "undo");
  // Killed before it has kept anything.
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    assert.ok(!name.endsWith(".open"), `${what}: ${name} is left`);
    if (!name.endsWith(".jsonl")) continue;
    const lines = readFileSync(join(folder, name), "utf8").split("\n");
    for (const line of lines.slice(0, -2)) assert.doesNotThrow(() => JSON.parse(line), `${what}: ${name}`);
  }
}

/** @type {Record<string, string>} */
let firstState = {};

/** @param {(root: string, home: string) => Promise<void>} work */
async function inNewPlace(work) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-kill-journal-")));
  const root = join(top, "project");
  mkdirSync(root);
  try {
    makeProject(root);
    firstState = stateOf(root);
    await work(root, join(top, "home"));
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

/** @param {string} root */
function makeProject(root) {
  for (const folder of ["src", "notes/deep"]) mkdirSync(join(root, folder), { recursive: true });
  for (const name of ["1", "2", "3", "4", "5", "b"])
    writeFileSync(join(root, `src/${name}.txt`), `one ${name}\n`);
  writeFileSync(join(root, ".gitignore"), ".env\n");
  const made = sh(
    root,
    "git init -q -b main; git config user.name a; git config user.email a@b; git add -A; git commit -qm First",
  );
  assert.equal(made.status, 0, made.stderr);
  writeFileSync(join(root, ".env"), "SECRET=1\n");
  writeFileSync(join(root, "src/4.txt"), "one changed, not committed\n");
  writeFileSync(join(root, "src/5.txt"), "one staged\n");
  writeFileSync(join(root, "notes/deep/plan.md"), "my plan\n");
  chmodSync(join(root, "notes/deep/plan.md"), 0o600);
  symlinkSync("notes", join(root, "link"));
  sh(root, "git add src/5.txt");
}

/**
 * @param {string} root
 * @param {string} command
 */
function sh(root, command) {
  return spawnSync("sh", ["-c", command], { cwd: root, encoding: "utf8", env: { ...process.env, ...GIT } });
}

/**
 * @param {string} root
 * @returns {Record<string, string>}
 */
function stateOf(root) {
  /** @type {Record<string, string>} */
  const state = {};
  /** @param {string} folder */
  const look = (folder) => {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const path = join(folder, name);
      const stats = lstatSync(join(root, path));
      const mode = (stats.mode & 0o7777).toString(8);
      if (path === ".git") continue;
      if (stats.isSymbolicLink()) state[path] = `to ${readlinkSync(join(root, path))}`;
      else if (!stats.isDirectory()) state[path] = `${mode} ${readFileSync(join(root, path), "latin1")}`;
      else {
        state[path] = `folder ${mode}`;
        look(path);
      }
    }
  };
  look("");
  const asked =
    "cat .git/HEAD; git for-each-ref; git ls-files -s; git stash list --format=%H; git status --porcelain -uall";
  state[".git"] = sh(root, asked).stdout;
  return state;
}

/**
 * @param {readonly string[]} words
 * @param {number | null} lifetime how long it may work before it is killed
 * @returns {Promise<{ milliseconds: number, wasKilled: boolean }>}
 */
function live(words, lifetime) {
  let begun = 0;
  const env = { ...process.env, ...GIT };
  const child = spawn(process.execPath, [CALL, ...words], { stdio: ["ignore", "pipe", "inherit"], env });
  child.stdout.on("data", () => {
    if (begun === 0 && lifetime !== null) setTimeout(() => child.kill("SIGKILL"), lifetime).unref();
    begun ||= performance.now();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (_, signal) =>
      resolve({ milliseconds: performance.now() - begun, wasKilled: signal !== null }),
    );
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [times = 40, seed] = process.argv.slice(2).map(Number);
  process.stdout.write(`${JSON.stringify(await killJournals(times, seed))}\n`);
}
