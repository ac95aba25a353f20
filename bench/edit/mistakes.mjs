// The mistakes models make in the text of an edit; each gives the draft with the mistake in it, or nothing.

import { contextLines, slack, touches } from "./context.mjs";

/** @typedef {import("./cases.mjs").Draft} Draft */
/** @typedef {import("./cases.mjs").Random} Random */
/** @typedef {(draft: Draft, random: Random) => Draft | undefined} Mistake */

/** @param {Draft} draft @param {(lines: string[]) => string[]} change @returns {Draft} */
function inBoth(draft, change) {
  const { said, meant } = draft;
  return {
    ...draft,
    said: { pre: change(said.pre), old: change(said.old), post: change(said.post) },
    meant: { pre: change(meant.pre), put: change(meant.put), post: change(meant.post) },
  };
}

/** @param {Draft} draft @param {(lines: string[]) => string[]} change @returns {Draft} */
function inOld(draft, change) {
  const { said } = draft;
  return { ...draft, said: { pre: change(said.pre), old: change(said.old), post: change(said.post) } };
}

/** @param {Draft} draft @param {(line: string) => string} change */
const eachLine = (draft, change) => inBoth(draft, (lines) => lines.map(change));

/** A slip in a line of the context: in the old text, and in most cases in the new one too.
 * @param {Draft} draft @param {Random} random @param {{side: "pre" | "post", lines: string[]}} slip @returns {Draft} */
function inContext(draft, random, { side, lines }) {
  const said = { ...draft.said, [side]: lines };
  return random.chance(0.6)
    ? { ...draft, said, meant: { ...draft.meant, [side]: lines } }
    : { ...draft, said };
}

/** The file, too, has these lines. @param {Draft} draft @param {"pre" | "post"} side @param {string[]} lines */
function planted(draft, side, lines) {
  return {
    ...draft,
    file: { ...draft.file, [side]: lines },
    said: { ...draft.said, [side]: lines },
    meant: { ...draft.meant, [side]: lines },
  };
}

/** @type {Mistake} */
export function trailingBlanksDropped(draft, random) {
  let made = draft;
  const spots = contextLines(draft, (line) => line.trim() !== "" && !/\s$/.test(line));
  const already = [...draft.said.pre, ...draft.said.old, ...draft.said.post].some((line) =>
    /[^\s]\s+$/.test(line),
  );
  let slid = false;
  if (!already || random.chance(0.3)) {
    if (spots.length === 0) return undefined;
    const { side, index } = random.pick(spots);
    const { up, down } = slack(draft);
    slid = side === "pre" ? up > 0 && index >= draft.said.pre.length - 1 - up : index < down;
    const lines = draft.said[side].map((line, at) =>
      at === index ? line + random.pick([" ", "  ", "\t"]) : line,
    );
    made = planted(draft, side, lines);
  }
  const ends = (/** @type {string[]} */ lines) => lines.some((line) => /\s$/.test(line));
  const lossy = draft.lossy || ends(made.file.old) || ends(made.file.put);
  const trim = (/** @type {string} */ line) => line.trimEnd();
  const both = random.chance(0.75);
  const lines = both ? eachLine(made, trim) : inOld(made, (all) => all.map(trim));
  // Where the change itself is about such blanks, texts without them do not say what was meant.
  if (lossy && both) return undefined;
  return { ...lines, lossy: slid };
}

/** @type {Mistake} */
export function indentationShifted(draft, random) {
  const unit = random.pick(["  ", "    ", "\t", "        "]);
  const all = [...draft.said.pre, ...draft.said.old, ...draft.said.post, ...draft.meant.put];
  const filled = all.filter((line) => line.trim() !== "");
  const canLose = filled.every((line) => line.startsWith(unit));
  const shift = (/** @type {string} */ line) =>
    line.trim() === "" ? line : canLose ? line.slice(unit.length) : unit + line;
  return eachLine(draft, shift);
}

/** @type {Mistake} */
export function indentationOffInOldOnly(draft, random) {
  const unit = random.pick(["  ", "    ", "\t"]);
  const shift = (/** @type {string} */ line) =>
    line.trim() === "" ? line : line.startsWith(unit) ? line.slice(unit.length) : unit + line;
  const all = [...draft.said.pre, ...draft.said.old, ...draft.said.post].filter((line) => line.trim() !== "");
  const lose = all.every((line) => line.startsWith(unit)) || all.every((line) => !line.startsWith(unit));
  // Where all context is blank and the change itself indents its lines so, the texts do not say that it does.
  const blind = [...draft.said.pre, ...draft.said.post].every((line) => line.trim() === "");
  const shifted = new Set(draft.said.old.map(shift).filter((line) => line.trim() !== ""));
  if (blind && draft.meant.put.some((line) => shifted.has(line))) return undefined;
  return lose ? inOld(draft, (lines) => lines.map(shift)) : undefined;
}

