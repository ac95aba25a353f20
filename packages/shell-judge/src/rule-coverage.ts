import type { CommandReach } from "./command-place.ts";
import { type CommandRule, countCoveredWords, coversWrite, isRuleForEveryCommand } from "./command-rules.ts";
import { isAlwaysAsked, isProtected, type JudgedCommand } from "./part-verdict.ts";
import type { Argument, Finding } from "./programs/finding.ts";
import { findWideRow, findWordsBeyondRule } from "./programs/wide-rules.ts";

/** The allow rules, and where the command runs. */
interface Coverage {
  readonly allow: readonly CommandRule[];
  readonly reach: CommandReach;
}

/** Leaves out the findings that a rule covers: it covers the words that it spells out. */
export function coverFindings(
  findings: readonly Finding[],
  words: readonly Argument[],
  { allow, reach }: Coverage,
): JudgedCommand {
  let best: JudgedCommand = { findings };
  for (const rule of allow) {
    const spelled = countCoveredWords(rule, words);
    const isNeverExcused = rule.isGrant ? isAlwaysAsked : isProtected;
    const kept = findings.filter((finding) => isNeverExcused(finding) || finding.upTo >= spelled);
    const left = spelled === 0 ? kept : [...kept, ...findBeyondRule(rule, words, reach)];
    const isBetter = best.rule === undefined || left.length < best.findings.length;
    if (spelled > 0 && isBetter) best = { findings: left, rule };
  }
  return best;
}

/** Adds what is around the words: only rules about written files, and a rule for every command, cover that. */
export function coverSurroundings(
  { findings, rule, words = null }: JudgedCommand,
  around: readonly Finding[],
  coverage: Coverage,
): JudgedCommand {
  const { allow, reach } = coverage;
  const left = around.filter(({ writes }) => writes === undefined || !isWriteCovered(writes, coverage));
  const all = [...left, ...findings];
  const judged = { words: left.every(({ writes }) => writes !== undefined) ? words : null, reach };
  const everything = allow.find(isRuleForEveryCommand);
  if (everything !== undefined) return { ...judged, findings: all.filter(isAlwaysAsked), rule: everything };
  return { ...judged, findings: all, ...(rule && { rule }) };
}

/** Finds what a rule that ends in `*` does not cover, although the command begins with the rule's words. */
function findBeyondRule(rule: CommandRule, words: readonly Argument[], reach: CommandReach): Finding[] {
  const { isGrant, isWide, address } = rule;
  if (!isWide || (!isGrant && address === undefined)) return [];
  const count = rule.words.length;
  const found = findWideRow(rule.words.concat(address ?? []));
  return findWordsBeyondRule({ row: found?.row, count, address }, words, reach);
}

function isWriteCovered(path: string, { allow, reach }: Coverage): boolean {
  const paths = reach.explainOutside(path, false) === null ? reach.listLocations(path) : [];
  return allow.some((rule) => coversWrite(rule, paths));
}
