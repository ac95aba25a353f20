// How often an edit with a mistake in it lands where it was meant: npm run bench -- edit [options]
//   --quick             a fifth of the cases, one seed      --seed N        this seed alone
//   --class NAME        classes whose name has this         --show-wrong N  N failing cases of each class, readable
//   --leave-out RULE    the same cases with and without a rule of the matcher (`all`: each rule in turn)
// Four seeds of about 4,000 cases: 1, 2, 3 and one that is new in every run. Real changes come from corpus.mjs.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CLASSES } from "./classes.mjs";
import { loadPackages } from "./corpus.mjs";
import { makeDraft, makePlainCase } from "./draft.mjs";
import { judge, judgeFiles, sumTallies } from "./judge.mjs";
import { loadMatcher } from "./matcher.mjs";
import { createRandom, hashText, shuffle } from "./random.mjs";
import { printCost, printMiss, printTable } from "./report.mjs";

/** @typedef {import("./draft.mjs").Change} Change */
/** @typedef {import("./judge.mjs").Tally} Tally */
/** @typedef {import("./judge.mjs").Made} Made */

const SEEDS = [1, 2, 3];
const MAX_PER_CLASS = 330;
const MIN_PER_CLASS = 60;
const PER_WEIGHT = 2.4;
const MAX_HARMLESS = 5000;

/** Changes of all packages, of each as many as of any other as far as it has them. @param {import("./corpus.mjs").Package[]} packages @param {number} seed */
function changesOf(packages, seed) {
  const random = createRandom(seed);
  const changes = packages.map(({ name, files }) =>
    shuffle(
      files.flatMap(({ name: path, language, text, hunks }) => {
        const eol = text.includes("\r\n") ? "\r\n" : "\n";
        const lines = text.split(eol);
        if (lines.some((line) => /[\r\n]/.test(line))) return [];
        const own = hunks.map((hunk) => ({ ...hunk, put: hunk.put.map((line) => line.replace(/\r$/, "")) }));
        const isSame = own.map(({ from, to, put }) => lines.slice(from, to).join("\n") === put.join("\n"));
        return own.flatMap((_, at) =>
          isSame[at] ? [] : [{ where: `${name}/${path}`, language, lines, hunks: own, at, eol }],
        );
      }),
      random,
    ),
  );
  /** @type {Change[][]} */
  const rounds = [];
  for (let round = 0; round < 80; round++) {
    rounds.push(
      shuffle(
        changes.flatMap((all) => all.slice(round, round + 1)),
        random,
      ),
    );
  }
  return rounds.flat();
}

/** The cases of one class. @param {import("./classes.mjs").Class} kind @param {{ changes: Change[], seed: number, share: number }} draw @returns {Made[]} */
function casesOf(kind, { changes, seed, share }) {
  const wanted = Math.ceil(
    Math.min(MAX_PER_CLASS, Math.max(MIN_PER_CLASS, kind.weight * PER_WEIGHT)) * share,
  );
  const most = kind.name === "huge file" ? Math.ceil(6 * share) : wanted;
  const start = hashText(`${seed} ${kind.name}`);
  /** @type {Made[]} */
  const made = [];
  for (let index = 0; index < changes.length && made.length < most; index++) {
    const random = createRandom(start + index * 7919);
    const [change, another] = [0, 11].map((more) => changes[(index + more + start) % changes.length]);
    const draft = change && makeDraft(change, random);
    const other = another && makeDraft(another, createRandom(start + index));
    const one = draft && other ? kind.make({ draft, other, random }) : undefined;
    if (one !== undefined) made.push({ kind, one });
  }
  return made;
}

/** Real edits as they are, none of which may be taken for one with a placeholder. @param {import("./matcher.mjs").Matcher} matcher @param {{ changes: Change[], seed: number, share: number }} draw */
function falseAlarms(matcher, { changes, seed, share }) {
  const edits = changes.slice(0, MAX_HARMLESS * share).flatMap((change, at) => {
    const draft = makeDraft(change, createRandom(seed + at));
    return draft === undefined ? [] : [makePlainCase(draft)];
  });
  const seen = edits.filter((edit) => matcher.seesPlaceholder(edit));
  const where = seen.map((edit) => ` ${edit.where}`).join("");
  return `placeholders seen in ${edits.length} harmless edits: ${seen.length}${where}`;
}

/** @param {string[]} args */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      seed: { type: "string" },
      class: { type: "string", default: "" },
      "show-wrong": { type: "string", default: "0" },
      "leave-out": { type: "string" },
    },
  });
  const matcher = await loadMatcher();
  const packages = await loadPackages();
  console.log(corpusLine(packages));
  const fresh = 1000 + (Date.now() % 1_000_000);
  const seeds = values.seed !== undefined ? [Number(values.seed)] : values.quick ? [1] : [...SEEDS, fresh];
  const share = values.quick ? 0.2 : 1;
  /** @type {Tally[]} */
  const tallies = [];
  /** @type {Made[]} */
  const all = [];
  for (const seed of seeds) {
    const changes = changesOf(packages, seed);
    const kinds = CLASSES.filter(({ name }) => name.includes(values.class));
    const made = kinds.flatMap((kind) => casesOf(kind, { changes, seed, share }));
    all.push(...made);
    const tally = judge(matcher, made);
    await judgeFiles(tally, made);
    tallies.push(tally);
    console.log(`seed ${seed}${seed === fresh ? " (new)" : ""}: ${tally.line}`);
    console.log(`  ${falseAlarms(matcher, { changes, seed, share })}`);
  }
  const total = sumTallies(tallies);
  printTable(total);
  for (const miss of total.shown(Number(values["show-wrong"]))) printMiss(miss);
  if (values["leave-out"] !== undefined) printCost({ matcher, made: all, rule: values["leave-out"], total });
}

/** @param {import("./corpus.mjs").Package[]} packages */
function corpusLine(packages) {
  const languages = new Set(packages.flatMap(({ files }) => files.map(({ language }) => language)));
  const hunks = packages.flatMap(({ files }) => files.map(({ hunks }) => hunks.length));
  const changes = hunks.reduce((sum, count) => sum + count, 0);
  return `${packages.length} packages, ${languages.size} languages, ${changes} real changes`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(process.argv.slice(2));
