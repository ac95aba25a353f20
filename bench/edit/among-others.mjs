// Edits whose place is not alone: near copies, several places, long lines, large files, files that changed elsewhere.
import {
  countOccurrences,
  createRow,
  findKeptRows,
  hasRival,
  listNewLines,
  makeCase,
  makePlainCase,
  mapRows,
  normalizeLooks,
} from "./draft.mjs";
import { oneMisindented, shifted, trailingBlanks } from "./mistakes-indent.mjs";
import {
  blankLines,
  innerBlanks,
  lineDropped,
  mistyped,
  otherLineEnds,
  outerNewlines,
} from "./mistakes-lines.mjs";
import { htmlEscaped, lineNumbers, lookAlikes, overEscaped } from "./mistakes-signs.mjs";

/** @typedef {import("./draft.mjs").Case} Case */
/** @typedef {import("./draft.mjs").Draft} Draft */
/** @typedef {import("./draft.mjs").Random} Random */
/** @typedef {{ draft: Draft, other: Draft, random: Random }} Source */

const WORD = /(?<![\w$])[a-zA-Z]{4,}(?![\w$])/g;
const isFilled = (/** @type {string} */ line) => line.trim() !== "";

/** @param {Draft} draft @param {string[]} lines @param {Random} random the file with these lines somewhere after or before the place */
function withCopy(draft, lines, random) {
  if (random.chance(0.5)) return { ...draft, head: [...lines, "", ...draft.head] };
  const tail = draft.tail.at(-1) === "" ? draft.tail.slice(0, -1) : draft.tail;
  return { ...draft, tail: [...tail, "", ...lines, ""] };
}

/** @param {Draft} draft */
const oldLines = ({ rows }) => rows.filter(({ kind }) => kind !== "new").map(({ text }) => text);

/** A copy of the place that stands at another depth; only blanks tell them apart. @param {Source} source */
export function uniqueByBlanks({ draft, random }) {
  if (hasRival(draft)) return undefined;
  const indent = random.pick(["      ", "\t\t", "          "]);
  const twin = oldLines(draft).map((line) => (isFilled(line) ? indent + line : line));
  const wrong = random.pick([trailingBlanks, lookAlikes, blankLines])(draft, random);
  if (wrong === undefined || wrong.open) return undefined;
  const made = makePlainCase(withCopy(wrong, twin, random));
  const isWhole = countOccurrences(made.file, made.oldText) === 0 && made.oldText !== made.newText;
  // What is left of the indentation must say which of them is meant.
  const lines = oldLines(draft).filter(isFilled);
  return isWhole && lines.length > 1 ? made : undefined;
}

const AMONG = [shifted, shifted, trailingBlanks, innerBlanks, lookAlikes, oneMisindented, blankLines];

/** Sibling functions: copies in which a name or two are others, and a mistake that leaves the names alone. @param {Source} source */
export function amongSiblings({ draft, random }) {
  if (hasRival(draft)) return undefined;
  const text = oldLines(draft).join("\n");
  const words = [...new Set([...text.matchAll(WORD)].map(([word]) => word))];
  const word = random.pick(words);
  if (word === undefined) return undefined;
  let made = draft;
  for (const name of [`${word}Twice`, `other${word}`, "another"].slice(0, 1 + random.int(3))) {
    const whole = new RegExp(`(?<![\\w$])${word}(?![\\w$])`, "g");
    made = withCopy(made, text.replace(whole, name).split("\n"), random);
  }
  const wrong = random.pick(AMONG)(made, random);
  return wrong === undefined ? undefined : makeCase(wrong);
}

/** Exact, and yet with look-alikes elsewhere in the file. @param {Source} source */
export function exactAmongAlike({ draft, random }) {
  const twin = oldLines(draft).map((line) => (isFilled(line) ? `      ${line}` : line));
  const made = makePlainCase(withCopy(draft, twin, random));
  return countOccurrences(made.file, made.oldText) === 1 ? made : undefined;
}

/** Those of one line come before those of the whole text, which keep what is written by then. */
const COMBINED = [
  mistyped,
  lineDropped,
  innerBlanks,
  blankLines,
  trailingBlanks,
  lookAlikes,
  shifted,
  shifted,
  htmlEscaped,
  overEscaped,
  lineNumbers,
  outerNewlines,
  otherLineEnds,
];

