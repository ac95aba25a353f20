import type { PendingWrite } from "@burin/files/workspace/replace-file";
import type { ProcessEntry } from "../processes/process-table.ts";
import type {
  ExchangeEnd,
  ExchangeRequest,
  ServerProcess,
  ServerRequest,
} from "../processes/server-processes.ts";
import type { ShellProgram } from "../processes/shell-program.ts";
import type { SandboxMode } from "../sandbox/sandbox.ts";
import type { BackgroundCommand, CommandRequest, ProtectedWrite, RunningCommand } from "./command-request.ts";

/** The commands of one session. */
export interface MachineCommands {
  readonly shell: ShellProgram;
  readonly roots: readonly string[];
  /** Why no command can run at all; there is then no tool for commands. Absent or null where commands can run. */
  readonly cannotRun?: string | null;
  /** Whether commands can have a terminal. */
  readonly hasTerminal: boolean;
  readonly hasNetwork: boolean;
  /** true if commands can reach some hosts and not others. */
  readonly reachesByName?: boolean;
  hasNetworkFor(request: CommandRequest): boolean;
  /** Returns the sandbox that commands, or this command, would run in. */
  sandbox(request?: CommandRequest): Promise<CommandSandbox>;
  /** Whether a command can reach the servers that earlier ones of this session have started. */
  sharesServers?(): Promise<boolean>;
  /** Creates a folder for short-lived files on this computer. Absent if commands run on another one. */
  temporaryFolder?(): Promise<string>;
  /** Called before each write in a folder of this computer; the next Burin removes what a crash leaves of it. */
  beginWrite?(folder: string): Promise<PendingWrite>;
  /** The protected files that the command would write as far as is known before. Absent where nothing is protected. */
  protectedWrites?(request: CommandRequest): Promise<readonly ProtectedWrite[]>;
  /** Throws a WorkspaceError when the directory does not exist. */
  start(request: CommandRequest): Promise<RunningCommand>;
  /** Lets a command continue in the background. Resolves to its id there. */
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

/** The sandbox that commands run in, or why there is none. */
export type CommandSandbox =
  | { readonly sandbox: { readonly mode: Exclude<SandboxMode, "off"> } }
  | { readonly sandbox: null; readonly reason: string };
