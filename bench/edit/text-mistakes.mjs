// Mistakes in the whole text of an edit, and the rarer ones that leave something out.

import { contextLines, touches } from "./context.mjs";

/** @typedef {import("./cases.mjs").Draft} Draft */
/** @typedef {import("./mistakes.mjs").Mistake} Mistake */

/** @param {Draft} draft @param {(text: string) => string} shape @returns {Draft} */
function shaped(draft, shape) {
  return { ...draft, oldShapes: [...draft.oldShapes, shape], newShapes: [...draft.newShapes, shape] };
}

/** @type {Mistake} */
export function overEscaped(draft, random) {
  const json = (/** @type {string} */ text) => text.replace(/["\\]/g, "\\$&");
  const shape = random.pick([
    (/** @type {string} */ text) => text.replaceAll('"', '\\"'),
    json,
    (/** @type {string} */ text) => json(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t"),
    (/** @type {string} */ text) => text.replace(/["']/g, "\\$&"),
    (/** @type {string} */ text) => text.replaceAll("\\", "\\\\"),
  ]);
  const said = [...draft.said.pre, ...draft.said.old, ...draft.said.post].join("\n");
  const put = draft.meant.put.join("\n");
  const unseen = ['"', "'", "\\"].some((sign) => put.includes(sign) && !said.includes(sign));
  if (shape(said) === said) return undefined;
  return { ...shaped(draft, shape), lossy: draft.lossy || unseen };
}

/** @type {Mistake} */
export function underEscaped(draft, random) {
  const all = [/\\n/g, /\\t/g, /\\["'`]/g, /\\\\/g];
  const pattern = random.pick(
    all.filter((sign) => [...draft.said.pre, ...draft.said.post].join("\n").match(sign)),
  );
  if (pattern === undefined) return undefined;
  const undo = (/** @type {string} */ text) =>
    text.replace(pattern, (sign) => (sign === "\\n" ? "\n" : sign === "\\t" ? "\t" : sign.slice(1)));
  const lossy = [...draft.meant.put, ...draft.said.old].some((line) => undo(line) !== line);
  return { ...shaped(draft, undo), lossy: draft.lossy || lossy };
}

/** @type {Mistake} */
export function htmlEscaped(draft, random) {
  const quotes = random.chance(0.5);
  const signs = /** @type {Record<string, string>} */ ({ "<": "&lt;", ">": "&gt;", "&": "&amp;" });
  const shape = (/** @type {string} */ text) => {
    const escaped = text.replace(/[<>&]/g, (sign) => signs[sign] ?? sign);
    return quotes ? escaped.replaceAll('"', "&quot;").replaceAll("'", "&#39;") : escaped;
  };
  const said = [...draft.said.pre, ...draft.said.old, ...draft.said.post].join("\n");
  return shape(said) === said ? undefined : shaped(draft, shape);
}

/** The file has an entity in its context. @param {Draft} draft @returns {Draft | undefined} */
function withEntity(draft) {
  const spots = contextLines(draft, (line) => /[<>]/.test(line) && !line.includes("&"));
  const [spot] = spots;
  if (spot === undefined) return undefined;
  const lines = draft.said[spot.side].map((line, at) =>
    at === spot.index ? line.replaceAll("<", "&lt;").replaceAll(">", "&gt;") : line,
  );
  const side = { [spot.side]: lines };
  return {
    ...draft,
    file: { ...draft.file, ...side },
    said: { ...draft.said, ...side },
    meant: { ...draft.meant, ...side },
  };
}

/** @type {Mistake} */
export function htmlLost(plain) {
  const draft = withEntity(plain);
  if (draft === undefined) return undefined;
  const text = [...draft.said.pre, ...draft.said.old, ...draft.said.post].join("\n");
  if (!/&(?:lt|gt|quot|amp|#39);/.test(text)) return undefined;
  const signs = /** @type {Record<string, string>} */ ({ lt: "<", gt: ">", quot: '"', amp: "&", "#39": "'" });
  const undo = (/** @type {string} */ value) =>
    value.replace(/&(lt|gt|quot|amp|#39);/g, (whole, name) => signs[name] ?? whole);
  const lossy = draft.meant.put.some((line) => undo(line) !== line || /[<>"&']/.test(line));
  return { ...shaped(draft, undo), lossy: draft.lossy || lossy };
}

/** @type {Mistake} */
export function lineNumbers(draft, random) {
  const write = random.pick([
    (/** @type {number} */ n) => `${String(n).padStart(6)}→`,
    (/** @type {number} */ n) => `${n}→`,
    (/** @type {number} */ n) => `L${n}: `,
    (/** @type {number} */ n) => `${n}|`,
    (/** @type {number} */ n) => `${n} | `,
    (/** @type {number} */ n) => `${n}\t`,
    (/** @type {number} */ n) => `${String(n).padStart(4)}: `,
  ]);
  const first = draft.head.length + 1;
  const shape = (/** @type {string} */ text) => {
    const lines = text.split("\n");
    const end = lines.at(-1) === "" ? lines.length - 1 : lines.length;
    return lines.map((line, index) => (index < end ? write(first + index) + line : line)).join("\n");
  };
  const made = { ...draft, oldShapes: [...draft.oldShapes, shape] };
  return random.chance(0.6) ? { ...made, newShapes: [...draft.newShapes, shape] } : made;
}

/** @type {Mistake} */
export function diffMarkers(draft, random) {
  const mark = (/** @type {string} */ sign) => (/** @type {string} */ line) => sign + line;
  const { pre, old, post } = draft.said;
  const { put } = draft.meant;
  if (random.chance(0.4)) {
    const all = (/** @type {string} */ sign, /** @type {string[]} */ lines) => lines.map(mark(sign));
    return {
      ...draft,
      said: { pre: all("-", pre), old: all("-", old), post: all("-", post) },
      meant: { pre: all("+", pre), put: all("+", put), post: all("+", post) },
    };
  }
  if (old.length === 0) return undefined;
  const [before, after] = [pre.map(mark(" ")), post.map(mark(" "))];
  return {
    ...draft,
    said: { pre: before, old: old.map(mark("-")), post: after },
    meant: { pre: before, put: put.map(mark("+")), post: after },
  };
}

/** Context lines with a line on either side in the same context. @param {Draft} draft */
function innerLines(draft) {
  /** @type {{side: "pre" | "post", index: number}[]} */
  const found = [];
  for (const side of /** @type {const} */ (["pre", "post"])) {
    const all = draft.said[side];
    for (let index = 1; index < all.length - 1; index++) {
      const [above, own, below] = [all[index - 1]?.trim(), all[index]?.trim(), all[index + 1]?.trim()];
      if (own && above && below && own !== above && own !== below) found.push({ side, index });
    }
  }
  return found;
}

/** @type {Mistake} */
export function lineDropped(draft, random) {
  const spots = innerLines(draft);
  if (spots.length === 0) return undefined;
  const { side, index } = random.pick(spots);
  const lines = draft.said[side].filter((_, at) => at !== index);
  const said = { ...draft.said, [side]: lines };
  const filled = [...said.pre, ...said.old, ...said.post].filter((line) => line.trim() !== "").length;
  const both = random.chance(0.6);
  const meant = both ? { ...draft.meant, [side]: lines } : draft.meant;
  return { ...draft, said, meant, lossy: draft.lossy || filled < 3 || touches(draft, { side, index }) };
}

/** @type {Mistake} */
export function wordMistyped(draft, random) {
  /** @type {{side: "pre" | "post", index: number, at: number, word: string}[]} */
  const spots = [];
  const everything = [draft.head, draft.file.pre, draft.file.old, draft.file.post, draft.tail]
    .flat()
    .join("\n");
  for (const side of /** @type {const} */ (["pre", "post"])) {
    draft.said[side].forEach((line, index) => {
      for (const { 0: word, index: at } of line.matchAll(/(?<![\w$])[a-zA-Z]{5,}(?![\w$])/g)) {
        spots.push({ side, index, at, word });
      }
    });
  }
  if (spots.length === 0) return undefined;
  const { side, index, at, word } = random.pick(spots);
  const i = 1 + random.int(word.length - 3);
  const typed = random.pick([
    word.slice(0, i) + (word[i + 1] ?? "") + (word[i] ?? "") + word.slice(i + 2),
    word.slice(0, i) + word.slice(i + 1),
    word.slice(0, i) + (word[i] ?? "") + word.slice(i),
    `${word.slice(0, i)}x${word.slice(i + 1)}`,
  ]);
  if (everything.includes(typed)) return undefined;
  const lines = draft.said[side].map((line, n) =>
    n === index ? line.slice(0, at) + typed + line.slice(at + word.length) : line,
  );
  const said = { ...draft.said, [side]: lines };
  const words = [...said.pre, ...said.old, ...said.post].join("\n").match(/\w+|[^\w\s]/g)?.length ?? 0;
  const meant = random.chance(0.6) ? { ...draft.meant, [side]: lines } : draft.meant;
  return { ...draft, said, meant, lossy: draft.lossy || words < 6 };
}

/** @type {Mistake} */
export function middleElided(draft, random) {
  const side = random.pick(/** @type {const} */ (["pre", "post"]));
  const before = side === "pre" ? draft.head : draft.file.post;
  const grown = growContext(draft, side);
  if (grown === undefined || before === undefined) return undefined;
  const all = grown.said[side];
  const [first, last] = [2, all.length - 2];
  const indent = /^\s*/.exec(all[first] ?? "")?.[0] ?? "";
  const mark = random.pick(["// ...", "...", "# ...", "// ... existing code ...", "/* ... */"]);
  const lines = [...all.slice(0, first), indent + mark, ...all.slice(last)];
  const made = {
    ...grown,
    said: { ...grown.said, [side]: lines },
    meant: { ...grown.meant, [side]: lines },
  };
  return { ...made, lossy: draft.lossy || !isPlainElision(made, { side, first, lines }) };
}

/** More context on one side, so that there is a middle to leave out. @param {Draft} draft @param {"pre" | "post"} side */
function growContext(draft, side) {
  const want = 8 - draft.said[side].length;
  const { head, tail } = draft;
  if (want > 0 && (side === "pre" ? head : tail.slice(0, -1)).length < want) return undefined;
  const lines = want <= 0 ? draft.said[side] : undefined;
  const grown =
    lines ??
    (side === "pre"
      ? [...head.slice(-want), ...draft.said.pre]
      : [...draft.said.post, ...tail.slice(0, want)]);
  const rest =
    want <= 0 ? { head, tail } : side === "pre" ? { head: head.slice(0, -want) } : { tail: tail.slice(want) };
  return {
    ...draft,
    ...rest,
    file: { ...draft.file, [side]: grown },
    said: { ...draft.said, [side]: grown },
    meant: { ...draft.meant, [side]: grown },
  };
}

/** Each part around the dots is in the file once. @param {Draft} draft @param {{side: "pre" | "post", first: number, lines: string[]}} elision */
function isPlainElision(draft, { side, first, lines }) {
  const { said, file, head, tail } = draft;
  const whole = [...head, ...file.pre, ...file.old, ...file.post, ...tail];
  const [above, below] = [lines.slice(0, first), lines.slice(first + 1)];
  const upper = side === "pre" ? above : [...said.pre, ...said.old, ...above];
  const lower = side === "pre" ? [...below, ...said.old, ...said.post] : below;
  const squeeze = (/** @type {string[]} */ part) =>
    `\n${part
      .map((line) => line.trim())
      .filter(Boolean)
      .join("\n")}\n`;
  const text = squeeze(whole);
  return [upper, lower].every((part) => text.split(squeeze(part)).length === 2);
}
