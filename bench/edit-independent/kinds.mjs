// Every kind of case, with how often models make the mistake, per 1,000 calls that carry one.
import { execFileSync } from "node:child_process";
import { caseOf, fileOf, lineInFileAs, placesOf, textsOf, timesIn } from "./edits.mjs";
import * as mistakes from "./mistakes.mjs";

/** @typedef {import("./edits.mjs").Case} Case */
/** @typedef {import("./edits.mjs").Draft} Draft */
/** @typedef {import("./edits.mjs").Chance} Chance */
/** @typedef {(draft: Draft, chance: Chance, other: Draft) => Case | undefined} Make */
/** @typedef {{ name: string, weight: number, mustFail?: true, isDone?: true, make: Make }} Kind */

/** @param {Case} made a case that an exact text would make another one @returns {Case | undefined} */
function ifInexact(made) {
  const [{ old_string, new_string } = { old_string: "", new_string: "" }] = made.edits;
  const isNone = old_string.trim() === "" || old_string === new_string || made.file === made.wanted;
  return isNone || timesIn(made.file, old_string) > 0 ? undefined : made;
}

/** @param {string} name @param {number} weight @param {mistakes.Mistake} mistake @returns {Kind} */
function slip(name, weight, mistake) {
  const make = (/** @type {Draft} */ draft, /** @type {Chance} */ chance) => {
    const made = mistake(draft, chance);
    return made && ifInexact(caseOf(made));
  };
  return { name, weight, make };
}

const crlf = (/** @type {string} */ text) => text.replaceAll("\n", "\r\n");

/** @type {Make} */
function lineEnds(draft, chance) {
  const made = caseOf(draft);
  const [edit = { old_string: "", new_string: "" }] = made.edits;
  if (!edit.old_string.includes("\n")) return undefined;
  const isFile = chance.is(0.7);
  if (isFile) return { ...made, file: crlf(made.file), wanted: crlf(made.wanted ?? "") };
  return {
    ...made,
    edits: [
      {
        old_string: crlf(edit.old_string),
        new_string: chance.is(0.8) ? crlf(edit.new_string) : edit.new_string,
      },
    ],
  };
}

/** @type {Make} */
function lastBreak(draft) {
  const rest = draft.below.filter((line) => line !== "");
  if (rest.length > 0) return undefined;
  const made = caseOf({ ...draft, below: [] });
  const [edit = { old_string: "", new_string: "" }] = made.edits;
  return ifInexact({
    ...made,
    edits: [{ old_string: `${edit.old_string}\n`, new_string: `${edit.new_string}\n` }],
  });
}

/** @type {Make} */
function atMark(draft) {
  if (draft.above.length > 0) return undefined;
  const made = caseOf(draft);
  return { ...made, file: `\ufeff${made.file}`, wanted: `\ufeff${made.wanted}` };
}

/** The same lines stand elsewhere with another layout. @type {Make} */
function byContext(draft, chance) {
  const twin = draft.rows
    .filter(({ sign }) => sign !== "+")
    .map(({ text }) => `${chance.is(0.5) ? "  " : ""}${text} `);
  const [above, below] = chance.is(0.5)
    ? [[...twin, ...draft.above], draft.below]
    : [draft.above, [...draft.below, ...twin]];
  const made = caseOf({ ...draft, above, below });
  return timesIn(made.file, textsOf(draft).old_string) === 1 ? made : undefined;
}

/** @type {Make} */
function severalPlaces(draft, chance) {
  const { old_string, new_string } = textsOf(draft);
  const most = 2 + chance.below(3);
  const between = ["", "// between", ""];
  const joined = (/** @type {string} */ text) =>
    [draft.above.join("\n"), Array(most).fill(text).join(between.join("\n")), draft.below.join("\n")].join(
      "\n",
    );
  const file = joined(old_string);
  if (timesIn(file, old_string) !== most || old_string.trim().length < 10) return undefined;
  const { where, ending } = draft;
  return {
    where,
    ending,
    file,
    wanted: joined(new_string),
    edits: [{ old_string, new_string, expected_replacements: most }],
  };
}

