// Whether edits with mistakes land where they are meant, by cases that share no code with `edit`, through the built tool and
// real files: npm run bench -- edit-independent [--seed N] [--kind NAME] [--show N] [--cases N]
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chanceOf, draftOf } from "./edits.mjs";
import { KINDS } from "./kinds.mjs";
import { loadChanges } from "./sources.mjs";

/** @typedef {import("./edits.mjs").Case} Case */
/** @typedef {import("./kinds.mjs").Kind} Kind */
/** @typedef {"right" | "wrong" | "spaces" | "refused"} Verdict */
/** @typedef {{ kind: Kind, verdicts: Record<Verdict, number>, open: Record<Verdict, number>, named: number }} Row */

/** As it ships; by its address, so that the bundle is not type-checked. */
const BUILT = new URL("../../packages/core/dist/index.js", import.meta.url);
const CASES = 70;

/** @param {import("./sources.mjs").Changed[]} changes @param {Kind} kind @param {{ seed: number, most: number }} draw */
function casesOf(changes, kind, { seed, most }) {
  /** @type {Case[]} */
  const cases = [];
  const chance = chanceOf(
    [...kind.name].reduce((sum, sign) => Math.imul(sum, 33) + sign.charCodeAt(0), seed),
  );
  const wanted = kind.name === "a huge file" ? Math.min(most, 12) : most;
  for (let tries = 0; cases.length < wanted && tries < most * 60; tries++) {
    const [changed, more] = [chance.of(changes), chance.of(changes)];
    const [draft, other] = [changed && draftOf(changed, chance), more && draftOf(more, chance)];
    const made = draft && other && kind.make(draft, chance, other);
    if (made !== undefined && made.file !== made.wanted) cases.push(made);
  }
  return cases;
}

/** @param {Buffer} bytes @param {Buffer} before @param {Buffer | null} wanted @returns {Verdict} */
function verdictOf(bytes, before, wanted) {
  if (wanted !== null && bytes.equals(wanted)) return "right";
  if (bytes.equals(before)) return "refused";
  const bare = (/** @type {Buffer} */ text) => text.toString("latin1").replace(/\s+/g, "");
  return wanted !== null && bare(bytes) === bare(wanted) ? "spaces" : "wrong";
}

/** @param {Verdict} verdict @param {boolean} mayRefuse */
const isFine = (verdict, mayRefuse) => verdict === "right" || (verdict === "refused" && mayRefuse);

/** Whether it is one of several results that may be meant. @param {Case} one @param {Buffer} bytes */
function isAlike({ isOpen, alike, wanted }, bytes) {
  return (
    isOpen === true && alike !== undefined && wanted !== null && alike(bytes.toString()) === alike(wanted)
  );
}

/** @param {string[]} args */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: "string" },
      kind: { type: "string", default: "" },
      show: { type: "string", default: "0" },
      cases: { type: "string", default: String(CASES) },
    },
  });
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  await measure(await loadChanges(console.log), {
    seed,
    kind: values.kind,
    most: Number(values.cases),
    show: Number(values.show),
  });
}

/** @typedef {{ seed: number, kind: string, most: number, show: number }} Wanted */

/** @param {import("./sources.mjs").Changed[]} changes @param {Wanted} wanted */
export async function measure(changes, { seed, kind: named, most, show }) {
  const hunks = changes.reduce((sum, { hunks }) => sum + hunks.length, 0);
  console.log(`seed ${seed}; ${changes.length} changed files, ${hunks} real changes`);
  const { createToolbox } = await import(BUILT.href);
  const root = await mkdtemp(join(tmpdir(), "burin-independent-"));
  const toolbox = createToolbox({ root, approvalMode: "yolo" });
  /** @type {Row[]} */
  const rows = [];
  try {
    for (const kind of KINDS.filter(({ name }) => name.includes(named))) {
      const cases = casesOf(changes, kind, { seed, most });
      const call = (/** @type {object} */ edit) => toolbox.call("edit", edit);
      rows.push(await judged(kind, cases, { call, root, show }));
    }
  } finally {
    await toolbox.close();
    await rm(root, { recursive: true, force: true });
  }
  printRows(rows);
}

/** @typedef {{ call: (edit: object) => Promise<{ llmContent: unknown }>, root: string, show: number }} Tool */

