// Listing, finding and searching against ripgrep, find and plain Node on the same tree, in turns in one run.
import { spawn, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { COMMON_WORD, makeFolder, makeTree, RARE_WORD } from "./corpus.mjs";

const top = join(dirname(fileURLToPath(import.meta.url)), "..");
const ROUNDS = 9;
const ROUNDS_OF_MUCH = 4;
/** What takes no time is measured often, so that both sides are compiled. */
const ROUNDS_OF_LITTLE = 500;

/**
 * @typedef {object} Pair
 * @property {string} work
 * @property {string} limit what it is compared with
 * @property {number} goal most times the limit
 * @property {number} [more] milliseconds that are granted beside it
 * @property {() => unknown} theirs
 * @property {() => Promise<unknown>} ours
 */

/** Where ripgrep's package puts its program. */
function ripgrep() {
  const wrapper = createRequire(join(top, "packages/core/package.json")).resolve("@vscode/ripgrep");
  const name = `@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`;
  return createRequire(wrapper).resolve(process.platform === "win32" ? `${name}.exe` : name);
}

/** @param {() => unknown} work */
async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** @param {Pair} pair */
async function measured({ work, limit, goal, more = 0, theirs, ours }) {
  let [best, bestOurs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // The first of all loads code, and says nothing about how long the work takes.
  await ours();
  const first = await timed(ours);
  const rounds = first < 5 ? ROUNDS_OF_LITTLE : first > 500 ? ROUNDS_OF_MUCH : ROUNDS;
  for (let round = 0; round < rounds; round += 1) {
    best = Math.min(best, await timed(theirs));
    bestOurs = Math.min(bestOurs, await timed(ours));
  }
  const isHeld = bestOurs <= best * goal + more;
  return { work, limit, theirs: best, ours: bestOurs, goal, more, isHeld };
}

/**
 * Runs the program until it has printed so many lines, as somebody would who needs no more.
 * @param {[program: string, args: string[], cwd: string]} command @param {number} lines
 */
function firstLines([program, args, cwd], lines) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "ignore"] });
    let seen = 0;
    child.stdout.on("data", (/** @type {Buffer} */ bytes) => {
      for (const byte of bytes) if (byte === 10) seen += 1;
      if (seen >= lines) child.kill("SIGKILL");
    });
    child.on("close", resolve);
  });
}

/** @param {string[]} args `quick` leaves out the large tree */
export async function run(args) {
  const { createToolbox } = await import(pathToFileURL(join(top, "packages/core/dist/index.js")).href);
  const rg = ripgrep();
  const rows = [];
  for (const entries of [10, 10_000, 100_000]) {
    const root = makeFolder(entries);
    const toolbox = createToolbox({ root });
    rows.push(
      await measured({
        work: `list ${entries} entries`,
        limit: "plain Node",
        goal: 1.5,
        more: 0.2,
        theirs: () => readdirSync(root, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)),
        ours: () => toolbox.call("list_directory", { path: root }),
      }),
    );
  }
  for (const files of args.includes("quick") ? [20_000] : [20_000, 200_000]) {
    const root = makeTree(files);
    const toolbox = createToolbox({ root });
    /** @param {string[]} options */
    const theirs = (options) => () =>
      spawnSync(rg, options, { cwd: root, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1e9 });
    const all = ["--hidden", "--glob", "!.git"];
    rows.push(
      await measured({
        work: `glob **/*.ts, ${files} files`,
        limit: "rg --files",
        goal: 1.5,
        theirs: theirs(["--files", ...all]),
        ours: () => toolbox.call("glob", { pattern: "**/*.ts" }),
      }),
    );
    for (const [work, pattern, goal] of /** @type {const} */ ([
      ["a rare word", RARE_WORD, 1.2],
      ["no match", "noSuchWordAnywhere", 1.2],
      ["an alternation", `${RARE_WORD}|noSuchWord|anotherNone`, 1.2],
      ["a class pattern", "const\\s+zanzibar\\w+ = \\d", 1.2],
    ])) {
      rows.push(
        await measured({
          work: `search ${work}, ${files} files`,
          limit: "rg",
          goal,
          theirs: theirs(["-i", "-n", ...all, "-e", pattern, "."]),
          ours: () => toolbox.call("search_file_content", { pattern }),
        }),
      );
    }
    for (const hits of [20, 100]) {
      const pattern = `${COMMON_WORD}|\\bfrom\\b`;
      rows.push(
        await measured({
          work: `first ${hits} hits of an alternation, ${files}`,
          limit: "rg --sort path",
          goal: 1.3,
          theirs: theirs(["-i", "-n", "--sort", "path", ...all, "-e", pattern, "."]),
          ours: () => toolbox.call("search_file_content", { pattern, maxResults: hits }),
        }),
      );
    }
    rows.push(
      await measured({
        work: `search a common word, ${files} files`,
        limit: "rg, ended after 21 lines",
        goal: 1.3,
        theirs: () => firstLines([rg, ["-i", "-n", ...all, "-e", COMMON_WORD, "."], root], 21),
        ours: () => toolbox.call("search_file_content", { pattern: COMMON_WORD }),
      }),
    );
  }
  for (const { work, limit, theirs, ours, goal, more, isHeld } of rows) {
    const ratio = `${(ours / theirs).toFixed(2)}x`;
    const wanted = `<= ${goal}x${more > 0 ? ` + ${more} ms` : ""}`;
    console.log(
      `${work.padEnd(40)} ${`${limit} ${theirs.toFixed(2)} ms`.padEnd(38)} ours ${ours.toFixed(2).padStart(8)} ms ${ratio.padStart(8)}  goal ${wanted.padEnd(17)} ${isHeld ? "held" : "MISSED"}`,
    );
  }
}
