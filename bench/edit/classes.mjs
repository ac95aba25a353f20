// Every class of cases, with how often models make the mistake: per 1,000 calls that carry one.
import * as among from "./among-others.mjs";
import { makeCase } from "./draft.mjs";
import * as files from "./file-bytes.mjs";
import * as indent from "./mistakes-indent.mjs";
import * as lines from "./mistakes-lines.mjs";
import * as signs from "./mistakes-signs.mjs";
import * as fail from "./must-fail.mjs";

/** @typedef {import("./draft.mjs").Case} Case */
/** @typedef {import("./draft.mjs").Draft} Draft */
/** @typedef {import("./draft.mjs").Random} Random */
/** @typedef {{ draft: Draft, other: Draft, random: Random }} Source */
/**
 * @typedef {object} Class
 * @property {string} name
 * @property {number} weight
 * @property {boolean} mustFail
 * @property {(source: Source) => Case | undefined} make
 * @property {(text: string) => Buffer} [encode] the bytes of the file, where the class is about them
 */
/** @typedef {[name: string, weight: number, make: Class["make"], encode?: Class["encode"]]} Row */

/** @param {string} name @param {number} weight @param {indent.Mistake} mistake @returns {Row} */
function createRow(name, weight, mistake) {
  return [
    name,
    weight,
    ({ draft, random }) => {
      const made = mistake(draft, random);
      return made === undefined ? undefined : makeCase(made);
    },
  ];
}

/** @type {Row[]} */
const ANSWERED = [
  ["exact", 0, among.exact],
  ["exact, look-alikes elsewhere", 0, among.exactAmongAlike],
  ["exact, dots that belong", 0, among.dotsThatBelong],
  createRow("indentation shifted", 230, indent.shifted),
  createRow("one line without its indentation", 10, indent.oneLineBare),
  createRow("indentation shifted in part", 25, indent.shiftedInPart),
  createRow("one line mis-indented", 15, indent.oneMisindented),
  createRow("trailing blanks", 45, indent.trailingBlanks),
  createRow("trailing blanks, changed line", 10, indent.trailingOnChanged),
  createRow("blanks in a blank line", 5, indent.blanksInBlankLine),
  createRow("inner white space", 55, lines.innerBlanks),
  createRow("blank lines", 30, lines.blankLines),
  createRow("leading or trailing newline", 20, lines.outerNewlines),
  createRow("line break of old_string alone", 10, lines.breakInOldAlone),
  createRow("line ends", 50, lines.otherLineEnds),
  createRow("CRLF in new_string only", 10, lines.crlfInNew),
  createRow("last newline", 10, lines.lastNewline),
  createRow("look-alike characters", 48, signs.lookAlikes),
  createRow("full-width signs", 8, signs.fullWidth),
  createRow("zero-width signs", 4, signs.zeroWidth),
  createRow("other normal form", 5, signs.otherNormalForm),
  createRow("over-escaped", 45, signs.overEscaped),
  createRow("tabs as \\t over lines", 5, signs.tabsEscaped),
  createRow("under-escaped", 15, signs.underEscaped),
  createRow("HTML-escaped", 16, signs.htmlEscaped),
  createRow("HTML entities lost", 6, signs.htmlLost),
  createRow("HTML both ways", 3, signs.htmlBothWays),
  createRow("line numbers", 25, signs.lineNumbers),
  createRow("diff markers", 5, signs.diffMarkers),
  createRow("code fences", 5, signs.fenced),
  createRow("line dropped", 30, lines.lineDropped),
  ["line that goes dropped", 0, among.goneLineDropped],
  createRow("typo", 40, lines.mistyped),
  createRow("elided middle", 20, lines.middleElided),
  createRow("reflowed", 20, lines.reflowed),
  ["unique by context only", 10, among.uniqueByBlanks],
  ["sibling functions", 10, among.amongSiblings],
  ["several at once", 30, among.severalMistakes],
  createRow("special signs", 5, signs.specialSigns),
  ["several places", 28, among.severalPlaces],
  ["part of a very long line", 10, among.partOfLongLine],
  ["huge file", 1, among.inHugeFile],
  ["changed elsewhere since read", 10, among.staleElsewhere],
  ["byte order mark", 5, files.atTop, files.addMark],
  ["not UTF-8", 5, files.withAccent, files.toLatin1],
  ["empty file, empty old_string", 2, files.emptyFile, files.toUtf8],
];

/** @type {Row[]} */
const MUST_FAIL = [
  ["ambiguous", 45, fail.ambiguous],
  ["ambiguous by a slip", 15, fail.ambiguousBySlip],
  ["stale", 45, fail.stale],
  ["stale context", 15, fail.staleContext],
  ["absent", 30, fail.absent],
  ["already applied", 30, fail.alreadyApplied],
  ["lines added already", 10, fail.addedAlready],
  ["deleted", 10, fail.deleted],
  ["decoy", 10, fail.decoy],
  ["placeholder in new_string", 10, fail.placeholderInNew],
  ["wrong count", 3, fail.wrongCount],
];

/** @param {Row[]} rows @param {boolean} mustFail @returns {Class[]} */
const createClasses = (rows, mustFail) =>
  rows.map(([name, weight, make, encode]) => ({
    name,
    weight,
    make,
    mustFail,
    ...(encode === undefined ? {} : { encode }),
  }));

export const CLASSES = [...createClasses(ANSWERED, false), ...createClasses(MUST_FAIL, true)];
