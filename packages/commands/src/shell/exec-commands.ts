import { countNewlines } from "@burin/contract/text/count-newlines";
import { describeError } from "@burin/contract/text/error-message";
import type { ProcessEntry } from "../processes/process-table.ts";
import type { ExchangeEnd, ExchangeRequest } from "../processes/server-processes.ts";
import type { OutputSnapshot } from "./command-output.ts";
import type {
  BackgroundCommand,
  CommandRequest,
  CommandsOptions,
  RunningCommand,
  ShellEnd,
} from "./command-request.ts";
import type { MachineCommands } from "./machine-commands.ts";

/** The options of one command on another machine. */
export interface ExecOptions {
  /** The folder to run it in. */
  readonly cwd: string;
  /** Aborts when the command must end, with everything that it has started. */
  readonly signal: AbortSignal;
  /** Called with the output of both streams as it arrives. Such output must not be in the result again. */
  readonly onOutput: (piece: Uint8Array | string) => void;
}

/** How a command has ended. */
export interface ExecEnd {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal?: string | null;
  /** The output that `onOutput` did not get before. */
  readonly stdout?: Uint8Array | string;
  readonly stderr?: Uint8Array | string;
}

/** Runs a command line to its end. Rejects when it could not be run. */
export type ExecFunction = (command: string, options: ExecOptions) => Promise<ExecEnd>;

const HEAD_BYTES = 30_000;
const TAIL_BYTES = 64 * 1024;
/** How long a command may take to end after its signal. */
const PATIENCE_MS = 5000;
const NO_FILE = "the machine has no place for long outputs; let the command write to a file";
const NO_EXEC = "This machine runs no commands.";

/** Runs commands through a single function. Without it there are no commands. */
export function execCommands(exec: ExecFunction | undefined, { roots }: CommandsOptions): MachineCommands {
  const running = new Map<ExecRun, CommandRequest>();
  const kept: BackgroundCommand[] = [];
  const startRun = async (request: CommandRequest) => {
    if (exec === undefined) throw new Error(NO_EXEC);
    const run = new ExecRun(exec, request);
    running.set(run, request);
    void run.shellEnded.then(() => running.delete(run));
    return run;
  };
  const isInBackground = (run: RunningCommand) => kept.some((one) => one.run === run);
  return {
    shell: { kind: "sh", title: "sh (POSIX, not bash)", path: "sh", args: ["-c"], isVerbatim: false },
    roots,
    cannotRun: exec === undefined ? NO_EXEC : null,
    hasTerminal: false,
    hasNetwork: true,
    hasNetworkFor: () => true,
    sandbox: async () => ({ sandbox: null, reason: "it runs on another machine" }),
    start: startRun,
    keep: async (request, run) => {
      const known = kept.find((one) => one.run === run);
      if (known !== undefined) return known.id;
      const id = `bg_${kept.length + 1}`;
      kept.push({ id, request, run });
      return id;
    },
    backgrounds: async () => kept,
    foreground: async () =>
      [...running]
        .filter(([run]) => !isInBackground(run))
        .map(([run, request]) => ({ id: "", request, run })),
    startServer: async () => {
      throw new Error(
        "This machine cannot start MCP servers: its exec function only runs a command to its end.",
      );
    },
    exchange: (request) => runExchange(exec, request),
    endLeftBehind: async () => 0,
    close: async () => (await Promise.all([...running.keys()].map((run) => run.end()))).flat(),
  };
}

