import { startWithoutInherited } from "./inherited-files.ts";

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export interface ProgramOutput {
  readonly output: Buffer;
  /** The program's error output when it failed, or why it was ended. */
  readonly fault: string | null;
}

interface WaitOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly longestMs: number;
  readonly input?: string;
  /** File descriptors to use as its input and output. */
  readonly from?: number;
  readonly to?: number;
}

/**
 * Runs a program and blocks until it has answered, so use it only for short programs; a slow one is killed. This takes
 * a quarter of the time of asynchronous streams.
 */
export function runProgramSync(
  program: string,
  args: readonly string[],
  { longestMs, input, from, to, ...place }: WaitOptions,
): ProgramOutput {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const given = from ?? (input === undefined ? "ignore" : "pipe");
  const done = startWithoutInherited([given, to ?? "pipe", "pipe"], (stdio) =>
    spawnSync(program, args, {
      ...place,
      timeout: longestMs,
      killSignal: "SIGKILL",
      maxBuffer: MAX_ANSWER_BYTES,
      stdio,
      ...(input === undefined ? {} : { input }),
      windowsHide: true,
    }),
  );
  const output = done.stdout ?? Buffer.alloc(0);
  const { error, status, stderr } = done;
  if (error === undefined) return { output, fault: status === 0 ? null : String(stderr) || "it failed" };
  return { output, fault: error.message };
}
