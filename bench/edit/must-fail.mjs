// Edits that have no right answer: the only good outcome is a refusal. Where a merge is right too, it is counted as
// undecidable.
import { countOf, looks, plainCase } from "./cases.mjs";
import { slack } from "./context.mjs";
import { indentationShifted, signsMadeFancy, trailingBlanksDropped } from "./mistakes.mjs";

/** @typedef {import("./cases.mjs").Draft} Draft */
/** @typedef {import("./cases.mjs").Random} Random */
/** @typedef {{draft: Draft, other: Draft, random: Random}} Source */
/** @typedef {ReturnType<typeof plainCase>} Made */

/** @param {Draft} draft */
const oldLines = ({ file }) => [...file.pre, ...file.old, ...file.post];

/** @param {Draft} draft @param {string[]} place what stands where the old text was */
function withPlace(draft, place) {
  const made = plainCase(draft);
  return { ...made, file: [...draft.head, ...place, ...draft.tail].join("\n"), answer: undefined };
}

/**
 * The text is of another file. Where that file has the place too but for a line more, as another build of the same
 * source may have it, the same texts come about when a model leaves that line out of an edit of this file: the edit made
 * there is right too.
 * @param {Source} source
 */
function absent({ draft, other }) {
  const { file } = plainCase(other);
  return { ...plainCase(draft), file, answer: beyondOneLine(draft, file.split("\n")) };
}

/** @param {Draft} draft @param {string[]} lines the file with the edit made where it has one line more in the context */
function beyondOneLine(draft, lines) {
  const { pre, old, put, post } = draft.file;
  const places = [];
  for (let start = 0; start < lines.length; start++) {
    const stands = (/** @type {string[]} */ part, /** @type {number} */ at) =>
      part.every((line, index) => line === lines[start + at + index]);
    for (const [side, first] of /** @type {const} */ ([
      [pre, 0],
      [post, pre.length + old.length],
    ])) {
      for (let gained = first + 1; gained < first + side.length; gained++) {
        const said = [...pre, ...old, ...post];
        if (!stands(said.slice(0, gained), 0) || !stands(said.slice(gained), gained + 1)) continue;
        const from = start + pre.length + (side === pre ? 1 : 0);
        places.push([...lines.slice(0, from), ...put, ...lines.slice(from + old.length)].join("\n"));
      }
    }
  }
  return places.length === 1 ? places[0] : undefined;
}

/** @param {Source} source */
const deleted = ({ draft }) => withPlace(draft, []);

/** Somebody has changed what the edit is about. @param {Source} source */
function stale({ draft, random }) {
  const { pre, old, post } = draft.file;
  const lines = old.length > 0 ? old : [...pre, ...post];
  const spots = lines.flatMap((line, index) => (/[A-Za-z]{3,}/.test(line) ? [index] : []));
  if (spots.length === 0) return undefined;
  const index = random.pick(spots);
  const word = random.pick(["renamed", "previous", "legacy"]);
  const changed = lines.map((line, at) => (at === index ? line.replace(/[A-Za-z]{3,}/, word) : line));
  const extra = random.chance(0.4)
    ? [...changed.slice(0, index), `${word}(${index});`, ...changed.slice(index)]
    : changed;
  if (changed[index] === lines[index]) return undefined;
  return withPlace(draft, old.length > 0 ? [...pre, ...extra, ...post] : extra);
}

const GAINED = ["  check(state, 7);", "// reviewed last week", "legacy_option: true,"];

/**
 * Somebody has put a line in since. Directly beside what is to be changed, only a refusal is right. With an unchanged
 * line between, the two changes do not touch: the file with both of them is right too, and any other result is wrong.
 * @param {Source} source
 */
