import { withoutInherited } from "./inherited-files.ts";

const MOST_ANSWER_BYTES = 32 * 1024 * 1024;

export interface ProgramOutput {
  readonly output: Buffer;
  /** Its error output when it failed, or why it was ended. */
  readonly fault: string | null;
}

interface Waiting {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly longestMs: number;
  readonly input?: string;
  /** Open files in the place of its input and its output. */
  readonly from?: number;
  readonly to?: number;
}

/**
 * Blocks until the program has answered, so it must be a short one; if it takes too long, it is killed. That costs a
 * quarter of the time that streams of a process take to be made.
 */
export function waitForOutput(
  program: string,
  args: readonly string[],
  { longestMs, input, from, to, ...place }: Waiting,
): ProgramOutput {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const given = from ?? (input === undefined ? "ignore" : "pipe");
  const done = withoutInherited([given, to ?? "pipe", "pipe"], (stdio) =>
    spawnSync(program, args, {
      ...place,
      timeout: longestMs,
      killSignal: "SIGKILL",
      maxBuffer: MOST_ANSWER_BYTES,
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
