export type {
  AgentEvent,
  ContextFill,
  FaceEvent,
  QuestionEvent,
  RunError,
  RunStatus,
} from "@burin/contract/agent-event";
export type { ChatModel, ModelEvent, ModelFailure, ModelRequest, Usage } from "@burin/contract/chat-model";
export { type ModelChoice, openModel } from "@burin/models/choice/open-model";
export { type RetryOptions, retrying } from "@burin/models/failures/retry";
export { type ScriptLine, scriptedModel } from "@burin/models/scripted";
export { Budget, type BudgetLimits, parseBudget } from "./agent/budget.ts";
export { createSession } from "./configured-session.ts";
export type { Session, SessionOptions } from "./create-session.ts";
export type { LogRecord } from "./session/log/record-line.ts";
export { SessionError } from "./session/log/session-error.ts";
export type { SessionSummary } from "./session/log/session-summary.ts";
export { type RestoreOptions, restoreSession } from "./session/resume.ts";
export {
  type ForkAt,
  openStore,
  type SessionStore,
  type StoredSessionOptions,
  type StoreOptions,
} from "./session-store.ts";
