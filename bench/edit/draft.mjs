// An edit as a model would send it for a real change, and what it should lead to.
/** @typedef {import("./random.mjs").Random} Random */
/** @typedef {import("./corpus.mjs").Hunk} Hunk */

/**
 * A line of the place: one that stays, one that goes or one that comes.
 * @typedef {object} Row
 * @property {"keep" | "old" | "new"} kind
 * @property {string} text as it is in the file, before or after
 * @property {string | null} said as the model writes it in old_string; null: not at all
 * @property {string | null} meant as the model writes it in new_string
 * @property {boolean} [slipped] whether this line alone is written otherwise, so that another may be as near to it
 */

/**
 * @typedef {object} Draft
 * @property {string} where
 * @property {string} language
 * @property {string[]} head the file before the place
 * @property {Row[]} rows
 * @property {string[]} tail the file after it; "" is its last item if the file ends with a line end
 * @property {string} end what follows the last line in both strings: a line end, or nothing
 * @property {(text: string) => string} fileShape applied to the whole file, before and after
 * @property {((text: string) => string)[]} oldShapes applied to the whole of old_string, in order
 * @property {((text: string) => string)[]} newShapes
 * @property {boolean} open whether the texts do not say which of several results is meant
 * @property {boolean} [exactToo] whether the mistake may leave old_string as it is in the file
 * @property {boolean} [outdated] whether the file has been changed since the model saw it
 */

/**
 * @typedef {object} Case
 * @property {string} where
 * @property {string} file
 * @property {string} oldText
 * @property {string} newText
 * @property {number} expected how many places are to be changed
 * @property {string | null} answer the file as it should be; null when nothing may be written
 * @property {boolean} open a refusal is as good as the answer
 * @property {boolean} [outdated]
 */

/** @typedef {{ where: string, language: string, lines: string[], hunks: Hunk[], at: number, eol: string }} Change */

/** @param {Row["kind"]} kind @returns {(text: string) => Row} */
export const createRow = (kind) => (text) => ({
  kind,
  text,
  said: kind === "new" ? null : text,
  meant: kind === "old" ? null : text,
});

/** How many lines of context models give: three, for the most part. @param {Random} random */
function pickContextSize(random) {
  if (random.chance(0.62)) return 3;
  if (random.chance(0.35)) return random.int(2);
  if (random.chance(0.5)) return 2 + random.int(4);
  return 10 + random.int(6);
}

/** A change, and those that follow it within a few lines. @param {Hunk[]} hunks @param {number} at @param {number} most */
function collectNeighbours(hunks, at, most) {
  const own = hunks.slice(at, at + 1);
  for (const next of hunks.slice(at + 1, at + 1 + most)) {
    if (next.from - (own.at(-1)?.to ?? 0) > 6) break;
    own.push(next);
  }
  return own;
}

/** @param {Change} change @param {Random} random @returns {Draft | undefined} */
export function makeDraft(change, random) {
  const { lines, hunks, at, eol } = change;
  const own = collectNeighbours(hunks, at, random.chance(0.3) ? 2 : 0);
  const [from, to] = [own[0]?.from ?? 0, own.at(-1)?.to ?? 0];
  const last = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  const whole = lines.join("\n");
  for (let size = pickContextSize(random); size <= 24; size = Math.max(size + 1, 1)) {
    const [a, b] = [Math.max(0, from - size), Math.min(last, to + size)];
    if (b < to) return undefined;
    const rows = listRows(lines, own, [a, b]);
    const text = lines.slice(a, b).join("\n");
    const isPlace = text.trim() !== "" && rows.some(({ kind }) => kind !== "old");
    if (!isPlace || countOccurrences(whole, text) !== 1) continue;
    return {
      where: `${change.where}:${from + 1}`,
      language: change.language,
      head: lines.slice(0, a),
      rows,
      tail: lines.slice(b),
      end: b < lines.length && random.chance(0.25) ? "\n" : "",
      fileShape: eol === "\r\n" ? toCrlf : same,
      oldShapes: [],
      newShapes: [],
      open: false,
    };
  }
  return undefined;
}

