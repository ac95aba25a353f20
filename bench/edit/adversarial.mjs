// How long the matcher takes where a match is lenient, or there is none, and in files made to be slow.
import { median, printResult } from "../measure.mjs";
import { loadMatcher } from "./matcher.mjs";
import { createRandom } from "./random.mjs";

/** @typedef {import("./matcher.mjs").Edit} Edit */
/** @typedef {import("./random.mjs").Random} Random */

const LARGE = 2_000_000;
const SMALL = 100_000;
const MAX_MS = 60;
const MAX_HOSTILE_MS = 250;
/** Where `old_string` is as long as half of the file: 200 kB. */
const MAX_HALF_MS = 2000;
const BACKSLASHES = "\\".repeat(100_000);
/** What is faster than this says nothing of growth: it is noise. */
const MIN_MS = 4;

/** @param {string} file @param {string} oldText @param {string} newText @returns {Edit} */
const createEdit = (file, oldText, newText) => ({ file, oldText, newText, expected: 1 });

/** @param {number} bytes @param {(n: number) => string} line */
function makeFile(bytes, line) {
  const lines = [];
  for (let size = 0, n = 0; size < bytes; n++) {
    const next = line(n);
    lines.push(next);
    size += next.length + 1;
  }
  return lines;
}

/** @param {number} n */
const makeCodeLine = (n) =>
  n % 7 === 0 ? "" : `${"  ".repeat(n % 5)}const value${n} = compute(alpha, beta${n % 13}, "text ${n}");`;

/** A file of code, and a stretch of it as it is changed by a mistake. @param {number} bytes @param {(line: string) => string} wrong */
function makeCodeEdit(bytes, wrong) {
  const lines = makeFile(bytes, makeCodeLine);
  const from = lines.length >> 1;
  const said = lines.slice(from, from + 8).map(wrong);
  const meant = said.map((line, at) => (at === 4 ? line.replace("compute", "measure") : line));
  return createEdit(lines.join("\n"), said.join("\n"), meant.join("\n"));
}

/** @type {Record<string, () => Edit>} */
const ROWS = {
  "lenient match in 2 MB": () => makeCodeEdit(LARGE, (line) => (line === "" ? line : `    ${line}`)),
  "a typo in 2 MB": () => makeCodeEdit(LARGE, (line) => line.replace("alpha", "alhpa")),
  "no match in 2 MB": () =>
    makeCodeEdit(LARGE, (line) => line.replace("value", "other").replace("alpha", "omega")),
  "100,000 backslashes, lines shifted": () =>
    createEdit(`start\n${BACKSLASHES}x\nend\n`, `  start\n  ${BACKSLASHES}x\n  end`, "  start\n  end"),
  "100,000 backslashes, each escaped": () =>
    createEdit(`start\n${BACKSLASHES}x\nend\n`, `start\n${BACKSLASHES}${BACKSLASHES}x\nend`, "start\nend"),
  "100,000 backslashes, no match": () =>
    createEdit(`start\n${BACKSLASHES}x\nend\n`, `start\n${BACKSLASHES}y\nend`, "start\nend"),
};

