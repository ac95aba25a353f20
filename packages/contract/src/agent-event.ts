import type { ApprovalMode } from "./approval-mode.ts";
import type { Notice, Thought, Usage } from "./chat-model.ts";
import type { InlineData } from "./messages/parts.ts";
import type { AnsweredCall, ToolCall } from "./tool-call.ts";
import type { Confirmation, Decision, Question, ToolError } from "./tools.ts";

/** What is told of a question. What the user wrote into a file or a form is not part of it. */
export type QuestionEvent =
  | ({ readonly type: "question" } & Question)
  | {
      readonly type: "question_answered";
      readonly id: string;
      /** null when it was withdrawn, or nobody was there to answer it. */
      readonly decision: AnsweredWith | null;
    };

/** A decision without the contents that the user wrote. */
export type AnsweredWith =
  | Exclude<Decision, { readonly outcome: "edited" | "filled" }>
  | { readonly outcome: "edited" | "filled" };

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
  /** The background task whose end is told with it. */
  readonly task?: string;
}

/** Input that the service had cached for the request before, and has read at the full price again. */
export interface CacheMiss {
  readonly tokens: number;
  readonly reason: "model" | "tools" | "compaction" | "pause";
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
  /** The call of `task` that the subagent works for. Logs of the first version have none. */
  readonly parentCallId?: string;
  /** What the subagent is to do, in a few words. */
  readonly task: string;
  readonly call: Pick<ToolCall, "callId" | "name" | "args" | "description"> & {
    readonly status: "executing" | AnsweredCall["status"];
    readonly error?: ToolError;
  };
}

/** A task in the background, when it begins and when it ends. */
export interface TaskChange {
  readonly type: "task";
  readonly id: string;
  readonly agent: string;
  readonly description: string;
  /** The call that it was handed out by. */
  readonly callId: string;
  readonly status: "running" | "success" | "failed" | "cancelled";
}

/** How full the model's window is, in tokens, as far as it is known. */
export interface ContextFill {
  readonly tokens: number;
  readonly window: number;
}

/** What the user's check came to when the work was done. */
export interface CheckResult {
  readonly command: string;
  readonly passed: boolean;
  /** null when it did not end by itself. */
  readonly exitCode: number | null;
  readonly attempts: number;
}

/** Of the calls of a run: the files that were changed, and the tests and builds that ran after the last change, or only before. */
export interface WorkProof {
  readonly changed: readonly string[];
  readonly checked: readonly { readonly command: string; readonly exitCode: number | null }[];
  readonly notSince: readonly string[];
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

/** What a program said to a face, and could not be understood. */
interface InputError {
  readonly type: "input_error";
  readonly line: number;
  readonly message: string;
}

/** What the user calls the session from here on. */
interface Named {
  readonly type: "name";
  readonly name: string;
}

/** What a face itself may have to tell. */
export type FaceEvent = InputError | Notice | Named;

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
      /** The approval mode; logs of the first version have none. */
      readonly mode?: ApprovalMode;
      /** The session whose events up to here are also this one's. */
      readonly forkOf?: string;
    }
  | {
      readonly type: "text";
      readonly role: "user" | "model";
      readonly text: string;
      /** What the user gave beside the words: images, PDF. */
      readonly media?: readonly InlineData[];
    }
  | Thought
  | { readonly type: "tool_call"; readonly call: ToolCall }
  | SubagentCall
  | TaskChange
  | QuestionEvent
  | { readonly type: "mode"; readonly mode: ApprovalMode }
  /** Another model answers from here on. */
  | ({ readonly type: "model"; readonly model: string } & Pick<ContextFill, "window">)
  | ({ readonly type: "context_fill" } & ContextFill)
  | InputError
  | Named
  /** `purpose` is set when the tokens went into something else than a reply. */
  | {
      readonly type: "usage";
      readonly usage: Usage;
      readonly purpose?: UsagePurpose;
      /** Where it is known why. */
      readonly cacheMiss?: CacheMiss;
    }
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
      /** The check of the user, where there is one. */
      readonly check?: CheckResult;
      /** Where files were changed: what shows how sound they are. */
      readonly proof?: WorkProof;
      /** The value of the result, where it was bound to a schema. */
      readonly structured?: unknown;
      /** The question that the run was parked with. */
      readonly confirmation?: Confirmation;
    };

/** The end of a run. */
export type RunEnd = Extract<AgentEvent, { type: "done" }>;

/** Words of the user, and what goes with them. */
export function said(text: string, media: readonly InlineData[] = []): AgentEvent {
  return { type: "text", role: "user", text, ...(media.length > 0 ? { media } : {}) };
}

/** Words for the user, which the model does not get. */
export function notice(message: string): AgentEvent {
  return { type: "notice", message };
}
