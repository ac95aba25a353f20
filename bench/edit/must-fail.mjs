// Edits of which nobody can know what they mean, or that are done or too late: only a refusal is right.
import {
  countOccurrences,
  createRow,
  findChangedRuns,
  findKeptRows,
  makePlainCase,
  mapRows,
  normalizeLooks,
} from "./draft.mjs";
import { shifted, trailingBlanks } from "./mistakes-indent.mjs";
import { lookAlikes } from "./mistakes-signs.mjs";

/** @typedef {import("./draft.mjs").Case} Case */
/** @typedef {import("./draft.mjs").Draft} Draft */
/** @typedef {import("./draft.mjs").Random} Random */
/** @typedef {{ draft: Draft, other: Draft, random: Random }} Source */

const isFilled = (/** @type {string} */ line) => line.trim() !== "";
/** @param {Draft} draft */
const oldLines = ({ rows }) => rows.filter(({ kind }) => kind !== "new").map(({ text }) => text);

/** @param {Draft} draft @param {string[]} place what stands where the old lines were @returns {Case} */
function withPlace(draft, place) {
  const file = draft.fileShape([...draft.head, ...place, ...draft.tail].join("\n"));
  return { ...makePlainCase(draft), file, answer: null, open: false };
}

/** The case, if old_string and the like are nowhere. @param {Case} made @returns {Case | undefined} */
function ifNowhere(made) {
  const isThere = normalizeLooks(made.file).includes(normalizeLooks(made.oldText));
  return isThere || made.oldText.trim() === "" || made.oldText === made.newText ? undefined : made;
}

/** The text is of another file. @param {Source} source */
export function absent({ draft, other }) {
  const { file } = makePlainCase(other);
  const lines = oldLines(draft).filter(isFilled).map(normalizeLooks);
  const there = new Set(file.split("\n").map(normalizeLooks));
  // Another build of the same source has most of the lines.
  if (lines.filter((line) => there.has(line)).length > lines.length / 2) return undefined;
  return ifNowhere({ ...makePlainCase(draft), file, answer: null });
}

/**
 * The place is gone. Where the rest of the file has it but for a line more, that is what a line left out looks like: the
 * edit may be made there, and may be refused.
 * @param {Source} source
 */
export function deleted({ draft }) {
  const file = [...draft.head, ...draft.tail];
  const [old, there] = [oldLines(draft), file].map((lines) => lines.map(normalizeLooks));
  const isThere = (/** @type {number} */ start, /** @type {number} */ from, /** @type {number} */ to) =>
    old?.slice(from, to).every((line, at) => line === there?.[start + from + at]) === true;
  for (let start = 0; old && start + old.length < file.length; start++) {
    const gap = old.findIndex((line, at) => line !== there?.[start + at]);
    if (gap <= 0 || !isThere(start + 1, gap, old.length)) continue;
    const row = draft.rows.flatMap(({ kind }, at) => (kind === "new" ? [] : [at]))[gap] ?? 0;
    const more = {
      kind: /** @type {const} */ ("keep"),
      text: file[start + gap] ?? "",
      said: null,
      meant: null,
    };
    const rows = [...draft.rows.slice(0, row), more, ...draft.rows.slice(row)];
    const [head, tail] = [file.slice(0, start), file.slice(start + old.length + 1)];
    return ifNowhere({ ...makePlainCase({ ...draft, head, rows, tail }), open: true });
  }
  return ifNowhere(withPlace(draft, []));
}

/** @param {Source} source */
export function alreadyApplied({ draft, random }) {
  const done = draft.rows.filter(({ kind }) => kind !== "old").map(({ text }) => text);
  const wrong = random.chance(0.3) ? (trailingBlanks(draft, random) ?? draft) : draft;
  const { oldText, newText } = makePlainCase(wrong);
  return ifNowhere({ ...withPlace(draft, done), oldText, newText });
}

