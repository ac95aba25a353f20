import type { Notice, Thought, Usage } from "./chat-model.ts";
import type { AnsweredCall, ToolCall } from "./tool-call.ts";
import type { Confirmation, ToolError } from "./tools.ts";

/** How a run ended. `refused`: an approval was needed and could not be had, or was refused. */
export type RunStatus = "success" | "error" | "refused" | "limit" | "cancelled";

export interface RunError {
  readonly type: string;
  readonly message: string;
}

/** What Burin itself tells the model, in the user's role: a context file, or a word on the budget. */
interface ContextNote {
  readonly type: "context";
  readonly text: string;
  /** The real path of the context file that the text is; it is told of once. */
  readonly file?: string;
}

/** What tokens went into that no reply of the loop is made of. `page`: a question over a web page. */
export type UsagePurpose = "compaction" | "subagent" | "edit_correction" | "page" | "mcp_sampling";

/** The answers to these calls are old and large: a short note takes their place in the history. */
interface Cleared {
  readonly type: "cleared";
  readonly callIds: readonly string[];
}

/** A call that a subagent made, when it began and when it ended. Its answer went to the subagent alone. */
interface SubagentCall {
  readonly type: "subagent_call";
  readonly agent: string;
  /** What the subagent is to do, in a few words. */
  readonly task: string;
  readonly call: Pick<ToolCall, "callId" | "name" | "args" | "description"> & {
    readonly status: "executing" | AnsweredCall["status"];
    readonly error?: ToolError;
  };
}

/** The text takes the place of all messages of the history but the last `kept` ones. */
export interface Compaction {
  readonly type: "compaction";
  readonly text: string;
  /** The part of the text that a model, or the digest, made of what was before. */
  readonly summary: string;
  readonly kept: number;
  /** As estimated, of the whole request. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * All that a face ever hears, and all that a session log holds: plain data, one JSON object each.
 * Folded in order they give the history again (see `history.ts`).
 */
export type AgentEvent =
  | {
      readonly type: "session";
      readonly sessionId: string;
      readonly model: string;
      readonly root: string;
      /** The session whose events up to here are also this one's. */
      readonly forkOf?: string;
    }
  | { readonly type: "text"; readonly role: "user" | "model"; readonly text: string }
  | Thought
  | { readonly type: "tool_call"; readonly call: ToolCall }
  | SubagentCall
  /** `purpose` is set when the tokens went into something else than a reply. */
  | { readonly type: "usage"; readonly usage: Usage; readonly purpose?: UsagePurpose }
  | Notice
  | ContextNote
  | Cleared
  | Compaction
  | {
      readonly type: "done";
      readonly status: RunStatus;
      /** The model's last text. */
      readonly result: string;
      readonly error?: RunError;
      readonly turns: number;
      /** The model's output limit has cut the result. */
      readonly cut?: true;
      /** The value of the result, where it was bound to a schema. */
      readonly structured?: unknown;
      /** The question that the run was parked with. */
      readonly confirmation?: Confirmation;
    };
