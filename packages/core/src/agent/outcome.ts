import type { AnsweredCall } from "../scheduler/tool-call.ts";
import type { AgentEvent, RunError, RunStatus } from "./agent-event.ts";

interface Outcome {
  readonly turns: number;
  /** The model's last text. */
  readonly text: string;
  readonly error?: RunError;
}

/** The event that ends a run. */
export function done(status: RunStatus, { turns, text, error }: Outcome): AgentEvent {
  const event = { type: "done" as const, status, result: text, turns };
  return error === undefined ? event : { ...event, error: { type: error.type, message: error.message } };
}

const REFUSALS = new Set(["needs_approval", "denied", "cancelled"]);

/** Why a run in which a call could not be approved does not count as done, even when the model goes on. */
export function refusalIn(answers: readonly AnsweredCall[]): RunError | null {
  for (const answer of answers) {
    if (answer.status === "success") continue;
    if (REFUSALS.has(answer.error.type)) return answer.error;
  }
  return null;
}
