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
  /** What commands can reach: `workspace-write` the roots alone, `off` everything. */
  readonly sandbox: SandboxMode;
  /** Folders that commands in the sandbox cannot see, except for roots in them. */
  readonly hide?: readonly string[];
  /** Whether commands in the sandbox may use the network. */
  readonly network: boolean;
  /** Which hosts commands reach when they may use the network; without it, all hosts. */
  readonly egress?: Pick<SessionEgressOptions, "rules" | "ask" | "resolve">;
  /** Variables that are secret although their names do not say so. */
  readonly secretEnvironment: readonly string[];
  /** Whether a command that starts now may change nothing, as in plan mode. */
  readonly isReadOnly?: () => boolean;
  /** Loaded with the first command. */
  readonly secrets?: () => Promise<OutputSecrets>;
}

/** What may not stay in the file with a long output. */
export interface OutputSecrets {
  readonly isIn: (bytes: Buffer) => boolean;
  /** Removes them, after the end of the output. */
  readonly clean: (file: string) => Promise<void>;
}

/** A command line for the shell, and what this one command may do. */
export interface CommandRequest {
  readonly command: string;
  /** Absolute, and known to be inside a root. */
  readonly directory: string;
  /** What the sandbox allows for this one command. */
  readonly exception: "none" | "network" | "unlimited";
  readonly terminal?: boolean;
  /** It is meant to keep running, as a server does. */
  readonly isBackground?: boolean;
  /** It needs the network, and the user allowed these hosts to it; the user may be asked about others. */
  readonly hosts?: readonly string[];
  /** The protected files, by their real absolute paths, that the user's yes lets it write. */
  readonly writes?: readonly string[];
  /** With the exception `network`: it cannot use a proxy, so it gets the network of this machine. */
  readonly needsWholeNetwork?: boolean;
  /** It was allowed because the command, or git in it, only reads, so it must not be able to do more. */
  readonly reads?: "wholly" | "partly";
  /** Absolute paths in the roots that it must not change. */
  readonly readOnly?: readonly string[];
}

/** A protected file, or a folder that holds some, that a command would write. */
export interface ProtectedWrite {
  readonly path: string;
  readonly why: string;
}

/** How the shell itself ended. What it started may still run. */
export interface ShellEnd {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The command never started: the output holds the sandbox's error. */
  readonly wasNotStarted: boolean;
}

type Awaitable<T> = T | Promise<T>;

/** One command, from its start until nothing of it is left. */
export interface RunningCommand {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Resolves when the shell has ended and its own output is here; what it started may continue. */
  readonly shellEnded: Promise<ShellEnd>;
  /** null while the shell runs. */
  readonly shellEnd: ShellEnd | null;
  /** Nothing of it is left, and all output is here. */
  readonly isOver: boolean;
  readonly output: RunningOutput;
  /** Called when the user asks to continue the command in the background while a call waits for it. */
  onLetGo: () => void;
  onOutput: () => void;
  /** Its processes that are alive now. */
  members(): Awaitable<readonly ProcessEntry[]>;
  /** Where its processes wait for connections: `127.0.0.1:8080`. */
  addresses?(): Awaitable<readonly string[]>;
  /** Files it created that would run code later, and that were moved out of the project. */
  takenBack(): Awaitable<readonly TakenBack[]>;
  /** The paths in a text that exist and that it cannot see, because the sandbox has its own temporary folder. */
  hiddenPaths?(text: string): Awaitable<readonly string[]>;
  /** The connections that the network proxy refused, one sentence each. Absent without a proxy. */
  refusedHosts?(): Awaitable<readonly string[]>;
  /** How long it has waited for the user to answer about hosts, in milliseconds. */
  waitedMs?(): number;
  /**
   * Restores what the user wants to keep, or leaves it outside the project; it is then no longer in `takenBack`. Absent
   * where nothing is ever taken back.
   */
  settleTaken?(taken: readonly TakenBack[], isKept: boolean): Awaitable<void>;
  /** Types into its terminal. Returns false when it has none, or has ended. */
  type(text: string): Awaitable<boolean>;
  /** Resolves when a program that got input has been silent for a moment. */
  quiet(): Promise<void>;
  endAfter(milliseconds: number): void;
  /** Ends all of it. Resolves to what could not be ended. */
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
