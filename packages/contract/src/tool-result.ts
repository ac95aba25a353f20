import type { WorkspaceErrorCode } from "./machine/workspace.ts";
import type { PartListUnion } from "./messages/message.ts";

/** A change to one file, shown to the user before approval (in a Confirmation) and afterwards (in a result). */
export interface FileDiff {
  readonly kind: "file_diff";
  readonly fileName: string;
  /** The change as a unified diff. */
  readonly fileDiff: string;
  /** null when the file is new. */
  readonly originalContent: string | null;
  readonly newContent: string;
  readonly addedLines: number;
  readonly removedLines: number;
  /** The line number at which the contents start. Set only when they are a part of a large file. */
  readonly firstLine?: number;
}

export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** The steps of a task, shown to the user as its progress. */
export interface TodoList {
  readonly kind: "todo_list";
  readonly todos: readonly Todo[];
}

/** The latest steps of long-running work. */
export interface Progress {
  readonly kind: "progress";
  readonly title: string;
  readonly lines: readonly string[];
}

/** What the user sees of a result: Markdown, or an object that the front end draws by its `kind`. */
export type ToolDisplay = string | FileDiff | TodoList | Progress;

/** Why a call failed. These words are stable. A tool of your own may use other words. */
export type ToolErrorType =
  | "invalid_arguments"
  | "unknown_tool"
  | "needs_approval"
  | "denied"
  | "undecided"
  | "cancelled"
  | "plan_declined"
  | "not_editable"
  | "closed"
  | "budget"
  | "not_run"
  | "may_have_run"
  | "interrupted"
  | "timeout"
  | "tool_failed"
  | "http_error"
  | "mcp_tool_error"
  | "not_configured"
  | "exit_code"
  | "no_occurrence"
  | "wrong_count"
  | "file_exists"
  | WorkspaceErrorCode
  | (string & {});

/** A failure that the model can act on. `type` is stable and for programs; `message` is for people and models. */
export interface ToolError {
  readonly type: ToolErrorType;
  readonly message: string;
}

/** A file that a call changed. */
export interface ChangedFile {
  /** The absolute path. */
  readonly path: string;
  readonly change: "created" | "modified";
  /** Absent when someone else changed the file at the same time. */
  readonly addedLines?: number;
  readonly removedLines?: number;
}

/**
 * A result as plain values, for programs. It contains the keys that built-in tools set, and any that your own tools or
 * MCP servers add. It must be valid JSON.
 */
export interface ResultData {
  /** The exit code of a command that exited by itself. */
  readonly exitCode?: number;
  /** The signal that ended a command. */
  readonly signal?: string;
  /** The id of a command that continues in the background. */
  readonly background?: string;
  readonly changedFiles?: readonly ChangedFile[];
  /** How many lines or files a search found. */
  readonly hits?: number;
  readonly [key: string]: unknown;
}

/** What a tool returns: one version for the model and one for the user. */
export interface ToolResult {
  /** What the model gets, added to the history. */
  readonly llmContent: PartListUnion;
  /** What the user sees. */
  readonly returnDisplay: ToolDisplay;
  readonly data?: ResultData | undefined;
  readonly error?: ToolError | undefined;
}

/** Creates the `data` of a call that changed one file. */
export function buildChangeData(
  path: string,
  { originalContent, addedLines, removedLines }: FileDiff,
): ResultData {
  const change = originalContent === null ? "created" : "modified";
  return { changedFiles: [{ path, change, addedLines, removedLines }] };
}
