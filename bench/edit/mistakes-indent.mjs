// Mistakes in the indentation. A mistake takes a draft and gives it back with the mistake in it, or nothing.
import { addSlip, addToFile, findKeptRows, listNewLines, mapRows, mapWritten } from "./draft.mjs";

/** @typedef {import("./draft.mjs").Draft} Draft */
/** @typedef {import("./draft.mjs").Random} Random */
/** @typedef {(draft: Draft, random: Random) => Draft | undefined} Mistake */
/** @typedef {(line: string) => string} Rewrite */

const UNITS = ["  ", "  ", "    ", "    ", "\t", "        ", " "];

/** @param {string} line */
const indentOf = (line) => /^[ \t]*/.exec(line)?.[0] ?? "";
/** @param {string | null | undefined} line @returns {line is string} */
const isFilled = (line) => typeof line === "string" && line.trim() !== "";

/** @param {Rewrite} change @returns {Rewrite} */
const filledOnly = (change) => (line) => (isFilled(line) ? change(line) : line);

/** @param {(indent: string) => string} change @returns {Rewrite} */
const byIndent = (change) => filledOnly((line) => change(indentOf(line)) + line.slice(indentOf(line).length));

/** All lines that are written, as they are in the file. @param {Draft} draft */
const allLines = ({ rows }) => rows.map(({ text }) => text).filter(isFilled);

/** @param {string[]} lines */
function commonIndent(lines) {
  let common = indentOf(lines[0] ?? "");
  for (const line of lines) while (!line.startsWith(common)) common = common.slice(0, -1);
  return common;
}

/** Ways in which models shift a whole text; each is one that the text allows. @param {Draft} draft @param {Random} random @returns {Rewrite | undefined} */
function shiftFor(draft, random) {
  const lines = allLines(draft);
  const indents = lines.map(indentOf);
  const common = commonIndent(lines);
  const unit = random.pick(UNITS);
  const onlySpaces = indents.every((indent) => !indent.includes("\t"));
  const onlyTabs = indents.every((indent) => !indent.includes(" "));
  const isDeep = indents.some((indent) => indent !== "");
  /** @type {(Rewrite | undefined)[]} */
  const ways = [
    filledOnly((line) => unit + line),
    common === "" ? undefined : byIndent((indent) => indent.slice(common.length)),
    common.length > 1 ? byIndent((indent) => indent.slice(Math.ceil(common.length / 2))) : undefined,
    common === "" ? undefined : byIndent((indent) => indent.slice(1)),
    isDeep && onlyTabs ? byIndent((indent) => "    ".repeat(indent.length)) : undefined,
    isDeep && onlyTabs ? byIndent((indent) => "  ".repeat(indent.length)) : undefined,
    isDeep && onlySpaces ? byIndent((indent) => indent + indent) : undefined,
    ...[2, 4].flatMap((width) =>
      isDeep && onlySpaces && indents.every(({ length }) => length % width === 0)
        ? [
            byIndent((indent) => "\t".repeat(indent.length / width)),
            width === 4 ? byIndent((indent) => " ".repeat(indent.length / 2)) : undefined,
          ]
        : [],
    ),
  ];
  return random.pick(ways.filter((way) => way !== undefined));
}

/** Ways to read a shift back, as functions from the indentation that was written to the file's. */
const SHIFTS_BACK = [
  ...[1, 2, 3, 4, 6, 8].flatMap((width) => [
    (/** @type {string} */ said) => said.replaceAll("\t", " ".repeat(width)),
    (/** @type {string} */ said) => said.replaceAll(" ".repeat(width), "\t"),
  ]),
  (/** @type {string} */ said) => said + said,
  (/** @type {string} */ said) => (said.length % 2 === 0 ? said.slice(said.length / 2) : "?"),
];

/**
 * Whether what is known of the shift leaves several indentations for a new line. A line of the same depth in old_string
 * settles it; else all simple ways that explain the lines of old_string must agree.
 * @param {[said: string, file: string][]} pairs @param {string[]} news the new lines as they are written
 */
function isShiftOpen(pairs, news) {
  const seen = new Map(pairs.map(([said, file]) => [indentOf(said), indentOf(file)]));
  const [[said = "", file = ""] = []] = [...seen];
  const back = [
    (/** @type {string} */ indent) => (indent.startsWith(said) ? file + indent.slice(said.length) : "?"),
    (/** @type {string} */ indent) =>
      said.endsWith(file) && indent.startsWith(said.slice(0, said.length - file.length))
        ? indent.slice(said.length - file.length)
        : "?",
    (/** @type {string} */ indent) =>
      file.endsWith(said) ? file.slice(0, file.length - said.length) + indent : "?",
    ...SHIFTS_BACK,
  ].filter((way) => [...seen].every(([from, to]) => way(from) === to));
  const settled = new Set(pairs.map(([written]) => indentOf(written)));
  return news.filter(isFilled).some((line) => {
    const indent = indentOf(line);
    if (settled.has(indent)) return false;
    return new Set(back.map((way) => way(indent)).filter((way) => way !== "?")).size !== 1;
  });
}

