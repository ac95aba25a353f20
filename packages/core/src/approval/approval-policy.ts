import type { ApprovalMode } from "@burin/contract/approval-mode";
import { judgeCommand, type Rules, type Verdict } from "@burin/shell-judge";
import { type ApprovalRequest, judgeCall } from "./judge-call.ts";

export { findCodeRunnerInRule } from "@burin/shell-judge";

/** Judges a call. Command lines need a much larger grammar; `judgeCall` judges others without loading it. */
export function judge(request: ApprovalRequest, mode: ApprovalMode, rules: Rules): Verdict {
  const { confirmation, place } = request;
  if (confirmation === false || confirmation.kind !== "exec") return judgeCall(request, mode, rules);
  const { command, directory, exception, writes = [] } = confirmation;
  const where = place === undefined || directory === undefined ? place : { ...place, directory };
  const verdict = judgeCommand({ command, mode, rules, place: where });
  if (mode === "yolo") return verdict;
  const inside = exception === undefined ? verdict : askBeyondSandbox(verdict, rules);
  return inside.verdict === "deny" || inside.reads === "wholly" ? inside : askAboutWrites(inside, writes);
}

const MAX_NAMED = 5;

/** Turns the verdict into a question that lists the protected files: no rule covers them. */
function askAboutWrites(verdict: Verdict, writes: readonly { path: string; why: string }[]): Verdict {
  if (writes.length === 0) return verdict;
  const named = writes.slice(0, MAX_NAMED).map(({ path, why }) => `${path} (${why})`);
  const more = writes.length > named.length ? ` and ${writes.length - named.length} more` : "";
  const what = `it writes protected files: ${named.join(", ")}${more}`;
  const reason = verdict.verdict === "allow" ? what : `${verdict.reason}; ${what}`;
  const { rule: _rule, reads: _reads, ...rest } = verdict;
  return { ...rest, verdict: "ask", reason, grants: [] };
}

/** Judges a command that needs more than the sandbox: only a rule for all commands also allows that. */
function askBeyondSandbox(verdict: Verdict, rules: Rules): Verdict {
  const isForAll = rules.allow.some((rule) => rule.pattern === undefined && rule.text === verdict.rule);
  if (verdict.verdict !== "allow" || isForAll) return verdict;
  return { verdict: "ask", reason: "it asks for more than the sandbox allows", grants: [] };
}
