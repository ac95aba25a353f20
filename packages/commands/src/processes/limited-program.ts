import type { ProcessEntry } from "./process-table.ts";
import type { Child } from "./run-process.ts";

/** What a command has created and could not keep. */
export interface TakenBack {
  readonly path: string;
  readonly why: string;
  /** null when it could not be moved there. */
  readonly kept: string | null;
  /** It is the same as in the last commit of its repository: git created it, and misses it now. */
  readonly isCommitted?: boolean;
}

/** The program to start instead of another one, which then runs in limits, and what looks after it. */
export interface LimitedProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** On the first channel, bubblewrap says whether it has started the command. */
  readonly channels: number;
  /** What the program reads from the descriptors after the channels. */
  readonly files?: readonly string[];
  readonly onStart?: (child: Child) => void;
  /** null for one in a space of its own, all of which ends with its first process. */
  readonly visit: VisitOfSpace | null;
  /** Takes back what the command has created under protected names so far, and returns all that was taken back. */
  look(): Promise<readonly TakenBack[]>;
  /** The same for the last time; call it when nothing of the command is left. */
  release(): Promise<readonly TakenBack[]>;
  /** The same where nothing can wait any more, as at the exit of the process. */
  releaseNow(): void;
}

/** The processes of one command in a space that several share. */
interface VisitOfSpace {
  members(): readonly ProcessEntry[];
  /** Whether anything of the command may be alive. */
  hasLeft(): boolean;
  /** Calls back once nothing of it is alive. */
  whenClear(clear: () => void): void;
  killSpace(): void;
}
