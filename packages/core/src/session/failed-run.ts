import type { AgentEvent, RunEnd } from "@burin/contract/agent-event";
import { WorkspaceError } from "@burin/contract/machine/workspace";
import { messageOf } from "@burin/contract/text/error-message";
import { ended, interrupted } from "../agent/run.ts";
import { SessionError } from "./log/session-error.ts";

const NOTHING = { turns: 0, text: "" };

/** The end of a run that threw this error. Throws it again when the caller can fix it by a different call. */
export function failedRun(error: unknown, { aborted }: AbortSignal): RunEnd {
  if (aborted) return givenUp();
  if (error instanceof WorkspaceError || error instanceof SessionError) throw error;
  const type = error instanceof Error && "code" in error ? String(error.code) : "internal";
  return ended("error", NOTHING, { type, message: messageOf(error) });
}

/** The end of a run that was interrupted before its turn came, or that a closed session refuses. */
export function notRun(closing: AbortSignal): RunEnd {
  if (!closing.aborted) return givenUp();
  return ended("error", NOTHING, {
    type: "closed",
    message: "The prompt was not run: this session is closed.",
  });
}

/** The end of a run that was interrupted before the agent had the prompt. */
function givenUp(): RunEnd {
  return interrupted(NOTHING);
}

export function nothingLeft(): RunEnd {
  const message = "There is nothing to continue: the session waits for a prompt.";
  return ended("error", NOTHING, { type: "nothing_left", message });
}

export function cutOff(): AgentEvent {
  return { type: "context", text: "[The run ended here, before the reply was complete. Go on from there.]" };
}
