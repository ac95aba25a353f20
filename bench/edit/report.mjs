// What the bench prints.
import { judge } from "./judge.mjs";

/** @typedef {import("./judge.mjs").Tally} Tally */
/** @typedef {import("./judge.mjs").Judged} Judged */

/** @param {Tally} tally */
export function printTable(tally) {
  const heads = ["weight", "n", "right %", "wrong", "ws-only", "refused", "open r/w/b/f"];
  console.log(`\n${"class".padEnd(32)}${heads.map((head) => head.padStart(9)).join("")}`);
  for (const [name, { weight, mustFail, count, open }] of tally.rows) {
    const { right, wrong, blanks, refused } = count;
    const decidable = right + wrong + blanks + refused;
    const good = mustFail ? refused : right;
    const share = decidable === 0 ? "-" : ((100 * good) / decidable).toFixed(1);
    const apart = [open.right, open.wrong, open.blanks, open.refused];
    const left = apart.every((number) => number === 0) ? "" : `   ${apart.join("/")}`;
    const numbers = [weight, decidable, share, mustFail ? wrong + right : wrong, blanks, refused];
    const label = mustFail ? `must fail: ${name}` : name;
    console.log(label.padEnd(32) + numbers.map((number) => String(number).padStart(9)).join("") + left);
  }
  console.log(`\nall, by weight: ${tally.line}`);
}

/** @param {string} text */
const visible = (text) =>
  text
    .replaceAll("\t", "→")
    .replaceAll("\r", "␍")
    .replace(/ +$/gm, (blanks) => "·".repeat(blanks.length))
    .replace(/[\u00a0\u200b\u2060\ufeff]/g, (sign) => `<${sign.charCodeAt(0).toString(16)}>`);

/** The part of a file in which it is another than the other. @param {string} text @param {string} other */
function partThatDiffers(text, other) {
  let [start, end] = [0, 0];
  const most = Math.min(text.length, other.length);
  while (start < most && text[start] === other[start]) start++;
  while (end < most - start && text.at(-1 - end) === other.at(-1 - end)) end++;
  const from = Math.max(0, text.lastIndexOf("\n", start - 120));
  const to = text.indexOf("\n", text.length - end + 60);
  return text.slice(from, Math.min(to < 0 ? text.length : to, from + 1500));
}

/** @param {Judged} miss */
export function printMiss({ kind, one, verdict, result }) {
  const { file, oldText, newText, answer, where, open, expected, outdated } = one;
  const more = `${open ? ", open" : ""}${expected === 1 ? "" : `, expected ${expected}`}${outdated ? ", outdated" : ""}`;
  const parts = [
    ["file", partThatDiffers(file, answer ?? result ?? "")],
    ["old_string", oldText.slice(0, 2500)],
    ["new_string", newText.slice(0, 2500)],
    ["expected", answer === null ? "(refused)" : partThatDiffers(answer, result ?? file)],
    ["got", result === null ? "(refused)" : partThatDiffers(result, answer ?? file)],
  ];
  console.log(`\n=== ${kind.name}: ${verdict}${more}; ${where}`);
  for (const [name = "", text = ""] of parts) console.log(`--- ${name}\n${visible(text)}`);
}

/**
 * What a rule buys: the same cases without it.
 * @param {{ matcher: import("./matcher.mjs").Matcher, made: import("./judge.mjs").Made[], rule: string, total: Tally }} work
 */
export function printCost({ matcher, made, rule, total }) {
  const rules = rule === "all" ? matcher.rules : [rule];
  if (
    rules.length === 0 ||
    (matcher.rules.length > 0 && !rules.every((name) => matcher.rules.includes(name)))
  ) {
    console.log(`\nThe matcher has no rule "${rule}". It has: ${matcher.rules.join(", ") || "none by name"}`);
    return;
  }
  console.log(`\n${"without the rule".padEnd(32)}  right    wrong  ws-only  must-fail not refused`);
  const sum = total.rates;
  for (const name of rules) {
    const { rates } = judge(matcher, made, [name]);
    const signed = (/** @type {number} */ value) => `${value > 0 ? "+" : ""}${value.toFixed(2)}`.padStart(7);
    const changes = [rates.right - sum.right, rates.wrong - sum.wrong, rates.blanks - sum.blanks].map(signed);
    console.log(`${name.padEnd(32)}${changes.join("  ")}  ${rates.unclean - sum.unclean}`);
  }
}
