import type { ApprovalMode } from "@burin/contract/approval-mode";
import { judgeCommand, type Rules, type Verdict } from "@burin/shell-judge";
import { type ApprovalRequest, judgeCall } from "./judge-call.ts";

export { bareLauncherOf } from "@burin/shell-judge";

/** Judging command lines needs a much larger grammar than all else; other calls `judgeCall` can judge alone. */
export function judge(request: ApprovalRequest, mode: ApprovalMode, rules: Rules): Verdict {
  const { confirmation, place } = request;
  if (confirmation === false || confirmation.kind !== "exec") return judgeCall(request, mode, rules);
  const { command, directory, exception } = confirmation;
  const where = place === undefined || directory === undefined ? place : { ...place, directory };
  const verdict = judgeCommand({ command, mode, rules, place: where });
  return exception === undefined || mode === "yolo" ? verdict : beyondSandbox(verdict, rules);
}

/** What is allowed inside the sandbox may not be outside it; only a rule for all commands covers both. */
function beyondSandbox(verdict: Verdict, rules: Rules): Verdict {
  const isForAll = rules.allow.some((rule) => rule.pattern === undefined && rule.text === verdict.rule);
  if (verdict.verdict !== "allow" || isForAll) return verdict;
  return { verdict: "ask", reason: "it asks for more than the sandbox allows", grants: [] };
}
