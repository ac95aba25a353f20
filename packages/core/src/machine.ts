export type {
  CommandSandbox,
  FactsOptions,
  Machine,
  MachineCommands,
  PathFacts,
} from "@burin/commands/machine";
export {
  type ExecEnd,
  type ExecFunction,
  type ExecOptions,
  type MachineFunctions,
  machineOf,
  nodeMachine,
} from "@burin/commands/node-machine";
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
export type {
  FileFunctions,
  NamedEntry,
  PathStat,
  WorkspaceSettings,
} from "@burin/files/workspace/node-workspace";
