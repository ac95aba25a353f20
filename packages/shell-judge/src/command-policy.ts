import type { ApprovalMode } from "@burin/contract/approval-mode";
import { hiddenCharacter } from "@burin/contract/text/visible-text";
import type { Effect } from "@burin/contract/tools";
import { judgeParts } from "./command-part.ts";
import { type CommandPlace, CommandReach } from "./command-place.ts";
import {
  allowingRules,
  type CommandRule,
  commandRules,
  coversEverything,
  coversWriting,
  mentions,
  ruleInWords,
  standsIn,
} from "./command-rules.ts";
import { allCommandWords } from "./command-words.ts";
import type { ShellCommand } from "./grammar/command-parts.ts";
import { parseShellCommand } from "./grammar/parse-shell-command.ts";
import { hiddenPath } from "./hidden-paths.ts";
import { type NetworkUse, networkNeeds } from "./network-needs.ts";
import { joinEffects } from "./part-effects.ts";
import type { Rules } from "./rules.ts";
import type { PartVerdict, Verdict } from "./verdict.ts";

export interface CommandRequest {
  readonly command: string;
  readonly mode: ApprovalMode;
  readonly rules: Rules;
  /** Without it every absolute path counts as outside. */
  readonly place?: CommandPlace | undefined;
}

/** A line runs unasked if a rule covers each of its commands, or it only reads inside the root; one denied is enough. */
export function judgeCommand({ command, mode, rules, place }: CommandRequest): Verdict {
  if (place?.isOtherShell) return judgeUnread(command, mode, rules);
  const line = parseShellCommand(command, place?.isPosixShell !== true);
  const denied = ruleThatMentions(commandRules(rules.deny), line, place);
  if (denied?.isCertain) {
    const reason = `the rule deny ${denied.rule.text} forbids \`${denied.part}\``;
    return { verdict: "deny", reason, part: denied.part, rule: denied.rule.text };
  }
  if (mode === "plan") {
    const refusal = planRefusal(line, place);
    if (refusal !== null) return refusal;
  }
  const hidden = hiddenPath(line, rules.deny, place);
  if (hidden !== null) return hidden;
  const asked = ruleThatMentions(commandRules(rules.ask), line, place);
  if (asked !== null) return askedByRule("ask", asked);
  if (denied !== null) return askedByRule("deny", denied);
  if (mode === "yolo") return { verdict: "allow", reason: "the approval mode is yolo" };
  const judged = judgedByParts(line, allowingRules(rules), place);
  if (judged.verdict !== "ask") return judged;
  const verdict = withNetwork(judged, command, place);
  if (mode !== "auto" || !line.isWhole || hiddenCharacter(command) !== null) return verdict;
  return judgeContained(verdict, networkNeeds(command, place?.isPosixShell !== true).uses);
}

/** The user who is asked learns what goes over the network, too. */
function withNetwork(verdict: Verdict, command: string, place: CommandPlace | undefined): Verdict {
  const { uses } = networkNeeds(command, place?.isPosixShell !== true);
  if (uses.length === 0 || verdict.parts === undefined) return verdict;
  const parts = verdict.parts.map((part) => {
    const own = uses.filter(({ text }) => part.verdict === "ask" && part.text.includes(text));
    return own.length === 0
      ? part
      : { ...part, effects: joinEffects([...part.effects, ...own.map(effectOf)]) };
  });
  return { ...verdict, parts };
}

function effectOf({ hosts, sources, isSending, isCertain }: NetworkUse): Effect {
  const remotes = sources.flatMap((source) => (source.kind === "remote" ? (source.name ?? []) : []));
  const on = [...hosts, ...remotes];
  if (isSending) return { kind: "sends", on, isOutside: true };
  return { kind: isCertain ? "network" : "may_network", on: hosts, isOutside: false };
}

