/**
 * What file access needs from the code that starts processes: programs such as `grep` and `tar`, and a way to announce
 * allowed writes to the guards of running commands. The code that opens files passes it in.
 */
export interface FileHelpers {
  /** Excludes these folders from the search for programs, so that a repository cannot supply its own `git`. */
  leaveOutFolders(roots: readonly string[]): void;
  /** Returns the PATH without the excluded folders. */
  programPath(path: string | undefined): string;
  /** Runs a program that starts no other programs. Looks it up in the PATH of `env`. Rejects when it cannot start. */
  runProgram(request: ProgramRequest): Promise<ProgramEnd>;
  /** Announces a write that the user has allowed, so that the guards do not blame a command for it. */
  allowWrite(path: string, home: string): Promise<AllowedWrite>;
}

export interface ProgramRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** The maximum number of bytes of output. A program that prints more is stopped. */
  readonly maxBytes: number;
}

export interface ProgramEnd {
  readonly exitCode: number | null;
  readonly output: Buffer;
  /** The last part of what it wrote to stderr. */
  readonly errors: string;
  /** Why Burin stopped the program: it ran too long, printed too much, or the signal aborted. */
  readonly stopped: "time" | "size" | "abort" | null;
}

export interface AllowedWrite {
  /** Must be called before the new content appears under the file's name. */
  permit(newContent: string): void;
  end(): void;
}
