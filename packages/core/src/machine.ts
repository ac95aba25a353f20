export type {
  CommandSandbox,
  FactsOptions,
  Machine,
  MachineCommands,
  PathFacts,
} from "@burin/commands/machine";
export { nodeMachine } from "@burin/commands/node-machine";
export type {
  BackgroundCommand,
  CommandRequest,
  CommandsOptions,
  RunningCommand,
  ShellEnd,
} from "@burin/commands/shell/command-request";
export {
  type DirectoryEntry,
  type FileContent,
  type FilePreview,
  type FileSnapshot,
  type FileWrite,
  type FindRequest,
  type FindResult,
  type LineRange,
  type Listing,
  type ListOptions,
  type SearchRequest,
  type SearchResult,
  type TextChange,
  type Workspace,
  WorkspaceError,
  type WorkspaceErrorCode,
  type WriteResult,
} from "@burin/contract/machine/workspace";
export type { WorkspaceSettings } from "@burin/files/workspace/node-workspace";
