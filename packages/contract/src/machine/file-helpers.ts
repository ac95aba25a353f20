/**
 * What work with files needs from the side that starts processes: programs such as `grep` and `tar`, and a word to
 * the guards of commands. The caller that opens files hands it in.
 */
export interface FileHelpers {
  /** From now on no program comes from these folders: a repository must not bring its own `git`. */
  leaveOutFolders(roots: readonly string[]): void;
  /** The folders of PATH from which programs come. */
  programPath(path: string | undefined): string;
  /** Runs a program that starts no others, found in the PATH of its own environment. Rejects when it cannot start. */
  runProgram(request: ProgramRequest): Promise<ProgramEnd>;
  /** Says that the user allows this write, so that no guard takes the file for a command's work. */
  allowWrite(path: string, home: string): Promise<AllowedWrite>;
}

export interface ProgramRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Of its output; a program that prints more is ended. */
  readonly mostBytes: number;
}

export interface ProgramEnd {
  readonly exitCode: number | null;
  readonly output: Buffer;
  /** The last part of its error output. */
  readonly errors: string;
  /** Why Burin ended it: its time, its size, or the signal. */
  readonly stopped: "time" | "size" | "abort" | null;
}

export interface AllowedWrite {
  /** Call before the file with the new content gets its name. */
  permit(newContent: string): void;
  end(): void;
}
