import type { AgentEvent, RunError, RunStatus } from "@burin/contract/agent-event";
import type { AnsweredCall } from "@burin/contract/tool-call";
import type { LoopGuard } from "./loop-guard.ts";
import { done, textWithPlan, unapprovedPlan } from "./outcome.ts";
import type { Reply } from "./reply.ts";

/** What the work on one prompt has come to. */
export interface Run {
  readonly signal: AbortSignal;
  readonly guard: LoopGuard | null;
  /** Replies to the prompt in hand. */
  turns: number;
  reply: Reply | null;
  /** What the replies have said that were taken up again by the one in hand. */
  unfinished: string;
  /** Replies in a row that broke off. */
  broken: number;
  /** Answers that the output limit has cut. */
  cuts: number;
  /** The last answer was cut, and not taken up again. */
  isCut: boolean;
  /** The last call that could not be approved. */
  refused: RunError | null;
}

export function ended(status: RunStatus, { turns, reply, isCut }: Run, error?: RunError): AgentEvent {
  const outcome = { turns, text: reply?.text ?? "", isCut };
  return done(status, error ? { ...outcome, error } : outcome);
}

/** Why the reply is the last one; null when it is whole. */
export function failureOf(run: Run, { end }: Reply): AgentEvent | null {
  if (end.reason === "cancelled") return interrupted(run);
  return end.reason === "error" ? ended("error", run, end.error) : null;
}

export function interrupted(run: Run): AgentEvent {
  return ended("cancelled", run, { type: "cancelled", message: "Interrupted." });
}

export function overBudget(run: Run, message: string): AgentEvent {
  return ended("limit", run, { type: "budget", message });
}

/** Why the run ends once these calls are answered; null when the model is asked again. */
export function endingAfter(answers: readonly AnsweredCall[], run: Run, maxTurns: number): AgentEvent | null {
  const { turns, guard, reply } = run;
  const plan = unapprovedPlan(answers);
  if (plan) {
    return done("refused", { turns, text: textWithPlan(reply?.text ?? "", plan), error: plan.error });
  }
  if (guard?.verdict) {
    // A call that is refused over and over ends for want of an approval, which is what can be put right.
    return run.refused
      ? ended("refused", run, run.refused)
      : ended("limit", run, { type: "loop", message: guard.verdict });
  }
  if (turns < maxTurns) return null;
  const message = `Stopped after ${turns} turns, the limit; raise it with --max-turns.`;
  return ended("limit", run, { type: "max_turns", message });
}
