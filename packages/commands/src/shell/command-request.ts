import type { SessionEgressOptions } from "../egress/session-egress.ts";
import type { FactsOptions } from "../processes/command-surroundings.ts";
import type { TakenBack } from "../processes/limited-program.ts";
import type { ProcessEntry } from "../processes/process-table.ts";
import type { SandboxMode } from "../sandbox/sandbox.ts";
import type { OutputSnapshot } from "./command-output.ts";

export { holdsSecret } from "../processes/secret-scan.ts";
export type { TakenBack };

/** What the commands of one session share: the sandbox, the network, the environment. */
export interface CommandsOptions extends FactsOptions {
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  /** What commands can write to: `workspace-write` the roots alone, `off` everything. */
  readonly sandbox: SandboxMode;
  /** Folders that commands in the sandbox cannot see, except for roots in them. */
  readonly hide?: readonly string[];
  /** Whether commands in the sandbox may use the network. */
  readonly network: boolean;
  /** Which hosts commands can reach when they may use the network. Absent: all hosts. */
  readonly egress?: Pick<SessionEgressOptions, "rules" | "ask" | "resolve">;
  /** Variables that are secret although their names do not say so. */
  readonly secretEnvironment: readonly string[];
  /** Whether a command that starts now may change nothing, as in plan mode. */
  readonly isReadOnly?: () => boolean;
  /** Loads what the first command needs. */
  readonly secrets?: () => Promise<OutputSecrets>;
}

/** The secrets that must not stay in the file with a long output. */
export interface OutputSecrets {
  readonly isIn: (bytes: Buffer) => boolean;
  /** Removes the secrets from the file, after the end of the output. */
  readonly clean: (file: string) => Promise<void>;
}

/** A command line for the shell, and what this one command may do. */
export interface CommandRequest {
  readonly command: string;
  /** The folder to run in: absolute, and known to be inside a root. */
  readonly directory: string;
  /** What the sandbox allows for this one command. */
  readonly exception: "none" | "network" | "unlimited";
  readonly terminal?: boolean;
  /** true if the command is meant to keep running, as a server does. */
  readonly isBackground?: boolean;
  /** The hosts that the user allowed this command to reach. The user may be asked about others. */
  readonly hosts?: readonly string[];
  /** The protected files, by their real absolute paths, that the user's yes lets it write. */
  readonly writes?: readonly string[];
  /** true if the command cannot use a proxy. With the exception `network`, it then gets the network of this machine. */
  readonly needsWholeNetwork?: boolean;
  /**
   * How much of the command must only read, because it was allowed for that: all of it (`wholly`), or git in it
   * (`partly`).
   */
  readonly reads?: "wholly" | "partly";
  /** Absolute paths in the roots that the command must not change. */
  readonly readOnly?: readonly string[];
}

/** A protected file, or a folder with protected files, that a command would write. */
export interface ProtectedWrite {
  readonly path: string;
  readonly why: string;
}

/** How the shell itself ended. Programs that it started may still run. */
export interface ShellEnd {
  /** The exit code; null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** true if the command never started. The output then has the sandbox's error. */
  readonly wasNotStarted: boolean;
}

type Awaitable<T> = T | Promise<T>;

/** One command, from its start until none of its processes is left. */
export interface RunningCommand {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Resolves when the shell has ended and its own output has arrived. Programs that it started may continue. */
  readonly shellEnded: Promise<ShellEnd>;
  /** null while the shell runs. */
  readonly shellEnd: ShellEnd | null;
  /** true when no process of the command is left and all output has arrived. */
  readonly isOver: boolean;
  readonly output: RunningOutput;
  /** Called when the user asks to continue the command in the background while a call waits for it. */
  onLetGo: () => void;
  onOutput: () => void;
  /** Returns the command's processes that are alive now. */
  members(): Awaitable<readonly ProcessEntry[]>;
  /** Returns the addresses at which its processes wait for connections, such as `127.0.0.1:8080`. */
  addresses?(): Awaitable<readonly string[]>;
  /** Files it created that would run code later, and that were moved out of the project. */
  takenBack(): Awaitable<readonly TakenBack[]>;
  /**
   * Returns the existing paths in a text that the command cannot see, because the sandbox has its own temporary folder.
   */
  hiddenPaths?(text: string): Awaitable<readonly string[]>;
  /** The paths beside the project that it has written, but only in the sandbox's own temporary folder. */
  strayPaths?(command: string): Awaitable<readonly string[]>;
  /** The connections that the network proxy refused, one sentence each. Absent without a proxy. */
  refusedHosts?(): Awaitable<readonly string[]>;
  /** Returns how many milliseconds the command has waited for the user to answer about hosts. */
  waitedMs?(): number;
  /**
   * Restores the files that the user wants to keep, or leaves them outside the project. They then leave `takenBack`.
   * Absent where nothing is ever taken back.
   */
  settleTaken?(taken: readonly TakenBack[], isKept: boolean): Awaitable<void>;
  /** Types into the command's terminal. Returns false when it has none, or has ended. */
  type(text: string): Awaitable<boolean>;
  /** Resolves when a program that got input has been silent for a moment. */
  quiet(): Promise<void>;
  endAfter(milliseconds: number): void;
  /** Ends all processes of the command. Resolves to what could not be ended. */
  end(): Promise<readonly ProcessEntry[]>;
}

interface RunningOutput {
  readonly bytes: number;
  soFar(): Awaitable<OutputSnapshot>;
  /** Waits until the output's file holds everything received so far. */
  flush(): Promise<void>;
}

/** A command that no call waits for, with the id that the model uses. */
export interface BackgroundCommand<Run extends RunningCommand = RunningCommand> {
  readonly id: string;
  readonly request: CommandRequest;
  readonly run: Run;
}
