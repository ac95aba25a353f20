// Hostile repositories, in which nothing that runs unasked may have an effect, and ordinary ones, in which nothing asks.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Arena, CANARY, SECRET } from "./arena.mjs";
import { GIT, listWaysIntoFolder, OTHERS } from "./commands.mjs";
import { HOSTILE } from "./hostile.mjs";
import { ORDINARY } from "./ordinary.mjs";

const BUILT = new URL("../../packages/core/dist/index.js", import.meta.url);

const RULES = ["git status", "git diff", "git log"].map((words) => `run_shell_command(${words})`);

/** @type {readonly { name: string, sandbox: "off" | "workspace-write", allow?: readonly string[], granted?: readonly string[], mode?: "auto" }[]} */
const WAYS = [
  { name: "in the sandbox", sandbox: "workspace-write" },
  { name: "without a sandbox", sandbox: "off" },
  { name: "with rules", sandbox: "workspace-write", allow: [...RULES, "run_shell_command(echo)"] },
  { name: "with grants and no sandbox", sandbox: "off", granted: RULES },
];

/** What a program does there it may do in the project, and nowhere else. @type {Way} */
const AUTO = { name: "in the mode auto", sandbox: "workspace-write", mode: "auto" };

const SOME = 15;

/** @typedef {(typeof WAYS)[number]} Way */

/** @param {{ seed: number, mode?: string }} options @returns {Promise<number>} the count of what went wrong */
export async function run({ seed, mode = "default" }) {
  const faults = [];
  let ran = 0;
  for (const [index, hostile] of HOSTILE.entries()) {
    const tried = await tryRepository(hostile, seed + index, mode);
    ran += tried.ran;
    for (const fault of tried.faults) {
      faults.push(fault);
      console.log(`FAILED ${hostile.name}, ${fault}`);
    }
  }
  const unproven = HOSTILE.filter(({ proof }) => proof === null).length;
  const proven = `${HOSTILE.length} hostile repositories (${unproven} not shown to run anything by themselves)`;
  console.log(`${proven}, ${ran} commands run unasked`);
  const needless = await countNeedlessQuestions();
  for (const fault of needless) console.log(`FAILED ${fault}`);
  return faults.length + needless.length;
}

/** @param {import("./hostile.mjs").Hostile} hostile @param {number} seed @param {string} mode */
async function tryRepository(hostile, seed, mode) {
  const faults = hostile.proof === null || isReal(hostile) ? [] : ["its proof shows nothing"];
  let ran = 0;
  const arena = new Arena();
  try {
    hostile.make(arena);
    arena.takeMarks();
    const commands = [...GIT, ...OTHERS, ...(hostile.folders ?? []).flatMap(listWaysIntoFolder)];
    const ways = mode === "auto" ? [AUTO] : WAYS;
    for (const way of ways) {
      // All of them in the first way; in each other one some, which the seed chooses.
      const mixed = shuffle(way.allow ? addAllowedPart(commands) : commands, seed);
      const attacked = await runAttack(arena, way, way === ways[0] ? commands : mixed.slice(0, SOME));
      ran += attacked.ran;
      for (const fault of attacked.faults) faults.push(`${way.name}: ${fault}`);
    }
  } finally {
    arena.remove();
  }
  return { ran, faults };
}

/** Whether the planted program runs, or the secret shows, when git is let do what it likes. @param {import("./hostile.mjs").Hostile} hostile */
function isReal({ make, proof }) {
  const arena = new Arena();
  try {
    make(arena);
    arena.takeMarks();
    const place = { cwd: arena.root, env: arena.environment, timeout: 20_000 };
    const done = spawnSync("bash", ["-c", proof ?? ""], { ...place, encoding: "utf8", stdio: "pipe" });
    const said = `${done.stdout}${done.stderr}`;
    return arena.takeMarks().length > 0 || said.includes(CANARY) || said.includes(SECRET);
  } finally {
    arena.remove();
  }
}

/** Beside a part that a rule covers a line runs in the ordinary sandbox. @param {readonly string[]} commands */
function addAllowedPart(commands) {
  return [...commands, ...commands.map((command) => `echo x && ${command}`)];
}

/** @param {Arena} arena @param {Way} way @param {readonly string[]} commands */
async function runAttack(arena, way, commands) {
  const toolbox = await openToolbox(arena, way);
  const faults = [];
  let ran = 0;
  try {
    for (const command of commands) {
      const { llmContent, error } = await toolbox.call("run_shell_command", { command });
      const all = arena.takeMarks();
      const marks = way.mode === "auto" ? all.filter((mark) => arena.isOutside(mark)) : all;
      const said = String(llmContent);
      if (error?.type === "needs_approval") {
        if (marks.length > 0) faults.push(`judging ran a program: ${command}`);
        continue;
      }
      ran += 1;
      const isShown = said.includes(SECRET) || (way.mode === undefined && said.includes(CANARY));
      if (marks.length > 0) faults.push(`a program ran: ${command}`);
      else if (isShown) faults.push(`what must not be shown was shown: ${command}`);
    }
  } finally {
    await toolbox.close();
  }
  return { ran, faults };
}

/** @param {Arena} arena @param {Way} way */
async function openToolbox(arena, { sandbox, allow = [], granted = [], mode }, root = arena.root) {
  const { createToolbox } = /** @type {typeof import("@burin/core")} */ (await import(BUILT.href));
  mkdirSync(arena.environment.BURIN_HOME, { recursive: true });
  const grants = granted.map((rule) => ({ rule, when: "2026-01-01T00:00:00.000Z" }));
  writeFileSync(join(arena.environment.BURIN_HOME, "grants.json"), JSON.stringify({ grants }), {
    mode: 0o600,
  });
  const settings = { sandbox: { mode: sandbox }, permissions: { allow: [...allow] } };
  const how = mode === undefined ? {} : { approvalMode: mode, record: true };
  return createToolbox({ root, environment: arena.environment, settings, ...how });
}

async function countNeedlessQuestions() {
  const faults = [];
  let unasked = 0;
  for (const { name, make, folders = [], root = "root" } of ORDINARY) {
    const arena = new Arena();
    // The sandbox hides what lies beside the root in the folder of temporary files, where this repository is.
    /** @type {Way} */
    const way = { name: "ordinary", sandbox: root === "root" ? "workspace-write" : "off" };
    try {
      make(arena);
      const toolbox = await openToolbox(arena, way, join(arena.base, root));
      const looks = folders.flatMap(listWaysIntoFolder);
      for (const command of [...GIT, ...OTHERS, ...looks]) {
        const { verdict, reason } = await toolbox.explain(command);
        if (verdict !== "allow") faults.push(`${name}: needlessly asked for ${command}: ${reason}`);
        else unasked += 1;
        if (verdict === "allow" && /^git (?:status|log|diff|show|ls-files)\b/.test(command)) {
          const { llmContent } = await toolbox.call("run_shell_command", { command });
          if (!/^Exit code: 0$/m.test(String(llmContent)))
            faults.push(`${name}: ${command} failed: ${llmContent}`);
        }
      }
      await toolbox.close();
    } finally {
      arena.remove();
    }
  }
  console.log(`${ORDINARY.length} ordinary repositories, ${unasked} commands that ask nothing`);
  return faults;
}

/** The order is another one with each seed. @template T @param {readonly T[]} items @param {number} seed @returns {T[]} */
function shuffle(items, seed) {
  let state = seed + 1;
  const keyed = items.map((item) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return /** @type {const} */ ([state, item]);
  });
  return keyed.sort(([a], [b]) => a - b).map(([, item]) => item);
}