/** @param {string[]} lines @param {Hunk[]} hunks @param {[first: number, end: number]} stretch */
function listRows(lines, hunks, [a, b]) {
  /** @type {Row[]} */
  const rows = [];
  let at = a;
  for (const { from, to, put } of hunks) {
    rows.push(...lines.slice(at, from).map(createRow("keep")));
    rows.push(...lines.slice(from, to).map(createRow("old")), ...put.map(createRow("new")));
    at = to;
  }
  return [...rows, ...lines.slice(at, b).map(createRow("keep"))];
}

export const same = (/** @type {string} */ text) => text;
export const toCrlf = (/** @type {string} */ text) => text.replaceAll("\n", "\r\n");

/** @param {string} text @param {string} part */
export function countOccurrences(text, part) {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0 && count < 9; at = text.indexOf(part, at + 1)) count++;
  return count;
}

/** @param {Draft} draft @param {"old" | "new"} without */
const writeFileWithout = ({ head, rows, tail, fileShape }, without) =>
  fileShape(
    [...head, ...rows.filter(({ kind }) => kind !== without).map(({ text }) => text), ...tail].join("\n"),
  );

/** @param {Draft} draft @returns {Case} */
export function makePlainCase(draft) {
  const shaped = (/** @type {string[]} */ lines, /** @type {Draft["oldShapes"]} */ shapes) =>
    shapes.reduce((text, shape) => shape(text), lines.length === 0 ? "" : lines.join("\n") + draft.end);
  const written = (/** @type {"said" | "meant"} */ side) =>
    draft.rows.map((row) => row[side]).filter((line) => line !== null);
  return {
    where: draft.where,
    file: writeFileWithout(draft, "new"),
    oldText: shaped(written("said"), draft.oldShapes),
    newText: shaped(written("meant"), draft.newShapes),
    expected: 1,
    answer: writeFileWithout(draft, "old"),
    open: draft.open,
    ...(draft.outdated === true ? { outdated: true } : {}),
  };
}

/** The finished case; nothing when the mistake left no trace, or made the text that of something else. @param {Draft} draft @returns {Case | undefined} */
export function makeCase(draft) {
  const made = makePlainCase(draft);
  const { file, oldText, newText, answer } = made;
  if (oldText === newText || file === answer || oldText.trim() === "") return undefined;
  const found = countOccurrences(file, oldText);
  // What is in the file as it was said is changed as it was said: nobody can know better.
  if (found > 1 || (found === 1 && draft.exactToo !== true)) return undefined;
  const open = draft.open || isBlurred(draft.rows) || (found === 0 && hasRival(draft));
  return { ...made, open };
}

/**
 * Whether a line that stays could be taken for one that comes or goes beside it, and the file has other bytes there:
 * which of them keeps the file's bytes is then anybody's guess.
 * @param {Row[]} rows
 */
function isBlurred(rows) {
  return findChangedRuns(rows).some(({ from, to }) => {
    const around = rows.slice(Math.max(0, from - 1), to + 1);
    return around.some(
      ({ kind, text }) =>
        kind === "keep" &&
        around.some(
          (row) =>
            row.kind !== "keep" && row.text !== text && normalizeLooks(row.text) === normalizeLooks(text),
        ),
    );
  });
}

const PLAIN_SIGNS = /** @type {const} */ ([
  [/[‘’‚‛′＇]/g, "'"],
  [/[“”„‟″＂]/g, '"'],
  [/[‐‑‒–—−]/g, "-"],
]);
/** @type {Map<string, string>} */
const seenLooks = new Map();

/** A text with nothing left of how it is laid out: the bench's own measure of "looks the same". @param {string} text */
export function normalizeLooks(text) {
  const known = seenLooks.get(text);
  if (known !== undefined) return known;
  let plain = text.normalize("NFKC").replace(/[\s\u200b\u2060\ufeff]+/g, "");
  for (const [fancy, sign] of PLAIN_SIGNS) plain = plain.replace(fancy, sign);
  if (seenLooks.size > 1_000_000) seenLooks.clear();
  seenLooks.set(text, plain);
  return plain;
}

