// Where in the context of a change a mistake can be made without hiding the change itself.

/** @typedef {import("./cases.mjs").Draft} Draft */

/** Indices of context lines for which `test` holds. @param {Draft} draft @param {(line: string) => boolean} test */
export function contextLines(draft, test) {
  /** @type {{side: "pre" | "post", index: number}[]} */
  const found = [];
  for (const side of /** @type {const} */ (["pre", "post"])) {
    draft.said[side].forEach((line, index) => {
      if (test(line)) found.push({ side, index });
    });
  }
  return found;
}

/** How many lines the change could be moved up or down and be the same change. @param {Draft} draft */
export function slack({ file }) {
  const moved = file.old.length === 0 ? file.put : file.put.length === 0 ? file.old : [];
  let [up, down] = [0, 0];
  if (moved.length > 0) {
    const whole = [...file.pre, ...moved];
    while (up < file.pre.length && whole.at(-1 - up) === file.pre.at(-1 - up)) up++;
    const after = [...moved, ...file.post];
    while (down < file.post.length && after[down] === file.post[down]) down++;
  }
  return { up, down };
}

/** Whether a context line touches the change, wherever the change may be thought to be.
 * @param {Draft} draft @param {{side: "pre" | "post", index: number}} at */
export function touches(draft, { side, index }) {
  const { up, down } = slack(draft);
  const all = draft.said[side];
  const between = side === "pre" ? all.slice(index + 1, all.length - up) : all.slice(down, index);
  return between.every((line) => line.trim() === "");
}