/** Only lines come, and they are there already: old_string is there, too. @param {Source} source */
export function addedAlready({ draft }) {
  if (draft.rows.some(({ kind }) => kind === "old") || draft.rows.every(({ kind }) => kind === "keep"))
    return undefined;
  const made = withPlace(
    draft,
    draft.rows.map(({ text }) => text),
  );
  return made.file.split(made.oldText).length === 2 && made.oldText.trim() !== "" ? made : undefined;
}

/** Somebody has changed what the edit is about, or a line of its context, since the model saw it. @param {Source} source */
export function stale({ draft, random }) {
  const old = draft.rows.flatMap(({ kind, text }, at) =>
    kind === "old" && /[A-Za-z]{3,}/.test(text) ? [at] : [],
  );
  const beside = findKeptRows(draft, (line, at) => {
    const isNext = findChangedRuns(draft.rows).some(({ from, to }) => at === from - 1 || at === to);
    return isNext && /[A-Za-z]{3,}/.test(line);
  });
  const index = random.pick([...old, ...old, ...beside]);
  if (index === undefined) return undefined;
  const text = draft.rows[index]?.text ?? "";
  const words = [...text.matchAll(/(?<![\w$])[A-Za-z]{3,}(?![\w$])/g)];
  const word = random.pick(words);
  if (word === undefined) return undefined;
  const fresh = random.pick(["renamed", "previous", "legacy", `${word[0]}V2`, `old${word[0]}`]);
  const line = text.slice(0, word.index) + fresh + text.slice(word.index + word[0].length);
  const gained = random.chance(0.3);
  const place = draft.rows.flatMap((row, at) => {
    if (row.kind === "new") return [];
    if (at !== index) return [row.text];
    return gained ? [row.text, `${fresh}(${at});`] : [line];
  });
  // Whether the product knows that the file has changed must not decide.
  const outdated = random.chance(0.7);
  if (gained && !old.includes(index)) return undefined;
  return ifNowhere({ ...withPlace(draft, place), ...(outdated ? { outdated } : {}) });
}

/**
 * Somebody has put in a line since, in the context, away from the change. With both changes in it the file is right, too.
 * @param {Source} source
 */
export function staleContext({ draft, random }) {
  const spots = findKeptRows(draft, (line, at) => {
    const far = findChangedRuns(draft.rows).every(({ from, to }) => at < from - 2 || at > to + 1);
    return far && isFilled(line) && at > 0;
  });
  const index = random.pick(spots);
  if (index === undefined) return undefined;
  const line = random.pick(["  check(state, 7);", "// reviewed last week", "legacy_option: true,"]);
  const put = { kind: /** @type {const} */ ("keep"), text: line, said: null, meant: null };
  const rows = [...draft.rows.slice(0, index), put, ...draft.rows.slice(index)];
  const made = makePlainCase({ ...draft, rows, outdated: true });
  return ifNowhere({ ...made, open: true });
}

/** The place is gone, but one much like it is there, about another thing. @param {Source} source */
export function decoy({ draft, random }) {
  const text = oldLines(draft).join("\n");
  const words = [...text.matchAll(/(?<![\w$])[A-Za-z]{3,}(?![\w$])/g)].map(([word]) => word);
  const word = random.pick(words);
  if (word === undefined) return undefined;
  const names = [`${word}2`, `${word}Other`, `my${word}`, word.toUpperCase(), "another", `${word}s`];
  const name = random.pick(names.filter((one) => one !== word));
  const whole = new RegExp(`(?<![\\w$])${word}(?![\\w$])`, random.chance(0.5) ? "" : "g");
  const made = ifNowhere(withPlace(draft, text.replace(whole, name).split("\n")));
  // One letter more is what a slip of the pen looks like: the edit made there may be what is meant.
  return made === undefined || name.length - word.length === 1 ? undefined : made;
}