/** All of the file stands in one line, and a part of it is sent. @type {Make} */
function longLine(draft, chance) {
  if (!/^\.(?:[cm]?[jt]sx?|css|json)$/.test(draft.ending)) return undefined;
  const small = (/** @type {readonly string[]} */ lines) =>
    lines
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .join(" ");
  const rows = (/** @type {string} */ without) =>
    draft.rows.filter(({ sign }) => sign !== without).map(({ text }) => text);
  const [above, old, fresh, below] = [
    small(draft.above),
    small(rows("+")),
    small(rows("-")),
    small(draft.below),
  ];
  if (above.length + below.length < 2000 || old === fresh || old === "" || above === "" || below === "")
    return undefined;
  const [left, right] = [
    above.slice(-chance.below(60)).replace(/^\S*\s/, ""),
    below.slice(0, chance.below(60)).replace(/\s\S*$/, ""),
  ];
  const sent = (/** @type {string} */ text) => [left, text, right].filter((part) => part !== "").join(" ");
  const file = [above, old, below].join(" ");
  const wanted = [above, fresh, below].filter((part) => part !== "").join(" ");
  const way = chance.below(4);
  const slipped = (/** @type {string} */ text) => {
    if (way === 1) return text.replace(/(\S) (?=\S)/, "$1  ");
    if (way === 2) return `${text}\n`;
    return way === 3 ? text.replaceAll("; ", ";\n").replaceAll("{ ", "{\n  ") : text;
  };
  const [old_string, new_string] = [slipped(sent(old)), slipped(sent(fresh))];
  if (timesIn(file, sent(old)) !== 1 || sent(old).length < 16) return undefined;
  // Whether what comes is meant over several lines, nobody knows.
  const isOpen = way === 3;
  return {
    where: draft.where,
    ending: draft.ending,
    file,
    wanted,
    edits: [{ old_string, new_string }],
    isOpen,
  };
}

/** @type {Make} */
function hugeFile(draft, chance) {
  const filler = [...draft.above, ...draft.below].join("\n").slice(0, 100_000);
  if (filler.length < 2000) return undefined;
  const many = `${filler.slice(0, filler.lastIndexOf("\n"))}\n`.repeat(
    Math.ceil(((chance.of([2, 5, 12]) ?? 2) * 1_000_000) / filler.length),
  );
  const made = chance.is(0.5) ? draft : mistakes.shiftAll(draft, chance);
  if (made === undefined) return undefined;
  const whole = caseOf({ ...made, above: [], below: [] });
  const { old_string } = whole.edits[0] ?? { old_string: "" };
  const plain = textsOf({ ...draft }).old_string;
  if (timesIn(many, plain) > 0 || old_string.length < 40) return undefined;
  const isLarge = many.length > 10_000_000 && made !== draft;
  return {
    ...whole,
    file: `${many}${whole.file}\n${filler}`,
    wanted: isLarge ? null : `${many}${whole.wanted}\n${filler}`,
    isOpen: isLarge || whole.isOpen === true,
  };
}

const ENCODINGS = /** @type {const} */ ([
  ["ISO-8859-1", "Größe und Länge für Café", 1],
  ["WINDOWS-1252", "“naïve” café – Größe", 1],
  ["UTF-16LE", "Größe naïve 日本", 2],
  ["UTF-16BE", "Größe naïve 日本", 2],
  ["SHIFT_JIS", "日本語の説明を書く。設定ファイルの値を読む。", 0],
  ["WINDOWS-1251", "Это пояснение к следующей строке кода", 0],
  ["GB18030", "这是下面代码的说明，请不要修改这里的内容。", 0],
]);

