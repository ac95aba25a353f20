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
  type ChangedText,
  type DirectoryEntry,
  type FileContent,
  type FilePreview,
  type FileSnapshot,
  type FileWrite,
  type FileWritten,
  type FindRequest,
  type FoundFiles,
  type LineRange,
  type Listing,
  type ListOptions,
  type SearchRequest,
  type SearchResult,
  type Workspace,
  WorkspaceError,
  type WorkspaceErrorCode,
} from "@burin/contract/machine/workspace";
export type { WorkspaceSettings } from "@burin/files/workspace/node-workspace";
