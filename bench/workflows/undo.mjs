// Whether `burin undo` takes back exactly what a workflow did: files, links, modes, and the state of git. A file that
// the user writes after it must stay as it is.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { openBurin } from "./hands.mjs";
import { makeProject } from "./project.mjs";
import { readGitState, readTreeState } from "./state.mjs";

const { undo } = await import(new URL("../../packages/core/dist/index.js", import.meta.url).href);

/** Ignored folders of dependencies, products and caches, which are not covered. */
const NOT_COVERED =
  /^(?:.*\/)?(?:node_modules|dist|build|coverage|target|\.venv|venv|__pycache__|\.cache)(?:\/|$)|\.log$/;
const NOTE = "note-of-the-user.txt";
const ALL = 100_000;

/**
 * @param {import("./run.mjs").Row} row
 * @param {string} place
 */
export async function undoRow(row, place) {
  mkdirSync(join(homedir(), ".cache"), { recursive: true });
  const folder = realpathSync(mkdtempSync(join(homedir(), ".cache/undo-workflow-")));
  try {
    const project = makeProject(folder, place, { base: row.base, home: join(folder, "home") });
    const { root, env } = project;
    const sh = (/** @type {string} */ script) =>
      spawnSync("bash", ["-c", script], { cwd: root, env, stdio: "ignore" }).status;
    sh(row.before ?? "");
    if (row.needs && sh(row.needs.includes(" ") ? row.needs : `command -v ${row.needs}`) !== 0)
      return { verdict: "skipped", faults: [] };
    const before = await stateOf(project);
    const hands = await openBurin(project, { record: true });
    for (const step of row.steps) {
      const { run, background = false } = typeof step === "string" ? { run: step } : step;
      await hands.run(run, { background, network: row.network ?? false });
    }
    await hands.close();
    const after = await stateOf(project);
    writeFileSync(join(root, NOTE), "mine\n");
    const { files } = await undo({ home: join(folder, "home/.burin"), root, environment: env, count: ALL });
    const isKept = readFileSync(join(root, NOTE), "utf8") === "mine\n";
    rmSync(join(root, NOTE));
    const faults = [
      ...(isKept ? [] : ["the user's file was changed"]),
      ...differences(before, await stateOf(project)),
    ];
    for (const { file, what, reason } of faults.length > 0 ? files : [])
      if (what === "refused") faults.push(`left alone ${file}: ${reason}`);
    sh(row.after ?? "");
    const isSame = differences(before, after).length === 0;
    return { verdict: faults.length > 0 ? "different" : isSame ? "unchanged" : "taken back", faults };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {import("./project.mjs").Project} project */
async function stateOf({ root, env }) {
  const ask = (/** @type {string[]} */ ...words) =>
    spawnSync("git", words, { cwd: root, env, encoding: "utf8" }).stdout;
  const exact = /** @type {const} */ ([
    ["head", ask("rev-parse", "HEAD")],
    ["refs", ask("for-each-ref")],
    ["stashes", ask("stash", "list", "--format=%H")],
  ]);
  return new Map([...readTreeState(root, NOT_COVERED), ...(await readGitState(root, env)), ...exact]);
}

/** @param {Map<string, string>} one @param {Map<string, string>} other */
function differences(one, other) {
  const keys = [...new Set([...one.keys(), ...other.keys()])];
  return keys.flatMap((key) =>
    one.get(key) === other.get(key)
      ? []
      : [
          `${key}: ${(one.get(key) ?? "nothing").slice(0, 200)} → ${(other.get(key) ?? "nothing").slice(0, 200)}`,
        ],
  );
}