/** The place is there twice, in one of three ways. @param {Source} source @returns {Case | undefined} */
export function ambiguous({ draft, random }) {
  const way = random.pick([undefined, undefined, shifted, lookAlikes, trailingBlanks]);
  const wrong = way === undefined ? draft : way(draft, random);
  if (wrong === undefined || wrong.end !== "") return undefined;
  const copy = oldLines(wrong);
  const tail = wrong.tail.at(-1) === "" ? wrong.tail.slice(0, -1) : wrong.tail;
  const made = makePlainCase({ ...wrong, tail: [...tail, "", ...copy, ""] });
  const found = countOccurrences(made.file, made.oldText);
  if (found === 1 || (found === 0 && way === undefined)) return undefined;
  return { ...made, answer: null, open: false };
}

/** Two near copies, and the word that tells them apart is mistyped. @param {Source} source @returns {Case | undefined} */
export function ambiguousBySlip({ draft, random }) {
  const spots = findKeptRows(draft, (line) => /(?<![\w$])[a-zA-Z]{6,}(?![\w$])/.test(line));
  const index = random.pick(spots);
  const [word] = /(?<![\w$])[a-zA-Z]{6,}(?![\w$])/.exec(draft.rows[index ?? 0]?.text ?? "") ?? [];
  if (index === undefined || word === undefined || word.endsWith("A")) return undefined;
  const named = (/** @type {string} */ name) => (/** @type {string} */ line) => line.replace(word, name);
  const [first, second, typed] = [`${word}A`, `${word}B`, `${word}C`].map(named);
  if (!first || !second || !typed) return undefined;
  const rows = draft.rows.map((row, at) => (at === index ? createRow("keep")(first(row.text)) : row));
  const twin = oldLines({ ...draft, rows }).map((line, at) =>
    at === placeOf(draft, index) ? second(line.replace(`${word}A`, word)) : line,
  );
  const tail = draft.tail.at(-1) === "" ? draft.tail.slice(0, -1) : draft.tail;
  const wrong = mapRows({ ...draft, rows, tail: [...tail, "", ...twin, ""] }, (row, at) => {
    if (at !== index) return row;
    const line = typed(draft.rows[index]?.text ?? "");
    return { ...row, said: line, meant: line };
  });
  return ifNowhere({ ...makePlainCase(wrong), answer: null, open: false });
}

/** The number of a row among those of the old file. @param {Draft} draft @param {number} index */
const placeOf = ({ rows }, index) => rows.slice(0, index).filter(({ kind }) => kind !== "new").length;

const MARKS = [
  "/* ... */",
  "// ... existing code ...",
  "...",
  "// ...",
  "# ... rest of the code ...",
  "// rest of code unchanged",
  "<!-- ... existing content ... -->",
  "// ... (unchanged)",
];

/** old_string is right; new_string has a placeholder where lines stood. @param {Source} source @returns {Case | undefined} */
export function placeholderInNew({ draft, random }) {
  const spots = findKeptRows(draft, isFilled);
  const run = spots.filter((at) => spots.includes(at + 1));
  const start = random.pick(run);
  if (start === undefined) return undefined;
  const length = 2 + random.int(4);
  const gone = new Set(spots.filter((at) => at >= start && at < start + length));
  const indent = /^\s*/.exec(draft.rows[start]?.text ?? "")?.[0] ?? "";
  const mark = indent + random.pick(MARKS);
  if (draft.rows.some(({ text }) => text.includes("..."))) return undefined;
  const made = mapRows(draft, (row, at) =>
    gone.has(at) ? { ...row, meant: at === start ? mark : null } : row,
  );
  return { ...makePlainCase(made), answer: null, open: false };
}

/** The number of places is not the one that is said. @param {Source} source @returns {Case | undefined} */
export function wrongCount({ draft, random }) {
  const made = makePlainCase(draft);
  return { ...made, expected: 2 + random.int(3), answer: null, open: false };
}
