import type { Workspace } from "@burin/contract/machine/workspace";
import type { GitUse, RepositoryFault } from "@burin/shell-judge";
import type { WorkspaceSettings } from "./node-workspace.ts";
import type {
  BackgroundCommand,
  CommandRequest,
  CommandsOptions,
  RunningCommand,
} from "./processes/command-request.ts";
import type { TreeBelow } from "./processes/command-surroundings.ts";
import type { ProcessEntry } from "./processes/process-table.ts";
import type { ExchangeEnd, ExchangeRequest } from "./processes/run-exchange.ts";
import type { ServerProcess, ServerRequest } from "./processes/server-processes.ts";
import type { ShellProgram } from "./processes/shell-program.ts";
import type { SandboxMode } from "./sandbox/sandbox.ts";

/**
 * A computer as tools and approval know it: files, commands, and what there is to know of the places that a command
 * names. Another one than this may be handed to createToolbox and createSession, e.g. a container, a machine far away
 * or an editor with files that are not saved; all that it is asked and answers is plain data.
 */
export interface Machine {
  /** The folders that work stays in. Each answer is for one agent, which has been shown some files and others not. */
  openFiles(root: string, includeDirectories: readonly string[], settings: WorkspaceSettings): Workspace;
  openCommands(options: CommandsOptions): MachineCommands;
  /** Asked for each decision anew. */
  openFacts(ground: FactsGround): Promise<PlaceFacts>;
}

/** The commands of one session. */
export interface MachineCommands {
  readonly shell: ShellProgram;
  readonly roots: readonly string[];
  /** Commands can be given a terminal. */
  readonly hasTerminal: boolean;
  readonly hasNetwork: boolean;
  hasNetworkFor(request: CommandRequest): boolean;
  /** Which limits commands run in, or this one does. */
  sandbox(request?: CommandRequest): Promise<SandboxFact>;
  /** Throws a WorkspaceError when the directory is not there. */
  start(request: CommandRequest): Promise<RunningCommand>;
  /** Lets a command go on by itself. The answer is the id it is known by. */
  keep(request: CommandRequest, run: RunningCommand): Promise<string>;
  /** Those that run in the background and those that ended lately, as they are now. */
  backgrounds(): Promise<readonly BackgroundCommand[]>;
  /** Those that a call waits for just now. */
  foreground(): Promise<readonly BackgroundCommand[]>;
  /** A program that is spoken with, e.g. an MCP server. Rejects when it cannot be started. */
  startServer(request: ServerRequest): Promise<ServerProcess>;
  /** A line for the shell that answers what it is given to read. Never rejects. */
  exchange(request: ExchangeRequest): Promise<ExchangeEnd>;
  /** Ends what a Burin that crashed has left behind, once. Resolves to the count of processes. */
  endLeftBehind(): Promise<number>;
  /** Ends everything that still runs. Resolves to what could not be ended. */
  close(): Promise<readonly ProcessEntry[]>;
}

export type SandboxFact =
  | { readonly sandbox: { readonly mode: Exclude<SandboxMode, "off"> } }
  | { readonly sandbox: null; readonly reason: string };

export interface FactsGround extends Pick<CommandsOptions, "environment" | "passEnvironment"> {
  readonly roots: readonly string[];
}

type Awaitable<T> = T | Promise<T>;

/** What approval asks about places. Paths are absolute. */
export interface PlaceFacts {
  /** Whether the path, or any file that a pattern of the shell matches, really lies outside the roots. */
  leadsOutside(path: string, isPattern: boolean): Awaitable<boolean>;
  /** Where the path, or each file that the pattern matches, really is. */
  realPaths(path: string, isPattern: boolean): Awaitable<readonly string[]>;
  /** null when they are too many to look through. */
  filesBelow(folder: string): Awaitable<readonly string[] | null>;
  /** null when it is too large to be looked through. */
  treeBelow(folder: string): Awaitable<TreeBelow | null>;
  /** Names in git's index there, and in the commits that the words name, with spaces or signs; null when git does not tell. */
  oddNamesInGit(folder: string, words: readonly string[]): Awaitable<readonly string[] | null>;
  /** The folder of the project in which alone a program would be found, or null. */
  projectFolderOf(program: string): Awaitable<string | null>;
  /** What git would do in that folder beside what its words say, or null. */
  repositoryFault(directory: string, use: GitUse): Awaitable<RepositoryFault | null>;
}
