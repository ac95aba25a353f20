import type { SandboxMode } from "../sandbox/sandbox.ts";
import type { TakenBack } from "../sandbox/taken-back.ts";
import type { OutputSoFar } from "./command-output.ts";
import type { ProcessEntry } from "./process-table.ts";

export interface CommandsOptions {
  /** The folders that work stays in, by their real paths. */
  readonly roots: readonly string[];
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly sandbox: SandboxMode;
  /** Folders that commands in the sandbox do not see, but for the roots in them. */
  readonly hide?: readonly string[];
  /** Commands have the network also inside the sandbox. */
  readonly network: boolean;
  /** Variables that commands get although they look like secrets. */
  readonly passEnvironment: readonly string[];
  /** Variables that hold secrets although their names are not known for it. */
  readonly secretEnvironment: readonly string[];
  /** Whether a command that starts now may change nothing, as in plan mode. */
  readonly isReadOnly?: () => boolean;
  /** Takes secrets out of the file with a long output, when nothing more comes. */
  readonly cleanOutput?: (file: string) => Promise<void>;
}

export interface CommandRequest {
  readonly command: string;
  /** Absolute, and known to be inside a root. */
  readonly directory: string;
  /** What the sandbox lets through this once. */
  readonly exception: "none" | "network" | "unlimited";
  /** The command has a terminal of its own. */
  readonly terminal?: boolean;
  /** It was let through because it, or git in it, does nothing but read: then it gets no chance to do more. */
  readonly reads?: "wholly" | "partly";
}

/** How the shell itself ended. What it started may live on. */
export interface ShellEnd {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** It never got as far as the command: what the sandbox says of it stands in the output. */
  readonly wasNotStarted: boolean;
}

type Awaitable<T> = T | Promise<T>;

/** One command from its start until nothing of it is left. */
export interface RunningCommand {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Resolves when the shell has ended and its own output is here; what it left may go on. */
  readonly shellEnded: Promise<ShellEnd>;
  /** null while the shell runs. */
  readonly shellEnd: ShellEnd | null;
  /** Nothing of it is left, and all output is here. */
  readonly isOver: boolean;
  readonly output: RunningOutput;
  /** Called when a user wants whoever waits for it to let it go on by itself. */
  onLetGo: () => void;
  /** Called with each piece of output that came. */
  onOutput: () => void;
  /** The processes of it that are alive now. */
  members(): Awaitable<readonly ProcessEntry[]>;
  /** What it made that runs code later, and was taken out of the project. */
  takenBack(): Awaitable<readonly TakenBack[]>;
  /** Types into its terminal; false when it has none, or has ended. */
  type(text: string): Awaitable<boolean>;
  /** Until a program that was spoken to has nothing more to say for a moment. */
  quiet(): Promise<void>;
  endAfter(milliseconds: number): void;
  /** Ends all of it. Resolves to what could not be ended. */
  end(): Promise<readonly ProcessEntry[]>;
}

interface RunningOutput {
  readonly bytes: number;
  soFar(): Awaitable<OutputSoFar>;
  /** Waits until a file that holds a long output holds what came so far. */
  flush(): Promise<void>;
}

/** A command that goes on by itself. */
export interface BackgroundCommand<Run extends RunningCommand = RunningCommand> {
  readonly id: string;
  readonly request: CommandRequest;
  readonly run: Run;
}
