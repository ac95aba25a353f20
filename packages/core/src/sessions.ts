export type {
  AgentEvent,
  CacheMiss,
  ContextFill,
  QuestionEvent,
  RunEnd,
  RunError,
  RunErrorType,
  RunStatus,
} from "@burin/contract/agent-event";
export type {
  ChatModel,
  ModelEvent,
  ModelFailure,
  ModelFailureType,
  ModelRequest,
  Usage,
} from "@burin/contract/chat-model";
export type { FunctionCall, FunctionResponse, InlineData, Message } from "@burin/contract/messages/message";
export { isAnswered, type ToolCall } from "@burin/contract/tool-call";
export { type ModelChoice, openModel } from "@burin/models/choice/open-model";
export { type RetryOptions, withRetries } from "@burin/models/failures/retry";
export { type ScriptLine, scriptedModel } from "@burin/models/scripted";
export { Budget, type BudgetLimits, parseBudget } from "./agent/budget.ts";
export { buildHistory } from "./agent/history.ts";
export { createSession } from "./configured-session.ts";
export type { Session, SessionOptions } from "./create-session.ts";
export { parseAnswerSchema } from "./session/answer-schema.ts";
export { readLog } from "./session/log/read-log.ts";
export type { LogRecord } from "./session/log/record-line.ts";
export { SessionError } from "./session/log/session-error.ts";
export type { SessionSummary } from "./session/log/session-summary.ts";
export { findParkedQuestion } from "./session/past-session.ts";
export { type RestoreOptions, restoreSession } from "./session/resume.ts";
export type { CutCall } from "./session/undo/cut-calls.ts";
export type { FileOutcome } from "./session/undo/take-back.ts";
export type { UndoEntry, UndoResult } from "./session/undo/undo.ts";
export type { UndoOptions } from "./session/undo/undo-choice.ts";
export {
  forgetUndo,
  listUndoEntries,
  resolveUndoScope,
  settleCutCalls,
  undo,
} from "./session/undo/undo-door.ts";
export {
  type ForkOptions,
  openStore,
  type SessionStore,
  type StoredSessionOptions,
  type StoreOptions,
} from "./session-store.ts";