/** @param {Draft} draft @param {Rewrite} shift */
function isOpenUnder(draft, shift) {
  const pairs = draft.rows
    .filter(({ kind, text }) => kind !== "new" && isFilled(text))
    .map(({ text }) => /** @type {[string, string]} */ ([shift(text), text]));
  const both = new Map();
  for (const [said, file] of pairs) {
    const known = both.get(indentOf(said));
    if (known !== undefined && known !== indentOf(file)) return true;
    both.set(indentOf(said), indentOf(file));
  }
  return isShiftOpen(pairs, listNewLines(draft).map(shift));
}

/** Both strings are shifted alike. @type {Mistake} */
export function shifted(draft, random) {
  const shift = shiftFor(draft, random);
  if (shift === undefined) return undefined;
  if (random.chance(0.15)) return shiftedInOld(draft, shift);
  return { ...mapWritten(draft, shift), open: draft.open || isOpenUnder(draft, shift) };
}

/** Only old_string is shifted. New lines say what they mean if a line that stays shows it. @param {Draft} draft @param {Rewrite} shift */
function shiftedInOld(draft, shift) {
  const shows = findKeptRows(draft, (line) => isFilled(line) && shift(line) !== line).length > 0;
  const old = new Set(
    draft.rows.map(({ kind, text }) => (kind === "old" ? shift(text) : "")).filter(isFilled),
  );
  const hides = listNewLines(draft).some((line) => old.has(line));
  const made = mapWritten(draft, shift, "said");
  return { ...made, open: draft.open || hides || (!shows && listNewLines(draft).some(isFilled)) };
}

/** A line with other indentation. @param {string} line @param {Random} random */
function misindented(line, random) {
  const indent = indentOf(line);
  const unit = random.pick(["  ", "    ", " ", "\t"]);
  const ways = [
    unit + indent,
    indent.slice(0, -unit.length),
    indent.slice(1),
    indent.replaceAll("\t", "    "),
  ];
  const other = random.pick(ways.filter((way) => way !== indent));
  return other === undefined ? line : other + line.slice(indent.length);
}

/** One line of three or more is off; the new lines are as they are meant. @type {Mistake} */
export function oneMisindented(draft, random) {
  const old = draft.rows.filter(({ kind, text }) => kind !== "new" && isFilled(text));
  const spots = findKeptRows(draft, isFilled);
  if (old.length < 3 || spots.length === 0) return undefined;
  const index = random.pick(spots);
  const line = misindented(draft.rows[index]?.text ?? "", random);
  return addSlip(draft, index, { line, both: random.chance(0.6) });
}

/** A line that goes is off in old_string; what comes for it is as it is meant. @type {Mistake} */
function changedMisindented(draft, random) {
  const spots = draft.rows.flatMap(({ kind, text }, at) => (kind === "old" && isFilled(text) ? [at] : []));
  const shows = findKeptRows(draft, isFilled).length;
  if (spots.length === 0 || shows < 2) return undefined;
  const index = random.pick(spots);
  const line = misindented(draft.rows[index]?.text ?? "", random);
  // A change of nothing but the indentation is hidden by it.
  if (listNewLines(draft).some((other) => other.trim() === line.trim())) return undefined;
  return addSlip(draft, index, { line, both: false });
}

/** The first line lost its indentation, as when a model begins with its first word; further lines are off otherwise. @type {Mistake} */
function firstLineBare(draft, random) {
  const at = draft.rows.findIndex(({ kind, text }) => kind !== "new" && isFilled(text));
  const first = draft.rows[at];
  if (first === undefined || first.kind !== "keep" || indentOf(first.text) === "") return undefined;
  const bare = addSlip(draft, at, { line: first.text.trimStart(), both: true });
  const others = findKeptRows(draft, (line, index) => index !== at && isFilled(line));
  if (others.length < 3) return undefined;
  const other = random.pick(others);
  const line = misindented(draft.rows[other]?.text ?? "", random);
  return addSlip(bare, other, { line, both: true });
}

/** All context on one side of the change is shifted, in both strings; a line between says that the new ones are right. @type {Mistake} */
function contextShifted(draft, random) {
  const changed = draft.rows.flatMap(({ kind }, at) => (kind === "keep" ? [] : [at]));
  const [first = 0, last = 0] = [changed[0], changed.at(-1)];
  const above = random.chance(0.5);
  const spots = findKeptRows(draft, (line, at) => isFilled(line) && (above ? at < first - 1 : at > last + 1));
  const beside = draft.rows[above ? first - 1 : last + 1];
  if (spots.length === 0 || !isFilled(beside?.text) || beside?.kind !== "keep") return undefined;
  const unit = random.pick(UNITS);
  const lines = new Set(spots);
  return mapRows(draft, (row, at) =>
    lines.has(at) ? { ...row, said: unit + row.text, meant: unit + row.text } : row,
  );
}

