import type { ApprovalMode } from "@burin/contract/approval-mode";
import { findHiddenCharacter } from "@burin/contract/text/visible-text";
import type { Effect } from "@burin/contract/tools";
import { judgeParts } from "./command-part.ts";
import { type CommandLocation, CommandReach } from "./command-place.ts";
import {
  type CommandRule,
  coversWrite,
  describeRule,
  doWordsOccur,
  isRuleForEveryCommand,
  listAllowRules,
  matchRule,
  parseCommandRules,
} from "./command-rules.ts";
import { listCommands } from "./command-words.ts";
import type { ShellCommand } from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { judgeDeniedPaths } from "./hidden-paths.ts";
import { findNetworkRequirements, type NetworkUse } from "./network-needs.ts";
import { joinEffects } from "./part-effects.ts";
import type { Rules } from "./rules.ts";
import type { PartVerdict, Verdict } from "./verdict.ts";

export interface CommandRequest {
  readonly command: string;
  readonly mode: ApprovalMode;
  readonly rules: Rules;
  /** Without it every absolute path counts as outside. */
  readonly place?: CommandLocation | undefined;
}

/**
 * A line runs without a question if a rule covers each of its commands, or if it only reads inside the root. One denied
 * command denies the line.
 */
export function judgeCommand({ command, mode, rules, place }: CommandRequest): Verdict {
  if (place?.isOtherShell) return judgeUnparsed(command, mode, rules);
  const line = parseShellCommand(command, place?.isPosixShell !== true);
  const denied = findMatchingRule(parseCommandRules(rules.deny), line, place);
  if (denied?.isCertain) {
    const reason = `the rule deny ${denied.rule.text} forbids \`${denied.part}\``;
    return { verdict: "deny", reason, part: denied.part, rule: denied.rule.text };
  }
  if (mode === "plan") {
    const refusal = refuseInPlanMode(line, place);
    if (refusal !== null) return refusal;
  }
  const hidden = judgeDeniedPaths(line, rules.deny, place);
  if (hidden !== null) return hidden;
  const asked = findMatchingRule(parseCommandRules(rules.ask), line, place);
  if (asked !== null) return createRuleVerdict("ask", asked);
  if (denied !== null) return createRuleVerdict("deny", denied);
  if (mode === "yolo") return { verdict: "allow", reason: "the approval mode is yolo" };
  const judged = judgeByParts(line, listAllowRules(rules), place);
  if (judged.verdict !== "ask") return judged;
  const verdict = addNetwork(judged, command, place);
  if (mode !== "auto" || !line.isWhole || findHiddenCharacter(command) !== null) return verdict;
  const { uses } = findNetworkRequirements(command, place?.isPosixShell !== true);
  return judgeContained(
    verdict,
    uses.filter((use) => use.isCertain || isProgramMissing(use, line, place)),
  );
}

/** Whether no folder in which the line may run, and none above, has the program that a command would fetch. */
function isProgramMissing(
  { localProgram }: NetworkUse,
  line: ShellCommand,
  place?: CommandLocation,
): boolean {
  if (localProgram === undefined) return false;
  const reach = new CommandReach(place);
  let isFound = false;
  for (const _command of reach.visitCommands(line.commands)) isFound ||= reach.hasFileAbove(localProgram);
  return !isFound;
}

/** Adds to a verdict what the line does on the network. If the user is asked anyway, they see that too. */
function addNetwork(verdict: Verdict, command: string, place: CommandLocation | undefined): Verdict {
  const { uses } = findNetworkRequirements(command, place?.isPosixShell !== true);
  if (uses.length === 0 || verdict.parts === undefined) return verdict;
  const parts = verdict.parts.map((part) => {
    const own = uses.filter(({ text }) => part.verdict === "ask" && part.text.includes(text));
    return own.length === 0
      ? part
      : { ...part, effects: joinEffects([...part.effects, ...own.map(toEffect)]) };
  });
  return { ...verdict, parts };
}

