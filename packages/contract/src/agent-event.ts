import type { ApprovalMode } from "./approval-mode.ts";
import type { Notice, Thought, Usage } from "./chat-model.ts";
import type { InlineData } from "./messages/message.ts";
import type { AnsweredCall, ToolCall } from "./tool-call.ts";
import type { Confirmation, Decision, Question, ToolError } from "./tools.ts";

/** A question as an event. What the user wrote into a file or a form is left out. */
export type QuestionEvent =
  | ({ readonly type: "question" } & Question)
  | {
      readonly type: "question_answered";
      readonly id: string;
      /** null when the question was withdrawn, or when no user was there to answer it. */
      readonly decision: AnsweredWith | null;
    };

/** A decision without the contents that the user wrote. */
export type AnsweredWith =
  | Exclude<Decision, { readonly outcome: "edited" | "filled" }>
  | { readonly outcome: "edited" | "filled" };

/** How a run ended. `refused`: an approval was needed and could not be had, or was refused. */
export type RunStatus = "success" | "error" | "refused" | "limit" | "cancelled";

/** How a run ended, and why, unless it succeeded. */
type RunOutcome =
  | { readonly status: "success" | "cancelled"; readonly error?: RunError }
  | { readonly status: Exclude<RunStatus, "success" | "cancelled">; readonly error: RunError };

export interface RunError {
  readonly type: string;
  readonly message: string;
}

/** What Burin itself tells the model in the user's role: a context file, or a note about the budget. */
interface ContextNote {
  readonly type: "context";
  readonly text: string;
  /** The real path of the context file that the text comes from; each file is reported once. */
  readonly file?: string;
  /** The background task whose end this note reports. */
  readonly task?: string;
}

/** Input that the service had cached for the previous request and has now charged at the full price again. */
export interface CacheMiss {
  readonly tokens: number;
  readonly reason: "model" | "tools" | "compaction" | "pause";
}

/** What tokens were spent on other than replies in the loop. `page`: a question about a web page. */
export type UsagePurpose = "compaction" | "subagent" | "edit_correction" | "page" | "mcp_sampling";

/** The answers to these calls are old and large: a short note replaces them in the history. */
interface Cleared {
  readonly type: "cleared";
  readonly callIds: readonly string[];
}

/** A call that a subagent made, when it starts and when it ends. Its answer goes to the subagent only. */
interface SubagentCall {
  readonly type: "subagent_call";
  readonly agent: string;
  /** The call of `task` that the subagent works for. Logs of the first version do not have it. */
  readonly parentCallId?: string;
  /** What the subagent is to do, in a few words. */
  readonly task: string;
  readonly call: Pick<ToolCall, "callId" | "name" | "args" | "description"> & {
    readonly status: "executing" | AnsweredCall["status"];
    readonly error?: ToolError;
  };
}

/** A background task, when it starts and when it ends. */
export interface TaskChange {
  readonly type: "task";
  readonly id: string;
  readonly agent: string;
  readonly description: string;
  /** The call that started it. */
  readonly callId: string;
  readonly status: "running" | "success" | "failed" | "cancelled";
}

/** How full the model's window is, in tokens, as far as known. */
export interface ContextFill {
  readonly tokens: number;
  readonly window: number;
}

/** The result of the user's check at the end of the work. */
export interface CheckResult {
  readonly command: string;
  readonly passed: boolean;
  /** null when the command did not exit by itself. */
  readonly exitCode: number | null;
  readonly attempts: number;
}

/** The files that a run changed, and which tests and builds ran after the last change or only before it. */
export interface WorkProof {
  readonly changed: readonly string[];
  readonly checked: readonly { readonly command: string; readonly exitCode: number | null }[];
  readonly notSince: readonly string[];
}

/** The text replaces all messages of the history except the last `kept` ones. */
export interface Compaction {
  readonly type: "compaction";
  readonly text: string;
  /** The part of the text that summarizes what was before, written by a model or by the digest. */
  readonly summary: string;
  readonly kept: number;
  /** An estimate for the whole request. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Input from a program that a face could not understand. */
interface InputError {
  readonly type: "input_error";
  readonly line: number;
  readonly message: string;
}

/** The name that the user gives the session from here on. */
interface Named {
  readonly type: "name";
  readonly name: string;
}

/** The events that a face itself can add. */
export type FaceEvent = InputError | Notice | Named;

/** All that a face hears and a session log holds, one JSON object each; in order they rebuild the history. */
export type AgentEvent =
  | {
      readonly type: "session";
      readonly sessionId: string;
      readonly model: string;
      readonly root: string;
      /** The approval mode; logs of the first version do not have it. */
      readonly mode?: ApprovalMode;
      /** The session whose events up to this point also belong to this one. */
      readonly forkOf?: string;
    }
  | {
      readonly type: "text";
      readonly role: "user" | "model";
      readonly text: string;
      /** What the user added to the text: images, PDF. */
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
      /** The reason, where it is known. */
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
      /** The model's output limit cut the result off. */
      readonly cut?: true;
      readonly check?: CheckResult;
      /** Set when files were changed: the evidence that the changes work. */
      readonly proof?: WorkProof;
      /** The result as a value, if it had to match a schema. */
      readonly structured?: unknown;
      /** The question that the run was parked with. */
      readonly confirmation?: Confirmation;
    });

export type RunEnd = Extract<AgentEvent, { type: "done" }>;

/** A prompt of the user, with any media that belong to it. */
export function said(text: string, media: readonly InlineData[] = []): AgentEvent {
  return { type: "text", role: "user", text, ...(media.length > 0 ? { media } : {}) };
}

/** A text for the user that the model does not get. */
export function notice(message: string): AgentEvent {
  return { type: "notice", message };
}
