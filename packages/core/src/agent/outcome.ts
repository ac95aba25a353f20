import type { AgentEvent, RunError, RunStatus } from "@burin/contract/agent-event";
import type { AnsweredCall } from "@burin/contract/tool-call";

interface Outcome {
  readonly turns: number;
  /** The model's last text. */
  readonly text: string;
  readonly error?: RunError;
  /** The output limit has cut the text. */
  readonly isCut?: boolean;
}

/** The event that ends a run. */
export function done(status: RunStatus, { turns, text, error, isCut }: Outcome): AgentEvent {
  const whole = { type: "done" as const, status, result: text, turns };
  const event = isCut ? { ...whole, cut: true as const } : whole;
  return error === undefined ? event : { ...event, error: { type: error.type, message: error.message } };
}

/** The run was ended by a failure or by the person, and not by what the model said last. */
export function isCutOff({ status, error }: Extract<AgentEvent, { type: "done" }>): boolean {
  const isWhole = error?.type === "nothing_left" || error?.type === "schema_mismatch";
  return !isWhole && (status === "error" || status === "cancelled");
}

const REFUSALS = new Set(["needs_approval", "denied", "cancelled", "plan_declined", "undecided"]);

type Unapproved = Exclude<AnsweredCall, { readonly status: "success" }>;

/** Why a run in which a call could not be approved does not count as done, even when the model goes on. */
export function refusalIn(answers: readonly AnsweredCall[]): RunError | null {
  for (const answer of answers) {
    if (answer.status === "success") continue;
    if (REFUSALS.has(answer.error.type)) return answer.error;
  }
  return null;
}

/** A plan that nobody has approved ends the turn: the model could only show it again. */
export function unapprovedPlan(answers: readonly AnsweredCall[]): Unapproved | null {
  for (const answer of answers) {
    if (answer.status === "success") continue;
    const nobodyAsked = answer.status === "error" && answer.confirmation?.kind === "plan";
    if (nobodyAsked || answer.error.type === "plan_declined") return answer;
  }
  return null;
}

/** Where nobody was there to see the plan, it is the result of the run. */
export function textWithPlan(text: string, answer: Unapproved): string {
  const question = answer.status === "error" ? answer.confirmation : undefined;
  if (question?.kind !== "plan") return text;
  return [text, question.plan].filter((piece) => piece !== "").join("\n\n");
}