function toEffect({ hosts, sources, isSending, isCertain }: NetworkUse): Effect {
  const remotes = sources.flatMap((source) => (source.kind === "remote" ? (source.name ?? []) : []));
  const on = [...hosts, ...remotes];
  if (isSending) return { kind: "sends", on, isOutside: true };
  return { kind: isCertain ? "network" : "may_network", on: hosts, isOutside: false };
}

/** Lets a line run without a question if it stays in the sandbox, needs no network and can be undone. */
function judgeContained(verdict: Verdict, uses: readonly NetworkUse[]): Verdict {
  const { parts = [] } = verdict;
  if (parts.some((part) => part.verdict === "ask" && part.isContained !== true)) return verdict;
  // An allow rule also allows the command's network access. Words inside a script for a shell belong to no other
  // command.
  const allowed = parts.filter((part) => part.verdict === "allow");
  const isPartAllowed = (text: string) => allowed.some((part) => part.text.includes(text));
  const use = uses.find(({ text }) => !isPartAllowed(text));
  if (use !== undefined) {
    const reason = `\`${use.text}\` needs an approval: ${use.why}`;
    return { ...verdict, reason, part: use.text };
  }
  const reason = "it stays in the sandbox, and undo can take it back";
  const judged = parts.map((part) =>
    part.verdict === "ask" ? { ...part, verdict: "allow" as const, reason } : part,
  );
  return { verdict: "allow", reason, isContained: true, parts: judged };
}

/**
 * Judges a line for a shell whose grammar is not parsed: nothing runs without a question, and a deny rule applies
 * wherever its program is named.
 */
