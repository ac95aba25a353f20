import type { AgentEvent } from "@burin/contract/agent-event";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { messageOf } from "@burin/contract/text/error-message";
import { done } from "../agent/outcome.ts";
import { SessionError } from "./session-error.ts";

/** The end of a run that this was thrown in. Throws it again where its caller can put it right by calling otherwise. */
export function failedRun(error: unknown): AgentEvent {
  if (error instanceof WorkspaceError || error instanceof SessionError) throw error;
  const type = error instanceof Error && "code" in error ? String(error.code) : "internal";
  return done("error", { turns: 0, text: "", error: { type, message: messageOf(error) } });
}
