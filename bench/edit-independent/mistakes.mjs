// The mistakes that models make, each made in a draft whose right result is known before; undefined where one has no room.
import { isBeside, lineInFileAs, lineSentAs, placesOf, sentAs } from "./edits.mjs";

/** @typedef {import("./edits.mjs").Draft} Draft */
/** @typedef {import("./edits.mjs").Chance} Chance */
/** @typedef {(draft: Draft, chance: Chance) => Draft | undefined} Mistake */

const isFilled = (/** @type {string} */ line) => line.trim() !== "";
const marginOf = (/** @type {string} */ line) => /^[ \t]*/.exec(line)?.[0] ?? "";
/** @param {Chance} chance @param {number} share @returns {"both" | "old"} */
const sideBy = (chance, share) => (chance.is(share) ? "both" : "old");
/** @param {Draft} draft @param {RegExp} fits */
const stays = (draft, fits) => placesOf(draft, ({ sign, text }) => sign === "=" && fits.test(text));
/** @param {Draft} draft @param {RegExp} fits */
const there = (draft, fits) => placesOf(draft, ({ sign, text }) => sign !== "+" && fits.test(text));
/** @param {Draft} draft @param {RegExp} fits */
const comes = (draft, fits) => draft.rows.some(({ sign, text }) => sign === "+" && fits.test(text));

/** @type {Mistake} */
export function shiftAll(draft, chance) {
  const step = chance.of([2, 4, 4, -2, -4, 1, 8]) ?? 4;
  const way = chance.of(["spaces", "spaces", "tabs", "margin"]);
  const hasTabs = draft.rows.some(({ text }) => text.startsWith("\t"));
  const lines = draft.rows.filter(({ text }) => isFilled(text)).map(({ text }) => marginOf(text).length);
  const least = Math.min(...lines);
  const side = sideBy(chance, 0.8);
  // What stays, and is indented, shows how far the texts are shifted.
  const isOpen =
    draft.isOpen === true || !draft.rows.some(({ sign, text }) => sign === "=" && isFilled(text));
  const moved = (/** @type {string} */ line) => {
    const margin = marginOf(line);
    if (!isFilled(line)) return line;
    if (hasTabs)
      return margin.replaceAll("\t", " ".repeat(Math.max(2, Math.abs(step)))) + line.slice(margin.length);
    if (way === "tabs") return margin.replaceAll(/ {2}/g, "\t") + line.slice(margin.length);
    if (way === "margin") return line.slice(least);
    return step > 0 ? " ".repeat(step) + line : line.slice(Math.min(-step, least));
  };
  return { ...sentAs(draft, moved, side), isOpen };
}

/** @type {Mistake} */
export function shiftSome(draft, chance) {
  const places = stays(draft, /\S/);
  const at = chance.of(places);
  if (at === undefined || draft.rows.length < 3) return undefined;
  const line = draft.rows[at]?.text ?? "";
  const moved =
    chance.is(0.5) || !/^\s{2}/.test(line)
      ? ` ${" ".repeat(chance.below(4))}${line}`
      : line.slice(1 + chance.below(marginOf(line).length));
  return lineSentAs(draft, at)(moved, sideBy(chance, 0.7));
}

/** @type {Mistake} */
export function trailing(draft, chance) {
  const spaces = chance.of([" ", "  ", "\t", "    "]) ?? " ";
  if (chance.is(0.5)) {
    const places = there(draft, chance.is(0.8) ? /\S$/ : /^$/);
    const at = chance.of(places);
    const line = draft.rows[at ?? 0]?.text ?? "";
    return at === undefined ? undefined : lineInFileAs(draft, at, line + spaces);
  }
  if (chance.is(0.5))
    return sentAs(draft, (line, sign) => (sign === "+" ? line : line + spaces), sideBy(chance, 0.6));
  const at = chance.of(there(draft, /\S$/));
  return at === undefined
    ? undefined
    : lineSentAs(draft, at)((draft.rows[at]?.text ?? "") + spaces, sideBy(chance, 0.7));
}

