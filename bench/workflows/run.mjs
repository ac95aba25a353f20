// npm run workflows [-- --place plain|subfolder|linked|tmp] [--only WORDS] [--mode MODE] [--json FILE] [--undo]:
// ordinary work, all approved, through Burin and through plain bash. A row holds when exit codes, files, the state of git
// and outputs are the same, or when Burin refused before anything changed. With --mode: which steps asked in that
// approval mode. With --undo: whether burin undo takes each back exactly.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROWS as BUILD } from "./build.mjs";
import { ROWS as FILES } from "./files.mjs";
import { ROWS as GIT } from "./git.mjs";
import { ROWS as REMOTES } from "./git-remotes.mjs";
import { openBurin, openShell } from "./hands.mjs";
import { makeProject } from "./project.mjs";
import { ROWS as SCRIPTS } from "./scripts.mjs";
import { normalizeText, readGitState, readTreeState } from "./state.mjs";

/**
 * @typedef {{ run: string, background?: boolean }} Step
 * @typedef {{
 *   name: string, from: string, steps: (string | Step)[], before?: string, after?: string, base?: "folder",
 *   whole?: boolean, network?: boolean, needs?: string, ignore?: RegExp,
 * }} Row `whole`: works on the repository's top, so it is left out in a subfolder. `ignore`: files that differ anyway.
 */

const PLACES = ["plain", "subfolder", "linked", "tmp"];
const options = /** @type {const} */ ({
  place: { type: "string", default: "plain" },
  only: { type: "string", default: "" },
  mode: { type: "string", default: "default" },
  json: { type: "string" },
  undo: { type: "boolean", default: false },
});
const { values } = parseArgs({ options });
if (!PLACES.includes(values.place)) {
  console.error(`--place ${PLACES.join("|")}`);
  process.exit(2);
}

const rows = [...GIT, ...REMOTES, ...FILES, ...BUILD, ...SCRIPTS].filter(
  (row) =>
    row.name.includes(values.only) && !(row.whole && values.place !== "plain" && values.place !== "tmp"),
);
/** @type {{ questions: number, steps: number, asked: { run: string, reason?: string | undefined }[] }} */
const NOT_ASKED = { questions: 0, steps: 0, asked: [] };
const results = [];
for (const row of rows) {
  const result = values.undo
    ? { ...(await (await import("./undo.mjs")).undoRow(row, values.place)), ...NOT_ASKED }
    : await compare(row, values.place);
  results.push({ name: row.name, ...result });
  if (!["same", "taken back", "unchanged"].includes(result.verdict)) {
    console.log(`${result.verdict.toUpperCase()}  ${row.name}`);
    for (const line of result.faults) console.log(`    ${line}`);
  }
}
/** @type {Record<string, number>} */
const counts = {};
for (const { verdict } of results) counts[verdict] = (counts[verdict] ?? 0) + 1;
const summary = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
if (values.mode !== "default") {
  for (const { name, asked } of results)
    for (const { run, reason } of asked) console.log(`ASKED  ${name}: ${run}\n    ${reason}`);
  const asking = results.flatMap(({ asked }) => asked).length;
  const all = results.reduce((sum, { steps }) => sum + steps, 0);
  console.log(`${values.mode}: ${asking} of ${all} steps asked`);
}
const questions = results.reduce((sum, { questions: n }) => sum + n, 0);
console.log(`${values.place}: ${results.length} workflows: ${summary.join(", ")}; ${questions} questions`);
if (values.json) writeFileSync(values.json, JSON.stringify(results, null, 1));
process.exit(counts.different ? 1 : 0);

/**
 * @param {Row} row
 * @param {string} place
 */
