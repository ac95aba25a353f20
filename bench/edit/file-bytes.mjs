// Edits in which the bytes of the file matter: these run through the whole tool.
import { addToFile, findKeptRows, makeCase, makePlainCase } from "./draft.mjs";
import { shifted, trailingBlanks } from "./mistakes-indent.mjs";

/** @typedef {import("./draft.mjs").Case} Case */
/** @typedef {import("./draft.mjs").Draft} Draft */
/** @typedef {{ draft: Draft, other: Draft, random: import("./draft.mjs").Random }} Source */

export const addMark = (/** @type {string} */ text) => Buffer.from(`\ufeff${text}`);
export const toLatin1 = (/** @type {string} */ text) => Buffer.from(text, "latin1");
export const toUtf8 = (/** @type {string} */ text) => Buffer.from(text);

/** @param {Draft} draft @param {Source["random"]} random exact for the most part, else with a mistake */
function makeWrittenCase(draft, random) {
  const wrong = random.chance(0.4) ? random.pick([shifted, trailingBlanks])(draft, random) : undefined;
  return wrong === undefined ? makePlainCase(draft) : makeCase(wrong);
}

/** The place is at the top of the file, so that the mark is right before it. @param {Source} source */
export function atTop({ draft, random }) {
  const made = makeWrittenCase({ ...draft, head: [] }, random);
  return made?.oldText === "" ? undefined : made;
}

/** The file has letters that UTF-8 would write otherwise, in the context for one. @param {Source} source */
export function withAccent({ draft, random }) {
  const spot = random.pick(findKeptRows(draft, (line) => /[a-z][eao][a-z]/.test(line)));
  if (spot === undefined) return undefined;
  const accents = /** @type {Record<string, string>} */ ({ e: "é", a: "ä", o: "ô" });
  const line = draft.rows[spot]?.text ?? "";
  const planted = line.replace(
    /([a-z])([eao])(?=[a-z])/g,
    (_, first, letter) => first + (accents[letter] ?? letter),
  );
  const made = makeWrittenCase(addToFile(draft, spot, planted), random);
  const signs = made === undefined ? "" : made.file + made.oldText + made.newText;
  return [...signs].every((sign) => sign.charCodeAt(0) < 127 || "éäô".includes(sign)) ? made : undefined;
}

/** The file is there and empty. @param {Source} source @returns {Case} */
export function emptyFile({ draft }) {
  const newText = makePlainCase(draft).answer ?? "";
  return { where: draft.where, file: "", oldText: "", newText, expected: 1, answer: newText, open: false };
}