/** Whether another place of the file is as near to what the model wrote as the right one is. @param {Draft} draft */
export function hasRival({ head, rows, tail }) {
  const old = rows.filter(({ kind }) => kind !== "new");
  const own = old.map(({ text, said, slipped }) => ({
    text: normalizeLooks(text),
    said: said === null ? null : normalizeLooks(slipped === true ? said : text),
  }));
  const place = own.filter(({ text }) => text !== "");
  const distance = place.filter(({ text, said }) => said !== null && said !== text).length;
  const file = [...head, ...old.map(({ text }) => text), ...tail].map(normalizeLooks);
  const filled = file.filter((line) => line !== "");
  const start = file.slice(0, head.length).filter((line) => line !== "").length;
  for (let at = 0; at + place.length <= filled.length; at++) {
    if (at === start) continue;
    let apart = 0;
    for (let n = 0; n < place.length && apart <= distance; n++) {
      const said = place[n]?.said;
      if (said !== null && said !== filled[at + n]) apart++;
    }
    if (apart <= distance) return true;
  }
  return false;
}

/** Whether a line that stays is next to what changes, wherever that may be thought to be. @param {Row[]} rows @param {number} index */
export function isBesideChange(rows, index) {
  return findChangedRuns(rows).some(({ from, to }) => {
    const between = index < from ? rows.slice(index + 1, from) : rows.slice(to, index);
    return between.every(({ text }) => text.trim() === "");
  });
}

/** The stretches of changed rows, with how far each could be moved up or down and be the same change. @param {Row[]} rows */
export function findChangedRuns(rows) {
  /** @type {{ from: number, to: number }[]} */
  const runs = [];
  for (let from = 0; from < rows.length; from++) {
    if (rows[from]?.kind === "keep") continue;
    let to = from;
    while (to < rows.length && rows[to]?.kind !== "keep") to++;
    const changed = rows.slice(from, to);
    const isPure = changed.every(({ kind }) => kind === changed[0]?.kind);
    const text = (/** @type {number} */ at) => normalizeLooks(rows[at]?.text ?? "");
    let [up, down] = [0, 0];
    if (isPure) {
      while (rows[from - 1 - up]?.kind === "keep" && text(from - 1 - up) === text(to - 1 - up)) up++;
      while (rows[to + down]?.kind === "keep" && text(to + down) === text(from + down)) down++;
    }
    runs.push({ from: from - up, to: to + down });
    from = to;
  }
  return runs;
}

/** Indices of lines that stay and for which `test` holds. @param {Draft} draft @param {(line: string, index: number) => boolean} test */
export function findKeptRows({ rows }, test) {
  return rows.flatMap(({ kind, text }, index) => (kind === "keep" && test(text, index) ? [index] : []));
}

/** The draft with other rows. @param {Draft} draft @param {(row: Row, index: number) => Row} change @returns {Draft} */
export const mapRows = (draft, change) => ({ ...draft, rows: draft.rows.map(change) });

/** Every line that the model writes, changed. @param {Draft} draft @param {(line: string) => string} change @param {"both" | "said"} sides */
export function mapWritten(draft, change, sides = "both") {
  // What is written for a line of the file may be several by now.
  const each = (/** @type {string} */ text) => text.split("\n").map(change).join("\n");
  return mapRows(draft, (row) => ({
    ...row,
    said: row.said === null ? null : each(row.said),
    meant: row.meant === null || sides === "said" ? row.meant : each(row.meant),
  }));
}

/** A line that stays, written otherwise: in both strings, or in old_string alone. A second mistake does not undo the first.
 * @param {Draft} draft @param {number} index @param {{ line: string | null, both: boolean }} slip */
export function addSlip(draft, index, { line, both }) {
  return mapRows(draft, (row, at) =>
    at === index && row.slipped !== true
      ? { ...row, said: line, meant: both ? line : row.meant, slipped: true }
      : row,
  );
}

/** The file, too, has this line. @param {Draft} draft @param {number} index @param {string} line */
export function addToFile(draft, index, line) {
  return mapRows(draft, (row, at) => (at === index ? createRow(row.kind)(line) : row));
}

/** @param {Draft} draft @param {(text: string) => string} shape @param {"both" | "old"} sides @returns {Draft} */
export function setShape(draft, shape, sides = "both") {
  return {
    ...draft,
    oldShapes: [...draft.oldShapes, shape],
    newShapes: sides === "both" ? [...draft.newShapes, shape] : draft.newShapes,
  };
}

/** All that old_string has to show. @param {Draft} draft */
export const joinSaidText = ({ rows }) => rows.map(({ said }) => said ?? "").join("\n");
/** What new_string brings. @param {Draft} draft */
export const listNewLines = ({ rows }) => rows.filter(({ kind }) => kind === "new").map(({ text }) => text);
