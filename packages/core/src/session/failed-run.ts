import type { AgentEvent, RunEnd } from "@burin/contract/agent-event";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { messageOf } from "@burin/contract/text/error-message";
import { ended } from "../agent/run.ts";
import { SessionError } from "./log/session-error.ts";

const NOTHING = { turns: 0, text: "" };

/** The end of a run that threw this error. Throws it again when the caller can fix it by a different call. */
export function failedRun(error: unknown): RunEnd {
  if (error instanceof WorkspaceError || error instanceof SessionError) throw error;
  const type = error instanceof Error && "code" in error ? String(error.code) : "internal";
  return ended("error", NOTHING, { type, message: messageOf(error) });
}

export function givenUp(): RunEnd {
  const message = "Interrupted while an earlier prompt was worked on.";
  return ended("cancelled", NOTHING, { type: "cancelled", message });
}

export function nothingLeft(): RunEnd {
  const message = "There is nothing to continue: the session waits for a prompt.";
  return ended("error", NOTHING, { type: "nothing_left", message });
}

export function cutOff(): AgentEvent {
  return { type: "context", text: "[The run ended here, before the reply was complete. Go on from there.]" };
}
