import type { RunEnd, RunError, RunStatus } from "@burin/contract/agent-event";
import type { AnsweredCall } from "@burin/contract/tool-call";
import type { LoopGuard } from "./loop-guard.ts";
import type { Reply } from "./reply.ts";

/** How far the work on a prompt has come. */
export class Run {
  readonly signal: AbortSignal;
  readonly guard: LoopGuard | null;
  /** Replies to the current prompt. */
  turns = 0;
  /** What the model said last. */
  text = "";
  /** The text of the earlier replies that the current one continues. */
  unfinished = "";
  /** Interrupted replies in a row. */
  broken = 0;
  /** Answers that the output limit has cut off. */
  cuts = 0;
  /** The last answer was cut off and not continued. */
  isCut = false;
  /** The signal has aborted because the budget of time is used up. */
  isOutOfTime = false;
  /** The last call that could not be approved. */
  refused: RunError | null = null;

  constructor(signal: AbortSignal, guard: LoopGuard | null) {
    this.signal = signal;
    this.guard = guard;
  }
}

type Outcome = Pick<Run, "turns" | "text"> & Partial<Pick<Run, "isCut">>;

export function ended(status: "success", outcome: Outcome): RunEnd;
export function ended(status: RunStatus, outcome: Outcome, error: RunError): RunEnd;
export function ended(status: RunStatus, { turns, text, isCut }: Outcome, error?: RunError): RunEnd {
  const whole = { type: "done" as const, result: text, turns };
  const event = isCut ? { ...whole, cut: true as const } : whole;
  if (error === undefined) return { ...event, status: "success" };
  return { ...event, status, error: { type: error.type, message: error.message } };
}

/** Why the reply is the last one; null when it is complete. */
export function failureOf(run: Run, { end }: Reply): RunEnd | null {
  if (end.reason === "cancelled") return interrupted(run);
  return end.reason === "error" ? ended("error", run, end.error) : null;
}

export function interrupted(run: Outcome): RunEnd {
  return ended("cancelled", run, { type: "cancelled", message: "Interrupted." });
}

export function overBudget(run: Run, message: string): RunEnd {
  return ended("limit", run, { type: "budget", message });
}

/** Why the run ends after these answers; null when the model is asked again. */
export function endingAfter(answers: readonly AnsweredCall[], run: Run, maxTurns: number): RunEnd | null {
  const { turns, text, guard } = run;
  const plan = unapprovedPlan(answers);
  if (plan) return ended("refused", { turns, text: textWithPlan(text, plan) }, plan.error);
  if (guard?.verdict) {
    // A call that is refused repeatedly ends the run as refused, because the user can fix that.
    if (run.refused) return ended("refused", run, run.refused);
    return ended("limit", run, { type: "loop", message: guard.verdict });
  }
  if (turns < maxTurns) return null;
  const message = `Stopped after ${turns} turns, the limit; raise it with --max-turns.`;
  return ended("limit", run, { type: "max_turns", message });
}

/** Whether a failure or the user ended the run, instead of the model's last text. */
export function isCutOff({ status, error }: RunEnd): boolean {
  const isWhole = error?.type === "nothing_left" || error?.type === "schema_mismatch";
  return !isWhole && (status === "error" || status === "cancelled");
}

const REFUSALS = new Set(["needs_approval", "denied", "cancelled", "plan_declined", "undecided"]);

type Failure = Exclude<AnsweredCall, { readonly status: "success" }>;

function failuresIn(answers: readonly AnsweredCall[]): Failure[] {
  return answers.flatMap((answer) => (answer.status === "success" ? [] : answer));
}

/** Why a run with an unapproved call does not count as a success, even when the model continues. */
export function refusalIn(answers: readonly AnsweredCall[]): RunError | null {
  return failuresIn(answers).find(({ error }) => REFUSALS.has(error.type))?.error ?? null;
}

/** A plan without approval ends the turn: the model could only present it again. */
function unapprovedPlan(answers: readonly AnsweredCall[]): Failure | undefined {
  const isPlan = (one: Failure) => one.status === "error" && one.confirmation?.kind === "plan";
  return failuresIn(answers).find((one) => isPlan(one) || one.error.type === "plan_declined");
}

/** If no user was there to see the plan, it is the result of the run. */
function textWithPlan(text: string, answer: Failure): string {
  const question = answer.status === "error" ? answer.confirmation : undefined;
  if (question?.kind !== "plan") return text;
  return [text, question.plan].filter((piece) => piece !== "").join("\n\n");
}
