// An edit as a model would send it, built from a real change; what it should lead to is known beforehand.

/** @typedef {import("./corpus.mjs").Hunk} Hunk */

/**
 * The file in parts, and the parts as the model writes them in its old and new text.
 * @typedef {object} Draft
 * @property {string} where
 * @property {string[]} head the file before the place
 * @property {string[]} tail the file after it
 * @property {Record<"pre" | "old" | "put" | "post", string[]>} file
 * @property {Record<"pre" | "old" | "post", string[]>} said
 * @property {Record<"pre" | "put" | "post", string[]>} meant
 * @property {((text: string) => string)[]} oldShapes applied to the whole old text, in order
 * @property {((text: string) => string)[]} newShapes
 * @property {(text: string) => string} fileShape applied to the whole file, before and after
 * @property {boolean} finalNewline whether old and new text end with a line end
 * @property {boolean} lossy whether the mistake hides something that the right answer needs
 */

/**
 * @typedef {object} Case
 * @property {string} where
 * @property {string} file
 * @property {string} oldText
 * @property {string} newText
 * @property {string | undefined} answer the file as it should be; undefined when the edit must fail
 * @property {boolean} undecidable the right answer or a refusal will both do
 */

/** @param {number} seed */
export function randomFrom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    /** @param {number} below */
    int: (below) => Math.floor(next() * below),
    /** @param {number} share */
    chance: (share) => next() < share,
    /** @template T @param {readonly T[]} all @returns {T} */
    pick: (all) => /** @type {T} */ (all[Math.floor(next() * all.length)]),
  };
}

/** @typedef {ReturnType<typeof randomFrom>} Random */

/** @param {string} text @param {string} part */
export function countOf(text, part) {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0 && count < 9; at = text.indexOf(part, at + 1)) count++;
  return count;
}

/** @param {Hunk} hunk @param {Random} random @returns {Draft | undefined} */
export function draftOf(hunk, random) {
  const { lines, from, to, put, where } = hunk;
  const whole = lines.join("\n");
  for (let context = random.pick([1, 2, 3, 3, 3, 4, 6]); context <= 12; context++) {
    const a = Math.max(0, from - context);
    const b = Math.min(lines.at(-1) === "" ? lines.length - 1 : lines.length, to + context);
    if (b < to) return undefined;
    const [pre, old, post] = [lines.slice(a, from), lines.slice(from, to), lines.slice(to, b)];
    const text = [...pre, ...old, ...post].join("\n");
    if (text.trim() === "" || countOf(whole, text) !== 1) continue;
    return {
      where: `${where}:${from + 1}`,
      head: lines.slice(0, a),
      tail: lines.slice(b),
      file: { pre, old, put, post },
      said: { pre, old, post },
      meant: { pre, put, post },
      oldShapes: [],
      newShapes: [],
      fileShape: (content) => content,
      finalNewline: b < lines.length && random.chance(0.3),
      lossy: false,
    };
  }
  return undefined;
}

/** @param {Draft} draft */
export function plainCase(draft) {
  const { head, tail, file, said, meant, finalNewline } = draft;
  const end = finalNewline ? "\n" : "";
  const shaped = (/** @type {string} */ text, /** @type {((text: string) => string)[]} */ shapes) =>
    shapes.reduce((value, shape) => shape(value), text);
  return {
    where: draft.where,
    file: draft.fileShape([...head, ...file.pre, ...file.old, ...file.post, ...tail].join("\n")),
    oldText: shaped([...said.pre, ...said.old, ...said.post].join("\n") + end, draft.oldShapes),
    newText: shaped([...meant.pre, ...meant.put, ...meant.post].join("\n") + end, draft.newShapes),
    answer: draft.fileShape([...head, ...file.pre, ...file.put, ...file.post, ...tail].join("\n")),
  };
}

const PLAIN_SIGNS = /** @type {const} */ ([
  [/[‘’‚‛′]/g, "'"],
  [/[“”„‟″]/g, '"'],
  [/[‐‑‒–—−]/g, "-"],
]);

/** A text with nothing left of how it is laid out; the bench's own measure of "looks the same". @param {string} text */
export function looks(text) {
  let plain = text.normalize("NFC").replace(/\s+/g, "");
  for (const [fancy, sign] of PLAIN_SIGNS) plain = plain.replace(fancy, sign);
  return plain;
}

/**
 * The finished case, or undefined when the mistake left no trace or made it an exact match of something.
 * @param {Draft} draft @returns {Case | undefined}
 */
export function caseOf(draft) {
  const made = plainCase(draft);
  if (made.oldText === made.newText || made.file === made.answer) return undefined;
  if (made.oldText.trim() === "" || made.file.includes(made.oldText)) return undefined;
  const { pre, old, post } = draft.file;
  const twins = countOf(looks(made.file), looks([...pre, ...old, ...post].join("\n")));
  return { ...made, undecidable: draft.lossy || twins > 1 };
}