/** @param {Source} source */
export function severalMistakes({ draft, random }) {
  const count = random.pick([2, 2, 3]);
  const chosen = new Set();
  while (chosen.size < count) chosen.add(random.int(COMBINED.length));
  let made = draft;
  const texts = [makePlainCase(draft).oldText];
  for (const index of [...chosen].sort((a, b) => a - b)) {
    const wrong = COMBINED[index]?.(made, random);
    if (wrong === undefined) return undefined;
    made = wrong;
    const { file, oldText } = makePlainCase(made);
    // What is left without the line is the text of another edit, and nobody can know better.
    if (COMBINED[index] === lineDropped && countOccurrences(file, oldText) > 0) return undefined;
    texts.push(oldText);
  }
  return new Set(texts).size < texts.length ? undefined : makeCase(made);
}

/** One change, made at several places. @param {Source} source @returns {Case | undefined} */
export function severalPlaces({ draft, random }) {
  const { head, rows, tail } = draft;
  const lines = [...head, ...oldLines(draft), ...tail];
  const whole = lines.join("\n");
  const old = rows
    .filter(({ kind, text }) => kind === "old" && isFilled(text))
    .map(({ text }) => text.trim());
  const words = old.join("\n").match(/[\w$]{4,}(?:\([^()\n]*\)|\.\w+|: ?\w+)?/g) ?? [];
  const parts = words.filter((part) => {
    const found = countOccurrences(whole, part);
    return found > 1 && found < 8;
  });
  const part = random.pick(parts);
  if (part === undefined) return undefined;
  const put =
    listNewLines(draft)
      .find((line) => isFilled(line) && !line.includes(part))
      ?.trim() ?? `${part}Renamed`;
  const made = {
    where: draft.where,
    file: whole,
    oldText: part,
    newText: put,
    expected: countOccurrences(whole, part),
    open: false,
  };
  const ways = [random.chance(0.5) ? "exact" : "lines"];
  if (ways[0] === "exact") {
    const starts = [...whole.matchAll(new RegExp(part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "g"))];
    if (starts.length !== made.expected) return undefined;
    return { ...made, answer: whole.split(part).join(put) };
  }
  return linesAtSeveralPlaces(draft, random);
}

/** The same lines at two or three places, and a mistake in the texts. @param {Draft} draft @param {Random} random @returns {Case | undefined} */
function linesAtSeveralPlaces(draft, random) {
  if (hasRival(draft)) return undefined;
  const wrong = random.pick([shifted, trailingBlanks, innerBlanks])(draft, random);
  if (wrong === undefined || wrong.open) return undefined;
  const one = makePlainCase(wrong);
  if (one.file.includes(one.oldText) || one.oldText === one.newText) return undefined;
  const shape = wrong.fileShape;
  const place = (/** @type {"old" | "new"} */ without) =>
    wrong.rows.filter(({ kind }) => kind !== without).map(({ text }) => text);
  const file = (/** @type {"old" | "new"} */ without) =>
    shape([...wrong.head, ...place(without), "", ...place(without), ...wrong.tail].join("\n"));
  return { ...one, file: file("new"), answer: file("old"), expected: 2 };
}

/** A part of a very long line that begins and ends amid a word, exact or with a mistake in what stays. @param {Source} source @returns {Case | undefined} */
export function partOfLongLine({ draft, random }) {
  const squeezed = (/** @type {string[]} */ lines) =>
    lines
      .map((line) => line.trim())
      .filter(Boolean)
      .join(" ");
  const at = draft.rows.findIndex(({ kind }) => kind !== "keep");
  const end = draft.rows.findLastIndex(({ kind }) => kind !== "keep") + 1;
  const before = squeezed([...draft.head.slice(-40), ...draft.rows.slice(0, at).map(({ text }) => text)]);
  const after = squeezed([...draft.rows.slice(end).map(({ text }) => text), ...draft.tail.slice(0, 40)]);
  const changed = draft.rows.slice(at, end);
  const part = (/** @type {"old" | "new"} */ without) =>
    squeezed(changed.filter(({ kind }) => kind !== without).map(({ text }) => text));
  const [old, put] = [part("new"), part("old")];
  if (before.length + after.length < 1000 || old.length > 300 || !before || !after) return undefined;
  const lead = Math.min(before.length, 12 + random.int(60));
  const trail = Math.min(after.length, 12 + random.int(60));
  const line = (/** @type {string} */ middle) => [before, middle, after].filter(Boolean).join(" ");
  const text = (/** @type {string} */ middle) =>
    [before.slice(-lead), middle, after.slice(0, trail)].filter(Boolean).join(" ");
  const file = [...draft.head.slice(0, -40), line(old), ...draft.tail.slice(40)].join("\n");
  const answer = [...draft.head.slice(0, -40), line(put), ...draft.tail.slice(40)].join("\n");
  const exact = {
    where: draft.where,
    file,
    oldText: text(old),
    newText: text(put),
    expected: 1,
    answer,
    open: false,
  };
  if (countOccurrences(file, exact.oldText) !== 1 || exact.oldText === exact.newText) return undefined;
  if (countOccurrences(normalizeLooks(file), normalizeLooks(exact.oldText)) !== 1) return undefined;
  return random.chance(0.3) ? exact : withSlipInPart(exact, { lead, trail, random });
}

