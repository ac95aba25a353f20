// Reading and writing single files, against cat, wc -l and plain fs on the same files in the same run.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const CORE = fileURLToPath(new URL("../packages/core/dist/index.js", import.meta.url));
const MB = 1024 * 1024;

/**
 * @typedef {{ name: string, ours: number, other: number | null, unit: string, goal: number, what: string }} Row
 */

/** @param {readonly string[]} args a folder to keep the corpus in; without one it is removed afterwards */
export async function run(args) {
  const kept = args[0];
  const folder = kept ?? mkdtempSync(join(tmpdir(), "burin-bench-files-"));
  try {
    const corpus = buildCorpus(folder);
    const { createToolbox } = await import(CORE);
    const toolbox = createToolbox({ root: folder, approvalMode: "yolo", overwriteUnread: true });
    const rows = [
      ...(await reads(toolbox, corpus)),
      ...(await writes(toolbox, folder)),
      await memory(folder, corpus),
    ];
    print(rows);
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder */
function buildCorpus(folder) {
  const corpus = {
    small: join(folder, "1kB.txt"),
    medium: join(folder, "10MB.txt"),
    large: join(folder, "500MB.txt"),
    longLine: join(folder, "200MB-line.txt"),
    binary: join(folder, "50MB.bin"),
  };
  fill(corpus.small, lines(0, 20), 1024);
  fill(corpus.medium, lines(0, 20_000), 10 * MB);
  fill(corpus.large, lines(0, 100_000), 500 * MB);
  fill(corpus.longLine, Buffer.alloc(MB, "x"), 200 * MB);
  fill(corpus.binary, Buffer.concat([Buffer.from("\x7fELF\0\0"), Buffer.alloc(MB, 7)]), 50 * MB);
  return corpus;
}

/** @param {number} from @param {number} count */
function lines(from, count) {
  const text = Array.from(
    { length: count },
    (_, index) => `line ${from + index} ${"x".repeat(40 + (index % 40))}\n`,
  );
  return Buffer.from(text.join(""));
}

/** @param {string} path @param {Buffer} block @param {number} size */
function fill(path, block, size) {
  const descriptor = openSync(path, "w");
  for (let written = 0; written < size; written += block.length) writeSync(descriptor, block);
  closeSync(descriptor);
}

/**
 * @param {any} toolbox
 * @param {ReturnType<typeof buildCorpus>} corpus
 * @returns {Promise<Row[]>}
 */
async function reads(toolbox, corpus) {
  const total = (/** @type {string} */ path) =>
    Number(execFileSync("wc", ["-l", path]).toString().split(" ")[0]);
  const atEnd = (/** @type {string} */ path) => ({ path, offset: total(path) - 2000, limit: 2000 });
  const read = (/** @type {object} */ call) => async () => {
    const { error } = await toolbox.call("read_file", call);
    if (error) throw new Error(error.message);
  };
  const wc = (/** @type {string} */ path) => () => run1("wc", ["-l", path]);
  return [
    await row("read 1 kB", [read({ path: corpus.small }), null], { goal: 0.15, unit: "ms", times: 300 }),
    await row("read the last 2,000 lines of 10 MB", [read(atEnd(corpus.medium)), wc(corpus.medium)], {
      goal: 1.5,
      unit: "x wc -l",
      times: 40,
    }),
    await row("the same of 500 MB", [read(atEnd(corpus.large)), wc(corpus.large)], {
      goal: 1.3,
      unit: "x wc -l",
      times: 9,
    }),
    await row("one line of 200 MB", [read({ path: corpus.longLine }), wc(corpus.longLine)], {
      goal: 1,
      unit: "x wc -l",
      times: 9,
    }),
    await row("50 MB of binary data", [read({ path: corpus.binary }), null], {
      goal: 0.5,
      unit: "ms",
      times: 200,
    }),
  ];
}

/**
 * @param {any} toolbox
 * @param {string} folder
 * @returns {Promise<Row[]>}
 */
async function writes(toolbox, folder) {
  /** @type {Row[]} */
  const rows = [];
  for (const [name, size, times] of /** @type {const} */ ([
    ["1 kB", 1024, 60],
    ["1 MB", MB, 30],
    ["50 MB", 50 * MB, 5],
  ])) {
    const contents = ["a", "b"].map((letter) => `${letter.repeat(79)}\n`.repeat(Math.ceil(size / 80)));
    // Each side has turns of its own, so that both write another content each time.
    const turns = () => {
      let turn = 0;
      return () => {
        turn += 1;
        return contents[turn % 2] ?? "";
      };
    };
    const [next, nextPlain] = [turns(), turns()];
    const path = join(folder, `write-${size}.txt`);
    // In a folder of its own: where others write beside a file, its attributes are looked at anew for each change.
    const plain = join(folder, "plain", `plain-${size}.txt`);
    mkdirSync(dirname(plain), { recursive: true });
    writeFileSync(path, next());
    writeFileSync(plain, nextPlain());
    const ours = async () => {
      const { error } = await toolbox.call("write_file", { file_path: path, content: next() });
      if (error) throw new Error(error.message);
    };
    rows.push(
      await row(`overwrite ${name}`, [ours, () => plainWrite(plain, nextPlain())], {
        goal: 1.5,
        unit: "x read, write, fsync, rename, fsync of the folder",
        times,
      }),
    );
  }
  return rows;
}

/** With the same promises: the folder is synced, too. @param {string} path @param {string} content */
async function plainWrite(path, content) {
  readFileSync(path);
  const handle = await open(`${path}.tmp`, "w");
  await handle.writeFile(content);
  await handle.sync();
  await handle.close();
  await rename(`${path}.tmp`, path);
  const folder = await open(dirname(path), "r");
  await folder.sync();
  await folder.close();
}

/** @param {string} command @param {readonly string[]} args @returns {Promise<void>} */
function run1(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "ignore" });
    child.on("error", reject);
    child.on("close", () => resolve());
  });
}

