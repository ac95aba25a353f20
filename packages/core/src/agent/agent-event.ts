import type { Notice, Thought, Usage } from "../models/chat-model.ts";
import type { ToolCall } from "../scheduler/tool-call.ts";

/** How a run ended. `refused`: an approval was needed and could not be had, or was refused. */
export type RunStatus = "success" | "error" | "refused" | "limit" | "cancelled";

export interface RunError {
  readonly type: string;
  readonly message: string;
}

/**
 * All that a face ever hears, and all that a session log holds: plain data, one JSON object each.
 * Folded in order they give the history again (see `history.ts`).
 */
export type AgentEvent =
  | { readonly type: "session"; readonly sessionId: string; readonly model: string; readonly root: string }
  | { readonly type: "text"; readonly role: "user" | "model"; readonly text: string }
  | Thought
  | { readonly type: "tool_call"; readonly call: ToolCall }
  | { readonly type: "usage"; readonly usage: Usage }
  | Notice
  | {
      readonly type: "done";
      readonly status: RunStatus;
      /** The model's last text. */
      readonly result: string;
      readonly error?: RunError;
      readonly turns: number;
    };
