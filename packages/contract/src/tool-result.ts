import type { WorkspaceErrorCode } from "./machine/workspace.ts";
import type { PartListUnion } from "./messages/message.ts";

/** A change to one file, shown to the user: before approval in a Confirmation, afterwards in a result. */
export interface FileDiff {
  readonly kind: "file_diff";
  readonly fileName: string;
  /** Unified diff. */
  readonly fileDiff: string;
  /** null when the file is new. */
  readonly originalContent: string | null;
  readonly newContent: string;
  readonly addedLines: number;
  readonly removedLines: number;
  /** Set when the contents are only a part of a large file: the line that they start at. */
  readonly firstLine?: number;
}

export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** The steps of a task, so that the user sees the progress. */
export interface TodoList {
  readonly kind: "todo_list";
  readonly todos: readonly Todo[];
}

/** The latest actions of long work. */
export interface Progress {
  readonly kind: "progress";
  readonly title: string;
  readonly lines: readonly string[];
}

/** What the user sees of a result: Markdown, or an object that is drawn by its `kind`. */
export type ToolDisplay = string | FileDiff | TodoList | Progress;

/**
 * What kind of failure a call ended with. These words are stable; a tool of your own may use another word.
 */
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

/** A failure that the model can act on. `type` is stable and made for programs, `message` for readers. */
export interface ToolError {
  readonly type: ToolErrorType;
  readonly message: string;
}

/** A file that a call has changed. */
export interface ChangedFile {
  /** The absolute path. */
  readonly path: string;
  readonly change: "created" | "modified";
  /** Absent when somebody else has changed the file at the same time. */
  readonly addedLines?: number;
  readonly removedLines?: number;
}

/**
 * A result as plain values, for programs: the keys that the built-in tools set, and whatever a tool of your own or an
 * MCP server adds. It must be JSON.
 */
export interface ResultData {
  /** Of a command that ended by itself. */
  readonly exitCode?: number;
  /** The signal that ended a command. */
  readonly signal?: string;
  /** The id of a command that continues in the background. */
  readonly background?: string;
  readonly changedFiles?: readonly ChangedFile[];
  /** How many lines or files a search has found. */
  readonly hits?: number;
  readonly [key: string]: unknown;
}

/** What a tool returns: one text for the model, one for the user. */
export interface ToolResult {
  /** For the model's history. */
  readonly llmContent: PartListUnion;
  /** For the user. */
  readonly returnDisplay: ToolDisplay;
  readonly data?: ResultData | undefined;
  readonly error?: ToolError | undefined;
}

/** The data of a call that has changed one file. */
export function changeData(
  path: string,
  { originalContent, addedLines, removedLines }: FileDiff,
): ResultData {
  const change = originalContent === null ? "created" : "modified";
  return { changedFiles: [{ path, change, addedLines, removedLines }] };
}
