export type { AgentEvent } from "@burin/contract/agent-event";
export type { ApprovalMode } from "@burin/contract/approval-mode";
export type { FunctionDeclaration, JsonSchema, Part, PartListUnion } from "@burin/contract/messages/message";
export type { SettingsInput } from "@burin/contract/settings/settings";
export type { AnsweredCall } from "@burin/contract/tool-call";
export {
  BaseTool,
  type CallContext,
  type Confirmation,
  type Decision,
  type FileDiff,
  type OnUpdate,
  type PreparedCall,
  PreparingTool,
  type Question,
  type ResultData,
  type Tool,
  type ToolDisplay,
  type ToolError,
  type ToolErrorType,
  type ToolKind,
  type ToolResult,
} from "@burin/contract/tools";
export { DiscoveredMCPTool } from "@burin/mcp/discovered-mcp-tool";
export { buildQuestionView, type QuestionView } from "./approval/question-view.ts";
export { describeEffects } from "./approval/question-words.ts";
export { createSession } from "./configured-session.ts";
export {
  type CallAllOptions,
  type CallOptions,
  type CallRequest,
  createToolbox,
  type Session,
  type SessionOptions,
  type Toolbox,
  type ToolboxOptions,
} from "./create-session.ts";
export { DiscoveredTool } from "./discovery/discovered-tool.ts";
export * from "./old-names.ts";
export type { Confirm } from "./scheduler/questions.ts";
export { defineTool, type ToolDefinition } from "./tools/define-tool.ts";
export { Edit, Edit as EditTool } from "./tools/edit.ts";
export { ExitPlanMode, ExitPlanMode as ExitPlanModeTool } from "./tools/exitPlanMode.ts";
export { Glob, Glob as GlobTool } from "./tools/glob.ts";
export { Grep, Grep as GrepTool } from "./tools/grep.ts";
export { ListFiles as LSTool, ListFiles } from "./tools/ls.ts";
export { SaveMemory as MemoryTool, SaveMemory } from "./tools/memoryTool.ts";
export { ReadFile, ReadFile as ReadFileTool } from "./tools/read-file.ts";
export { ReadManyFiles, ReadManyFiles as ReadManyFilesTool } from "./tools/read-many-files.ts";
export { Shell, Shell as ShellTool } from "./tools/shell.ts";
export { Task, Task as TaskTool } from "./tools/task.ts";
export { TodoWrite, TodoWrite as TodoWriteTool } from "./tools/todoWrite.ts";
export { ToolRegistry } from "./tools/tool-registry.ts";
export { WebFetch, WebFetch as WebFetchTool } from "./tools/web-fetch.ts";
export { WebSearch, WebSearch as WebSearchTool } from "./tools/web-search.ts";
export { WriteFile, WriteFile as WriteFileTool } from "./tools/write-file.ts";
