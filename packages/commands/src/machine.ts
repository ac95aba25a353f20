import type { Workspace } from "@burin/contract/machine/workspace";
import type { WorkspaceSettings } from "@burin/files/workspace/node-workspace";
import type { BegunWrite } from "@burin/files/workspace/replace-file";
import type { GitUse, RepositoryFault } from "@burin/shell-judge";
import type { TreeBelow } from "./processes/command-surroundings.ts";
import type { ProcessEntry } from "./processes/process-table.ts";
import type {
  ExchangeEnd,
  ExchangeRequest,
  ServerProcess,
  ServerRequest,
} from "./processes/server-processes.ts";
import type { ShellProgram } from "./processes/shell-program.ts";
import type { SandboxMode } from "./sandbox/sandbox.ts";
import type {
  BackgroundCommand,
  CommandRequest,
  CommandsOptions,
  ProtectedWrite,
  RunningCommand,
} from "./shell/command-request.ts";

/**
 * A computer as tools and approval see it: files, commands, and facts about the paths in a command. createToolbox
 * and createSession accept another one, for example a container, a remote machine or an editor with unsaved files.
 * All requests and answers are plain data.
 */
export interface Machine {
  /** Opens the folders to work in. Each result is for one agent, which has seen some files and others not. */
  openFiles(root: string, includeDirectories: readonly string[], settings: WorkspaceSettings): Workspace;
  openCommands(options: CommandsOptions): MachineCommands;
  /** Called for each decision. */
  openFacts(ground: FactsGround): Promise<PlaceFacts>;
}

/** The commands of one session. */
export interface MachineCommands {
  readonly shell: ShellProgram;
  readonly roots: readonly string[];
  /** Whether commands can have a terminal. */
  readonly hasTerminal: boolean;
  readonly hasNetwork: boolean;
  /** Commands can reach some hosts and not others. */
  readonly reachesByName?: boolean;
  hasNetworkFor(request: CommandRequest): boolean;
  /** Which limits commands run in, or this one does. */
  sandbox(request?: CommandRequest): Promise<SandboxFact>;
  /** Whether a command can reach the servers that earlier ones of this session have started. */
  sharesServers?(): Promise<boolean>;
  /** A new folder of this computer for files of a moment. Absent where its commands run on another one. */
  temporaryFolder?(): Promise<string>;
  /** Called before each write in a folder of this computer; the next Burin removes what a crash leaves of it. */
  beginWrite?(folder: string): Promise<BegunWrite>;
  /** The protected files that the command would write as far as is known before. Absent where nothing is protected. */
  protectedWrites?(request: CommandRequest): Promise<readonly ProtectedWrite[]>;
  /** Throws a WorkspaceError when the directory does not exist. */
  start(request: CommandRequest): Promise<RunningCommand>;
  /** Lets a command continue in the background. Resolves to its id. */
  keep(request: CommandRequest, run: RunningCommand): Promise<string>;
  /** The commands in the background and those that ended recently, as they are now. */
  backgrounds(): Promise<readonly BackgroundCommand[]>;
  /** The commands that a call is waiting for. */
  foreground(): Promise<readonly BackgroundCommand[]>;
  /** Starts a program that stays connected, such as an MCP server. Rejects when it cannot be started. */
  startServer(request: ServerRequest): Promise<ServerProcess>;
  /** Runs a shell command that gets input and returns output. Never rejects. */
  exchange(request: ExchangeRequest): Promise<ExchangeEnd>;
  /** Ends processes that a crashed Burin left behind, once. Resolves to their number. */
  endLeftBehind(): Promise<number>;
  /** Ends everything that still runs. Resolves to what could not be ended. */
  close(): Promise<readonly ProcessEntry[]>;
}

export type SandboxFact =
  | { readonly sandbox: { readonly mode: Exclude<SandboxMode, "off"> } }
  | { readonly sandbox: null; readonly reason: string };

export type FactsGround = Pick<CommandsOptions, "roots" | "environment" | "passEnvironment">;

type Awaitable<T> = T | Promise<T>;

/** The facts about paths that approval needs. Paths are absolute. */
export interface PlaceFacts {
  /** Whether the path, or any file that a shell pattern matches, is really outside the roots. */
  leadsOutside(path: string, isPattern: boolean): Awaitable<boolean>;
  /** The real location of the path, or of each file that the pattern matches. */
  realPaths(path: string, isPattern: boolean): Awaitable<readonly string[]>;
  /** null when there are too many. */
  filesBelow(folder: string): Awaitable<readonly string[] | null>;
  /** null when it is too large. */
  treeBelow(folder: string): Awaitable<TreeBelow | null>;
  /**
   * Names in git's index there, and in the commits that the words name, with spaces or special characters; null
   * when git does not answer.
   */
  oddNamesInGit(folder: string, words: readonly string[]): Awaitable<readonly string[] | null>;
  /**
   * The paths of everything whose content git keeps there: in the index, in all commits, and in what the words name;
   * null when git does not answer, or when a word names content that has no path.
   */
  pathsInGit(folder: string, words: readonly string[]): Awaitable<readonly string[] | null>;
  /** The project's folder in which the program would be found, if it is nowhere else; otherwise null. */
  projectFolderOf(program: string): Awaitable<string | null>;
  /** The top of the work tree that the folder is in, as git names it, or null. Without it `git rev-parse` asks more. */
  workTreeOf?(folder: string): Awaitable<string | null>;
  /** What git would do in that folder besides what its words say, or null. */
  repositoryFault(directory: string, use: GitUse): Awaitable<RepositoryFault | null>;
}