/** @type {Make} */
function otherEncoding(draft, chance) {
  const [name, words, mark] = chance.of(ENCODINGS) ?? ENCODINGS[0];
  if (/[^\0-\x7f]/.test(fileOf(draft, "+") + fileOf(draft, "-"))) return undefined;
  const isNear = chance.is(0.5);
  const note = `# ${words}`;
  const far = { ...draft, above: [note, ...draft.above] };
  const at = placesOf(draft, ({ sign, text }) => sign === "=" && text.trim() !== "")[0];
  if (isNear && at === undefined) return undefined;
  const made = caseOf(isNear ? { ...far, rows: [{ sign: "=", text: note }, ...draft.rows] } : far);
  const encode = (/** @type {string} */ text) => {
    const bytes = execFileSync("iconv", ["-f", "UTF-8", "-t", name], { input: text, maxBuffer: 1 << 26 });
    const sign = name === "UTF-16LE" ? [0xff, 0xfe] : [0xfe, 0xff];
    return mark === 2 ? Buffer.concat([Buffer.from(sign), bytes]) : bytes;
  };
  return { ...made, encode };
}

/** @type {Kind[]} */
const ANSWERED = [
  { name: "exact", weight: 0, make: (draft) => caseOf(draft) },
  slip("all lines shifted", 200, mistakes.shiftAll),
  slip("some lines shifted", 40, mistakes.shiftSome),
  slip("trailing spaces", 60, mistakes.trailing),
  slip("spaces inside lines", 55, mistakes.innerSpaces),
  slip("blank lines", 30, mistakes.blankLines),
  slip("line breaks at the ends", 20, mistakes.outerBreaks),
  { name: "line ends", weight: 60, make: lineEnds },
  { name: "byte order mark", weight: 5, make: atMark },
  { name: "last line break", weight: 10, make: lastBreak },
  slip("look-alike signs", 60, mistakes.lookAlikes),
  slip("other normal form", 5, mistakes.normalForm),
  slip("over-escaped", 50, mistakes.overEscaped),
  slip("under-escaped", 15, mistakes.underEscaped),
  slip("HTML entities", 25, mistakes.entities),
  slip("line numbers", 25, mistakes.numbered),
  slip("marks of a diff", 5, mistakes.diffMarks),
  slip("a line dropped", 30, mistakes.dropped),
  slip("a word misspelled", 40, mistakes.misspelled),
  slip("lines elided", 20, mistakes.elided),
  slip("lines reflowed", 20, mistakes.reflowed),
  { name: "unique by its layout", weight: 20, make: byContext },
  slip("several mistakes", 30, mistakes.several),
  {
    name: "special signs",
    weight: 5,
    make: (draft, chance) => caseOf(mistakes.specialSigns(draft, chance) ?? draft),
  },
  { name: "several places", weight: 28, make: severalPlaces },
  { name: "not UTF-8", weight: 5, make: otherEncoding },
  { name: "a very long line", weight: 10, make: longLine },
  { name: "a huge file", weight: 1, make: hugeFile },
];

const bare = (/** @type {string} */ text) => text.replace(/\s+/g, "");

/** @param {Draft} draft @param {string} file @returns {Case | undefined} */
function refused(draft, file) {
  const made = { where: draft.where, ending: draft.ending, file, edits: [textsOf(draft)], wanted: null };
  const { old_string } = textsOf(draft);
  return old_string.trim().length < 12 || bare(file).includes(bare(old_string)) ? undefined : made;
}

/** @param {Draft} draft @param {readonly string[]} place */
const withPlace = ({ above, below }, place) => [...above, ...place, ...below].join("\n");
/** @param {Draft} draft */
const oldRows = ({ rows }) => rows.filter(({ sign }) => sign !== "+").map(({ text }) => text);

/** @type {Make} */
function twice(draft, chance) {
  const file = [...draft.above, ...oldRows(draft), "", ...oldRows(draft), ...draft.below].join("\n");
  const sent = chance.is(0.6) ? draft : mistakes.shiftAll(draft, chance);
  if (sent === undefined || oldRows(draft).join("").trim().length < 10) return undefined;
  const { old_string, new_string } = textsOf(sent);
  const times = timesIn(file, old_string);
  return times === 1 || old_string === new_string
    ? undefined
    : { where: draft.where, ending: draft.ending, file, edits: [{ old_string, new_string }], wanted: null };
}

