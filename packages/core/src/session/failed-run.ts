import type { AgentEvent, RunEnd } from "@burin/contract/agent-event";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { describeError } from "@burin/contract/text/error-message";
import { createInterruptedEnd, createRunEnd } from "../agent/run.ts";
import { SessionError } from "./log/session-error.ts";

const NOTHING = { turns: 0, text: "" };

/** Returns the end of a run that threw this error. Throws it again if the caller can fix it by a different call. */
export function createFailedEnd(error: unknown, { aborted }: AbortSignal): RunEnd {
  if (aborted) return createGivenUpEnd();
  if (error instanceof WorkspaceError || error instanceof SessionError) throw error;
  const type = error instanceof Error && "code" in error ? String(error.code) : "internal";
  return createRunEnd("error", NOTHING, { type, message: describeError(error) });
}

/** Returns the end of a run that was interrupted before its turn, or that a closed session refuses. */
export function createNotRunEnd(closing: AbortSignal): RunEnd {
  if (!closing.aborted) return createGivenUpEnd();
  return createRunEnd("error", NOTHING, {
    type: "closed",
    message: "The prompt was not run: this session is closed.",
  });
}

/** Returns the end of a run that was interrupted before the agent got the prompt. */
function createGivenUpEnd(): RunEnd {
  return createInterruptedEnd(NOTHING);
}

export function createNothingToContinueEnd(): RunEnd {
  const message = "There is nothing to continue: the session waits for a prompt.";
  return createRunEnd("error", NOTHING, { type: "nothing_left", message });
}

export function createCutOffNote(): AgentEvent {
  return { type: "context", text: "[The run ended here, before the reply was complete. Go on from there.]" };
}