function judgeUnparsed(command: string, mode: ApprovalMode, rules: Rules): Verdict {
  const text = command.toLowerCase().replace(/["'^`]/g, "");
  const mayRuleApply = (rule: CommandRule) =>
    rule.isUnclear || text.includes(rule.words[0]?.toLowerCase() ?? "");
  const denied = parseCommandRules(rules.deny).find(mayRuleApply);
  if (denied !== undefined) {
    return { verdict: "deny", reason: `the rule deny ${denied.text} may forbid it`, rule: denied.text };
  }
  const why = "how cmd and PowerShell read a command line is not known here";
  if (mode === "plan") return { verdict: "deny", reason: `plan mode allows no changes, and ${why}` };
  const asked = parseCommandRules(rules.ask).find(mayRuleApply);
  if (mode === "yolo" && asked === undefined)
    return { verdict: "allow", reason: "the approval mode is yolo" };
  return { verdict: "ask", reason: why, grants: [] };
}

interface RuleMatch {
  readonly rule: CommandRule;
  readonly part: string;
  readonly isCertain: boolean;
}

function findMatchingRule(
  rules: readonly CommandRule[],
  line: ShellCommand,
  place: CommandLocation | undefined,
): RuleMatch | null {
  if (rules.length === 0) return null;
  const written = findWriteRule(rules, line, place);
  if (written !== null) return written;
  let possible: RuleMatch | null = null;
  for (const { words, part, isPossible, isText } of listCommands(line)) {
    for (const rule of rules) {
      const answer = isText ? (doWordsOccur(rule, words[0] ?? "") ? "yes" : "no") : matchRule(rule, words);
      if (answer === "yes" && isPossible !== true) return { rule, part, isCertain: true };
      if (answer !== "no") possible ??= { rule, part, isCertain: false };
    }
  }
  return possible;
}

function findWriteRule(
  rules: readonly CommandRule[],
  line: ShellCommand,
  place: CommandLocation | undefined,
): RuleMatch | null {
  const about = rules.filter(({ writes }) => writes !== undefined);
  if (about.length === 0) return null;
  const reach = new CommandReach(place);
  for (const { text, redirections } of reach.visitCommands(line.commands)) {
    for (const { kind, target } of redirections) {
      const paths = kind === "write" && target !== null ? reach.listLocations(target) : [];
      const rule = about.find((one) => paths.some((path) => coversWrite(one, [path])));
      if (rule !== undefined) return { rule, part: text, isCertain: true };
    }
  }
  return null;
}

function createRuleVerdict(kind: "ask" | "deny", { rule, part, isCertain }: RuleMatch): Verdict {
  const where = part === "" ? "this line" : `\`${part}\``;
  const reason = isCertain
    ? `the rule ${kind} ${rule.text} asks about ${where}`
    : `${where} may start what the rule ${kind} ${rule.text} names: that is known only when it runs`;
  return { verdict: "ask", reason, part, rule: rule.text, grants: [] };
}

/** Refuses a line in plan mode unless every part is known to only read. Rules do not count. */
function refuseInPlanMode(line: ShellCommand, place: CommandLocation | undefined): Verdict | null {
  const parts = [...judgeParts(line, [], place)];
  const refused = parts.find(({ isOnlyReading }) => !isOnlyReading);
  if (line.problems.length === 0 && refused === undefined) return null;
  const why = line.problems[0] ?? (refused === undefined ? "" : describeNeed(refused));
  const reason = `plan mode runs only commands that are known to change nothing (${why}); leave it with exit_plan_mode first`;
  return { verdict: "deny", reason, parts, ...(refused && { part: refused.text }) };
}

function judgeByParts(
  line: ShellCommand,
  allow: readonly CommandRule[],
  place: CommandLocation | undefined,
): Verdict {
  const parts = [...judgeParts(line, allow, place)];
  const open = parts.filter(({ verdict }) => verdict !== "allow");
  const [first] = open;
  const everything = allow.find(isRuleForEveryCommand);
  const [problem] = everything === undefined ? line.problems : [];
  if (problem !== undefined) return { verdict: "ask", reason: problem, grants: [], parts };
  if (first !== undefined) {
    // Returns one rule for each part that is not allowed yet, or none if some part cannot be covered by any rule.
    const each = open.flatMap(({ grants }) => grants ?? []);
    const isWhole = each.length === open.length;
    const exact = isWhole ? [...new Set(each.flatMap((grants) => grants.exact))] : [];
    const wide = isWhole ? [...new Set(each.flatMap((grants) => grants.wide))] : [];
    const widths = exact.join() === wide.join() ? {} : { widths: { exact, wide } };
    return { verdict: "ask", reason: describeNeed(first), part: first.text, grants: wide, ...widths, parts };
  }
  if (everything !== undefined) {
    return {
      verdict: "allow",
      reason: `${describeRule(everything)} covers it`,
      rule: everything.text,
      parts,
    };
  }
  const named = new Set(parts.map(({ rule }) => rule));
  const rules = allow.filter(({ text }) => named.has(text));
  const [only] = rules;
  const reads = findReadAccess(parts, allow.length === 0 ? parts : judgeParts(line, [], place));
  const read = { ...(reads && { reads }), parts };
  if (only === undefined) return { verdict: "allow", reason: "it only reads inside the root", ...read };
  const reason = `${rules.map(describeRule).join(" and ")} ${rules.length === 1 ? "covers" : "cover"} it`;
  return { verdict: "allow", reason, rule: only.text, ...read };
}

const describeNeed = ({ text, reason }: PartVerdict) => `\`${text}\` needs an approval: ${reason}`;

/**
 * A command that only reads gets no more access because a rule covers it. The parts are judged without rules only until
 * the answer is known.
 */
function findReadAccess(
  parts: readonly PartVerdict[],
  withoutRules: Iterable<PartVerdict>,
): Verdict["reads"] {
  const runsGit = ({ text }: PartVerdict) => /\bgit\b/.test(text);
  const mayBePartly = parts.some(runsGit);
  let [isWholly, isPartly] = [true, false];
  for (const part of withoutRules) {
    if (part.verdict !== "allow") isWholly = false;
    else if (runsGit(part)) isPartly = true;
    if (!isWholly && isPartly === mayBePartly) break;
  }
  if (isWholly) return "wholly";
  return isPartly ? "partly" : undefined;
}