/** A line that the edit is about has other words by now. @type {Make} */
function changedSince(draft, chance) {
  const at = chance.of(placesOf(draft, ({ sign, text }) => sign === "-" && /[A-Za-z]{4,}/.test(text)));
  if (at === undefined) return undefined;
  const line = (draft.rows[at]?.text ?? "").replace(
    /[A-Za-z]{4,}/,
    (word) =>
      chance.of([
        `${word}Old`,
        "other",
        `_${word}`,
        word.toUpperCase() === word ? "LESS" : word.toUpperCase(),
      ]) ?? "other",
  );
  const rows = lineInFileAs(draft, at, line);
  return refused(rows, fileOf(rows, "+"));
}

/** @type {Make} */
function decoyOf(draft, chance) {
  const words = [
    ...new Set(
      oldRows(draft)
        .join("\n")
        .match(/[A-Za-z_]{5,}/g),
    ),
  ];
  const word = chance.of(words);
  const other = chance.of(["another", `${word}Map`, `new_${word}`, "value2"]) ?? "another";
  return word === undefined
    ? undefined
    : refused(
        draft,
        withPlace(
          draft,
          oldRows(draft).map((line) => line.replaceAll(word, other)),
        ),
      );
}

/** @type {Make} */
function escapedAlone(draft, chance) {
  const { where, ending } = draft;
  const { old_string, new_string } = textsOf(draft);
  if (
    !/^\.(?:[cm]?[jt]sx?|css|scss|json|py|c|h|go|rs|java)$/.test(ending) ||
    !new_string.trim().includes("\n") ||
    /\\[nt"]/.test(old_string)
  )
    return undefined;
  const whole = new_string.replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  const fresh = chance.is(0.5) ? whole.replaceAll('"', '\\"') : whole;
  // In a comment or a text, a line break may be meant.
  return /["'`#]|\/\*|\/\//.test(new_string.split("\n")[0] ?? "") || /^\s*\*/.test(new_string)
    ? undefined
    : { where, ending, file: fileOf(draft, "+"), edits: [{ old_string, new_string: fresh }], wanted: null };
}

/** @type {Make} */
function overlapping(draft) {
  const { where, ending } = draft;
  const { old_string, new_string } = textsOf(draft);
  const [line = ""] = old_string.split("\n").filter((one) => one.trim().length > 8);
  const file = fileOf(draft, "+");
  if (line === "" || old_string === new_string || timesIn(file, line) !== 1) return undefined;
  return {
    where,
    ending,
    file,
    edits: [
      { old_string, new_string },
      { old_string: line, new_string: `${line} // seen` },
    ],
    wanted: null,
  };
}

/** @type {Kind[]} */
const REFUSED = /** @type {[string, number, Make, true?][]} */ ([
  ["twice in the file", 60, twice],
  ["changed since", 60, changedSince],
  [
    "of another file",
    30,
    (/** @type {Draft} */ draft, /** @type {Chance} */ _, /** @type {Draft} */ other) =>
      draft.where === other.where ? undefined : refused(draft, fileOf(other, "+")),
  ],
  ["already applied", 30, (/** @type {Draft} */ draft) => refused(draft, fileOf(draft, "-")), true],
  ["deleted", 10, (/** @type {Draft} */ draft) => refused(draft, withPlace(draft, []))],
  ["a decoy", 10, decoyOf],
  ["escapes of the new text alone", 10, escapedAlone],
  [
    "another number of places",
    3,
    (/** @type {Draft} */ draft) => ({
      ...caseOf(draft),
      edits: [{ ...textsOf(draft), expected_replacements: 2 }],
      wanted: null,
    }),
  ],
  ["overlapping edits", 2, overlapping],
]).map(([name, weight, make, isDone]) => ({
  name,
  weight,
  make,
  mustFail: /** @type {const} */ (true),
  ...(isDone && { isDone }),
}));

export const KINDS = [...ANSWERED, ...REFUSED];