function gainedLine({ draft, random }) {
  const { pre, old, put, post } = draft.file;
  if (old.length === 0 || pre.length === 0 || post.length === 0) return undefined;
  const { up, down } = slack(draft);
  if (up > 0 || down > 0 || [pre.at(-1), post[0]].some((line) => line?.trim() === "")) return undefined;
  const line = random.pick(GAINED);
  const gained = (/** @type {string[]} */ lines, /** @type {number} */ at) => [
    ...lines.slice(0, at),
    line,
    ...lines.slice(at),
  ];
  const above = random.chance(0.5);
  const context = above ? pre : post;
  const apart = context.length > 1 && random.chance(0.5);
  const inner = 1 + random.int(context.length - 1);
  const [before, after] = above
    ? [gained(pre, apart ? inner : pre.length), post]
    : [pre, gained(post, apart ? inner : 0)];
  const made = withPlace(draft, [...before, ...old, ...after]);
  const merged = [...draft.head, ...before, ...put, ...after, ...draft.tail].join("\n");
  return { ...made, answer: apart ? merged : undefined };
}

/** @param {Source} source */
const alreadyApplied = ({ draft }) =>
  withPlace(draft, [...draft.file.pre, ...draft.file.put, ...draft.file.post]);

/** The place is gone, but one much like it is there, about another thing. @param {Source} source */
function decoy({ draft, random }) {
  const lines = oldLines(draft);
  const words = [...lines.join("\n").matchAll(/(?<![\w$])[A-Za-z]{3,}(?![\w$])/g)].map(([word]) => word);
  if (words.length === 0) return undefined;
  const word = random.pick(words);
  const name = random.pick([
    `${word}2`,
    `${word}Other`,
    `my${word}`,
    word.toUpperCase(),
    "another",
    `${word}s`,
  ]);
  if (name === word) return undefined;
  const text = lines.join("\n");
  const whole = new RegExp(`(?<![\\w$])${word}(?![\\w$])`, random.chance(0.5) ? "" : "g");
  const like = text.replace(whole, name);
  return withPlace(draft, like.split("\n"));
}

/** @param {Source} source */
function ambiguous({ draft }) {
  const made = plainCase(draft);
  return { ...made, file: `${made.file}\n${oldLines(draft).join("\n")}\n`, answer: undefined };
}

/** The mistake makes two equal places equally likely. @param {Source} source */
function ambiguousAfterMistake({ draft, random }) {
  const wrong = random.pick([indentationShifted, signsMadeFancy, trailingBlanksDropped])(draft, random);
  if (wrong === undefined) return undefined;
  const made = plainCase(wrong);
  if (made.file.includes(made.oldText)) return undefined;
  return { ...made, file: `${made.file}\n${oldLines(wrong).join("\n")}\n`, answer: undefined };
}

/** @param {Source} source */
const emptyOldText = ({ draft }) => ({ ...plainCase(draft), oldText: "", answer: undefined });

/** @type {Record<string, (source: Source) => (Omit<Made, "answer"> & {answer: string | undefined}) | undefined>} */
const KINDS = {
  absent,
  deleted,
  stale,
  "stale by a gained line": gainedLine,
  "already applied": alreadyApplied,
  decoy,
  ambiguous,
  "ambiguous after a mistake": ambiguousAfterMistake,
  "empty old text": emptyOldText,
};

/** @param {string} kind @param {Source} source */
function mustFail(kind, source) {
  const made = KINDS[kind]?.(source);
  if (made === undefined || made.oldText === made.newText) return undefined;
  const found = countOf(made.file, made.oldText);
  const alike = countOf(looks(made.file), looks(made.oldText));
  const twins = kind.startsWith("ambiguous") ? alike > 1 && found !== 1 : alike === 0;
  const good = twins || kind === "empty old text";
  return good ? { ...made, undecidable: made.answer !== undefined } : undefined;
}

export const MUST_FAIL = Object.keys(KINDS).map((name) => ({
  name: `must fail: ${name}`,
  /** @param {Source} source */
  make: (source) => mustFail(name, source),
}));
