import type { AgentEvent } from "@burin/contract/agent-event";

/** Words of the person. */
export function said(text: string): AgentEvent {
  return { type: "text", role: "user", text };
}

/** Words for the person, which the model does not get. */
export function notice(message: string): AgentEvent {
  return { type: "notice", message };
}
