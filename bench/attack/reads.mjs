// Generated command lines whose verdict is that they only read are run for real, and strace says what they did.
// They run without the sandbox, so that the judge alone is proven.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeCommandLine, makeRandom } from "./reads-grammar.mjs";
import { findFaults, LINE } from "./reads-trace.mjs";
import { makeTree } from "./reads-tree.mjs";

/** As it ships. */
const BUILT = new URL("../../packages/core/dist/index.js", import.meta.url);
/** Commands in one run of strace, and how long they may take together: many times what they need. */
const BATCH = 400;
const MAX_SECONDS = 240;
/** Lines are drawn until so many times the wanted number were judged. */
const MAX_DRAWN = 40;

/** What faults are seen in; each call that stops a process costs time, so that nothing else is asked for. */
const CALLS = [
  "execve,execveat,clone,clone3,fork,vfork,chdir,connect,open,openat,openat2,creat",
  "unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,mknod,mknodat",
  "truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,setxattr,lsetxattr,fsetxattr",
  "removexattr,lremovexattr,fremovexattr,utimensat,utime,utimes,mount,umount2",
].join(",");

/** Each must be found out, or the trace proves nothing. Before the others, since a canary stays. */
const BAD = [
  "cat link.txt",
  "find . -name out.txt -exec cat {} +",
  "ls | xargs cat",
  ": > canary",
  "bin/ls",
  "sort -o canary a.txt",
];

/** @typedef {{ root: string, base: string, environment: Record<string, string> }} Place */
/** @typedef {{ command: string, what: string }} Fault */

/** @param {{ seed?: number, count?: number }} [options] @returns {Promise<number>} how many commands did more than read */
export async function run({ seed = 1, count = 1000 } = {}) {
  if (spawnSync("strace", ["-V"]).status !== 0)
    throw new Error("strace is missing, without which nothing is proven.");
  const base = realpathSync(mkdtempSync(join(tmpdir(), "burin-reads-")));
  try {
    const place = { ...makeTree(base), base };
    const seen = new Set((await runTraced(BAD, place)).map(({ command }) => command));
    const missed = BAD.filter((command) => !seen.has(command));
    if (missed.length > 0)
      throw new Error(`The trace does not show what is bad about ${JSON.stringify(missed)}.`);
    const faults = new Set();
    const tell = (/** @type {readonly Fault[]} */ found) => {
      for (const { command, what } of found) {
        if (!faults.has(command)) console.log(`FAULT ${JSON.stringify(command)}: ${what}`);
        faults.add(command);
      }
    };
    const drawing = drawReading(place, makeRandom(seed), count);
    // While one batch runs the next is judged.
    let running = Promise.resolve();
    let [drawn, ran] = [0, 0];
    for await (const batch of drawing) {
      await running;
      drawn = batch.drawn;
      ran += batch.commands.length;
      running = runTraced(batch.commands, place).then(tell);
    }
    await running;
    const share = ((100 * ran) / drawn).toFixed(1);
    const lines = `${drawn} different lines, ${ran} judged as reading and run (${share} %)`;
    console.log(`reads: seed ${seed}, ${lines}, ${faults.size} faults`);
    if (ran < count) console.log(`FAILED only ${ran} of ${count} commands were found to run`);
    return faults.size + (ran < count ? 1 : 0);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** Batches of different lines that are judged to do nothing but read. @param {Place} place @param {() => number} random @param {number} count */
async function* drawReading({ root, base, environment }, random, count) {
  const { createToolbox } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
  const toolbox = createToolbox({ root, environment: { ...environment, BURIN_HOME: join(base, "burin") } });
  const known = new Set();
  let [tries, found] = [0, 0];
  while (found < count && tries < count * MAX_DRAWN) {
    /** @type {string[]} */
    const commands = [];
    for (; commands.length < Math.min(BATCH, count - found) && tries < count * MAX_DRAWN; tries += 1) {
      const command = makeCommandLine(random);
      if (known.has(command)) continue;
      known.add(command);
      const { verdict, rule } = await toolbox.explain(command);
      if (verdict === "allow" && rule === undefined) commands.push(command);
    }
    found += commands.length;
    yield { commands, drawn: known.size };
  }
  await toolbox.close();
}

/** Some builds of strace cannot leave out what is not asked for, and are slower. */
const FILTER = spawnSync("strace", ["-f", "--seccomp-bpf", "-o", "/dev/null", "true"]).status === 0;

/** One strace for many commands, each in a shell of its own that its number names. @param {readonly string[]} commands @param {Place} place @returns {Promise<Fault[]>} */
async function runTraced(commands, place) {
  const { root, base, environment } = place;
  if (commands.length === 0) return [];
  const [lines, trace] = [join(base, "lines.sh"), join(base, "trace")];
  const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", "'\\''")}'`;
  const script = commands.map(
    (command, index) =>
      `bash --norc --noprofile -c ${quoted(command)} ${LINE}${index} </dev/null >/dev/null 2>&1`,
  );
  // The last one is not to take the place of the shell that started the others.
  writeFileSync(lines, `${script.join("\n")}\ntrue\n`);
  const strace = ["strace", "-f", ...(FILTER ? ["--seccomp-bpf"] : []), "-qq", "-y", "-s", "4096"];
  // All that it starts is ended with it.
  const limit = ["--signal=KILL", String(MAX_SECONDS)];
  const words = [...limit, ...strace, "-o", trace, "-e", `trace=${CALLS}`, "bash", "--norc", lines];
  const started = spawn("timeout", words, { cwd: root, env: environment, stdio: "ignore" });
  const [status] = await once(started, "exit");
  if (status === 0) return findFaults({ trace, commands, root, base });
  if (commands.length === 1) return commands.map((command) => ({ command, what: "it does not end" }));
  const half = Math.ceil(commands.length / 2);
  return [
    ...(await runTraced(commands.slice(0, half), place)),
    ...(await runTraced(commands.slice(half), place)),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { seed: { type: "string" }, count: { type: "string" } } });
  const failures = await run({ seed: Number(values.seed ?? 1), count: Number(values.count ?? 1000) });
  process.exitCode = failures === 0 ? 0 : 1;
}