/** Files that make comparing slow, by their size. @type {Record<string, (size: number, random: Random) => string>} */
const FILES = {
  "repeated lines": (size, random) => `${random.pick(["}", "  a b", "x = 1;", "\\"])}\n`.repeat(size / 4),
  "one giant line": (size, random) => `${random.pick(["word ", "a,b;", "ab", '"x",'])}`.repeat(size / 4),
  "nested quotes": (size, random) =>
    `${random.pick(['\\"', "\\\\\"'", "`${'", '\\\\n"\\n'])}`.repeat(size / 3),
  "quotes over lines": (size, random) =>
    `${random.pick(['"\\\n', "'\\\\'\n", "\\n\n", "&amp;\n"])}`.repeat(size / 4),
  "all blank": (size, random) => `${random.pick(["\n", "  \n", "\t\n \n", "\r\n"])}`.repeat(size / 2),
  "near copies": (size) =>
    makeFile(size / 40, (n) => `function f${n}(a) {\n  return a + ${n};\n}\n`).join("\n"),
  "equal blocks": (size) => "if (a) {\n  b();\n} else {\n  c();\n}\n\n".repeat(size / 35),
};

/** What is asked of them: a stretch of the file with a mistake. @type {Record<string, (text: string) => string>} */
const MISTAKES = {
  shifted: (text) => text.replace(/^/gm, "    "),
  "a word more": (text) => `${text.slice(0, text.length >> 1)} unknown ${text.slice(text.length >> 1)}`,
  escaped: (text) => text.replace(/["'\\\n]/g, (sign) => (sign === "\n" ? "\\n" : `\\${sign}`)),
  elided: (text) => `${text.slice(0, 200)}\n...\n${text.slice(-200)}`,
  "no blanks": (text) => text.replace(/\s/g, ""),
};

/** How long a stretch of the file is asked for; the last is all that follows its middle. */
const STRETCHES = [60, 2000, Number.POSITIVE_INFINITY];

/** @param {import("./matcher.mjs").Matcher} matcher @param {Edit} edit @param {number} times */
function measureMilliseconds(matcher, edit, times) {
  const taken = [];
  for (let turn = 0; turn < times; turn++) {
    // A string that has not been flattened or hashed yet, as when a file was just read.
    const fresh = { ...edit, file: Buffer.from(edit.file).toString() };
    const start = performance.now();
    matcher.apply(fresh);
    taken.push(performance.now() - start);
    if ((taken[0] ?? 0) > 2000) break;
  }
  return taken;
}

/**
 * The slowest of a file in four times the size, and how much it grew at most when doubled. A limit that sets in grows
 * once, so that of two doublings the lesser counts.
 * @param {import("./matcher.mjs").Matcher} matcher @param {(size: number) => string} make
 */
function measureWorst(matcher, make) {
  let [ms, halfMs, growth, by] = [0, 0, 0, "nothing"];
  const files = [1, 2, 4].map((times) => make(times * SMALL));
  for (const [mistake, write] of Object.entries(MISTAKES)) {
    for (const length of STRETCHES) {
      const isHalf = length === Number.POSITIVE_INFINITY;
      const edits = files.map((file) => {
        // The same stretch of all, which begin alike, or the second half of each.
        const from = (isHalf ? file : (files[0] ?? "")).length >> 1;
        const said = write(file.slice(from, from + length));
        return createEdit(file, said, `${said}\nnew();`);
      });
      // In turn, so that what else the machine does befalls all.
      const least = edits.map(() => Number.POSITIVE_INFINITY);
      for (let turn = 0; turn < 5; turn++) {
        for (const [at, edit] of edits.entries()) {
          least[at] = Math.min(least[at] ?? 0, ...measureMilliseconds(matcher, edit, 1));
        }
      }
      const [one = 0, two = 0, four = 0] = least;
      if (isHalf) halfMs = Math.max(halfMs, two, four);
      else ms = Math.max(ms, two, four);
      const times = Math.min(two / Math.max(one, MIN_MS), four / Math.max(two, MIN_MS));
      if (times > growth)
        [growth, by] = [times, `${mistake}, ${isHalf ? "half of the file" : `${length} characters`}`];
    }
  }
  return { ms, halfMs, growth, by };
}

/** @param {number} [seed] */
export async function measureMatcher(seed = Date.now() % 1_000_000) {
  const matcher = await loadMatcher();
  for (const [what, make] of Object.entries(ROWS)) {
    printResult({
      what,
      value: median(measureMilliseconds(matcher, make(), 9).slice(-5)),
      unit: "ms",
      most: MAX_MS,
    });
  }
  for (const [what, make] of Object.entries(FILES)) {
    const { ms, halfMs, growth, by } = measureWorst(matcher, (size) => make(size, createRandom(seed)));
    const more = `grew most by ${by}; seed ${seed}`;
    printResult({ what: `file of ${what}`, value: growth, unit: "x when doubled", most: 2.5, more });
    const size = `slowest in at most ${(4 * SMALL) / 1000} kB`;
    printResult({ what: `file of ${what}, ${size}`, value: ms, unit: "ms", most: MAX_HOSTILE_MS });
    const half = `file of ${what}, half of it, ${size}`;
    printResult({ what: half, value: halfMs, unit: "ms", most: MAX_HALF_MS });
  }
}