/** Runs a command that gets input, such as a hook: a pipe of the shell provides it. Never rejects. */
async function runExchange(exec: ExecFunction | undefined, request: ExchangeRequest): Promise<ExchangeEnd> {
  const { command, cwd, input, milliseconds, maxBytes, signal: given } = request;
  const time = AbortSignal.timeout(milliseconds);
  const size = new AbortController();
  const pieces: Buffer[] = [];
  const onOutput = (piece: Uint8Array | string) => {
    pieces.push(Buffer.from(piece as string));
    if (pieces.reduce((sum, { length }) => sum + length, 0) > maxBytes) size.abort();
  };
  const findStopReason = (): ExchangeEnd["stopped"] =>
    given.aborted ? "abort" : time.aborted ? "time" : size.signal.aborted ? "size" : null;
  const line = input === "" ? command : `printf %s ${quotePosixWord(input)} | {\n${command}\n}`;
  try {
    if (exec === undefined) throw new Error(NO_EXEC);
    const signal = AbortSignal.any([given, time, size.signal]);
    const { exitCode, signal: by, stdout, stderr = "" } = await exec(line, { cwd, signal, onOutput });
    if (stdout !== undefined) onOutput(stdout);
    const errors = Buffer.from(stderr as string).toString("utf8");
    const output = Buffer.concat(pieces).subarray(0, maxBytes);
    const end = {
      exitCode,
      signal: (by ?? null) as NodeJS.Signals | null,
      stopped: findStopReason(),
      startError: null,
    };
    return { stdout: output, stderr: errors, ...end };
  } catch (error) {
    const isStopped = findStopReason() !== null;
    const end = { exitCode: null, signal: null, stopped: findStopReason() } as const;
    return {
      stdout: Buffer.concat(pieces),
      stderr: "",
      ...end,
      startError: isStopped ? null : describeError(error),
    };
  }
}

/** Quotes one word for a POSIX shell. */
export function quotePosixWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** One command on another machine. Its output is kept in memory; of a long one, the beginning and the end. */
class ExecRun implements RunningCommand {
  readonly startedAt = Date.now();
  readonly shellEnded: Promise<ShellEnd>;
  readonly output: RunningCommand["output"];
  shellEnd: ShellEnd | null = null;
  onLetGo = () => {};
  onOutput = () => {};
  readonly #closing = new AbortController();
  readonly #command: string;
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #bytes = 0;
  #newlines = 0;

  constructor(exec: ExecFunction, { command, directory }: CommandRequest) {
    this.#command = command;
    const run = this;
    this.output = {
      get bytes() {
        return run.#bytes;
      },
      soFar: () => this.#soFar(),
      flush: async () => {},
    };
    this.shellEnded = this.#run(exec, directory);
  }

  get isOver(): boolean {
    return this.shellEnd !== null;
  }

  members(): readonly ProcessEntry[] {
    return [];
  }

  takenBack(): readonly never[] {
    return [];
  }

  type(): boolean {
    return false;
  }

  async quiet(): Promise<void> {}

  endAfter(milliseconds: number): void {
    const timer = setTimeout(() => void this.end(), milliseconds);
    timer.unref();
    void this.shellEnded.then(() => clearTimeout(timer));
  }

  /** Ends the command. One that does not end in time may still run on the other machine. */
  async end(): Promise<readonly ProcessEntry[]> {
    this.#closing.abort();
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), PATIENCE_MS).unref());
    if ((await Promise.race([this.shellEnded, late])) !== null) return [];
    return [{ pid: 0, parent: 0, group: 0, session: 0, started: "", name: this.#command, isZombie: false }];
  }

  async #run(exec: ExecFunction, cwd: string): Promise<ShellEnd> {
    const { signal } = this.#closing;
    const onOutput = (piece: Uint8Array | string) => this.#add(piece);
    try {
      const {
        exitCode,
        signal: by = null,
        stdout,
        stderr,
      } = await exec(this.#command, { cwd, signal, onOutput });
      for (const piece of [stdout, stderr]) if (piece !== undefined) this.#add(piece);
      this.shellEnd = { exitCode, signal: by, wasNotStarted: false };
    } catch (error) {
      this.#add(`${describeError(error)}\n`);
      this.shellEnd = { exitCode: null, signal: signal.aborted ? "SIGKILL" : null, wasNotStarted: false };
    }
    return this.shellEnd;
  }

  #add(piece: Uint8Array | string): void {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : Buffer.from(piece);
    const room = Math.max(0, HEAD_BYTES - this.#head.length);
    this.#head = Buffer.concat([this.#head, bytes.subarray(0, room)]);
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(room)]).subarray(-TAIL_BYTES);
    this.#bytes += bytes.length;
    this.#newlines += countNewlines(bytes, 0);
    this.onOutput();
  }

  #soFar(): OutputSnapshot {
    const isWhole = this.#tail.length === 0;
    return {
      head: this.#head,
      tail: this.#tail,
      bytes: this.#bytes,
      newlines: this.#newlines,
      file: null,
      fileFault: isWhole ? null : NO_FILE,
    };
  }
}