/** What stays in the sandbox, without the network, and can be taken back runs unasked. */
function judgeContained(verdict: Verdict, uses: readonly NetworkUse[]): Verdict {
  const { parts = [] } = verdict;
  if (parts.some((part) => part.verdict === "ask" && part.isContained !== true)) return verdict;
  // What a rule allows, it allows with its network. Words in a text for a shell are part of nothing else.
  const allowed = parts.filter((part) => part.verdict === "allow");
  const isAllowed = (text: string) => allowed.some((part) => part.text.includes(text));
  const use = uses.find(({ isCertain, text }) => isCertain && !isAllowed(text));
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

/** With an unknown grammar nothing runs without a question, and a deny rule counts wherever its program is named. */
function judgeUnread(command: string, mode: ApprovalMode, rules: Rules): Verdict {
  const text = command.toLowerCase().replace(/["'^`]/g, "");
  const named = (rule: CommandRule) => rule.isUnclear || text.includes(rule.words[0]?.toLowerCase() ?? "");
  const denied = commandRules(rules.deny).find(named);
  if (denied !== undefined) {
    return { verdict: "deny", reason: `the rule deny ${denied.text} may forbid it`, rule: denied.text };
  }
  const why = "how cmd and PowerShell read a command line is not known here";
  if (mode === "plan") return { verdict: "deny", reason: `plan mode allows no changes, and ${why}` };
  const asked = commandRules(rules.ask).find(named);
  if (mode === "yolo" && asked === undefined)
    return { verdict: "allow", reason: "the approval mode is yolo" };
  return { verdict: "ask", reason: why, grants: [] };
}

interface Mention {
  readonly rule: CommandRule;
  readonly part: string;
  readonly isCertain: boolean;
}

function ruleThatMentions(
  rules: readonly CommandRule[],
  line: ShellCommand,
  place: CommandPlace | undefined,
): Mention | null {
  if (rules.length === 0) return null;
  const written = ruleAboutWriting(rules, line, place);
  if (written !== null) return written;
  let possible: Mention | null = null;
  for (const { words, part, isPossible, isText } of allCommandWords(line)) {
    for (const rule of rules) {
      const answer = isText ? (standsIn(rule, words[0] ?? "") ? "yes" : "no") : mentions(rule, words);
      if (answer === "yes" && isPossible !== true) return { rule, part, isCertain: true };
      if (answer !== "no") possible ??= { rule, part, isCertain: false };
    }
  }
  return possible;
}

function ruleAboutWriting(
  rules: readonly CommandRule[],
  line: ShellCommand,
  place: CommandPlace | undefined,
): Mention | null {
  const about = rules.filter(({ writes }) => writes !== undefined);
  if (about.length === 0) return null;
  const reach = new CommandReach(place);
  for (const { text, redirections } of reach.inTurn(line.commands)) {
    for (const { kind, target } of redirections) {
      const paths = kind === "write" && target !== null ? reach.placesOf(target) : [];
      const rule = about.find((one) => paths.some((path) => coversWriting(one, [path])));
      if (rule !== undefined) return { rule, part: text, isCertain: true };
    }
  }
  return null;
}

function askedByRule(kind: "ask" | "deny", { rule, part, isCertain }: Mention): Verdict {
  const where = part === "" ? "this line" : `\`${part}\``;
  const reason = isCertain
    ? `the rule ${kind} ${rule.text} asks about ${where}`
    : `${where} may start what the rule ${kind} ${rule.text} names: that is known only when it runs`;
  return { verdict: "ask", reason, part, rule: rule.text, grants: [] };
}

/** In plan mode no rule helps: every part must be known to only read. */
function planRefusal(line: ShellCommand, place: CommandPlace | undefined): Verdict | null {
  const parts = [...judgeParts(line, [], place)];
  const refused = parts.find(({ isOnlyReading }) => !isOnlyReading);
  if (line.problems.length === 0 && refused === undefined) return null;
  const why = line.problems[0] ?? (refused === undefined ? "" : needOf(refused));
  const reason = `plan mode runs only commands that are known to change nothing (${why}); leave it with exit_plan_mode first`;
  return { verdict: "deny", reason, parts, ...(refused && { part: refused.text }) };
}

function judgedByParts(
  line: ShellCommand,
  allow: readonly CommandRule[],
  place: CommandPlace | undefined,
): Verdict {
  const parts = [...judgeParts(line, allow, place)];
  const open = parts.filter(({ verdict }) => verdict !== "allow");
  const [first] = open;
  const everything = allow.find(coversEverything);
  const [problem] = everything === undefined ? line.problems : [];
  if (problem !== undefined) return { verdict: "ask", reason: problem, grants: [], parts };
  if (first !== undefined) {
    // One rule for each part that is not allowed; none at all when one of them cannot be covered by any rule.
    const each = open.flatMap(({ grants }) => grants ?? []);
    const isWhole = each.length === open.length;
    const exact = isWhole ? [...new Set(each.flatMap((grants) => grants.exact))] : [];
    const wide = isWhole ? [...new Set(each.flatMap((grants) => grants.wide))] : [];
    const widths = exact.join() === wide.join() ? {} : { widths: { exact, wide } };
    return { verdict: "ask", reason: needOf(first), part: first.text, grants: wide, ...widths, parts };
  }
  if (everything !== undefined) {
    return { verdict: "allow", reason: `${ruleInWords(everything)} covers it`, rule: everything.text, parts };
  }
  const named = new Set(parts.map(({ rule }) => rule));
  const rules = allow.filter(({ text }) => named.has(text));
  const [only] = rules;
  const reads = readsOf(parts, allow.length === 0 ? parts : judgeParts(line, [], place));
  const read = { ...(reads && { reads }), parts };
  if (only === undefined) return { verdict: "allow", reason: "it only reads inside the root", ...read };
  const reason = `${rules.map(ruleInWords).join(" and ")} ${rules.length === 1 ? "covers" : "cover"} it`;
  return { verdict: "allow", reason, rule: only.text, ...read };
}

const needOf = ({ text, reason }: PartVerdict) => `\`${text}\` needs an approval: ${reason}`;

/**
 * A command that only reads anyway gets no more access because a rule covers it. How the parts are judged without rules
 * is asked only until the answer is known.
 */
function readsOf(parts: readonly PartVerdict[], withoutRules: Iterable<PartVerdict>): Verdict["reads"] {
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
