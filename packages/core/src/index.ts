export { cloneRepository } from "@burin/commands/git/clone-repository";
export type { FactsGround, Machine, MachineCommands, PlaceFacts, SandboxFact } from "@burin/commands/machine";
export { nodeMachine } from "@burin/commands/node-machine";
export { helperPath } from "@burin/commands/processes/helper-program";
export { SANDBOX_MODES, type SandboxMode } from "@burin/commands/sandbox/sandbox";
export type { CommandInfo, CommandList } from "@burin/commands/shell/command-list";
export type {
  BackgroundCommand,
  CommandRequest as MachineCommandRequest,
  CommandsOptions,
  RunningCommand,
  ShellEnd,
} from "@burin/commands/shell/command-request";
export type {
  AgentEvent,
  CacheMiss,
  ContextFill,
  FaceEvent,
  QuestionEvent,
  RunEnd,
  RunError,
  RunStatus,
} from "@burin/contract/agent-event";
export { APPROVAL_MODES, type ApprovalMode } from "@burin/contract/approval-mode";
export type { ChatModel, ModelEvent, ModelFailure, ModelRequest, Usage } from "@burin/contract/chat-model";
export type {
  FileContent,
  FilePreview,
  FileSnapshot,
  FileWrite,
  FileWritten,
  FindRequest,
  FoundFiles,
  LineRange,
  SearchRequest,
  SearchResult,
} from "@burin/contract/machine/workspace";
export {
  type Listing,
  type ListOptions,
  type Workspace,
  WorkspaceError,
} from "@burin/contract/machine/workspace";
export { schemaError } from "@burin/contract/messages/check-schema";
export type {
  FunctionCall,
  FunctionDeclaration,
  FunctionResponse,
  InlineData,
  JsonSchema,
  Message,
  ObjectSchema,
  Part,
  PartListUnion,
  PartUnion,
} from "@burin/contract/messages/message";
export type {
  ParamsOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from "@burin/contract/messages/schema-types";
export { orElse } from "@burin/contract/or-else";
export { type Settings, SettingsError, type SettingsInput } from "@burin/contract/settings/settings";
export { SETTINGS_SCHEMA } from "@burin/contract/settings/settings-schema";
export { messageOf } from "@burin/contract/text/error-message";
export { nearNames } from "@burin/contract/text/near-names";
export { visibleText } from "@burin/contract/text/visible-text";
export { type AnsweredCall, isAnswered, type ToolCall } from "@burin/contract/tool-call";
export {
  type Approval,
  type AskedQuestion,
  BaseTool,
  type CallContext,
  type ChangedFile,
  type CommandLimits,
  type Confirmation,
  type Decision,
  type Effect,
  type FileDiff,
  type GrantScope,
  type GrantWidth,
  kindOf,
  type OnUpdate,
  type PartReach,
  type PlanFollower,
  type PreparedCall,
  PreparingTool,
  type Progress,
  type Question,
  type ResultData,
  type RunContext,
  type Todo,
  type TodoList,
  type Tool,
  type ToolDisplay,
  type ToolError,
  type ToolErrorType,
  type ToolFields,
  type ToolKind,
  type ToolResult,
  type ToolSource,
} from "@burin/contract/tools";
export { appendLine } from "@burin/files/disk/append-line";
export { changeHomeFile } from "@burin/files/disk/home-file";
export { makeFolders } from "@burin/files/disk/make-folders";
export { lockPath } from "@burin/files/disk/path-lock";
export { readBeginning, readBytes, readText } from "@burin/files/disk/regular-file";
export { mediaKind } from "@burin/files/workspace/media-kind";
export type { WorkspaceSettings } from "@burin/files/workspace/node-workspace";
export { readWithin } from "@burin/files/workspace/read-opened";
export { DiscoveredMCPTool, type McpToolServer } from "@burin/mcp/discovered-mcp-tool";
export type {
  McpDoor,
  McpPrompt,
  McpPromptRequest,
  McpReport,
  McpResource,
} from "@burin/mcp/mcp-door";
export { chooseModel, keyVariable, missingForModel } from "@burin/models/choice/choose-model";
export { configuredModel } from "@burin/models/choice/configured-model";
export { type KnownModel, knownModel, TABLE_DATE } from "@burin/models/choice/known-model";
export { type ModelChoice, openAiCompatible, openModel } from "@burin/models/choice/open-model";
export {
  findLocalServers,
  type LocalServer,
  type Reached,
  reachModel,
} from "@burin/models/choice/reach-model";
export { type RetryOptions, retrying } from "@burin/models/failures/retry";
export { type ScriptLine, scriptedModel } from "@burin/models/scripted";
export { type PartVerdict, parseRule, type Verdict } from "@burin/shell-judge";
export type { BackgroundTask, TaskList } from "./agent/background-tasks.ts";
export { Budget, type BudgetLimits, parseBudget } from "./agent/budget.ts";
export { contextFileNames } from "./agent/context-files.ts";
export { mediaParts } from "./agent/conversation.ts";
export type { CustomCommand } from "./agent/definitions.ts";
export { historyOf } from "./agent/history.ts";
export type { GrantSubject } from "./approval/grant-subjects.ts";
export {
  type QuestionView,
  questionView,
  type ReachWarning,
  shownReason,
  type ViewLimits,
  warningFor,
} from "./approval/question-view.ts";
export { reachInWords } from "./approval/question-words.ts";
export { findBareLauncher, openGrants } from "./assembly/join-approval.ts";
export { type MachineFacts, machineFacts } from "./assembly/machine-facts.ts";
export type { SessionGrants } from "./assembly/options.ts";
export { projectFiles } from "./assembly/project-files.ts";
export { type RepositoryState, repositoryState } from "./assembly/repository-state.ts";
export { findUndoGaps, type UndoGaps } from "./assembly/undo-gaps.ts";
export { createSession } from "./configured-session.ts";
export {
  type CallAllOptions,
  type CallOptions,
  type CallOptions as RunOptions,
  type CallRequest,
  createToolbox,
  openSession,
  type ReadyOptions,
  type Session,
  type SessionOptions,
  type Toolbox,
  type ToolboxOptions,
  type ToolFilter,
} from "./create-session.ts";
export {
  DiscoveredTool,
  type DiscoveredToolNeeds,
  type RunToolCommand,
} from "./discovery/discovered-tool.ts";
export { decisionsFor, readDecision } from "./scheduler/decision.ts";
export { functionResponseOf } from "./scheduler/function-response.ts";
export type { Confirm } from "./scheduler/questions.ts";
export type { OnCall } from "./scheduler/scheduler.ts";
export { nearTools } from "./scheduler/unknown-tool.ts";
export { parseAnswerSchema } from "./session/answer-schema.ts";
export { readLog } from "./session/log/read-log.ts";
export type { LogRecord } from "./session/log/record-line.ts";
export { SessionError } from "./session/log/session-error.ts";
export { findSession, removeSession, type SessionPlace } from "./session/log/session-files.ts";
export { type SessionSummary, sessionSummaries } from "./session/log/session-summary.ts";
export { type ToldSession, withoutSecrets, writeSession } from "./session/log/write-session.ts";
export { parkedQuestion } from "./session/past-session.ts";
export { type RecordedSession, readRecordedSession } from "./session/recorded-session.ts";
export {
  type ForkOptions,
  forkSession,
  type RestoreOptions,
  type ResumedSession,
  type ResumeOptions,
  restoreSession,
  resumeSession,
} from "./session/resume.ts";
export { TurnCount } from "./session/turn-count.ts";
export type { CutCall } from "./session/undo/cut-calls.ts";
export type { FileOutcome } from "./session/undo/take-back.ts";
export type { UndoEntry, UndoResult } from "./session/undo/undo.ts";
export type { UndoOptions } from "./session/undo/undo-choice.ts";
export {
  forgetUndo,
  noteTakenBack,
  settleCutCalls,
  undo,
  undoEntries,
  undoInCopy,
  undoPlan,
  undoScope,
} from "./session/undo/undo-door.ts";
export { exitCodeIn } from "./session/work-proof.ts";
export type { FolderTrust } from "./settings/folder-trust.ts";
export type { GrantStore, StoredGrant } from "./settings/grants.ts";
export {
  burinHome,
  changeSettings,
  folderTrust,
  type LoadedSettings,
  loadSettings,
  openTrust,
  type SettingsPlaces,
} from "./settings/load-settings.ts";
export { fetchSiteSkills, type SiteSkill, type SiteSkills } from "./settings/site-skills.ts";
export type { TrustAnswer, TrustState, TrustStore } from "./settings/trust.ts";
export type { CorrectEdit, FailedEdit } from "./text/correct-edit.ts";
export { contentWithHunks, contentWithParts, hunksOf, splitHunk } from "./text/diff-hunks.ts";
export { AskUser, answerNames, answersIn } from "./tools/askUser.ts";
export { defineTool, type ToolDefinition } from "./tools/define-tool.ts";
export { Edit, Edit as EditTool } from "./tools/edit.ts";
export { ExitPlanMode, ExitPlanMode as ExitPlanModeTool } from "./tools/exitPlanMode.ts";
export { Glob, Glob as GlobTool } from "./tools/glob.ts";
export { Grep, Grep as GrepTool } from "./tools/grep.ts";
export { ListFiles, ListFiles as LSTool } from "./tools/ls.ts";
export { SaveMemory, SaveMemory as MemoryTool } from "./tools/memoryTool.ts";
export { ReadFile, ReadFile as ReadFileTool } from "./tools/read-file.ts";
export { ReadManyFiles, ReadManyFiles as ReadManyFilesTool } from "./tools/read-many-files.ts";
export { Shell, Shell as ShellTool } from "./tools/shell.ts";
export { Task, Task as TaskTool } from "./tools/task.ts";
export { TodoWrite, TodoWrite as TodoWriteTool } from "./tools/todoWrite.ts";
export { type DiscoveryFailure, ToolRegistry } from "./tools/tool-registry.ts";
export { WebFetch, WebFetch as WebFetchTool, type WebFetchOptions } from "./tools/web-fetch.ts";
export { WebSearch, WebSearch as WebSearchTool, type WebSearcher } from "./tools/web-search.ts";
export { WriteFile, WriteFile as WriteFileTool } from "./tools/write-file.ts";