/** @type {Mistake} */
export function tabsAndSpacesSwapped(draft) {
  const all = [...draft.said.pre, ...draft.said.old, ...draft.said.post, ...draft.meant.put];
  const indents = all.filter((line) => line.trim() !== "").map((line) => /^[ \t]*/.exec(line)?.[0] ?? "");
  if (indents.every((indent) => /^\t*$/.test(indent)) && indents.some((indent) => indent !== "")) {
    return eachLine(draft, (line) => line.replace(/^\t+/, (tabs) => "    ".repeat(tabs.length)));
  }
  const widths = indents.map((indent) => indent.length);
  for (const width of [4, 2]) {
    if (!indents.every((indent) => /^ *$/.test(indent)) || widths.every((w) => w === 0)) continue;
    if (!widths.every((w) => w % width === 0)) continue;
    const toTabs = (/** @type {string} */ spaces) => "\t".repeat(Math.floor(spaces.length / width));
    return eachLine(draft, (line) => line.replace(/^ +/, toTabs));
  }
  return undefined;
}

/** @type {Mistake} */
export function innerBlanks(draft, random) {
  const spots = contextLines(draft, (line) => /\S +\S|[^\s\w]\w|\w[^\s\w]/.test(line.trim()));
  const own = draft.said.old.length > 0 && random.chance(0.2);
  const change = (/** @type {string} */ line) => {
    const indent = /^\s*/.exec(line)?.[0] ?? "";
    const rest = line.slice(indent.length);
    const wide = /(\S) {2,}(?=\S)/g;
    if (wide.test(rest)) return indent + rest.replace(wide, "$1 ");
    if (random.chance(0.5)) return indent + rest.replace(/([,;=(){}]) ?(?=\S)/, (_, sign) => `${sign}  `);
    return indent + rest.replace(/ ?([=+(){},:]) ?(?=\S)/, "$1");
  };
  if (own || spots.length === 0) {
    const old = draft.said.old.map(change);
    // Where the change itself is about such blanks, texts without them do not say that it is.
    const hides = old.some((line, at) => line !== draft.said.old[at] && draft.meant.put.includes(line));
    const lossy = draft.lossy || draft.meant.put.length > 0;
    return hides ? undefined : { ...draft, lossy, said: { ...draft.said, old } };
  }
  const { side, index } = random.pick(spots);
  const lines = draft.said[side].map((line, at) => (at === index ? change(line) : line));
  return inContext(draft, random, { side, lines });
}

/** @type {Mistake} */
export function linesJoined(draft, random) {
  const spots = contextLines(draft, (line) => line.trim() !== "").filter(({ side, index }) => {
    const next = draft.said[side][index + 1];
    return next !== undefined && next.trim() !== "";
  });
  if (spots.length === 0) {
    if (draft.said.old.some((line) => line.trim() === "")) return undefined;
    const joined = inOld(draft, (lines) =>
      lines.length > 1 ? [lines.map((line) => line.trim()).join(" ")] : lines,
    );
    return { ...joined, lossy: draft.lossy || draft.meant.put.length > 0 };
  }
  const { side, index } = random.pick(spots);
  const all = draft.said[side];
  const joined = `${all[index]?.trimEnd()} ${all[index + 1]?.trimStart()}`;
  return inContext(draft, random, { side, lines: [...all.slice(0, index), joined, ...all.slice(index + 2)] });
}

