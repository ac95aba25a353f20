import type { ProcessEntry } from "./process-table.ts";
import type { Child } from "./run-process.ts";

/** Something that a command created and that was moved out of the project. */
export interface TakenBack {
  readonly path: string;
  readonly why: string;
  /** Where the file is now; null when it could not be moved there. */
  readonly kept: string | null;
  /** true if it equals the version in the last commit: git created it, and now reports it as deleted. */
  readonly isCommitted?: boolean;
}

/**
 * The program to start in place of another, which then runs in the sandbox, and the guard that checks what it leaves
 * behind.
 */
export interface SandboxedProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How many channels the program gets. On the first one, bubblewrap reports whether it has started the command. */
  readonly channels: number;
  /** The files that the program gets opened on the descriptors after the channels. */
  readonly files?: readonly string[];
  readonly onStart?: (child: Child) => void;
  /** null for a program in its own process namespace, where everything ends with the first process. */
  readonly visit: SpaceProcesses | null;
  /** Takes back what the command has created under protected names so far, and returns all that was taken back. */
  look(): Promise<readonly TakenBack[]>;
  /** Takes back everything for the last time. Call it when no process of the command is left. */
  release(): Promise<readonly TakenBack[]>;
  /** Takes back everything without waiting, for the exit of this process. */
  releaseNow(): void;
}

/** The processes of one command in a space that several share. */
interface SpaceProcesses {
  members(): readonly ProcessEntry[];
  /** Whether any process of the command may be alive. */
  hasLiving(): boolean;
  /** Calls back once no process of the command is alive. */
  whenClear(clear: () => void): void;
  killSpace(): void;
}
