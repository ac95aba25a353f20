import type { AgentEvent } from "@burin/contract/agent-event";
import type { ApprovalMode } from "@burin/contract/approval-mode";
import type { Message } from "@burin/contract/messages/message";

const ON =
  "[Plan mode is on: look, and change nothing. When your plan is complete, show it with exit_plan_mode; if there is nothing to plan, just answer.]";
const OFF = "[Plan mode is over: the user has ended it. You may make changes now.]";

/** Returns what the model must learn about plan mode before a prompt, or null if it knows already. */
export function createModeNote(mode: ApprovalMode, history: readonly Message[]): AgentEvent | null {
  const isPlan = mode === "plan";
  if (isPlan === isPlanAnnounced(history)) return null;
  return { type: "context", text: isPlan ? ON : OFF };
}

function isPlanAnnounced(history: readonly Message[]): boolean {
  for (const { parts } of history.toReversed()) {
    for (const { text, functionResponse } of parts.toReversed()) {
      if (text === ON) return true;
      if (text === OFF) return false;
      // The tool's own answer has told the model.
      const { name, response } = functionResponse ?? {};
      if (name === "exit_plan_mode" && /plan mode is over/i.test(JSON.stringify(response))) return false;
    }
  }
  return false;
}
