import type { ApprovalMode } from "@burin/contract/approval-mode";
import { judgeCommand, type Rules, type Verdict } from "@burin/shell-judge";
import { type ApprovalRequest, judgeCall } from "./judge-call.ts";

export { bareLauncherOf } from "@burin/shell-judge";

/** Judging command lines needs a much larger grammar than all else; other calls `judgeCall` can judge alone. */
export function judge(request: ApprovalRequest, mode: ApprovalMode, rules: Rules): Verdict {
  const { confirmation, place } = request;
  if (confirmation === false || confirmation.kind !== "exec") return judgeCall(request, mode, rules);
  const { command, directory, exception, writes = [] } = confirmation;
  const where = place === undefined || directory === undefined ? place : { ...place, directory };
  const verdict = judgeCommand({ command, mode, rules, place: where });
  if (mode === "yolo") return verdict;
  const inside = exception === undefined ? verdict : beyondSandbox(verdict, rules);
  return inside.verdict === "deny" || inside.reads === "wholly" ? inside : namingWrites(inside, writes);
}

const MOST_NAMED = 5;

/** No rule covers protected files, and a user who is asked learns of each. */
function namingWrites(verdict: Verdict, writes: readonly { path: string; why: string }[]): Verdict {
  if (writes.length === 0) return verdict;
  const named = writes.slice(0, MOST_NAMED).map(({ path, why }) => `${path} (${why})`);
  const more = writes.length > named.length ? ` and ${writes.length - named.length} more` : "";
  const what = `it writes protected files: ${named.join(", ")}${more}`;
  const reason = verdict.verdict === "allow" ? what : `${verdict.reason}; ${what}`;
  const { rule: _rule, reads: _reads, ...rest } = verdict;
  return { ...rest, verdict: "ask", reason, grants: [] };
}

/** What is allowed inside the sandbox may not be outside it; only a rule for all commands covers both. */
function beyondSandbox(verdict: Verdict, rules: Rules): Verdict {
  const isForAll = rules.allow.some((rule) => rule.pattern === undefined && rule.text === verdict.rule);
  if (verdict.verdict !== "allow" || isForAll) return verdict;
  return { verdict: "ask", reason: "it asks for more than the sandbox allows", grants: [] };
}
