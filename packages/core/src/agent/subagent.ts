import type { SubagentAnswer } from "../tools/task.ts";
import type { Agent } from "./agent.ts";
import type { AgentEvent, RunStatus } from "./agent-event.ts";

/** Steps are for a person and for the report of a failure; the rest of a long run is not kept. */
const MOST_STEPS = 200;

const STATUS: Readonly<Record<RunStatus, SubagentAnswer["status"]>> = {
  success: "success",
  // The work went on without what was refused, and its answer says what it found.
  refused: "success",
  error: "failed",
  limit: "failed",
  cancelled: "cancelled",
};

export interface SubagentWatch {
  readonly onStep: (steps: readonly string[]) => void;
  readonly onEvent: (event: AgentEvent) => void;
}

/** Lets an agent work on one prompt to its end, and tells what it does in words. */
export async function runSubagent(
  agent: Agent,
  { prompt, signal }: { readonly prompt: string; readonly signal: AbortSignal },
  watch: SubagentWatch,
): Promise<SubagentAnswer> {
  const steps: string[] = [];
  let answer: SubagentAnswer = { status: "failed", text: "", reason: "it ended without a word", steps };
  for await (const event of agent.run(prompt, signal)) {
    watch.onEvent(event);
    const step = stepOf(event);
    if (step !== null) {
      steps.push(step);
      if (steps.length > MOST_STEPS) steps.shift();
      watch.onStep(steps);
    }
    if (event.type === "done") {
      const reason = (event.error?.message ?? "").replace(/\.$/, "");
      answer = { status: STATUS[event.status], text: event.result, reason, steps };
    }
  }
  return answer;
}

function stepOf(event: AgentEvent): string | null {
  if (event.type !== "tool_call") return null;
  const { call } = event;
  if (call.status === "executing" && call.display === undefined) return call.description;
  if (call.status === "error" || call.status === "cancelled") return `! ${firstLine(call.error.message)}`;
  return null;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