/** @type {Mistake} */
export function shiftedInPart(draft, random) {
  const way = random.pick([oneMisindented, changedMisindented, firstLineBare, contextShifted]);
  return way(draft, random);
}

/** Only one line is named, from its first word on: the new lines lack the indentation, too, or only new_string has it. @type {Mistake} */
export function oneLineBare(draft, random) {
  const { rows } = draft;
  const changed = rows.flatMap(({ kind }, at) => (kind === "keep" ? [] : [at]));
  const [first = 0, last = 0] = [changed[0], changed.at(-1)];
  const isOne = (/** @type {number[]} */ [from = 0, to = 0]) =>
    from >= 0 &&
    to < rows.length &&
    rows.slice(from, to + 1).filter(({ said }) => said !== null).length === 1;
  const [from = 0, to = -1] =
    [
      [first, last],
      [first - 1, last],
      [first, last + 1],
    ].find(isOne) ?? [];
  const own = rows.slice(from, to + 1);
  const indent = indentOf(own.find(({ said }) => said !== null)?.text ?? "");
  if (indent === "" || !own.some(({ meant }) => isFilled(meant))) return undefined;
  const isBothBare =
    own.every(({ text }) => !isFilled(text) || text.startsWith(indent)) && random.chance(0.6);
  const bare = (/** @type {string | null} */ line) =>
    line?.startsWith(indent) ? line.slice(indent.length) : line;
  const named = own.map((row) => ({
    ...row,
    said: bare(row.said),
    meant: isBothBare ? bare(row.meant) : row.meant,
  }));
  const textsOf = (/** @type {typeof rows} */ some) => some.map(({ text }) => text);
  const head = [...draft.head, ...textsOf(rows.slice(0, from))];
  const tail = [...textsOf(rows.slice(to + 1)), ...draft.tail];
  return { ...draft, head, rows: named, tail, end: "", exactToo: true };
}

const BLANKS = [" ", "  ", "\t", "    "];

/** The file has blanks at the end of a line that stays, which the model leaves out; or the other way round. @type {Mistake} */
export function trailingBlanks(draft, random) {
  const spots = findKeptRows(draft, isFilled);
  const all = draft.rows.filter(({ kind }) => kind !== "keep").map(({ text }) => text);
  if (spots.length === 0 || all.some((line) => /\s$/.test(line))) return undefined;
  const index = random.pick(spots);
  const line = draft.rows[index]?.text ?? "";
  const blanks = random.pick(BLANKS);
  const both = random.chance(0.7);
  const natural = draft.rows.some(({ kind, text }) => kind === "keep" && /\S[ \t]+$/.test(text));
  if (natural && random.chance(0.8)) return mapWritten(draft, trimEnd, both ? "both" : "said");
  if (random.chance(0.6)) {
    const made = addToFile(draft, index, line + blanks);
    return addSlip(made, index, { line, both });
  }
  return random.chance(0.3)
    ? mapWritten(
        draft,
        filledOnly((text) => text + blanks),
        both ? "both" : "said",
      )
    : addSlip(draft, index, { line: line + blanks, both });
}

const trimEnd = (/** @type {string} */ line) => line.trimEnd();

/** Blank lines that hold blanks, in the file or in the texts. @type {Mistake} */
export function blanksInBlankLine(draft, random) {
  const spots = findKeptRows(draft, (line) => line === "");
  if (spots.length === 0) return undefined;
  const index = random.pick(spots);
  const both = random.chance(0.7);
  if (random.chance(0.5)) return addSlip(draft, index, { line: random.pick(BLANKS), both });
  return addSlip(addToFile(draft, index, random.pick(BLANKS)), index, { line: "", both });
}

/** The blanks are at the end of a line that is changed; new_string has the new line without. @type {Mistake} */
export function trailingOnChanged(draft, random) {
  const news = listNewLines(draft);
  // A line that comes back is one that moves: it keeps the file's bytes.
  const spots = draft.rows.flatMap(({ kind, text }, at) =>
    kind === "old" && isFilled(text) && !news.includes(text) ? [at] : [],
  );
  if (spots.length === 0 || news.some((line) => /\s$/.test(line)) || !news.some(isFilled)) return undefined;
  const index = random.pick(spots);
  const line = draft.rows[index]?.text ?? "";
  if (/\s$/.test(line)) return undefined;
  const blanks = random.pick(BLANKS);
  if (random.chance(0.3)) return addSlip(draft, index, { line: line + blanks, both: false });
  return addSlip(addToFile(draft, index, line + blanks), index, { line, both: false });
}
