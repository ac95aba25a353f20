import type { SandboxMode } from "../sandbox/sandbox.ts";
import type { CommandRun } from "./command-run.ts";
import type { ShellProgram } from "./shell-program.ts";

export interface CommandsOptions {
  /** The folders that work stays in, by their real paths. */
  readonly roots: readonly string[];
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly sandbox: SandboxMode;
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

/** A command that goes on by itself. */
export interface BackgroundCommand {
  readonly id: string;
  readonly request: CommandRequest;
  readonly run: CommandRun;
}

/** What every command of a session has in common. */
export interface CommandsGround {
  readonly shell: ShellProgram;
  /** Long outputs are kept here, for reading. */
  readonly outputFolder: string;
}
