// Names that earlier documentation showed as exports of the main entry point. The next version drops them.

export type {
  /** @deprecated Import it from `@burin/core/machine`. */
  Machine,
} from "@burin/commands/machine";
export {
  /** @deprecated Import it from `@burin/core/machine`. */
  nodeMachine,
} from "@burin/commands/node-machine";
export {
  /** @deprecated Import it from `@burin/core/machine`. */
  WorkspaceError,
} from "@burin/contract/machine/workspace";
export {
  /** @deprecated Import it from `@burin/core/sessions`. */
  openModel,
} from "@burin/models/choice/open-model";
export {
  /** @deprecated Import it from `@burin/core/sessions`. */
  scriptedModel,
} from "@burin/models/scripted";
export {
  /** @deprecated Import `buildHistory` from `@burin/core/sessions`. */
  buildHistory as historyOf,
} from "./agent/history.ts";
export {
  /** @deprecated Its name is now `describeEffects`. */
  describeEffects as reachInWords,
} from "./approval/question-words.ts";
export {
  /** @deprecated Use `gemini.results(toolbox, calls)` of `@burin/core/adapters`. */
  toFunctionResponse as functionResponseOf,
} from "./scheduler/function-response.ts";
export {
  /** @deprecated Import it from `@burin/core/sessions`. */
  parseAnswerSchema,
} from "./session/answer-schema.ts";
export {
  /** @deprecated Use `openStore({ root, home }).list()` of `@burin/core/sessions`. */
  listSessionSummaries as sessionSummaries,
} from "./session/log/session-summary.ts";
export {
  /** @deprecated Import `findParkedQuestion` from `@burin/core/sessions`. */
  findParkedQuestion as parkedQuestion,
} from "./session/past-session.ts";
export {
  /** @deprecated Use `openStore({ root, home }).fork(id, { at })` of `@burin/core/sessions`. */
  forkSession,
  /** @deprecated Import it from `@burin/core/sessions`. */
  restoreSession,
  /** @deprecated Use `openStore({ root, home }).resume(id, options)` of `@burin/core/sessions`. */
  resumeSession,
} from "./session/resume.ts";
export {
  /** @deprecated Import it from `@burin/core/sessions`. */
  forgetUndo,
  /** @deprecated Import `listUndoEntries` from `@burin/core/sessions`. */
  listUndoEntries as undoEntries,
  /** @deprecated Import `resolveUndoScope` from `@burin/core/sessions`. */
  resolveUndoScope as undoScope,
  /** @deprecated Import it from `@burin/core/sessions`. */
  undo,
} from "./session/undo/undo-door.ts";