const SPACES = /** @type {const} */ ([
  [/(\S) ?([=+*/<>-]{1,3}) ?(?=\S)/, "$1 $2 "],
  [/(\w) = (?=\S)/, "$1="],
  [/, (?=\S)/, ","],
  [/,(?=\S)/, ", "],
  [/\((?=[^\s)])/, "( "],
  [/\{ (?=\S)/, "{"],
  [/(\S) {2,}(?=\S)/, "$1 "],
  [/(\S) (?=\S)/, "$1  "],
  [/(\S)\t+(?=\S)/, "$1 "],
  [/(\w): (?=\S)/, "$1:"],
]);

/** @type {Mistake} */
export function innerSpaces(draft, chance) {
  const [found, put] = chance.of(SPACES) ?? SPACES[0];
  const at = chance.of(there(draft, found));
  if (at === undefined) return undefined;
  const line = draft.rows[at]?.text ?? "";
  const margin = marginOf(line);
  const other = margin + line.slice(margin.length).replace(found, put);
  return other === line ? undefined : lineSentAs(draft, at)(other, sideBy(chance, 0.7));
}

/** @type {Mistake} */
export function blankLines(draft, chance) {
  const isInside = (/** @type {number} */ at) => at > 0 && at < draft.rows.length - 1 && !isBeside(draft, at);
  const side = sideBy(chance, 0.75);
  if (chance.is(0.5)) {
    const at = chance.of(stays(draft, /^\s*$/).filter(isInside));
    return at === undefined ? undefined : lineSentAs(draft, at)(null, side);
  }
  const at = chance.of(
    stays(draft, /\S/).filter((one) => isInside(one) && draft.rows[one - 1]?.sign === "="),
  );
  return at === undefined ? undefined : lineSentAs(draft, at)(`\n${draft.rows[at]?.text}`, side);
}

/** @param {Draft} draft @param {readonly [before: string, after: string]} breaks @param {boolean} isBoth @returns {Draft} */
function around(draft, [before, after], isBoth) {
  const ends = (/** @type {"old" | "fresh"} */ side, /** @type {string} */ without) => {
    const of = placesOf(draft, (row) => row.sign !== without && row[side] !== null);
    return { first: of[0], last: of.at(-1) };
  };
  const [old, fresh] = [ends("old", "+"), ends("fresh", "-")];
  const rows = draft.rows.map((row, at) => {
    const put = (
      /** @type {string} */ line,
      /** @type {{ first?: number | undefined, last?: number | undefined }} */ { first, last },
    ) => (at === first ? before : "") + line + (at === last ? after : "");
    return {
      ...row,
      old: row.old === null ? null : put(row.old ?? row.text, old),
      fresh: row.fresh === null || !isBoth ? row.fresh : put(row.fresh ?? row.text, fresh),
    };
  });
  return { ...draft, rows: /** @type {import("./edits.mjs").Row[]} */ (rows) };
}

/** @type {Mistake} */
export function outerBreaks(draft, chance) {
  const [before, after] =
    chance.of([
      ["\n", ""],
      ["", "\n"],
      ["\n", "\n"],
      ["", "\n\n"],
      ["", "\n  "],
    ]) ?? [];
  // A new text that is empty, or ends otherwise, shows nothing.
  return draft.rows.every(({ sign }) => sign !== "=")
    ? undefined
    : around(draft, [before ?? "", after ?? ""], chance.is(0.8));
}

const FANCY = /** @type {const} */ ([
  [/"([^"]*)"/g, "“$1”"],
  [/'/g, "’"],
  [/ - /g, " – "],
  [/(?<!-)--(?![->])/g, "—"],
  [/\.\.\./g, "…"],
  [/(?<=\S) (?=\S)/g, "\u00a0"],
  [/-/g, "‑"],
  [/,/g, "，"],
  [/\(/g, "（"],
  [/:/g, "："],
]);

const withPlainSigns = (/** @type {string} */ text) =>
  text
    .normalize("NFKC")
    .replace(/[“”]/g, '"')
    .replace(/[’‘]/g, "'")
    .replace(/—/g, "--")
    .replace(/[–‑‐]/g, "-");

/** @type {Mistake} */
export function lookAlikes(draft, chance) {
  const [plain, fancy] = FANCY[chance.is(0.75) ? chance.below(6) : chance.below(FANCY.length)] ?? FANCY[0];
  const fits = new RegExp(plain.source);
  const swap = (/** @type {string} */ line) => marginOf(line) + line.trimStart().replace(plain, fancy);
  if (draft.rows.some(({ text }) => /[^\0-\x7f]/.test(text))) return undefined;
  if (chance.is(0.5)) {
    // The file has it, on one line or on all that it has; then what comes has it, too.
    const isAll = chance.is(0.5);
    const places = there(draft, fits).filter(
      (at) => swap(draft.rows[at]?.text ?? "") !== draft.rows[at]?.text,
    );
    if (places.length === 0) return undefined;
    const swapped = isAll ? placesOf(draft, ({ text }) => fits.test(text)) : places.slice(0, 1);
    const isOpen = draft.isOpen === true || comes(draft, fits);
    const made = swapped.reduce((so, at) => lineInFileAs(so, at, swap(draft.rows[at]?.text ?? "")), draft);
    return { ...made, isOpen, alike: withPlainSigns };
  }
  if (there(draft, fits).length === 0) return undefined;
  return sentAs(draft, swap, sideBy(chance, 0.75));
}

/** @type {Mistake} */
export function normalForm(draft, chance) {
  const at = chance.of(stays(draft, /[a-z]e[a-z]/));
  if (at === undefined) return undefined;
  const [file, sent] = chance.is(0.5) ? ["NFC", "NFD"] : ["NFD", "NFC"];
  const rows = draft.rows.map((row, index) =>
    index === at ? { ...row, text: row.text.replace(/(?<=[a-z])e(?=[a-z])/, "é").normalize(file) } : row,
  );
  return sentAs({ ...draft, rows }, (line) => line.normalize(sent), sideBy(chance, 0.8));
}

/** @type {Mistake} */
export function overEscaped(draft, chance) {
  const [signs, write] = /** @type {[RegExp, (line: string) => string]} */ (
    chance.of([
      [/"/, (/** @type {string} */ line) => line.replaceAll('"', '\\"')],
      [/'/, (/** @type {string} */ line) => line.replaceAll("'", "\\'")],
      [/\\/, (/** @type {string} */ line) => line.replaceAll("\\", "\\\\")],
      [/`/, (/** @type {string} */ line) => line.replaceAll("`", "\\`")],
      [/\$/, (/** @type {string} */ line) => line.replaceAll("$", "\\$")],
    ])
  );
  if (there(draft, signs).length === 0) return undefined;
  const isOpen = draft.isOpen === true || comes(draft, /\\/);
  return { ...sentAs(draft, write, sideBy(chance, 0.75)), isOpen };
}

/** @type {Mistake} */
export function underEscaped(draft, chance) {
  const [signs, write] = /** @type {[RegExp, (line: string) => string]} */ (
    chance.of([
      [/\\n/, (/** @type {string} */ line) => line.replaceAll("\\n", "\n")],
      [/\\"/, (/** @type {string} */ line) => line.replaceAll('\\"', '"')],
      [/\\'/, (/** @type {string} */ line) => line.replaceAll("\\'", "'")],
      [/\\\\/, (/** @type {string} */ line) => line.replaceAll("\\\\", "\\")],
      [
        /\\[dws./[\](){}*+?$|]/,
        (/** @type {string} */ line) => line.replace(/\\(?=[dws./[\](){}*+?$|])/g, ""),
      ],
      [/\\t/, (/** @type {string} */ line) => line.replaceAll("\\t", "\t")],
    ])
  );
  if (there(draft, signs).length === 0) return undefined;
  // What comes with an escape of its own is written with it, or not: nobody knows.
  const isOpen = draft.isOpen === true || comes(draft, signs);
  return { ...sentAs(draft, write, sideBy(chance, 0.75)), isOpen };
}

/** @type {Mistake} */
export function entities(draft, chance) {
  const names = /** @type {Record<string, string>} */ ({
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
    '"': "&quot;",
    "'": "&#39;",
  });
  const signs = chance.of([/[<>&]/g, /[<>]/g, /&/g, /["<>&]/g]) ?? /</g;
  if (
    draft.rows.some(({ text }) => /&#?\w+;/.test(text)) ||
    there(draft, new RegExp(signs.source)).length === 0
  )
    return undefined;
  return sentAs(draft, (line) => line.replace(signs, (sign) => names[sign] ?? sign), sideBy(chance, 0.8));
}

/** @type {Mistake} */
export function numbered(draft, chance) {
  const way = chance.of(["5→", "5\t", "L: ", "|", ": ", "[]"]);
  let line = draft.above.length;
  let first = line;
  const number = (/** @type {number} */ n) => {
    if (way === "5→") return `${String(n).padStart(5)}→`;
    if (way === "5\t") return `${String(n).padStart(5)}\t`;
    if (way === "L: ") return `L${n}: `;
    if (way === "|") return `${String(n).padStart(3)} | `;
    return way === "[]" ? `${n}→` : `${n}: `;
  };
  const isBoth = chance.is(0.6);
  const rows = draft.rows.map((row) => {
    const [old, fresh] = [row.old ?? row.text, row.fresh ?? row.text];
    if (row.sign !== "+") line++;
    if (row.sign !== "-") first++;
    return { ...row, old: number(line) + old, fresh: isBoth ? number(first) + fresh : fresh };
  });
  return { ...draft, rows };
}

/** @type {Mistake} */
export function diffMarks(draft) {
  const signs = new Set(draft.rows.map(({ sign }) => sign));
  if (!signs.has("+") || !signs.has("-")) return undefined;
  return sentAs(draft, (line, sign) => (sign === "=" ? ` ${line}` : sign + line));
}

/** @type {Mistake} */
export function dropped(draft, chance) {
  const isFar = (/** @type {number} */ at) => at > 0 && at < draft.rows.length - 1 && !isBeside(draft, at);
  const at = chance.of(stays(draft, /\w/).filter(isFar));
  return at === undefined ? undefined : lineSentAs(draft, at)(null, sideBy(chance, 0.7));
}

/** @type {Mistake} */
export function misspelled(draft, chance) {
  const at = chance.of(there(draft, /[A-Za-z]{6,}/));
  if (at === undefined) return undefined;
  const line = draft.rows[at]?.text ?? "";
  const word = chance.of([...line.matchAll(/[A-Za-z]{6,}/g)]);
  const cut = 1 + chance.below((word?.[0].length ?? 3) - 3);
  const letters = [...(word?.[0] ?? "")];
  if (chance.is(0.4)) letters.splice(cut, 2, letters[cut + 1] ?? "", letters[cut] ?? "");
  else if (chance.is(0.5)) letters.splice(cut, 1);
  else letters.splice(cut, 0, letters[cut] ?? "");
  const wrong = letters.join("");
  if (wrong === word?.[0]) return undefined;
  return lineSentAs(draft, at)(line.replace(word?.[0] ?? "", wrong), sideBy(chance, 0.7));
}

/** @type {Mistake} */
export function elided(draft, chance) {
  const [from, to] = [0, 1].map(() => chance.of(stays(draft, /./)) ?? 0).sort((a, b) => a - b);
  const run = draft.rows.slice(from, (to ?? 0) + 1);
  if (from === undefined || to === undefined || to - from < 1 || from === 0 || to > draft.rows.length - 2)
    return undefined;
  if (run.some(({ sign }) => sign !== "=") || draft.rows.some(({ text }) => text.includes("...")))
    return undefined;
  if (!isFilled(draft.rows[from - 1]?.text ?? "") || !isFilled(draft.rows[to + 1]?.text ?? ""))
    return undefined;
  const note =
    { ".py": "# ...", ".rb": "# ...", ".css": "/* ... */", ".html": "<!-- ... -->" }[draft.ending] ??
    "// ...";
  const dots = chance.of(["...", note, note.replace("...", "... existing code ..."), "…"]) ?? "...";
  const margin = marginOf(draft.rows[from]?.text ?? "");
  const isBoth = chance.is(0.8);
  const rows = draft.rows.map((row, at) => {
    if (at < from || at > to) return row;
    const line = at === from ? margin + dots : null;
    return { ...row, old: line, ...(isBoth ? { fresh: line } : {}) };
  });
  // What comes next to the dots may belong on their other side.
  const isOpen = [from - 1, to + 1].some((at) => draft.rows[at]?.sign !== "=");
  return { ...draft, rows, isOpen: draft.isOpen === true || isOpen };
}

/** @type {Mistake} */
export function reflowed(draft, chance) {
  const side = sideBy(chance, 0.75);
  if (chance.is(0.5)) {
    const at = chance.of(stays(draft, /[,({] ?\S.{8,}/).filter((one) => !isBeside(draft, one)));
    if (at === undefined) return undefined;
    const line = draft.rows[at]?.text ?? "";
    return lineSentAs(draft, at)(line.replace(/([,({]) ?(?=\S)/, `$1\n${marginOf(line)}  `), side);
  }
  const isPair = (/** @type {number} */ at) =>
    draft.rows[at + 1]?.sign === "=" && isFilled(draft.rows[at + 1]?.text ?? "");
  const at = chance.of(
    stays(draft, /\S/).filter((one) => isPair(one) && !isBeside(draft, one) && !isBeside(draft, one + 1)),
  );
  if (at === undefined) return undefined;
  const joined = `${draft.rows[at]?.text} ${draft.rows[at + 1]?.text.trimStart()}`;
  return lineSentAs(lineSentAs(draft, at + 1)(null, side), at)(joined, side);
}

/** Two that do not undo each other. @type {Mistake} */
export function several(draft, chance) {
  const [first, second] = /** @type {[Mistake, Mistake]} */ (
    chance.of([
      [trailing, shiftAll],
      [misspelled, shiftAll],
      [outerBreaks, shiftAll],
      [dropped, trailing],
      [innerSpaces, shiftAll],
      [innerSpaces, trailing],
      [numbered, outerBreaks],
      [lookAlikes, trailing],
      [shiftAll, numbered],
      [innerSpaces, misspelled],
      [lookAlikes, shiftAll],
      [entities, shiftAll],
    ])
  );
  const made = first(draft, chance);
  return made === undefined ? undefined : second(made, chance);
}

/** @type {Mistake} */
export function specialSigns(draft, chance) {
  const sign = chance.of(["$&", "$1", "$$", "$`", "$'", "\\1", "%s", "&"]);
  return { ...draft, rows: [...draft.rows, { sign: "+", text: `replace(${sign}, ${sign})` }] };
}
