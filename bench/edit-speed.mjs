// One replacement in a file of 1 kB, 1 MB and 50 MB, against plain fs with the same syncs, in the same run, each side in a
// folder of its own; in a folder that another program touches in between as well, where a program has to be asked for the
// attributes of the file, and plain fs asks one, too. Then the matcher by itself: lenient matches in 2 MB, and files made
// to be slow (`-- edit-speed matcher [seed]` for these alone).
import { execFile, spawnSync } from "node:child_process";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { measureMatcher } from "./edit/adversarial.mjs";
import { median, printResult } from "./measure.mjs";

const THIS = fileURLToPath(import.meta.url);
const CORE = new URL("../packages/core/dist/index.js", import.meta.url).href;
const LINE = "const value = compute(alpha, beta, gamma); // a line that stays\n";
const WORDS = /** @type {const} */ (["the needle stands here", "the thread stands here"]);
const LARGE = 50_000_000;
const runLater = promisify(execFile);

/** @typedef {(path: string, turn: number) => Promise<void> | void} Edit */

/**
 * @param {readonly string[]} args `one <ours|plain> <file> <times>` is the child of the measurement of large files
 */
export async function run(args) {
  if (args[0] === "one") return one(args.slice(1));
  if (args[0] === "matcher") return measureMatcher(args[1] === undefined ? undefined : Number(args[1]));
  const folder = mkdtempSync(join(tmpdir(), "burin-bench-edit-"));
  try {
    const ours = await ourEdit(folder);
    const sides = { ours, plain: plainEdit };
    await pair({ folder, sides, name: "1 kB", bytes: 1000, times: 300, most: 1.5 });
    await pair({ folder, sides, name: "1 MB", bytes: 1_000_000, times: 60, most: 1.5 });
    const touched = { ours, plain: plainEditWithLook, before: touchFolder };
    await pair({ folder, sides: touched, name: "1 kB, folder touched", bytes: 1000, times: 60, most: 1.5 });
    large(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  await measureMatcher();
}

/**
 * @param {string} root
 * @returns {Promise<Edit>}
 */
async function ourEdit(root) {
  const { createToolbox } = await import(CORE);
  const toolbox = createToolbox({ root, approvalMode: "yolo" });
  return async (path, turn) => {
    const { error } = await toolbox.call("edit", {
      file_path: path,
      old_string: WORDS[turn % 2],
      new_string: WORDS[(turn + 1) % 2],
    });
    if (error) throw new Error(error.message);
  };
}

/** @type {Edit} */
export function plainEdit(path, turn) {
  const old = readFileSync(path, "utf8");
  const fresh = old.replace(WORDS[turn % 2] ?? "", WORDS[(turn + 1) % 2] ?? "");
  const file = openSync(`${path}.tmp`, "w");
  writeSync(file, fresh);
  fsyncSync(file);
  closeSync(file);
  renameSync(`${path}.tmp`, path);
  const folder = openSync(dirname(path), "r");
  fsyncSync(folder);
  closeSync(folder);
}

/** What has the same duties: the attributes, which Node cannot read, are looked at too. @type {Edit} */
async function plainEditWithLook(path, turn) {
  const words = ["--format=posix", "--acls", "--selinux", "--xattrs", "-cf", "-", "--", path];
  // The file may be gone by the time that it is read: only what comes before its content counts.
  const looked = runLater("tar", words, { encoding: "buffer" }).catch(() => {});
  plainEdit(path, turn);
  await looked;
}

/** As any other program does that makes a file. @param {string} path */
function touchFolder(path) {
  writeFileSync(`${path}.touched`, "");
  rmSync(`${path}.touched`);
}

/** @param {string} path @param {number} bytes */
function makeFile(path, bytes) {
  const half = LINE.repeat(Math.floor(bytes / LINE.length / 2));
  writeFileSync(path, `${half}${WORDS[0]}\n${half}`);
}

/** @typedef {{ ours: Edit, plain: Edit, before?: (path: string) => void }} Sides */

/** @param {{ folder: string, sides: Sides, name: string, bytes: number, times: number, most: number }} work */
async function pair({ folder, sides, name, bytes, times, most }) {
  const paths = ["ours", "plain"].map((side) => join(folder, side, `${bytes}.txt`));
  for (const path of paths) {
    mkdirSync(dirname(path), { recursive: true });
    makeFile(path, bytes);
  }
  const [our = "", plain = ""] = paths;
  /** @type {[number[], number[]]} */
  const taken = [[], []];
  for (let turn = 0; turn < times + 20; turn += 1) {
    for (const path of paths) sides.before?.(path);
    const both = [await timed(sides.ours, our, turn), await timed(sides.plain, plain, turn)];
    // The first turns warm both sides up.
    if (turn >= 20) for (const side of /** @type {const} */ ([0, 1])) taken[side].push(both[side] ?? 0);
  }
  const [one, other] = [median(taken[0]), median(taken[1])];
  const what = `edit one place in ${name}`;
  const more = `${one.toFixed(2)} ms; read, write, fsync, rename, fsync of the folder ${other.toFixed(2)} ms`;
  printResult({ what, value: one / other, unit: "x plain fs", most, more });
}

/** @param {Edit} edit @param {string} path @param {number} turn */
async function timed(edit, path, turn) {
  const start = performance.now();
  await edit(path, turn);
  return performance.now() - start;
}

/** @param {string} folder */
function large(folder) {
  const paths = { ours: join(folder, "ours.txt"), plain: join(folder, "plain.txt") };
  for (const path of Object.values(paths)) makeFile(path, LARGE);
  /** @type {{ ours: Large[], plain: Large[] }} */
  const found = { ours: [], plain: [] };
  for (let round = 0; round < 3; round += 1) {
    for (const side of /** @type {const} */ (["ours", "plain"])) {
      const child = spawnSync(process.execPath, [THIS, "one", side, paths[side], "4"], { encoding: "utf8" });
      if (child.status !== 0) throw new Error(child.stderr);
      found[side].push(JSON.parse(child.stdout));
    }
  }
  const [one, other] = [found.ours, found.plain].map((all) => median(all.flatMap(({ ms }) => ms)));
  const [ourMb = 0, otherMb = 0] = [found.ours, found.plain].map((all) =>
    Math.max(...all.map(({ mb }) => mb)),
  );
  const ratio = (one ?? 0) / (other ?? 1);
  const more = `${one?.toFixed(0)} ms; plain ${other?.toFixed(0)} ms`;
  printResult({ what: "edit one place in 50 MB", value: ratio, unit: "x plain fs", most: 1.5, more });
  const memory = "peak memory of an edit in 50 MB";
  printResult({ what: memory, value: ourMb, unit: "MB", most: 250, more: `plain ${otherMb.toFixed(0)} MB` });
}

/** @typedef {{ ms: number[], mb: number }} Large */

/** @param {readonly string[]} args */
async function one([side = "", path = "", times = "1"]) {
  const edit = side === "ours" ? await ourEdit(dirname(path)) : plainEdit;
  const small = join(dirname(path), `${side}-warm-up.txt`);
  makeFile(small, 1000);
  for (let turn = 0; turn < 10; turn += 1) await edit(small, turn);
  const ms = [];
  for (let turn = 0; turn < Number(times); turn += 1) ms.push(await timed(edit, path, turn));
  console.log(JSON.stringify({ ms, mb: peakMb() }));
}

/** Of this very program: what `getrusage` tells may be that of the process that started it. */
function peakMb() {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}

if (process.argv[1] === THIS) await run(process.argv.slice(2));
