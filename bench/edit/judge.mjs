// What became of each case: right to the byte, wrong, wrong in white space alone, or refused.
import { loadTool } from "./matcher.mjs";

/** @typedef {import("./draft.mjs").Case} Case */
/** @typedef {import("./classes.mjs").Class} Class */
/** @typedef {import("./matcher.mjs").Matcher} Matcher */
/** @typedef {{ kind: Pick<Class, "name" | "weight" | "mustFail" | "encode">, one: Case }} Made */
/** @typedef {"right" | "wrong" | "blanks" | "refused"} Verdict */
/** @typedef {Made & { verdict: Verdict, result: string | null }} Judged */

/**
 * Decidable cases count by their verdict. Of the open ones, in which the texts do not say which of several results is
 * meant, a refusal and the answer are good, so they are counted apart; a wrong edit in one is a wrong edit.
 * @typedef {object} Row
 * @property {Class["weight"]} weight
 * @property {boolean} mustFail
 * @property {Record<Verdict, number>} count
 * @property {Record<Verdict, number>} open
 */

/** @param {Matcher} matcher @param {Case} one @param {readonly string[]} [leaveOut] @returns {{ verdict: Verdict, result: string | null }} */
function verdictOf(matcher, one, leaveOut) {
  const result = matcher.apply(one, leaveOut);
  return { verdict: compare(result, one.answer, one.file), result };
}

/** @param {string | null} result @param {string | null} answer @param {string} file @returns {Verdict} */
function compare(result, answer, file) {
  if (result === null) return "refused";
  if (result === answer) return "right";
  if (answer === null && result === file) return "refused";
  const bare = (/** @type {string} */ text) => text.replace(/\s+/g, "");
  return answer !== null && bare(result) === bare(answer) ? "blanks" : "wrong";
}

const nothing = () => ({ right: 0, wrong: 0, blanks: 0, refused: 0 });

/** @param {Judged} judged */
function isMiss({ kind, one, verdict }) {
  if (verdict === "wrong" || verdict === "blanks") return true;
  if (one.open) return false;
  return kind.mustFail ? verdict !== "refused" : verdict !== "right";
}

/** Sums by class, over one seed or several. */
export class Tally {
  /** @type {Map<string, Row>} */
  rows = new Map();
  /** @type {Judged[]} */
  misses = [];

  /** @param {Judged} judged */
  add(judged) {
    const { kind, one, verdict } = judged;
    const { weight, mustFail } = kind;
    const row = this.rows.get(kind.name) ?? { weight, mustFail, count: nothing(), open: nothing() };
    this.rows.set(kind.name, row);
    (one.open ? row.open : row.count)[verdict]++;
    if (isMiss(judged)) this.misses.push(judged);
  }

  /** @param {number} most of each class, wrong edits first */
  shown(most) {
    const order = ["wrong", "blanks", "right", "refused"];
    const sorted = [...this.misses].sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
    return [...this.rows.keys()].flatMap((name) =>
      sorted.filter(({ kind }) => kind.name === name).slice(0, most),
    );
  }

  /** Shares in %, each class by its weight. */
  get rates() {
    const rates = { right: 0, wrong: 0, blanks: 0, refused: 0 };
    let [weights, must, clean, cases] = [0, 0, 0, 0];
    for (const { weight, mustFail, count, open } of this.rows.values()) {
      const decidable = count.right + count.wrong + count.blanks + count.refused;
      const all = decidable + open.right + open.wrong + open.blanks + open.refused;
      cases += all;
      if (mustFail) {
        must += all;
        clean += count.refused + open.refused + open.right;
      } else if (decidable > 0 && weight > 0) {
        weights += weight;
        rates.right += (weight * count.right) / decidable;
        rates.refused += (weight * count.refused) / decidable;
        rates.wrong += (weight * (count.wrong + open.wrong)) / all;
        rates.blanks += (weight * (count.blanks + open.blanks)) / all;
      }
    }
    for (const key of /** @type {const} */ (["right", "wrong", "blanks", "refused"])) {
      rates[key] = weights === 0 ? 0 : (100 * rates[key]) / weights;
    }
    return { ...rates, mustFail: must === 0 ? 100 : (100 * clean) / must, unclean: must - clean, cases };
  }

  get line() {
    const { right, wrong, blanks, refused, mustFail, unclean, cases } = this.rates;
    const shares = `right ${right.toFixed(2)} %, wrong ${wrong.toFixed(2)}, white space only ${blanks.toFixed(2)}, refused ${refused.toFixed(2)}`;
    return `${cases} cases; ${shares}; must-fail refused ${mustFail.toFixed(2)} % (${unclean} not)`;
  }
}

/** @param {Matcher} matcher @param {readonly Made[]} made @param {readonly string[]} [leaveOut] */
export function judge(matcher, made, leaveOut) {
  const tally = new Tally();
  for (const { kind, one } of made) {
    if (kind.encode === undefined) tally.add({ kind, one, ...verdictOf(matcher, one, leaveOut) });
  }
  return tally;
}

/** The cases that are about the bytes of a file, by the whole tool. @param {Tally} tally @param {readonly Made[]} made */
export async function judgeFiles(tally, made) {
  const own = made.filter(({ kind }) => kind.encode !== undefined);
  const tool = own.length === 0 ? null : await loadTool();
  if (tool === null) return;
  for (const { kind, one } of own) {
    const encode = kind.encode ?? Buffer.from;
    const bytes = await tool.edit(encode(one.file), one);
    // Latin-1 has a sign for every byte, so that two texts are the same if the bytes are.
    const [result = null, answer = null, file = ""] = [bytes, encode(one.answer ?? ""), encode(one.file)].map(
      (all) => all?.toString("latin1") ?? null,
    );
    tally.add({ kind, one, verdict: compare(result, answer, file ?? ""), result });
  }
  await tool.end();
}

/** @param {readonly Tally[]} tallies */
export function sumTallies(tallies) {
  const total = new Tally();
  for (const { rows, misses } of tallies) {
    for (const [name, row] of rows) {
      const known = total.rows.get(name) ?? { ...row, count: nothing(), open: nothing() };
      total.rows.set(name, known);
      for (const key of /** @type {const} */ (["right", "wrong", "blanks", "refused"])) {
        known.count[key] += row.count[key];
        known.open[key] += row.open[key];
      }
    }
    total.misses.push(...misses);
  }
  return total;
}
