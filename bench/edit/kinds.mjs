// Every kind of case the bench makes: edits without a mistake, with one, with several.
import { caseOf, countOf, plainCase } from "./cases.mjs";
import * as mistakes from "./mistakes.mjs";
import * as textMistakes from "./text-mistakes.mjs";

/** @typedef {import("./cases.mjs").Case} Case */
/** @typedef {import("./cases.mjs").Draft} Draft */
/** @typedef {import("./cases.mjs").Random} Random */
/** @typedef {import("./mistakes.mjs").Mistake} Mistake */
/** @typedef {{draft: Draft, other: Draft, random: Random}} Source */
/** @typedef {{name: string, make: (source: Source) => Case | undefined}} Kind */

/** @param {Source} source @returns {Case} */
const exact = ({ draft }) => ({ ...plainCase(draft), undecidable: false });

/** A copy of the place with other indentation, which is not what is meant. @param {Draft} draft */
function withTwin(draft) {
  const { pre, old, post } = draft.file;
  const twin = [...pre, ...old, ...post].map((line) => (line.trim() === "" ? line : `      ${line}`));
  return { ...draft, tail: [...draft.tail, ...twin, ""] };
}

/** @param {Source} source */
function exactAmongAlike({ draft }) {
  const made = plainCase(withTwin(draft));
  const first = [...draft.said.pre, ...draft.said.old, ...draft.said.post].find((line) => line.trim() !== "");
  const whole = /^\s/.test(first ?? "") && countOf(made.file, made.oldText) === 1;
  return whole ? { ...made, undecidable: false } : undefined;
}

/** @param {Source} source */
function uniqueAfterCorrection({ draft, random }) {
  const before = looksTwice(draft);
  const wrong = random.pick([mistakes.trailingBlanksDropped, mistakes.signsMadeFancy])(draft, random);
  if (wrong === undefined || wrong.lossy || before) return undefined;
  const made = plainCase(withTwin(wrong));
  return made.file.includes(made.oldText) ? undefined : { ...made, undecidable: false };
}

/** @param {Draft} draft */
function looksTwice(draft) {
  const made = caseOf({ ...draft, oldShapes: [(text) => `\n\n\n${text}\n\n\n\n`] });
  return made?.undecidable ?? true;
}

/** @param {Source} source */
function dollarSigns({ draft, random }) {
  const sign = random.pick(["$&", "$1", "$$", "$`", "$'", "\\n$&"]);
  const put = [...draft.file.put, `${sign} = "${sign}";`];
  const made = { ...draft, file: { ...draft.file, put }, meant: { ...draft.meant, put } };
  return exact({ draft: made, other: made, random });
}

const COMBINED = [
  mistakes.trailingBlanksDropped,
  mistakes.indentationShifted,
  mistakes.signsMadeFancy,
  mistakes.otherLineEnds,
  mistakes.blankLineMissing,
  mistakes.innerBlanks,
  textMistakes.wordMistyped,
  textMistakes.lineDropped,
  textMistakes.htmlEscaped,
  textMistakes.lineNumbers,
  mistakes.outerNewlines,
];

/** @param {Source} source */
function several({ draft, random }) {
  const count = random.pick([2, 2, 3]);
  const chosen = new Set();
  while (chosen.size < count) chosen.add(random.int(COMBINED.length));
  /** @type {Draft | undefined} */
  let made = draft;
  for (const index of [...chosen].sort((a, b) => a - b)) {
    if (made !== undefined) made = COMBINED[index]?.(made, random);
  }
  return made === undefined ? undefined : caseOf(made);
}

/** @param {string} name @param {Mistake} mistake @returns {Kind} */
function single(name, mistake) {
  return {
    name,
    make: ({ draft, random }) => {
      const made = mistake(draft, random);
      return made === undefined ? undefined : caseOf(made);
    },
  };
}

/** @type {Kind[]} */
export const ANSWERED = [
  { name: "none (exact)", make: exact },
  { name: "exact, look-alikes elsewhere", make: exactAmongAlike },
  { name: "$& and the like", make: dollarSigns },
  single("trailing blanks dropped", mistakes.trailingBlanksDropped),
  single("indentation shifted", mistakes.indentationShifted),
  single("indentation off, new text right", mistakes.indentationOffInOldOnly),
  single("tabs and spaces swapped", mistakes.tabsAndSpacesSwapped),
  single("inner blanks", mistakes.innerBlanks),
  single("lines joined", mistakes.linesJoined),
  single("line split", mistakes.lineSplit),
  single("blank line missing", mistakes.blankLineMissing),
  single("blank line extra", mistakes.blankLineExtra),
  single("outer newlines added", mistakes.outerNewlines),
  single("CRLF against LF", mistakes.otherLineEnds),
  single("signs made typographic", mistakes.signsMadeFancy),
  single("signs made plain", mistakes.signsMadePlain),
  single("NFC against NFD", mistakes.otherNormalForm),
  single("over-escaped", textMistakes.overEscaped),
  single("under-escaped", textMistakes.underEscaped),
  single("HTML-escaped", textMistakes.htmlEscaped),
  single("HTML entities lost", textMistakes.htmlLost),
  single("line-number prefixes", textMistakes.lineNumbers),
  single("diff markers", textMistakes.diffMarkers),
  single("line dropped", textMistakes.lineDropped),
  single("word mistyped", textMistakes.wordMistyped),
  single("middle elided", textMistakes.middleElided),
  { name: "unique only after correction", make: uniqueAfterCorrection },
  { name: "several mistakes", make: several },
];