/** @param {Kind} kind @param {readonly Case[]} cases @param {Tool} tool @returns {Promise<Row>} */
async function judged(kind, cases, { call, root, show }) {
  const none = () => ({ right: 0, wrong: 0, spaces: 0, refused: 0 });
  const row = { kind, verdicts: none(), open: none(), named: 0 };
  let left = show;
  for (const [at, one] of cases.entries()) {
    const encode = one.encode ?? ((text) => Buffer.from(text));
    const [before, wanted] = [encode(one.file), one.wanted === null ? null : encode(one.wanted)];
    const path = join(root, `${kind.name.replaceAll(" ", "-")}-${at}${one.ending}`);
    await writeFile(path, before);
    const sent = one.edits.length === 1 ? one.edits[0] : { edits: one.edits };
    const { llmContent } = await call({ file_path: path, ...sent });
    const bytes = await readFile(path);
    await rm(path);
    const verdict = isAlike(one, bytes) ? "right" : verdictOf(bytes, before, wanted);
    const [isOpen, said] = [one.isOpen === true, String(llmContent)];
    (isOpen ? row.open : row.verdicts)[verdict]++;
    const isNamed = verdict === "refused" && /seems to be done|already/.test(said);
    if (isNamed) row.named++;
    const isMiss = (kind.isDone === true && !isNamed) || !isFine(verdict, isOpen || kind.mustFail === true);
    if (isMiss && left-- > 0) printCase(one, { verdict, said, bytes });
  }
  return row;
}

/** @param {Row[]} rows */
function printRows(rows) {
  console.log(
    `\n${"kind".padEnd(32)}weight      n  right %  wrong  spaces  refused   undecidable: right/wrong/spaces/refused`,
  );
  const all = { weight: 0, right: 0, wrong: 0, spaces: 0, must: 0, clean: 0 };
  for (const { kind, verdicts, open, named } of rows) {
    const { right, wrong, spaces, refused } = verdicts;
    const [count, unclear] = [verdicts, open].map((by) => by.right + by.wrong + by.spaces + by.refused);
    const good = kind.mustFail === true ? refused : right;
    const share = count ? (100 * good) / count : 100;
    const cells = [kind.weight, count, share.toFixed(1), wrong, spaces, refused]
      .map((cell) => String(cell).padStart(7))
      .join(" ");
    const undecidable = unclear === 0 ? "" : `   ${open.right}/${open.wrong}/${open.spaces}/${open.refused}`;
    console.log(
      `${`${kind.mustFail ? "must fail: " : ""}${kind.name}`.padEnd(32)}${cells}${undecidable}${kind.isDone ? `   named ${named}` : ""}`,
    );
    if (kind.mustFail === true) {
      all.must += count ?? 0;
      all.clean += refused;
    } else if (count) {
      const total = count + (unclear ?? 0);
      all.weight += kind.weight;
      all.right += (kind.weight * right) / count;
      all.wrong += (kind.weight * (wrong + open.wrong)) / total;
      all.spaces += (kind.weight * (spaces + open.spaces)) / total;
    }
  }
  const share = (/** @type {number} */ sum) => ((100 * sum) / Math.max(1, all.weight)).toFixed(2);
  const must = `${all.must - all.clean} of ${all.must} that must fail did not`;
  console.log(
    `\nby weight: right ${share(all.right)} %, wrong ${share(all.wrong)}, white space ${share(all.spaces)}; ${must}`,
  );
}

/** @param {Case} one @param {{ verdict: Verdict, said: string, bytes: Buffer }} outcome */
function printCase({ where, file, edits, wanted, isOpen }, { verdict, said, bytes }) {
  const [old, now] = [wanted ?? file, bytes.toString("utf8")];
  let from = 0;
  while (from < old.length && old[from] === now[from]) from++;
  const near = (/** @type {string} */ text) =>
    JSON.stringify(text.slice(Math.max(0, from - 150), from + 350));
  console.log(`\n=== ${verdict}${isOpen ? ", undecidable" : ""}: ${where}`);
  for (const { old_string, new_string } of edits)
    console.log(
      `old_string ${JSON.stringify(old_string.slice(0, 900))}\nnew_string ${JSON.stringify(new_string.slice(0, 900))}`,
    );
  console.log(
    `wanted ${wanted === null ? "a refusal" : near(old)}\n${verdict === "refused" ? `said ${said.slice(0, 700)}` : `got ${near(now)}`}`,
  );
}
