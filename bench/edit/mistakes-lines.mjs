// Mistakes in lines and what is between them: inner blanks, blank lines, line ends, lines joined, split or left out.
import {
  addSlip,
  findKeptRows,
  isBesideChange,
  joinSaidText,
  listNewLines,
  mapRows,
  normalizeLooks,
  same,
  setShape,
  toCrlf,
} from "./draft.mjs";

/** @typedef {import("./draft.mjs").Draft} Draft */
/** @typedef {import("./draft.mjs").Random} Random */
/** @typedef {import("./mistakes-indent.mjs").Mistake} Mistake */

const isFilled = (/** @type {string} */ line) => line.trim() !== "";

/** @param {string} line @param {Random} random */
function respaced(line, random) {
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  const rest = line.slice(indent.length);
  const ways = [
    rest.replace(/(\S) {2,}(?=\S)/g, "$1 "),
    rest.replace(/(\S) (?=\S)/, "$1  "),
    rest.replace(/([,;:]) (?=\S)/g, "$1"),
    rest.replace(/([,;])(?=\S)/g, "$1 "),
    rest.replace(/ ([=+*<>-]{1,3}) /g, "$1"),
    rest.replace(/([({[])(?=\S)/, "$1 "),
    rest.replace(/(\w)([({])/, "$1 $2"),
    rest.replace(/(\S) (?=\S)/, "$1\t"),
  ];
  const other = random.pick(ways.filter((way) => way !== rest));
  return other === undefined ? line : indent + other;
}

/** @type {Mistake} */
export function innerBlanks(draft, random) {
  const kept = findKeptRows(draft, isFilled);
  const news = new Set(listNewLines(draft).map(normalizeLooks));
  const old = draft.rows.flatMap(({ kind, text }, at) =>
    kind === "old" && isFilled(text) && !news.has(normalizeLooks(text)) ? [at] : [],
  );
  const own = old.length > 0 && (kept.length === 0 || random.chance(0.25));
  if (!own && kept.length === 0) return undefined;
  const count = random.chance(0.3) ? 2 : 1;
  let made = draft;
  for (let n = 0; n < count; n++) {
    const index = random.pick(own ? old : kept);
    const line = respaced(made.rows[index]?.text ?? "", random);
    made = addSlip(made, index, { line, both: !own && random.chance(0.65) });
  }
  return made;
}

/** One of the lines, for the most part one that is not beside a change. @param {Draft} draft @param {number[]} spots @param {Random} random */
function pickAway(draft, spots, random) {
  const away = spots.filter((at) => !isBesideChange(draft.rows, at));
  return random.pick(away.length > 0 && random.chance(0.85) ? away : spots);
}

/** @type {Mistake} */
export function blankLines(draft, random) {
  const last = draft.rows.length - 1;
  const isInside = (/** @type {number} */ at) => at > 0 && at < last;
  const both = random.chance(0.65);
  const blank = findKeptRows(draft, (line, at) => !isFilled(line) && isInside(at));
  if (blank.length > 0 && random.chance(0.6)) {
    const index = pickAway(draft, blank, random);
    const made = addSlip(draft, index, { line: null, both });
    return { ...made, open: draft.open || isBesideChange(draft.rows, index) };
  }
  const filled = findKeptRows(draft, (line, at) => isFilled(line) && isInside(at));
  if (filled.length === 0) return undefined;
  const index = pickAway(draft, filled, random);
  const made = addSlip(draft, index, { line: `\n${draft.rows[index]?.text}`, both });
  const above = draft.rows[index - 1];
  const isBeside = above?.kind !== "keep" || isBesideChange(draft.rows, index);
  return { ...made, open: draft.open || isBeside };
}

/** Line ends before the first line or after the last that are not in the file. @type {Mistake} */
export function outerNewlines(draft, random) {
  const [lead, trail] = random.pick([
    ["\n", "\n"],
    ["\n\n", ""],
    ["", "\n\n"],
    ["\n", ""],
    ["", "\n"],
    ["\n\n", "\n\n"],
  ]);
  const both = random.chance(0.6);
  const made = setShape(draft, (text) => (text === "" ? text : lead + text + trail), both ? "both" : "old");
  // Blank lines that the file has there as well, and new_string has not, may be what is to go.
  const areThere = (/** @type {string[]} */ lines, /** @type {number} */ count) =>
    count > 0 && lines.length >= count && !lines.slice(0, count).some(isFilled);
  const above = areThere(draft.head.toReversed(), lead.length);
  const below = areThere(draft.tail.slice(0, -1), trail.length - (draft.end === "" ? 1 : 0));
  const open = !both && (above || below);
  return { ...made, open: draft.open || open };
}

/** Whole lines, with the last line break in old_string alone, which is as it is in the file. @type {Mistake} */
export function breakInOldAlone(draft) {
  const [old, fresh] = [draft.rows.map(({ said }) => said), draft.rows.map(({ meant }) => meant)];
  const isOver = (/** @type {(string | null)[]} */ lines) =>
    isFilled(lines.findLast((line) => line !== null) ?? "");
  // A blank line behind them may be what is to go.
  if (!isOver(old) || !isOver(fresh) || !isFilled(draft.tail[0] ?? "")) return undefined;
  return { ...setShape({ ...draft, end: "" }, (text) => `${text}\n`, "old"), exactToo: true };
}

/** @type {Mistake} */
export function otherLineEnds(draft, random) {
  const isCrlf = draft.fileShape !== same;
  if (isCrlf) return draft;
  if (random.chance(0.7)) return { ...draft, fileShape: toCrlf };
  const made = { ...draft, oldShapes: [...draft.oldShapes, toCrlf] };
  return random.chance(0.6) ? { ...made, newShapes: [...draft.newShapes, toCrlf] } : made;
}

/** Only new_string has other line ends than the file. @type {Mistake} */
export function crlfInNew(draft) {
  const { rows } = draft;
  const fits = draft.fileShape === same && rows.filter(({ meant }) => meant !== null).length > 1;
  return fits ? { ...draft, exactToo: true, newShapes: [...draft.newShapes, toCrlf] } : undefined;
}

/** The texts end with a line end that the file does not have after its last line. @type {Mistake} */
export function lastNewline(draft, random) {
  const last = draft.rows.at(-1);
  if (last?.kind !== "keep" || !isFilled(last.text)) return undefined;
  const made = { ...draft, tail: [], end: "" };
  return setShape(made, (text) => `${text}\n`, random.chance(0.75) ? "both" : "old");
}

/** A line that stays is left out. @type {Mistake} */
export function lineDropped(draft, random) {
  const last = draft.rows.length - 1;
  const spots = findKeptRows(draft, (line, at) => isFilled(line) && at > 0 && at < last);
  if (spots.length === 0) return undefined;
  const index = pickAway(draft, spots, random);
  const both = random.chance(0.6);
  const made = addSlip(draft, index, { line: null, both });
  // What is left without the line is the text of another place, and nobody can know better.
  const file = [
    ...draft.head,
    ...draft.rows.map(({ kind, text }) => (kind === "new" ? "" : text)),
    ...draft.tail,
  ];
  if (normalizeLooks(file.join("\n")).includes(normalizeLooks(joinSaidText(made)))) return undefined;
  const left = joinSaidText(made).split("\n").filter(isFilled).length;
  return { ...made, open: draft.open || left < 3 || isBesideChange(draft.rows, index) };
}

const MARKS = [
  "// ...",
  "...",
  "# ...",
  "// ... existing code ...",
  "/* ... */",
  "// ... rest of code ...",
  "<!-- ... -->",
  "# ... (unchanged)",
];

/** A stretch of lines that stay is written as a placeholder, in both strings. @type {Mistake} */
export function middleElided(draft, random) {
  const grown = withMoreContext(draft, random);
  if (grown === undefined) return undefined;
  const { from, to } = grown;
  const indent = /^\s*/.exec(grown.draft.rows[from]?.text ?? "")?.[0] ?? "";
  const mark = indent + random.pick(MARKS);
  const made = mapRows(grown.draft, (row, at) => {
    if (at < from || at >= to) return row;
    return { ...row, said: at === from ? mark : null, meant: at === from ? mark : null };
  });
  return { ...made, open: draft.open || !isPlainElision(made, mark) };
}

/** The draft with a stretch of four or more lines that stay, which has two lines before it and after it. @param {Draft} draft @param {Random} random */
function withMoreContext(draft, random) {
  const above = random.chance(0.5);
  const size = 8 + random.int(10);
  const { head, rows, tail } = draft;
  const last = tail.at(-1) === "" ? tail.length - 1 : tail.length;
  if ((above ? head.length : last) < size) return undefined;
  const taken = (above ? head.slice(-size) : tail.slice(0, size)).map((text) => ({
    kind: /** @type {const} */ ("keep"),
    text,
    said: text,
    meant: text,
  }));
  const grown = above
    ? { ...draft, head: head.slice(0, -size), rows: [...taken, ...rows] }
    : { ...draft, tail: tail.slice(size), rows: [...rows, ...taken] };
  const from = above ? 2 : rows.length + 2;
  return { draft: grown, from, to: from + size - 4 };
}

/** Each part around the placeholder is in the file once. @param {Draft} draft @param {string} mark */
function isPlainElision({ head, rows, tail }, mark) {
  const squeeze = (/** @type {string[]} */ lines) =>
    `\n${lines.map(normalizeLooks).filter(Boolean).join("\n")}\n`;
  const file = squeeze([
    ...head,
    ...rows.filter(({ kind }) => kind !== "new").map(({ text }) => text),
    ...tail,
  ]);
  const said = rows.map(({ said }) => said).filter((line) => line !== null);
  const at = said.indexOf(mark);
  return [said.slice(0, at), said.slice(at + 1)].every((part) => file.split(squeeze(part)).length === 2);
}

/** Lines that stay are joined, or one is split. @type {Mistake} */
export function reflowed(draft, random) {
  const both = random.chance(0.65);
  return random.chance(0.55) ? joined(draft, random, both) : split(draft, random, both);
}

/** @param {Draft} draft @param {Random} random @param {boolean} both */
function joined(draft, random, both) {
  const { rows } = draft;
  const spots = findKeptRows(draft, (line, at) => {
    const next = rows[at + 1];
    return isFilled(line) && next?.kind === "keep" && isFilled(next.text);
  });
  if (spots.length === 0) return undefined;
  const index = random.pick(spots);
  const [first, second] = [rows[index]?.text ?? "", rows[index + 1]?.text ?? ""];
  // A comment to the end of the line would swallow what is joined to it.
  if (/\/\/|#|--/.test(first)) return undefined;
  const line = `${first.trimEnd()} ${second.trimStart()}`;
  return addSlip(addSlip(draft, index, { line, both }), index + 1, { line: null, both });
}

/** @param {Draft} draft @param {Random} random @param {boolean} both */
function split(draft, random, both) {
  const spots = findKeptRows(
    draft,
    (line) => line.length > 20 && /\S[,(;{] ?\S| \S+ \S+ \S+/.test(line.trim()),
  );
  if (spots.length === 0) return undefined;
  const index = random.pick(spots);
  const line = draft.rows[index]?.text ?? "";
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  const ends = [...line.matchAll(/[,(;{](?= ?\S)|\S(?= \S)/g)].map((match) => match.index + 1);
  const at = random.pick(ends.filter((end) => end > indent.length + 3 && end < line.length - 2));
  if (at === undefined) return undefined;
  const more = indent + random.pick(["  ", "    ", ""]) + line.slice(at).trimStart();
  return addSlip(draft, index, { line: `${line.slice(0, at)}\n${more}`, both });
}

/** A word of a line that stays, or that goes, is mistyped. @type {Mistake} */
export function mistyped(draft, random) {
  const file = [...draft.head, ...draft.rows.map(({ text }) => text), ...draft.tail].join("\n");
  const spots = draft.rows.flatMap(({ kind, text }, index) =>
    kind === "new" || (kind === "old" && random.chance(0.6))
      ? []
      : [...text.matchAll(/(?<![\w$])[a-zA-Z]{5,}(?![\w$])/g)].map((match) => ({ kind, index, match })),
  );
  if (spots.length === 0) return undefined;
  const { kind, index, match } = random.pick(spots);
  const [word] = match;
  const at = 1 + random.int(word.length - 3);
  const typed = random.pick([
    word.slice(0, at) + (word[at + 1] ?? "") + (word[at] ?? "") + word.slice(at + 2),
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + (word[at] ?? "") + word.slice(at),
    `${word.slice(0, at)}${random.pick(["e", "s", "n"])}${word.slice(at + 1)}`,
  ]);
  if (file.includes(typed) || typed === word) return undefined;
  const text = draft.rows[index]?.text ?? "";
  const line = text.slice(0, match.index) + typed + text.slice(match.index + word.length);
  const made = addSlip(draft, index, { line, both: kind === "keep" && random.chance(0.6) });
  const words = joinSaidText(made).match(/\w+|[^\w\s]/g)?.length ?? 0;
  return { ...made, open: draft.open || words < 8 };
}
