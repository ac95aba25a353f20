import type { ApprovalMode } from "@burin/contract/approval-mode";
import { judgeCommand, type Rules, type Verdict } from "@burin/shell-judge";
import { type ApprovalRequest, judgeCall } from "./judge-call.ts";

export type { ApprovalMode } from "@burin/contract/approval-mode";
export type { Verdict } from "@burin/shell-judge";
export type { ApprovalRequest } from "./judge-call.ts";

/**
 * Decides whether a call runs, requires a question or is refused. A command line is judged part by part, which
 * needs a grammar much larger than everything else here; other calls can be judged by `judgeCall` alone.
 */
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