/** @param {Case} exact @param {{ lead: number, trail: number, random: Random }} part @returns {Case | undefined} */
function withSlipInPart(exact, { lead, trail, random }) {
  const { oldText, newText, file } = exact;
  const rewrite = random.pick([
    (/** @type {string} */ text) => text.replace(/(\w) (?=\w)/, "$1  "),
    (/** @type {string} */ text) => text.replace(/([,;:]) (?=\S)/g, "$1"),
    (/** @type {string} */ text) => text.replace(/[<>]/g, (sign) => (sign === "<" ? "&lt;" : "&gt;")),
    (/** @type {string} */ text) => text.replaceAll('"', '\\"'),
    (/** @type {string} */ text) => text.replaceAll("'", "’"),
  ]);
  const slip = (/** @type {string} */ text) =>
    rewrite(text.slice(0, lead)) + text.slice(lead, -trail) + rewrite(text.slice(-trail));
  const made = { ...exact, oldText: slip(oldText), newText: slip(newText) };
  // The mistake is in what stays alone, so a sign of it in the middle contradicts it.
  const middle = oldText.slice(lead, -trail) + newText.slice(lead, -trail);
  if (made.oldText === oldText || rewrite(middle) !== middle || file.includes(made.oldText)) return undefined;
  return made;
}

/** A file of two megabytes. @param {Source} source */
export function inHugeFile({ draft, random }) {
  const wrong = random.pick([shifted, trailingBlanks, lookAlikes])(draft, random);
  if (wrong === undefined || hasRival(draft)) return undefined;
  const more = Array.from(
    { length: 40_000 },
    (_, n) => `entry ${n}: the quick brown fox jumps over line ${n * 7}`,
  );
  return makeCase(withCopy(wrong, more, random));
}

/** Somebody has changed another part of the file since the model saw it. @param {Source} source */
export function staleElsewhere({ draft, random }) {
  const wrong = random.pick([...AMONG, undefined]);
  const made = wrong === undefined ? { ...draft, exactToo: true } : wrong(draft, random);
  if (made === undefined || draft.head.length < 20) return undefined;
  const head = made.head.map((line, at) => (at === 5 ? `${line} changed meanwhile` : line));
  return makeCase({ ...made, head, outdated: true });
}

/** Dots that are meant: what is new has them, or they stay. @param {Source} source */
export function dotsThatBelong({ draft, random }) {
  const text = draft.rows.map((row) => row.text).join("\n");
  if (/\.\.\.|…/.test(text)) return makePlainCase(draft);
  const spot = random.pick(findKeptRows(draft, isFilled));
  if (spot === undefined) return undefined;
  const line = random.pick([
    "// ...",
    "  ...",
    "# ... existing settings follow",
    "  ...options,",
    "/* ... */",
  ]);
  // The placeholder is in the file itself, and in both strings.
  const rows = [...draft.rows.slice(0, spot), createRow("keep")(line), ...draft.rows.slice(spot)];
  return makePlainCase({ ...draft, rows });
}

/** @param {Source} source */
export const exact = ({ draft }) => makePlainCase(draft);

/** @param {Source} source a line that goes is not named: whether it goes cannot be known */
export function goneLineDropped({ draft, random }) {
  const spots = draft.rows.flatMap(({ kind, text }, at) => (kind === "old" && isFilled(text) ? [at] : []));
  const index = random.pick(spots);
  if (index === undefined || spots.length < 3) return undefined;
  return makeCase({
    ...mapRows(draft, (row, at) => (at === index ? { ...row, said: null } : row)),
    open: true,
  });
}