/** @type {Mistake} */
export function lineSplit(draft, random) {
  const spots = contextLines(draft, (line) => /\S[,(;] ?\S/.test(line) && line.length > 20);
  if (spots.length === 0) return undefined;
  const { side, index } = random.pick(spots);
  const lines = draft.said[side].flatMap((line, at) => {
    if (at !== index) return [line];
    const cut = line.search(/[,(;] ?\S/) + 1;
    return [line.slice(0, cut), `  ${line.slice(cut).trimStart()}`];
  });
  return inContext(draft, random, { side, lines });
}

/** @type {Mistake} */
export function blankLineMissing(draft, random) {
  const spots = contextLines(draft, (line) => line.trim() === "").filter(({ side, index }) => {
    const all = draft.said[side];
    return !(side === "pre" && index === 0) && !(side === "post" && index === all.length - 1);
  });
  if (spots.length === 0) return undefined;
  const spot = random.pick(spots);
  const lines = draft.said[spot.side].filter((_, at) => at !== spot.index);
  return {
    ...inContext(draft, random, { side: spot.side, lines }),
    lossy: draft.lossy || touches(draft, spot),
  };
}

/** @type {Mistake} */
export function blankLineExtra(draft, random) {
  const spots = contextLines(draft, (line) => line.trim() !== "").filter(
    ({ side, index }) => !(side === "pre" && index === 0),
  );
  if (spots.length === 0) return undefined;
  const spot = random.pick(spots);
  const lines = draft.said[spot.side].flatMap((line, at) => (at === spot.index ? ["", line] : [line]));
  return {
    ...inContext(draft, random, { side: spot.side, lines }),
    lossy: draft.lossy || touches(draft, spot),
  };
}

/** @type {Mistake} */
export function outerNewlines(draft, random) {
  const shape = random.pick([
    (/** @type {string} */ text) => `\n${text}`,
    (/** @type {string} */ text) => `\n${text}\n`,
    (/** @type {string} */ text) => `${text}\n\n`,
    (/** @type {string} */ text) => `\n\n${text}\n\n`,
  ]);
  const both = random.chance(0.6);
  const newShapes = both ? [...draft.newShapes, shape] : draft.newShapes;
  return { ...draft, oldShapes: [...draft.oldShapes, shape], newShapes };
}

/** @type {Mistake} */
export function otherLineEnds(draft, random) {
  const crlf = (/** @type {string} */ text) => text.replaceAll("\n", "\r\n");
  if (random.chance(0.7)) return { ...draft, fileShape: (text) => crlf(draft.fileShape(text)) };
  const newShapes = random.chance(0.7) ? [...draft.newShapes, crlf] : draft.newShapes;
  return { ...draft, oldShapes: [...draft.oldShapes, crlf], newShapes };
}

const FANCY = /[‘’“”–—\u00a0]/;

/** @param {string} line */
function fancied(line) {
  return line
    .replace(/(^|[\s([{=:,])"/g, "$1“")
    .replaceAll('"', "”")
    .replace(/(^|[\s([{=:,])'/g, "$1‘")
    .replaceAll("'", "’")
    .replaceAll(" - ", " – ");
}

/** The model writes curly quotes and dashes where the file has plain ones. @type {Mistake} */
export function signsMadeFancy(draft, random) {
  const all = [...draft.file.pre, ...draft.file.old, ...draft.file.post, ...draft.file.put];
  if (all.some((line) => FANCY.test(line))) return undefined;
  const has = (/** @type {string[]} */ lines, /** @type {RegExp} */ sign) =>
    lines.some((line) => sign.test(line));
  const said = [...draft.said.pre, ...draft.said.old, ...draft.said.post];
  const unseen = [/"/, /'/, / - /].some((sign) => has(draft.meant.put, sign) && !has(said, sign));
  if (said.every((line) => fancied(line) === line)) return undefined;
  if (random.chance(0.3)) return inOld(draft, (lines) => lines.map(fancied));
  return { ...eachLine(draft, fancied), lossy: draft.lossy || unseen };
}

/** The file has typographic signs and the model writes plain ones. @type {Mistake} */
export function signsMadePlain(draft, random) {
  const spots = contextLines(draft, (line) => /["']| - | /.test(line.trim()) && !FANCY.test(line));
  if (spots.length === 0) return undefined;
  const { side, index } = random.pick(spots);
  const truth = draft.said[side].map((line, at) => {
    if (at !== index) return line;
    const fancy = fancied(line);
    return fancy === line ? line.replace(/(\S) (?=\S)/, "$1\u00a0") : fancy;
  });
  const made = planted(draft, side, truth);
  const lines = draft.said[side];
  const rest = [...draft.said.pre, ...draft.said.old, ...draft.said.post].filter(
    (line) => line !== lines[index],
  );
  const put = draft.meant.put.join("\n");
  const unseen = ['"', "'"].some((sign) => {
    const plain = rest.some((line) => line.includes(sign));
    return put.includes(sign) && lines[index]?.includes(sign) && !plain;
  });
  const back = { ...made, said: { ...made.said, [side]: lines }, meant: { ...made.meant, [side]: lines } };
  return { ...back, lossy: draft.lossy || unseen };
}

/** @type {Mistake} */
export function otherNormalForm(draft, random) {
  const spots = contextLines(draft, (line) => /[a-z]*[eao][a-z]+/.test(line));
  if (spots.length === 0) return undefined;
  const { side, index } = random.pick(spots);
  const accents = /** @type {Record<string, string>} */ ({ e: "é", a: "ä", o: "ô" });
  const lines = draft.said[side].map((line, at) =>
    at === index ? line.replace(/[eao]/, (letter) => accents[letter] ?? letter) : line,
  );
  const form = random.pick(["NFC", "NFD"]);
  const other = form === "NFC" ? "NFD" : "NFC";
  const made = planted(draft, side, lines);
  const shape = (/** @type {string} */ text) => made.fileShape(text).normalize(form);
  const write = (/** @type {string} */ text) => text.normalize(other);
  return {
    ...made,
    fileShape: shape,
    oldShapes: [...made.oldShapes, write],
    newShapes: [...made.newShapes, write],
  };
}
