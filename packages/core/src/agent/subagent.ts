import type { AgentEvent, RunStatus } from "@burin/contract/agent-event";
import type { ApprovalMode } from "@burin/contract/approval-mode";
import { isAnswered } from "@burin/contract/tool-call";
import type { StartedTask, SubagentAnswer } from "../tools/task.ts";
import type { Agent } from "./agent.ts";

/** A helper with its own history and instructions, and never more rights than its session. */
export interface SubagentDefinition {
  readonly name: string;
  /** Tells the model when to use the subagent for a task. */
  readonly description: string;
  /** Added to the system prompt. */
  readonly prompt: string;
  /** Names or globs; default: every tool that a subagent can have. */
  readonly tools?: readonly string[] | undefined;
  /** Names or globs of tools that it does not get, even if `tools` includes them. */
  readonly withoutTools?: readonly string[] | undefined;
  /** The name of the model that the subagent uses. */
  readonly model?: string | undefined;
  /** The stricter of this mode and the session's applies. */
  readonly approvalMode?: ApprovalMode | undefined;
}

/** The maximum number of steps that are kept. They are shown to the user and added to failure reports. */
const MAX_STEPS = 200;

const STATUS: Readonly<Record<RunStatus, SubagentAnswer["status"]>> = {
  success: "success",
  // The work continued without the refused calls, and the answer contains its findings.
  refused: "success",
  error: "failed",
  limit: "failed",
  cancelled: "cancelled",
};

/** Runs an agent on one prompt to its end and reports its steps in words. */
export async function runSubagent(
  agent: Agent,
  { prompt, signal }: { readonly prompt: string; readonly signal: AbortSignal },
  onStep: (steps: readonly string[]) => void,
): Promise<SubagentAnswer> {
  const steps: string[] = [];
  let answer: SubagentAnswer = { status: "failed", text: "", reason: "it ended without a word", steps };
  for await (const event of agent.run({ text: prompt }, signal)) {
    const step = describeStep(event);
    if (step !== null) {
      steps.push(step);
      if (steps.length > MAX_STEPS) steps.shift();
      onStep(steps);
    }
    if (event.type === "done") {
      const reason = (event.error?.message ?? "").replace(/\.$/, "");
      answer = { status: STATUS[event.status], text: event.result, reason, steps };
    }
  }
  return answer;
}

/** Converts a subagent's event for the session: its usage, and each call's start and end. null for others. */
export function toSessionEvent(
  event: AgentEvent,
  { subagent_type: agent, description: task, callId: parentCallId }: StartedTask,
): AgentEvent | null {
  if (event.type === "usage") return { ...event, purpose: "subagent" };
  if (event.type !== "tool_call") return null;
  const { callId, name, args, description, status } = event.call;
  const call = { callId, name, args, description };
  if (status === "executing" && event.call.display === undefined) {
    return { type: "subagent_call", agent, parentCallId, task, call: { ...call, status } };
  }
  if (!isAnswered(event.call)) return null;
  const failure = event.call.status === "success" ? {} : { error: event.call.error };
  const ended = { ...call, status: event.call.status, ...failure };
  return { type: "subagent_call", agent, parentCallId, task, call: ended };
}

function describeStep(event: AgentEvent): string | null {
  if (event.type !== "tool_call") return null;
  const { call } = event;
  if (call.status === "executing" && call.display === undefined) return call.description;
  if (call.status === "error" || call.status === "cancelled")
    return `! ${call.error.message.split("\n", 1)[0]}`;
  return null;
}
