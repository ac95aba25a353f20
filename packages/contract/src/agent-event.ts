import type { ApprovalMode } from "./approval-mode.ts";
import type { ModelFailureType, Notice, Thought, Usage } from "./chat-model.ts";
import type { InlineData } from "./messages/message.ts";
import type { AnsweredCall, ToolCall } from "./tool-call.ts";
import type { Confirmation, Decision, Question, ToolError } from "./tools.ts";

/** The events of a question: asked and answered. The log omits what the user wrote into a file or a form. */
export type QuestionEvent =
  | ({ readonly type: "question" } & Question)
  | {
      readonly type: "question_answered";
      readonly id: string;
      /** null when the question was withdrawn, or when no user was there to answer it. */
      readonly decision: LoggedDecision | null;
    };

/** A decision without the file content or form values that the user entered. */
export type LoggedDecision =
  | Exclude<Decision, { readonly outcome: "edited" | "filled" }>
  | { readonly outcome: "edited" | "filled" };

/** How a run ended. `refused`: a call needed approval, and nobody could give it or the user refused. */
export type RunStatus = "success" | "error" | "refused" | "limit" | "cancelled";

/** The status of a run and, unless it succeeded, the error. */
type RunOutcome =
  | { readonly status: "success" | "cancelled"; readonly error?: RunError }
  | { readonly status: Exclude<RunStatus, "success" | "cancelled">; readonly error: RunError };

/** Why a run did not succeed, for programs. These words are stable; a model of your own may use another. */
export type RunErrorType =
  | "cancelled"
  | "closed"
  | "budget"
  | "max_turns"
  | "loop"
  | "parked"
  | "needs_approval"
  | "denied"
  | "undecided"
  | "schema_mismatch"
  | "check_failed"
  | "nothing_left"
  | ModelFailureType;

/** Why a run did not succeed: a word for programs, and words for a user. */
export interface RunError {
  readonly type: RunErrorType;
  readonly message: string;
}

/** A message that Burin itself adds in the user's role, such as a context file or a note about the budget. */
interface ContextNote {
  readonly type: "context";
  readonly text: string;
  /** The real path of the context file that the text comes from; each file is reported once. */
  readonly file?: string;
  /** The id of the background task that this note reports as ended. */
  readonly task?: string;
}

/** Input that the service had cached for the previous request but has now charged at the full price again. */
export interface CacheMiss {
  readonly tokens: number;
  readonly reason: "model" | "tools" | "compaction" | "pause";
}

/** What tokens were spent on, apart from replies in the main loop. `page`: a question about a web page. */
export type UsagePurpose = "compaction" | "subagent" | "edit_correction" | "page" | "mcp_sampling";

/** Clears the answers to these calls, which are old and large: a short note replaces each in the history. */
interface Cleared {
  readonly type: "cleared";
  readonly callIds: readonly string[];
}

/** A call that a subagent made, reported when it starts and when it ends. Only the subagent gets the answer. */
interface SubagentCall {
  readonly type: "subagent_call";
  readonly agent: string;
  /** The id of the `task` call that the subagent works for. Logs of the first version do not have it. */
  readonly parentCallId?: string;
  /** A short description of the subagent's task. */
  readonly task: string;
  readonly call: Pick<ToolCall, "callId" | "name" | "args" | "description"> & {
    readonly status: "executing" | AnsweredCall["status"];
    readonly error?: ToolError;
  };
}

/** A background task, reported when it starts and when it ends. */
export interface TaskChange {
  readonly type: "task";
  readonly id: string;
  readonly agent: string;
  readonly description: string;
  /** The id of the call that started it. */
  readonly callId: string;
  readonly status: "running" | "success" | "failed" | "cancelled";
}

/** How full the model's context window is, in tokens. Both numbers may be estimates. */
export interface ContextFill {
  readonly tokens: number;
  readonly window: number;
}

/** The result of the command that the user configured as `check`, run at the end of the work. */
export interface CheckResult {
  readonly command: string;
  readonly passed: boolean;
  /** null when the command did not exit by itself, for example because it was killed. */
  readonly exitCode: number | null;
  readonly attempts: number;
}

/** The files that a run changed, the tests and builds that ran after the last change, and those only before it. */
export interface WorkProof {
  readonly changed: readonly string[];
  readonly checked: readonly { readonly command: string; readonly exitCode: number | null }[];
  readonly notSince: readonly string[];
}

/** Replaces all messages of the history with `text`, except the last `kept` ones. */
export interface Compaction {
  readonly type: "compaction";
  readonly text: string;
  /** The part of `text` that summarizes the earlier conversation. A model or the digest wrote it. */
  readonly summary: string;
  readonly kept: number;
  /** Estimated tokens of the whole request. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Input from a program that the front end could not parse. */
interface InputError {
  readonly type: "input_error";
  readonly line: number;
  readonly message: string;
}

/** Names the session from here on; the user chose the name. */
interface Named {
  readonly type: "name";
  readonly name: string;
}

/** The events that a front end may add itself. */
export type FaceEvent = InputError | Notice | Named;

/** What a front end receives and a session log stores, one JSON object each. In order, they rebuild the history. */
export type AgentEvent =
  | {
      readonly type: "session";
      readonly sessionId: string;
      readonly model: string;
      readonly root: string;
      /** The approval mode. Logs of the first version do not have it. */
      readonly mode?: ApprovalMode;
      /** The session that this one was forked from. Its events up to this point belong to this session too. */
      readonly forkOf?: string;
    }
  | {
      readonly type: "text";
      readonly role: "user" | "model";
      readonly text: string;
      /** Images and PDFs that the user attached. */
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
  | {
      readonly type: "usage";
      readonly usage: Usage;
      readonly purpose?: UsagePurpose;
      /** Why the service did not use its cache, if that is known. */
      readonly cacheMiss?: CacheMiss;
    }
  | Notice
  | ContextNote
  | Cleared
  | Compaction
  | (RunOutcome & {
      readonly type: "done";
      /** The model's last text. */
      readonly result: string;
      readonly turns: number;
      /** true if the model's output limit cut the result off. */
      readonly cut?: true;
      readonly check?: CheckResult;
      /** Set when files were changed: the evidence that the changes work. */
      readonly proof?: WorkProof;
      /** The result as a parsed value, if the run had to return a value that matches a schema. */
      readonly structured?: unknown;
      /** The question on which the run stopped, to be answered when the session is resumed. */
      readonly confirmation?: Confirmation;
    });

/** The last event of a run. */
export type RunEnd = Extract<AgentEvent, { type: "done" }>;

/** Creates the event for a user's prompt, with its attached media. */
export function createPromptEvent(text: string, media: readonly InlineData[] = []): AgentEvent {
  return { type: "text", role: "user", text, ...(media.length > 0 ? { media } : {}) };
}

/** Creates a message for the user that the model does not see. */
export function createNotice(message: string): AgentEvent {
  return { type: "notice", message };
}