/**
 * Both sides in turn, so that a drifting machine harms no ratio; the median of each.
 * @param {string} name
 * @param {readonly [ours: () => Promise<void>, other: (() => Promise<void>) | null]} sides
 * @param {{ goal: number, unit: string, times: number }} how
 * @returns {Promise<Row>}
 */
async function row(name, [ours, other], { goal, unit, times }) {
  /** @type {[number[], number[]]} */
  const taken = [[], []];
  const warmUps = Math.min(times, 20);
  for (let turn = 0; turn < warmUps; turn += 1) await ours();
  await other?.();
  for (let turn = 0; turn < times; turn += 1) {
    taken[0].push(await timed(ours));
    if (other) taken[1].push(await timed(other));
  }
  return { name, ours: median(taken[0]), other: other && median(taken[1]), unit, goal, what: "ms" };
}

/** @param {() => Promise<void>} work */
async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** @param {number[]} values */
function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * What reading the end of 500 MB adds to a process, and that process as a whole.
 * @param {string} folder
 * @param {ReturnType<typeof buildCorpus>} corpus
 * @returns {Promise<Row>}
 */
async function memory(folder, corpus) {
  const script = `
    import { readFileSync } from "node:fs";
    import { createToolbox } from ${JSON.stringify(CORE)};
    const toolbox = createToolbox({ root: ${JSON.stringify(folder)} });
    await toolbox.call("read_file", { path: ${JSON.stringify(corpus.large)}, offset: 5000000, limit: 2000 });
    const [, peak] = /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    console.log(peak);`;
  // Not maxRSS, which begins with what this process had when it started the other.
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script]);
  return {
    name: "memory for 500 MB",
    ours: Number(stdout) / 1024,
    other: null,
    unit: "MB",
    goal: 80,
    what: "MB",
  };
}

/** @param {readonly Row[]} rows */
function print(rows) {
  console.log("| work | Burin | other side | ratio | goal | |\n|---|---|---|---|---|---|");
  for (const { name, ours, other, unit, goal, what } of rows) {
    const ratio = other === null ? ours : ours / other;
    const sides = `${ours.toFixed(2)} ${what} | ${other === null ? "-" : `${other.toFixed(2)} ${what}`}`;
    const told = other === null ? "-" : ratio.toFixed(2);
    console.log(
      `| ${name} | ${sides} | ${told} | <= ${goal} ${unit} | ${ratio <= goal ? "held" : "MISSED"} |`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(process.argv.slice(2));
