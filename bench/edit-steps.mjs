// What an edit of 1 kB cannot do without: each call of the system that a promise needs, through Node's fs and nothing
// else, with its time; beside them plain fs, which promises less, the same plain fs over other threads, and the whole
// tool. What the tool takes above the sum is its own JavaScript.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { plainEdit } from "./edit-speed.mjs";
import { median } from "./measure.mjs";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, W_OK } = fs.constants;
const TURNS = 300;
const WARM_UPS = 20;
const WORDS = /** @type {const} */ (["the needle stands here", "the thread stands here"]);
const CORE = new URL("../packages/core/dist/index.js", import.meta.url).href;

/** @typedef {(name: string) => void} Step ends a step of that name */

/** @param {string} path @param {number} turn @param {Step} step */
async function neededSteps(path, turn, step) {
  const [word = "", next = ""] = [WORDS[turn % 2], WORDS[(turn + 1) % 2]];
  const folder = dirname(path);
  fs.realpathSync.native(path);
  fs.lstatSync(path, { bigint: true });
  const old = known ?? fs.readFileSync(path);
  fs.lstatSync(join(folder, ".burinignore"), { throwIfNoEntry: false });
  fs.lstatSync(join(dirname(folder), ".burinignore"), { throwIfNoEntry: false });
  step("before the question: where the path leads, whether it changed, ignore files");
  const fresh = Buffer.from(old.toString().replace(word, next));
  step("the new text");
  const server = createServer();
  const name = `\0bench-lock-${createHash("sha256").update(path).digest("hex")}`;
  await new Promise((resolve) => server.listen({ path: name, exclusive: true }, () => resolve(null)));
  step("one writer at a time: the lock of the path between processes");
  fs.realpathSync.native(path);
  fs.lstatSync(path, { bigint: true });
  fs.lstatSync(join(folder, ".burinignore"), { throwIfNoEntry: false });
  fs.lstatSync(join(dirname(folder), ".burinignore"), { throwIfNoEntry: false });
  step("after the question: the same looks again");
  const held = fs.openSync(folder, O_RDONLY | O_DIRECTORY);
  const here = `/proc/self/fd/${held}`;
  fs.readlinkSync(here);
  const target = join(here, basename(path));
  step("inside the root: the folder is opened, and what was opened is judged");
  fs.lstatSync(target, { bigint: true });
  fs.accessSync(target, W_OK);
  fs.fstatSync(held, { bigint: true });
  step("nothing else changed: kind, mode, owner and permission of the old file");
  const temporary = join(here, `.bench-${turn}.tmp`);
  const file = fs.openSync(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  fs.fstatSync(file);
  fs.fchmodSync(file, 0o644);
  fs.writeSync(file, fresh);
  step("old or new after a crash: a new file beside it, with that mode, is written");
  fs.fsyncSync(file);
  step("old or new after a crash: fsync of the new file");
  const present = fs.openSync(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  fs.fstatSync(present);
  const now = Buffer.allocUnsafe(old.length + 1);
  const isSame = fs.readSync(present, now) === old.length && now.subarray(0, old.length).equals(old);
  fs.closeSync(present);
  if (!isSame) throw new Error("The file has changed.");
  step("no change lost: the old file still has the bytes of the question");
  fs.renameSync(temporary, target);
  step("old or new after a crash: rename");
  fs.fstatSync(file, { bigint: true });
  fs.fstatSync(held, { bigint: true });
  step("nothing else changed: what is known about attributes next time");
  fs.fsyncSync(held);
  step("old or new after a crash: fsync of the folder");
  for (const descriptor of [file, held]) fs.closeSync(descriptor);
  server.close();
  known = fresh;
  step("all is closed");
}

/** The file as it was written last: while nothing shows a change, it is not read again. @type {Buffer | undefined} */
let known;

/** The same calls as plain fs, each of which another thread makes. @param {string} path @param {number} turn */
async function plainOverThreads(path, turn) {
  const old = await fs.promises.readFile(path, "utf8");
  const file = await fs.promises.open(`${path}.tmp`, "w");
  await file.write(old.replace(WORDS[turn % 2] ?? "", WORDS[(turn + 1) % 2] ?? ""));
  await file.sync();
  await file.close();
  await fs.promises.rename(`${path}.tmp`, path);
  const folder = await fs.promises.open(dirname(path), "r");
  await folder.sync();
  await folder.close();
}

/** @param {string} root @returns {Promise<(path: string, turn: number) => Promise<void>>} */
async function tool(root) {
  const { createToolbox } = await import(CORE);
  const toolbox = createToolbox({ root, approvalMode: "yolo" });
  return async (path, turn) => {
    const texts = { old_string: WORDS[turn % 2], new_string: WORDS[(turn + 1) % 2] };
    const { error } = await toolbox.call("edit", { file_path: path, ...texts });
    if (error) throw new Error(error.message);
  };
}

export async function run() {
  const root = fs.mkdtempSync(join(tmpdir(), "burin-bench-steps-"));
  try {
    const times = await measured(root);
    const plain = median(times.get("plain") ?? []);
    for (const [name, all] of times) {
      const us = median(all) * 1000;
      const isSum = name in SIDES || name === "all steps";
      console.log(
        `${us.toFixed(0).padStart(6)} us  ${isSum ? `${(us / plain / 1000).toFixed(2)} x  ` : ""}${name}`,
      );
    }
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
}

const SIDES = { plain: plainEdit, "plain over threads": plainOverThreads, "the tool": null };

/** All sides in turns, each in a folder of its own. @param {string} root */
async function measured(root) {
  const edit = await tool(root);
  const steps = fileOf(root, "steps");
  const sides = Object.entries(SIDES).map(([name, side], at) => ({
    name,
    side: side ?? edit,
    path: fileOf(root, `side${at}`),
  }));
  /** @type {Map<string, number[]>} */
  const times = new Map();
  for (let turn = 0; turn < TURNS + WARM_UPS; turn += 1) {
    let from = performance.now();
    /** @param {string} name @param {number} [start] */
    const step = (name, start = from) => {
      const now = performance.now();
      // The first turns warm all sides up.
      if (turn >= WARM_UPS) times.get(name)?.push(now - start);
      else times.set(name, []);
      from = performance.now();
    };
    const start = from;
    await neededSteps(steps, turn, step);
    step("all steps", start);
    for (const { name, side, path } of sides) {
      await side(path, turn);
      step(name);
    }
  }
  return times;
}

/** @param {string} root @param {string} side */
function fileOf(root, side) {
  const path = join(root, side, "1000.txt");
  const half = "const value = compute(alpha, beta, gamma); // a line that stays\n".repeat(7);
  fs.mkdirSync(dirname(path));
  fs.writeFileSync(path, `${half}${WORDS[0]}\n${half}`);
  return path;
}
