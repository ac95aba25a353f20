import type { Readable, Writable } from "node:stream";
import { describeError } from "@burin/contract/text/error-message";
import type { SandboxedProgram } from "./limited-program.ts";
import type { ChildEnd } from "./run-process.ts";
import {
  collectLastOutput,
  pauseForInput,
  type ReadResult,
  readToEnd,
  type SupervisedProcess,
  type Supervisor,
  waitUntilDrained,
} from "./supervisor.ts";

export interface ServerRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Variables that are added to a child's usual environment. None is removed, because the user named them. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the program can write only where commands can. */
  readonly sandbox: boolean;
}

/** A program that Burin talks to over its input and output as long as it is needed. */
export interface ServerProcess {
  readonly input: Writable;
  readonly output: Readable;
  readonly ended: Promise<ChildEnd>;
  readErrorTail(): string;
  /** Ends the program and everything that it has started. */
  end(): Promise<void>;
}

const MAX_TAIL_BYTES = 4000;
/** How long a server gets to exit by itself after its input has ended. */
const END_TIMEOUT_MS = 200;

export interface ServerOptions extends Omit<ServerRequest, "sandbox"> {
  /** The program's limits; null when it has none. */
  readonly sandbox: SandboxedProgram | null;
  readonly comSpec: string | undefined;
}

/** Starts the program. Rejects when that fails, for example because the program does not exist. */
export async function startServer(supervisor: Supervisor, start: ServerOptions): Promise<ServerProcess> {
  const { cwd, env, sandbox } = start;
  const run = await supervisor.start({
    ...buildServerProgram(start),
    cwd,
    env,
    writeEnd: null,
    hasInput: true,
    sandbox,
  });
  const { streams, input, ended } = run.child;
  const [output, errors] = streams;
  if (output === undefined || input === null) throw new Error("The server was started without its streams.");
  const errorTail = collectLastOutput(errors, MAX_TAIL_BYTES);
  const areErrorsRead = new Promise((resolve) => errors?.once("close", resolve));
  const endServer = async () => {
    input.end();
    await Promise.race([ended, pauseForInput(END_TIMEOUT_MS)]);
    // End its processes even if it has ended by itself, because it may have started others.
    await run.end();
    // The last error output, which explains the exit, may arrive after the exit event.
    await waitUntilDrained(areErrorsRead, () => errorTail().length);
    await run.release();
  };
  let ending: Promise<void> | null = null;
  return {
    input,
    output,
    ended,
    readErrorTail: errorTail,
    end: () => {
      ending ??= endServer();
      return ending;
    },
  };
}

/** On Windows most servers are started by scripts, which only cmd.exe can run; it is also the shell for a line. */
export function buildServerProgram(
  {
    command,
    args,
    sandbox,
    comSpec = "cmd.exe",
  }: Pick<ServerOptions, "command" | "args" | "sandbox" | "comSpec">,
  isWindows = process.platform === "win32",
) {
  if (!isWindows || sandbox) return { program: command, args, isVerbatim: false };
  const [option, shellLine] = command === "/bin/sh" ? args : [];
  const words = [command, ...args].map((word) => `"${word.replaceAll('"', '""')}"`);
  const line = option === "-c" && shellLine !== undefined ? shellLine : words.join(" ");
  return { program: comSpec, args: ["/d", "/s", "/c", `"${line}"`], isVerbatim: true };
}

export interface ExchangeRequest {
  readonly command: string;
  readonly cwd: string;
  readonly input: string;
  readonly milliseconds: number;
  /** The maximum number of bytes of output that are kept. Of error output, only the last part is kept. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** The limits that the program gets: those of commands, with or without network. */
  readonly limits?: { readonly network: boolean };
}

export interface ExchangeEnd extends Omit<ReadResult, "output" | "errors"> {
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Why the program could not be started. */
  readonly startError: string | null;
}

/** Starts a program, gives it the input, and ends it with everything that it started. Never rejects. */
export async function runExchange(
  start: () => Promise<SupervisedProcess>,
  request: ExchangeRequest,
): Promise<ExchangeEnd> {
  try {
    const { output: stdout, errors: stderr, ...end } = await readToEnd(await start(), request);
    return { ...end, stdout, stderr, startError: null };
  } catch (error) {
    const startError = describeError(error);
    return { stdout: Buffer.alloc(0), stderr: "", exitCode: null, signal: null, stopped: null, startError };
  }
}
