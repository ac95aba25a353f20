// Two Burins run sandboxed commands in one folder, side by side; then the same with one of them killed.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const COMMANDS = 500;
const PROCESS = fileURLToPath(new URL("./sandbox-process.mjs", import.meta.url));

/** There from the start; no command may change one of them at any moment. */
const STANDING = [
  ...[
    ".env",
    ".npmrc",
    ".vscode/tasks.json",
    ".husky/pre-commit",
    "sub/.env",
    "a/b/c/d/e/.envrc",
    "sub/.burin/x",
  ],
  ...[".git/config", ".git/hooks/pre-commit", "sub/.git/config", ".dot/x/.git/config"],
];

export async function run() {
  await inNewProject(async (root, home) => {
    const place = { root, home };
    const both = ["one", "two"].map((name) => burin(place, name));
    const found = await Promise.all(both.map(({ ended }) => ended));
    for (const one of found) assert.equal(one.commands, COMMANDS);
    tell(found, root, home);
  });
  await inNewProject(async (root, home) => {
    const place = { root, home };
    const [one, two] = [burin(place, "one"), burin(place, "two")];
    await one.reached(COMMANDS / 2);
    await one.planted();
    one.kill();
    const found = [await one.ended, await two.ended];
    assert.ok((found[0]?.commands ?? COMMANDS) < COMMANDS, "it was killed in the middle");
    const left = unwanted(root);
    await burin(place, "three", 1).ended;
    tell(found, root, home);
    console.log(`  killed in the middle; before the next start were left: ${left.join(", ") || "nothing"}`);
  });
  await inNewProject(async (root, home) => {
    const place = { root, home };
    const alone = burin(place, "alone");
    await alone.reached(3);
    await alone.planted();
    alone.kill();
    await alone.ended;
    const left = unwanted(root);
    assert.notDeepEqual(left, [], "nothing was planted, so that this proves nothing");
    await burin(place, "next", 1).ended;
    tell([], root, home);
    console.log(`  killed alone; the next start took back: ${left.join(", ")}`);
  });
}

/**
 * @param {readonly Found[]} found
 * @param {string} root
 * @param {string} home
 */
function tell(found, root, home) {
  for (const { commands, failures, written, stayed, told } of found) {
    console.log(
      `  ${commands} commands: ${failures.length} failed, ${written} protected files written, ${stayed} made ones stayed; told ${told} times of what was taken`,
    );
    assert.deepEqual(failures, []);
    assert.equal(written, 0);
    assert.equal(stayed, 0);
  }
  assert.deepEqual(unwanted(root), [], "left in the project");
  for (const name of STANDING) assert.equal(readFileSync(join(root, name), "utf8"), contentOf(name), name);
  assert.deepEqual(readdirSync(join(home, "running")), [], "left in the home folder");
}

/** @param {string} root */
function unwanted(root) {
  const all = execFileSync("find", [".", "-path", "./.git/objects", "-prune", "-o", "-print"], {
    cwd: root,
    encoding: "utf8",
  });
  const planted =
    /(?:\/\.envrc\.p|\/\.env\.p|\.mcp\.json|\/\.gemini|\/\.codex|\.npmrc|commondir|\/hooks\/post-checkout|\/p\d+\/)/;
  return all.split("\n").filter((path) => planted.test(path) && !STANDING.some((one) => path === `./${one}`));
}

/**
 * @typedef {{ commands: number, failures: readonly string[], written: number, stayed: number, told: number }} Found
 * @param {{ root: string, home: string }} place
 * @param {string} name
 * @param {number} count
 */
function burin({ root, home }, name, count = COMMANDS) {
  const args = [PROCESS, root, home, name, String(count), ...STANDING];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  /** @type {Found} */
  let found = { commands: 0, failures: [], written: 0, stayed: 0, told: 0 };
  /** @type {(() => void)[]} */
  const waiting = [];
  createInterface(child.stdout).on("line", (line) => {
    found = JSON.parse(line);
    for (const wake of waiting.splice(0)) wake();
  });
  const next = () => new Promise((resolve) => waiting.push(() => resolve(undefined)));
  const ended = new Promise((resolve) => child.once("close", () => resolve(found)));
  return {
    ended: /** @type {Promise<Found>} */ (ended),
    kill: () => child.kill("SIGKILL"),
    /** @param {number} commands */
    reached: async (commands) => {
      while (found.commands < commands) await next();
    },
    /** Resolves while a command of it is running that has made what it may not. */
    planted: async () => {
      const mark = join(root, `planting-${name}`);
      writeFileSync(join(root, `plant-${name}`), "");
      while (!existsSync(mark)) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

/** @param {string} name */
function contentOf(name) {
  return name.endsWith(".git/config") ? "[core]\n\trepositoryformatversion = 0\n" : `${name}: before\n`;
}

/** @param {(root: string, home: string) => Promise<void>} work */
async function inNewProject(work) {
  const top = mkdtempSync(join(tmpdir(), "burin-faults-"));
  const root = join(top, "project");
  try {
    for (const folder of ["", "sub", ".dot/x"]) execFileSync("git", ["init", "-q", join(root, folder)]);
    for (const name of STANDING) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), contentOf(name));
    }
    assert.ok(lstatSync(root).isDirectory());
    await work(root, join(top, "home"));
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}
