// What a model sends for a real change, before it makes any mistake.
/** @typedef {import("./sources.mjs").Changed} Changed */
/**
 * A line that stays, goes or comes; `old` and `fresh` are the line as it is sent, or null if it is not sent.
 * @typedef {{ sign: "=" | "-" | "+", text: string, old?: string | null, fresh?: string | null }} Row
 */
/** @typedef {{ where: string, ending: string, above: string[], rows: Row[], below: string[], isOpen?: boolean, alike?: (text: string) => string }} Draft */
/**
 * @typedef {object} Case
 * @property {string} where
 * @property {string} ending
 * @property {string} file
 * @property {{ old_string: string, new_string: string, expected_replacements?: number }[]} edits
 * @property {string | null} wanted the file as it should be, null for a refusal
 * @property {boolean} [isOpen] the texts do not say which of several results is meant: a refusal is as good
 * @property {(text: string) => string} [alike] the text without the difference between those results
 * @property {(text: string) => Buffer} [encode]
 */

/** Numbers by chance that a seed gives again. @param {number} seed */
export function chanceOf(seed) {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  const next = () => {
    // Marsaglia's xorshift.
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4294967296;
  };
  for (let warm = 0; warm < 8; warm++) next();
  return {
    below: (/** @type {number} */ most) => Math.floor(next() * most),
    is: (/** @type {number} */ share) => next() < share,
    /** @template T @param {readonly T[]} all @returns {T | undefined} */
    of: (all) => all[Math.floor(next() * all.length)],
  };
}
/** @typedef {ReturnType<typeof chanceOf>} Chance */

/** A change, and often those within a few lines. @param {Changed} changed @param {Chance} chance */
function changeOf({ hunks }, chance) {
  const first = chance.below(hunks.length);
  const own = hunks.slice(first, first + 1);
  for (let next = first + 1; next < hunks.length && chance.is(0.6); next++) {
    if ((hunks[next]?.from ?? 0) - (own.at(-1)?.to ?? 0) > 5) break;
    own.push(...hunks.slice(next, next + 1));
  }
  return own;
}

/** @param {Changed} changed @param {Chance} chance @returns {Draft | undefined} */
export function draftOf(changed, chance) {
  const { where, ending, text } = changed;
  const lines = text.split("\n");
  const own = changeOf(changed, chance);
  const [from, to] = [own[0]?.from ?? 0, own.at(-1)?.to ?? 0];
  const most = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  for (let around = chance.of([0, 1, 2, 3, 3, 3, 3, 4, 6, 12]) ?? 3; around < 20; around++) {
    const [start, end] = [Math.max(0, from - around), Math.min(most, to + around)];
    if (end < to) return undefined;
    const old = lines.slice(start, end).join("\n");
    if (old.trim().length < 8 || timesIn(text, old) !== 1) continue;
    const rows = rowsOf(lines, own, [start, end]);
    // Nothing in place of lines may leave their line break, or not.
    if (rows.every(({ sign }) => sign === "-")) return undefined;
    return { where, ending, above: lines.slice(0, start), rows, below: lines.slice(end) };
  }
  return undefined;
}

/** @param {string[]} lines @param {import("./sources.mjs").Hunk[]} hunks @param {[start: number, end: number]} stretch */
function rowsOf(lines, hunks, [start, end]) {
  /** @type {Row[]} */
  const rows = [];
  const take = (/** @type {"=" | "-"} */ sign, /** @type {number} */ from, /** @type {number} */ to) =>
    rows.push(...lines.slice(from, to).map((text) => ({ sign, text })));
  let at = start;
  for (const { from, to, put } of hunks) {
    take("=", at, from);
    take("-", from, to);
    rows.push(...put.map((text) => ({ sign: /** @type {const} */ ("+"), text })));
    at = to;
  }
  take("=", at, end);
  return rows;
}

/** @param {string} text @param {string} part */
export function timesIn(text, part) {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) count++;
  return count;
}

/** The file before or after the change. @param {Draft} draft @param {"-" | "+"} without */
export const fileOf = ({ above, rows, below }, without) =>
  [...above, ...rows.filter(({ sign }) => sign !== without).map(({ text }) => text), ...below].join("\n");

/** What is sent. @param {Draft} draft */
export function textsOf({ rows }) {
  const sent = (/** @type {"old" | "fresh"} */ side, /** @type {string} */ without) =>
    rows
      .filter(({ sign }) => sign !== without)
      .map((row) => (row[side] === undefined ? row.text : row[side]))
      .filter((line) => line !== null)
      .join("\n");
  return { old_string: sent("old", "+"), new_string: sent("fresh", "-") };
}

/** @param {Draft} draft @returns {Case} */
export function caseOf(draft) {
  const { where, ending, isOpen = false, alike } = draft;
  return {
    where,
    ending,
    file: fileOf(draft, "+"),
    edits: [textsOf(draft)],
    wanted: fileOf(draft, "-"),
    isOpen,
    ...(alike && { alike }),
  };
}

/**
 * Changes every line as it is sent, alike in both texts, or in the old one.
 * @param {Draft} draft
 * @param {(line: string, sign: string) => string | null} change
 * @param {"both" | "old"} [side]
 * @returns {Draft}
 */
export function sentAs(draft, change, side = "both") {
  const rows = draft.rows.map((row) => {
    const now = (/** @type {string | null | undefined} */ line) =>
      line === null ? null : change(line ?? row.text, row.sign);
    return { ...row, old: now(row.old), fresh: side === "both" ? now(row.fresh) : row.fresh };
  });
  return { ...draft, rows: /** @type {Row[]} */ (rows) };
}

/** One line, as the model sends it. @param {Draft} draft @param {number} at */
export const lineSentAs =
  (draft, at) =>
  /** @param {string | null} line @param {"both" | "old"} side @returns {Draft} */
  (line, side) => {
    const rows = draft.rows.map((row, index) => {
      if (index !== at) return row;
      return { ...row, old: line, ...(side === "both" && row.sign === "=" ? { fresh: line } : {}) };
    });
    return { ...draft, rows: /** @type {Row[]} */ (rows) };
  };

/**
 * Gives the file another line there; the model still sends the old one.
 * @param {Draft} draft
 * @param {number} at
 * @param {string} line
 * @returns {Draft}
 */
export function lineInFileAs(draft, at, line) {
  const rows = draft.rows.map((row, index) => {
    if (index !== at) return row;
    const { old = row.text, fresh = row.text } = row;
    return { ...row, text: line, old, fresh };
  });
  return { ...draft, rows };
}

/** @param {Draft} draft @param {(row: Row, at: number) => boolean} fits */
export const placesOf = ({ rows }, fits) => rows.flatMap((row, at) => (fits(row, at) ? [at] : []));

/** Whether a line is next to what changes, but for blank ones, or like a line of it. @param {Draft} draft @param {number} at */
export function isBeside({ rows }, at) {
  const isChanged = (/** @type {1 | -1} */ step) => {
    let next = at + step;
    while (rows[next]?.sign === "=" && rows[next]?.text.trim() === "") next += step;
    return rows[next] !== undefined && rows[next]?.sign !== "=";
  };
  const near = [rows[at - 1], rows[at], rows[at + 1]].map((row) => row?.text.trim());
  const isLike = rows.some(({ sign, text }) => sign !== "=" && near.includes(text.trim()));
  return isChanged(-1) || isChanged(1) || isLike;
}