async function compare(row, place) {
  const parent = place === "tmp" ? realpathSync(tmpdir()) : join(homedir(), ".cache");
  for (const made of [parent, join(homedir(), ".cache")]) mkdirSync(made, { recursive: true });
  const top = mkdtempSync(join(parent, "workflow-"));
  // Commands see no home below /tmp, where nobody has one.
  const homes = place === "tmp" ? mkdtempSync(join(homedir(), ".cache/workflow-")) : top;
  try {
    const sides = [];
    for (const [name, open] of /** @type {const} */ ([
      ["bash", openShell],
      ["burin", openBurin],
    ])) {
      sides.push(
        await workThrough(row, place, { folder: join(top, name), home: join(homes, name, "home"), open }),
      );
    }
    const [bash, burin] = sides;
    if (bash === undefined || burin === undefined) throw new Error("unreachable");
    if (bash.missing) return { verdict: "skipped", faults: [], ...NOT_ASKED };
    const faults = findFaults(bash, burin);
    const isRefused =
      faults.length > 0 && burin.refusals.length > 0 && burin.refusals.every((one) => !one.hasChanged);
    const verdict = faults.length === 0 ? "same" : isRefused ? "refused" : "different";
    if (isRefused) faults.push(...burin.refusals.map(({ text }) => text.slice(0, 300)));
    const asked = burin.steps.filter(({ reason }) => reason !== undefined);
    return { verdict, faults, questions: burin.questions, asked, steps: burin.steps.length };
  } finally {
    for (const made of [top, homes]) rmSync(made, { recursive: true, force: true });
  }
}

/**
 * @param {Row} row
 * @param {string} place
 * @param {{ folder: string, home: string, open: typeof openBurin | typeof openShell }} side
 */
async function workThrough(row, place, { folder, home, open }) {
  const project = makeProject(folder, place, { base: row.base, home });
  const { root, env } = project;
  await sh(row.before ?? "", root, env);
  const missing =
    row.needs !== undefined &&
    (await sh(row.needs.includes(" ") ? row.needs : `command -v ${row.needs}`, root, env)).code !== 0;
  const hands = missing ? null : await open(project, { mode: values.mode });
  const steps = [];
  const refusals = [];
  for (const step of missing ? [] : row.steps) {
    const { run, background = false } = typeof step === "string" ? { run: step } : step;
    const earlier = readTreeState(root, row.ignore);
    const done = await hands?.run(run, { background, network: row.network ?? false });
    if (done === undefined) break;
    steps.push({ run, code: done.code, output: normalizeText(done.output, project), reason: done.reason });
    if (done.refused === undefined) continue;
    refusals.push({ text: done.refused, hasChanged: !isSame(earlier, readTreeState(root, row.ignore)) });
    break;
  }
  const state = { tree: readTreeState(root, row.ignore), git: await readGitState(root, env) };
  const { questions = 0 } = (await hands?.close()) ?? {};
  await sh(row.after ?? "", root, env);
  return { steps, refusals, state, questions, missing };
}

/** @param {Awaited<ReturnType<typeof workThrough>>} bash @param {Awaited<ReturnType<typeof workThrough>>} burin */
function findFaults(bash, burin) {
  const faults = [];
  for (const [index, step] of bash.steps.entries()) {
    const other = burin.steps[index];
    if (other === undefined) faults.push(`not run: ${step.run}`);
    else if (other.code !== step.code)
      faults.push(`exit ${step.code} → ${other.code}: ${step.run} — ${other.output.slice(-400)}`);
    else if (other.output !== step.output)
      faults.push(
        `output of ${step.run}: ${JSON.stringify(step.output.slice(0, 200))} → ${JSON.stringify(other.output.slice(0, 300))}`,
      );
  }
  for (const part of /** @type {const} */ (["tree", "git"]))
    faults.push(...differences(bash.state[part], burin.state[part]));
  return faults;
}

/** @param {Map<string, string>} one @param {Map<string, string>} other */
function differences(one, other) {
  const keys = [...new Set([...one.keys(), ...other.keys()])];
  return keys.flatMap((key) =>
    one.get(key) === other.get(key)
      ? []
      : [`${key}: ${one.get(key) ?? "nothing"} → ${other.get(key) ?? "nothing"}`],
  );
}

/** @param {Map<string, string>} one @param {Map<string, string>} other */
function isSame(one, other) {
  return differences(one, other).length === 0;
}

/** @param {string} script @param {string} cwd @param {NodeJS.ProcessEnv} env */
function sh(script, cwd, env) {
  return /** @type {Promise<{ code: number | null }>} */ (
    new Promise((done) => {
      spawn("bash", ["-c", script], { cwd, env, stdio: "ignore" }).on("close", (code) => done({ code }));
    })
  );
}
