import type { Readable, Writable } from "node:stream";
import type { SandboxPlan } from "../sandbox/sandbox.ts";
import type { ChildEnd } from "./run-process.ts";
import { lastOf, pauseAndRead, type Supervisor } from "./supervisor.ts";

export interface ServerRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Beside what every child of Burin gets; the user named these, so nothing is taken out. */
  readonly env: Readonly<Record<string, string>>;
  /** It can write where commands can, and nowhere else. */
  readonly sandbox: boolean;
}

/** A program that is spoken with over its input and output for as long as it is needed. */
export interface ServerProcess {
  readonly input: Writable;
  readonly output: Readable;
  readonly ended: Promise<ChildEnd>;
  /** The last that it wrote to its error stream. */
  errorTail(): string;
  /** Ends it and everything it has started. */
  end(): Promise<void>;
}

/** How much of the error stream is kept, for messages. */
const MOST_TAIL_BYTES = 4000;
/** A server whose input ends is to end by itself; this long it may take. */
const PATIENCE_MS = 200;

export interface ServerStart extends Omit<ServerRequest, "sandbox"> {
  /** What gives it its limits; null when it has none. */
  readonly sandbox: SandboxPlan | null;
  readonly comSpec: string | undefined;
}

/** Rejects when the program cannot be started, e.g. because there is none of that name. */
export async function startServer(supervisor: Supervisor, start: ServerStart): Promise<ServerProcess> {
  const { cwd, env, sandbox } = start;
  const run = await supervisor.start({
    ...serverProgram(start),
    cwd,
    env,
    writeEnd: null,
    hasInput: true,
    sandbox,
  });
  const { streams, input, ended } = run.child;
  const [output, errors] = streams;
  if (output === undefined || input === null) throw new Error("The server was started without its streams.");
  const end = async () => {
    input.end();
    await Promise.race([ended, pauseAndRead(PATIENCE_MS)]);
    // Also when it has ended by itself: it may have started others.
    await run.end();
    run.release();
  };
  let ending: Promise<void> | null = null;
  return {
    input,
    output,
    ended,
    errorTail: lastOf(errors, MOST_TAIL_BYTES),
    end: () => {
      ending ??= end();
      return ending;
    },
  };
}

/** On Windows most servers are started through scripts, which only its shell can run. */
function serverProgram({ command, args, sandbox, comSpec = "cmd.exe" }: ServerStart) {
  if (process.platform !== "win32" || sandbox) return { program: command, args, isVerbatim: false };
  const line = [command, ...args].map((word) => `"${word.replaceAll('"', '""')}"`).join(" ");
  return { program: comSpec, args: ["/d", "/s", "/c", `"${line}"`], isVerbatim: true };
}
