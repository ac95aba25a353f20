// What the journal of the tree costs a call: two looks at all files, against one `find` of the same files in the same
// round. npm run bench -- journal [files]
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, printResult } from "./measure.mjs";

/** As it ships; by its address, so that the bundle is not type-checked. */
const BUILT = new URL("../packages/core/dist/index.js", import.meta.url);
const ROUNDS = 9;
const FILES = 20_000;
const FILES_IN_FOLDER = 100;
const MAX_WALK_RATIO = 2.5;
const MAX_READING_RATIO = 1.2;
/** The index and the small files of git, but no ignored file. */
const MAX_INSTALL_BYTES = 8 * 1024 * 1024;

/** @param {string} root @param {number} count */
function makeFiles(root, count) {
  for (let at = 0; at < count; at += 1) {
    const folder = join(root, `folder-${Math.floor(at / FILES_IN_FOLDER)}`);
    if (at % FILES_IN_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${at}.txt`), `text ${at}\n`);
  }
}

/** @param {() => unknown} work */
async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** @param {string} folder */
function measureBytes(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.reduce((total, name) => {
    const stats = lstatSync(join(folder, name));
    return total + (stats.isFile() ? stats.size : 0);
  }, 0);
}

/** @param {readonly string[]} args */
export async function run([count = String(FILES)] = []) {
  const { createToolbox } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
  const top = realpathSync(mkdtempSync(join(tmpdir(), "burin-bench-journal-")));
  const [root, home] = [join(top, "project"), join(top, "home")];
  makeFiles(root, Number(count));
  writeFileSync(join(root, ".gitignore"), "node_modules/\n");
  const git = (/** @type {string[]} */ ...words) => execFileSync("git", words, { cwd: root });
  git("init", "-q");
  git("config", "gc.auto", "0");
  git("add", "-A");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "First");
  const environment = { ...process.env, BURIN_HOME: home };
  const open = (/** @type {boolean} */ record) => createToolbox({ root, environment, record });
  // That a command only reads is certain where the sandbox sees to it.
  const off = { sandbox: { mode: /** @type {const} */ ("off") } };
  const free = (/** @type {boolean} */ record) =>
    createToolbox({ root, environment, settings: off, approvalMode: "yolo", record });
  const boxes = { plain: free(false), journal: free(true), plainReading: open(false), reading: open(true) };
  /** @param {keyof typeof boxes} box @param {string} command */
  const call = (box, command) =>
    timed(async () => {
      const { error, llmContent } = await boxes[box].call("run_shell_command", { command });
      if (error) throw new Error(String(llmContent));
    });
  const find = () =>
    timed(() => execFileSync("find", [root, "-printf", "%p %y %m %i %s %T@ %C@\n"], { maxBuffer: 2 ** 28 }));
  try {
    for (const box of /** @type {const} */ (["plain", "journal"])) await call(box, "echo first > one.txt");
    for (const box of /** @type {const} */ (["plainReading", "reading"])) await call(box, "ls folder-1");
    /** @type {{ walk: number, find: number, reading: number }[]} */
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const found = await find();
      const plain = await call("plain", `echo ${round} > one.txt`);
      const journal = await call("journal", `echo ${round} again > one.txt`);
      const reads = (await call("reading", "ls folder-1")) / (await call("plainReading", "ls folder-1"));
      rounds.push({ walk: (journal - plain) / 2, find: found, reading: reads });
    }
    const middle = (/** @type {keyof typeof rounds[number]} */ key) => median(rounds.map((one) => one[key]));
    const [walk, one] = [middle("walk"), middle("find")];
    const times = `${walk.toFixed(0)} ms for one look, ${one.toFixed(0)} ms for find, ${count} files`;
    const ratio = median(rounds.map((round) => round.walk / round.find));
    printResult({ what: "one look / find", value: ratio, unit: "x", most: MAX_WALK_RATIO, more: times });
    const reading = middle("reading");
    printResult({ what: "a reading command", value: reading, unit: "x", most: MAX_READING_RATIO });
    const before = measureBytes(join(home, "undo"));
    const make = `d=node_modules/p; for i in $(seq ${Number(count) / FILES_IN_FOLDER}); do mkdir -p $d$i; for j in $(seq ${FILES_IN_FOLDER}); do echo $i $j > $d$i/$j.js; done; done`;
    const installed = await call("journal", make);
    const kept = (measureBytes(join(home, "undo")) - before) / 1024;
    const more = `${(installed / 1000).toFixed(1)} s`;
    printResult({
      what: `${count} ignored files made, kept`,
      value: kept,
      unit: "KB",
      most: MAX_INSTALL_BYTES / 1024,
      more,
    });
  } finally {
    await Promise.all(Object.values(boxes).map((box) => box.close()));
    rmSync(top, { recursive: true, force: true });
  }
}
