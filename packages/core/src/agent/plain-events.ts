import type { AgentEvent } from "./agent-event.ts";

/** Words of the person. */
export function said(text: string): AgentEvent {
  return { type: "text", role: "user", text };
}

/** Words for the person, which the model does not get. */
export function notice(message: string): AgentEvent {
  return { type: "notice", message };
}
