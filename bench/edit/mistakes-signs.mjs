// Mistakes in signs: look-alikes, escapes, entities; and what models put around or before the lines.
import {
  addSlip,
  addToFile,
  createRow,
  findKeptRows,
  joinSaidText,
  listNewLines,
  mapRows,
  mapWritten,
  setShape,
} from "./draft.mjs";

/** @typedef {import("./draft.mjs").Draft} Draft */
/** @typedef {import("./draft.mjs").Random} Random */
/** @typedef {import("./mistakes-indent.mjs").Mistake} Mistake */

const FANCY = /[‘’“”–—\u00a0…，。：；（）！？＝]/;

/** @param {Draft} draft @param {RegExp} sign */
const newHas = (draft, sign) => listNewLines(draft).some((line) => sign.test(line));

/** Rewrites that take one sign to another; `plain` finds the signs in the file, `fancy` those that the model writes. */
const LOOKALIKES = [
  {
    plain: /"/,
    write: (/** @type {string} */ line) => line.replace(/(^|[\s([{=:,>])"/g, "$1“").replaceAll('"', "”"),
  },
  { plain: /'/, write: (/** @type {string} */ line) => line.replaceAll("'", "’") },
  {
    plain: /'/,
    write: (/** @type {string} */ line) => line.replace(/(^|[\s([{=:,>])'/g, "$1‘").replaceAll("'", "’"),
  },
  { plain: / - /, write: (/** @type {string} */ line) => line.replaceAll(" - ", " – ") },
  {
    // A dash, not a ruler.
    plain: /(?<!-)--(?!-)/,
    write: (/** @type {string} */ line) => line.replace(/(?<!-)--(?!-)/g, "—"),
  },
  { plain: /\S \S/, write: (/** @type {string} */ line) => line.replace(/(\S) (?=\S)/g, "$1\u00a0") },
  { plain: /\.\.\./, write: (/** @type {string} */ line) => line.replaceAll("...", "…") },
];

/**
 * The model writes curly quotes, dashes, hard blanks, where the file has plain ones. A new line that has the sign is
 * settled by one of old_string that has it.
 * @type {Mistake}
 */
function madeFancy(draft, random) {
  const text = joinSaidText(draft);
  if (FANCY.test(text) || newHas(draft, FANCY)) return undefined;
  const rewrite = random.pick(LOOKALIKES.filter(({ plain }) => plain.test(text)));
  if (rewrite === undefined) return undefined;
  const spots = findKeptRows(draft, (line) => rewrite.plain.test(line));
  if (spots.length > 0 && random.chance(0.4)) {
    const index = random.pick(spots);
    const line = rewrite.write(draft.rows[index]?.text ?? "");
    return addSlip(draft, index, { line, both: random.chance(0.7) });
  }
  return mapWritten(draft, rewrite.write, random.chance(0.7) ? "both" : "said");
}

/** The file has them on a line, and the model writes plain ones. @type {Mistake} */
function madePlain(draft, random) {
  const spots = findKeptRows(
    draft,
    (line) => LOOKALIKES.some(({ plain }) => plain.test(line)) && !FANCY.test(line),
  );
  if (spots.length === 0) return undefined;
  const index = random.pick(spots);
  const line = draft.rows[index]?.text ?? "";
  const { plain, write } = random.pick(LOOKALIKES.filter((rewrite) => rewrite.plain.test(line)));
  const rest = draft.rows.some(({ kind, text }, at) => kind !== "new" && at !== index && plain.test(text));
  const made = addToFile(draft, index, write(line));
  // The sign in a new line: a plain one elsewhere says that it is meant; else it may be the other one.
  const open = draft.open || (newHas(draft, plain) && !rest);
  return { ...addSlip(made, index, { line, both: random.chance(0.75) }), open };
}

/** @type {Mistake} */
export function lookAlikes(draft, random) {
  return random.chance(0.55) ? madeFancy(draft, random) : madePlain(draft, random);
}

const WIDE = /** @type {Record<string, string>} */ ({
  ",": "，",
  ":": "：",
  ";": "；",
  "(": "（",
  ")": "）",
  "!": "！",
  "?": "？",
  "=": "＝",
});

/** Full-width punctuation where the file has the ASCII sign, on one line or on all; or the reverse on one. @type {Mistake} */
export function fullWidth(draft, random) {
  const text = joinSaidText(draft);
  if (FANCY.test(text) || newHas(draft, FANCY)) return undefined;
  const sign = random.pick(Object.keys(WIDE).filter((plain) => text.includes(plain)));
  if (sign === undefined) return undefined;
  const write = (/** @type {string} */ line) => line.replaceAll(sign, WIDE[sign] ?? sign);
  if (random.chance(0.4)) return mapWritten(draft, write, random.chance(0.8) ? "both" : "said");
  const spots = findKeptRows(draft, (line) => line.includes(sign));
  if (spots.length === 0) return undefined;
  const index = random.pick(spots);
  const line = draft.rows[index]?.text ?? "";
  const both = random.chance(0.75);
  if (random.chance(0.6)) return addSlip(draft, index, { line: write(line), both });
  const made = addSlip(addToFile(draft, index, write(line)), index, { line, both });
  const rest = draft.rows.some((row, at) => row.kind !== "new" && at !== index && row.text.includes(sign));
  return { ...made, open: draft.open || (listNewLines(draft).some((row) => row.includes(sign)) && !rest) };
}

/** A sign without width in a word of a line that stays: in the file, or in the texts. @type {Mistake} */
export function zeroWidth(draft, random) {
  const spots = findKeptRows(draft, (line) => /[A-Za-z]{4,}/.test(line));
  if (spots.length === 0) return undefined;
  const index = random.pick(spots);
  const line = draft.rows[index]?.text ?? "";
  const word = random.pick([...line.matchAll(/[A-Za-z]{4,}/g)]);
  const at = word.index + 1 + random.int(word[0].length - 1);
  const other = line.slice(0, at) + random.pick(["\u200b", "\u200b", "\u2060", "\ufeff"]) + line.slice(at);
  const both = random.chance(0.7);
  return random.chance(0.5)
    ? addSlip(draft, index, { line: other, both })
    : addSlip(addToFile(draft, index, other), index, { line, both });
}

/** Accents made of one code point or of two. @type {Mistake} */
export function otherNormalForm(draft, random) {
  const spots = findKeptRows(draft, (line) => /[a-z][eao][a-z]/.test(line));
  if (spots.length === 0) return undefined;
  const index = random.pick(spots);
  const accents = /** @type {Record<string, string>} */ ({ e: "é", a: "ä", o: "ô" });
  const line = (draft.rows[index]?.text ?? "").replace(
    /([a-z])([eao])(?=[a-z])/,
    (_, before, letter) => before + (accents[letter] ?? letter),
  );
  const [form, other] = random.pick(
    /** @type {const} */ ([
      ["NFC", "NFD"],
      ["NFD", "NFC"],
    ]),
  );
  const made = addToFile(draft, index, line);
  const { fileShape } = made;
  return setShape(
    { ...made, fileShape: (text) => fileShape(text).normalize(form) },
    (text) => text.normalize(other),
    random.chance(0.8) ? "both" : "old",
  );
}

/** Ways to escape too much; each names the signs that it escapes. */
const ESCAPES = [
  { signs: /"/, write: (/** @type {string} */ text) => text.replaceAll('"', '\\"') },
  { signs: /["\\]/, write: (/** @type {string} */ text) => text.replace(/["\\]/g, "\\$&") },
  { signs: /'/, write: (/** @type {string} */ text) => text.replaceAll("'", "\\'") },
  { signs: /["']/, write: (/** @type {string} */ text) => text.replace(/["']/g, "\\$&") },
  { signs: /\\/, write: (/** @type {string} */ text) => text.replaceAll("\\", "\\\\") },
  {
    signs: /`|\$\{/,
    write: (/** @type {string} */ text) => text.replaceAll("`", "\\`").replaceAll("${", "\\${"),
  },
  { signs: /\n/, write: (/** @type {string} */ text) => text.replaceAll("\n", "\\n") },
  {
    signs: /\n/,
    write: (/** @type {string} */ text) =>
      text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t"),
  },
];

/** @type {Mistake} */
export function overEscaped(draft, random) {
  const text = joinSaidText(draft);
  const way = random.pick(ESCAPES.filter(({ write }) => write(text) !== text));
  if (way === undefined) return undefined;
  const both = random.chance(0.75);
  const news = listNewLines(draft);
  const made = setShape(draft, way.write, both ? "both" : "old");
  // Signs that old_string does not show may be escaped on purpose in what is new.
  const signs = [..."\"'`$\\"].filter((sign) =>
    news.some((line) => way.write(line) !== line && line.includes(sign)),
  );
  const unseen = both && signs.some((sign) => !text.includes(sign));
  const escaped = news.some((line) => /\\/.test(line));
  const shows = findKeptRows(draft, (line) => way.write(line) !== line).length > 0;
  return { ...made, open: draft.open || unseen || (escaped && (both || !shows)) };
}

/** Tabs written as backslash and t, over several lines. @type {Mistake} */
export function tabsEscaped(draft, random) {
  const text = joinSaidText(draft);
  if (!/\n.*\t|\t.*\n/.test(text) || /\\t/.test(text + listNewLines(draft).join("\n"))) return undefined;
  const write = (/** @type {string} */ line) => line.replaceAll("\t", "\\t");
  return mapWritten(draft, write, random.chance(0.8) ? "both" : "said");
}

const LOST = [
  { sign: /\\n/g, write: "\n" },
  { sign: /\\t/g, write: "\t" },
  { sign: /\\"/g, write: '"' },
  { sign: /\\'/g, write: "'" },
  { sign: /\\`/g, write: "`" },
  { sign: /\\\\/g, write: "\\" },
  { sign: /\\(?=[dws.[\](){}*+?|/$])/g, write: "" },
];

/** Escapes of the file are lost in the texts. @type {Mistake} */
export function underEscaped(draft, random) {
  const kept = findKeptRows(draft, () => true).map((index) => draft.rows[index]?.text ?? "");
  const way = random.pick(LOST.filter(({ sign }) => kept.join("\n").match(sign)));
  if (way === undefined) return undefined;
  const undo = (/** @type {string} */ line) => line.replace(way.sign, way.write);
  const made = mapWritten(draft, undo, random.chance(0.75) ? "both" : "said");
  const hidden = draft.rows.some(({ kind, text }) => kind !== "keep" && undo(text) !== text);
  return { ...made, open: draft.open || hidden };
}

const ENTITIES = /** @type {Record<string, string>} */ ({
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
});
const SIGNS = Object.fromEntries(Object.entries(ENTITIES).map(([sign, entity]) => [entity, sign]));
const ENTITY = /&(?:amp|lt|gt|quot|#39);/g;

/** @type {Mistake} */
export function htmlEscaped(draft, random) {
  const signs = random.pick([/[<>&]/g, /[<>]/g, /&/g, /[<>&"']/g, /[<>&"]/g]);
  const write = (/** @type {string} */ line) => line.replace(signs, (sign) => ENTITIES[sign] ?? sign);
  const said = joinSaidText(draft);
  if (write(said) === said || said.match(ENTITY) || listNewLines(draft).some((line) => line.match(ENTITY))) {
    return undefined;
  }
  // A sign that only the new lines have: that entities are a slip is shown by the others.
  return mapWritten(draft, write, random.chance(0.8) ? "both" : "said");
}

/** The file has entities on a line that stays, and the model writes the signs. @type {Mistake} */
export function htmlLost(draft, random) {
  const spots = findKeptRows(draft, (line) => /[<>&]/.test(line) && !line.match(ENTITY));
  if (spots.length === 0) return undefined;
  const index = random.pick(spots);
  const line = draft.rows[index]?.text ?? "";
  const sign = random.pick(["<", ">", "&"].filter((one) => line.includes(one)));
  const planted = line.replaceAll(sign, ENTITIES[sign] ?? sign);
  const made = addToFile(draft, index, planted);
  const rest = draft.rows.some(({ kind, text }, at) => kind !== "new" && at !== index && text.includes(sign));
  const open = draft.open || (listNewLines(draft).some((text) => text.includes(sign)) && !rest);
  return { ...addSlip(made, index, { line, both: random.chance(0.75) }), open };
}

/** The file has `&amp;` on one line and `<` on another; the model writes `&` and `&lt;`. @type {Mistake} */
export function htmlBothWays(draft, random) {
  const spots = findKeptRows(draft, (line) => /&(?!amp;|lt;|gt;|quot;|#39;)/.test(line) || /"/.test(line));
  if (spots.length === 0) return undefined;
  const index = random.pick(spots);
  const planted = (draft.rows[index]?.text ?? "").replace(/[&"]/g, (sign) => ENTITIES[sign] ?? sign);
  const made = addToFile(draft, index, planted);
  if (listNewLines(made).some((line) => /[&"]/.test(line))) return undefined;
  const write = (/** @type {string} */ line) =>
    line.replace(/&(?:amp|lt|gt|quot|#39);|[<>]/g, (sign) => SIGNS[sign] ?? ENTITIES[sign] ?? sign);
  if (!/[<>]/.test(joinSaidText(made))) return undefined;
  return mapWritten(made, write, random.chance(0.8) ? "both" : "said");
}

const NUMBERED = [
  (/** @type {number} */ n) => `${String(n).padStart(6)}→`,
  (/** @type {number} */ n) => `${n}→`,
  (/** @type {number} */ n) => `L${n}: `,
  (/** @type {number} */ n) => `${n}|`,
  (/** @type {number} */ n) => `${n} | `,
  (/** @type {number} */ n) => `${String(n).padStart(6)}\t`,
  (/** @type {number} */ n) => `${String(n).padStart(4)}: `,
  (/** @type {number} */ n) => `${n}: `,
];

/** Numbers of lines as a reading tool shows them; blank lines may lose the blank after theirs. @type {Mistake} */
export function lineNumbers(draft, random) {
  const write = random.pick(NUMBERED);
  const trims = random.chance(0.3);
  const first = draft.head.length + 1;
  const lead = random.chance(0.15) ? "\n" : "";
  const shape = (/** @type {string} */ text) => {
    const lines = text.split("\n");
    const end = lines.at(-1) === "" ? lines.length - 1 : lines.length;
    const numbered = lines.map((line, at) => {
      if (at >= end) return line;
      return line === "" && trims ? write(first + at).trimEnd() : write(first + at) + line;
    });
    return lead + numbered.join("\n");
  };
  return setShape(draft, shape, random.chance(0.6) ? "both" : "old");
}

/** @type {Mistake} */
export function diffMarkers(draft, random) {
  const { rows } = draft;
  if (!rows.some(({ kind }) => kind === "old") || !rows.some(({ kind }) => kind === "new")) return undefined;
  const context = random.chance(0.6) ? " " : "";
  const whole = random.chance(0.3);
  return mapRows(draft, ({ kind, text }) => ({
    kind,
    text,
    said: kind === "new" ? null : (kind === "old" || whole ? "-" : context) + text,
    meant: kind === "old" ? null : (kind === "new" || whole ? "+" : context) + text,
  }));
}

/** Fences of code around either string, or both. @type {Mistake} */
export function fenced(draft, random) {
  if (joinSaidText(draft).includes("```") || listNewLines(draft).some((line) => line.includes("```")))
    return undefined;
  const name = random.pick(["", draft.language, draft.language]);
  const shape = (/** @type {string} */ text) =>
    text === "" ? text : `\`\`\`${name}\n${text}${text.endsWith("\n") ? "" : "\n"}\`\`\``;
  if (random.chance(0.25)) {
    // In a text about code, a fence around what is new may be meant.
    const open = draft.open || draft.language === "markdown";
    return { ...draft, open, exactToo: true, newShapes: [...draft.newShapes, shape] };
  }
  return setShape(draft, shape, random.chance(0.65) ? "both" : "old");
}

/** Signs that replacing functions treat in their own way; nothing is wrong with them. @type {Mistake} */
export function specialSigns(draft, random) {
  const sign = random.pick(["$&", "$1", "$$", "$`", "$'", "$<name>", "\\1", "%s"]);
  const at = draft.rows.findLastIndex(({ kind }) => kind !== "keep");
  const put = createRow("new")(`value = replace("${sign}", "${sign}");`);
  const rows = [...draft.rows.slice(0, at + 1), put, ...draft.rows.slice(at + 1)];
  return { ...draft, rows, exactToo: true };
}
