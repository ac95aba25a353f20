import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { startTimeout } from "@burin/contract/async/wait";
import type { ProgramRequest } from "@burin/contract/machine/file-helpers";
import { withFallback } from "@burin/contract/with-fallback";
import { randomName } from "@burin/files/disk/own-files";
import { runAtExit } from "./at-exit.ts";
import { findHelper } from "./helper-program.ts";
import type { SandboxedProgram, TakenBack } from "./limited-program.ts";
import { ProcessLedger } from "./process-ledger.ts";
import { findProcess, listProcesses, type ProcessEntry, readLastPid } from "./process-table.ts";
import { endTree, findMembers, RUN_VARIABLE } from "./process-tree.ts";
import {
  type Child,
  type ChildEnd,
  type ChildRequest,
  endWindowsTree,
  killNow,
  startChild,
} from "./run-process.ts";

export interface StartRequest extends Omit<ChildRequest, "channels" | "files"> {
  /**
   * The sandboxed program to start instead of the given one. It is released when no process is left, even if it never
   * started.
   */
  readonly sandbox: SandboxedProgram | null;
  readonly terminal?: boolean;
}

/** Tracks everything that a session has started: in memory, for a normal exit, and on disk, for after a crash. */
export class Supervisor {
  readonly ledger: ProcessLedger;
  readonly #inherited: string | undefined;
  readonly #systemRoot: string | undefined;
  readonly #running = new Set<SupervisedProcess>();
  #count = 0;
  #hasEnded = false;

  constructor({ home, environment }: { readonly home: string; readonly environment: NodeJS.ProcessEnv }) {
    this.ledger = new ProcessLedger(home);
    this.#inherited = environment[RUN_VARIABLE];
    this.#systemRoot = environment.SystemRoot;
  }

  /** Rejects when the program cannot be started. */
  async start(request: StartRequest): Promise<SupervisedProcess> {
    if (this.#hasEnded) {
      await request.sandbox?.release();
      throw new Error(CLOSED_MESSAGE);
    }
    const run = await this.#startProcess(request);
    if (!this.#hasEnded) return run;
    await run.end();
    throw new Error(CLOSED_MESSAGE);
  }

  async #startProcess({ sandbox, terminal, ...request }: StartRequest): Promise<SupervisedProcess> {
    this.#count += 1;
    const runId = `${this.ledger.id}.${this.#count}`;
    const mark = this.#inherited ? `${this.#inherited} ${runId}` : runId;
    // Write the ledger before the program starts: Burin may be killed before it can note the pid.
    this.ledger.note();
    try {
      const start = terminal ? (await import("./terminal-process.ts")).startInTerminal : startChild;
      const child = await start({
        ...request,
        ...(sandbox === null ? {} : { program: sandbox.program, args: sandbox.args }),
        env: { ...request.env, ...sandbox?.env, [RUN_VARIABLE]: mark },
        channels: sandbox?.channels ?? 0,
        files: sandbox?.files ?? [],
      });
      sandbox?.onStart?.(child);
      const removeRun = () => this.#running.delete(run);
      const run: SupervisedProcess = new SupervisedProcess(child, {
        runId,
        sandbox,
        systemRoot: this.#systemRoot,
        onGone: removeRun,
      });
      this.ledger.note({ pid: child.pid, started: run.started });
      this.#running.add(run);
      return run;
    } catch (error) {
      await sandbox?.release();
      throw error;
    }
  }

  /** Ends everything that still runs or is about to start. Resolves to what could not be ended. */
  async end(): Promise<readonly ProcessEntry[]> {
    this.#hasEnded = true;
    return (await Promise.all([...this.#running].map((run) => run.end()))).flat();
  }
}

const CLOSED_MESSAGE = "Nothing was run: this toolbox or session is closed.";

interface Supervision {
  readonly runId: string;
  readonly sandbox: SandboxedProgram | null;
  /** The folder of Windows. */
  readonly systemRoot: string | undefined;
  readonly onGone: () => void;
}

/** A process together with everything that it has started, wherever those processes are by now. */
export class SupervisedProcess {
  readonly child: Child;
  readonly startedAt = Date.now();
  readonly id: string;
  readonly #known: Map<number, string>;
  readonly #sandbox: SandboxedProgram | null;
  readonly #systemRoot: string | undefined;
  readonly #onGone: () => void;
  readonly #forget: () => void;
  #ending: Promise<readonly ProcessEntry[]> | null = null;
  #taken: Promise<readonly TakenBack[]> | null = null;
  #isReleased = false;

  constructor(child: Child, { runId, sandbox, systemRoot, onGone }: Supervision) {
    this.child = child;
    this.id = runId;
    this.#known = new Map([[child.pid, findProcess(child.pid)?.started ?? ""]]);
    this.#sandbox = sandbox;
    this.#systemRoot = systemRoot;
    this.#onGone = onGone;
    this.#forget = runAtExit(() => {
      killNow(this.#marks, systemRoot);
      sandbox?.visit?.killSpace();
      sandbox?.releaseNow();
    });
  }

  get #marks() {
    const visit = this.#sandbox?.visit;
    return { runId: this.id, known: this.#known, ...(visit && { more: () => visit.members() }) };
  }

  /** The start time. Together with the process id, it identifies one process for good. */
  get started(): string {
    return this.#known.get(this.child.pid) ?? "";
  }

  /** Whether any of the processes may be alive. Fast if no other process was started on the machine in the meantime. */
  mayStillRun(): boolean {
    if (this.#sandbox?.visit) return this.#sandbox.visit.hasLiving();
    const isAlone = Date.now() - this.startedAt < PID_REUSE_MS && readLastPid() === this.child.pid;
    return (!isAlone || signalGroup(this.child.pid, 0)) && this.members().length > 0;
  }

  /** Returns its living processes. In a session's shared space, these are the command's own, with their pids there. */
  members(): readonly ProcessEntry[] {
    if (this.#sandbox?.visit) return this.#sandbox.visit.members();
    const members = findMembers(this.#marks, listProcesses());
    for (const { pid, started } of members) this.#known.set(pid, started);
    return members;
  }

  /** Asks all processes to end, and kills the rest. Resolves to what could not be ended. */
  end(): Promise<readonly ProcessEntry[]> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<readonly ProcessEntry[]> {
    if (process.platform === "win32") endWindowsTree(this.child.pid, this.#systemRoot);
    const left = await endTree(this.#marks);
    await Promise.race([this.child.ended, pause(500)]);
    return left;
  }

  /** Files that the process created, that would run code later and that were moved out of the project. */
  async readTakenBack(): Promise<readonly TakenBack[]> {
    return this.#taken ?? this.#sandbox?.look() ?? [];
  }

  /**
   * Call this when no process is left, or when the process is no longer watched. Its guard stays while any process is
   * alive; otherwise this resolves after the last check.
   */
  async release(): Promise<void> {
    if (!this.#isReleased) {
      this.#isReleased = true;
      for (const stream of [...this.child.channels, ...this.child.streams]) stream.destroy();
      if (this.#sandbox?.visit) this.#sandbox.visit.whenClear(() => this.#releaseSandbox());
      else this.#releaseSandbox();
    }
    await this.#taken;
  }

  #releaseSandbox(): void {
    const taken = this.#sandbox?.release() ?? Promise.resolve([]);
    this.#taken = taken.finally(() => {
      this.#forget();
      this.#onGone();
    });
    // The caller that awaits the promise gets the error.
    this.#taken.catch(() => {});
  }
}

/** No system can use up all its pids and reuse one in less time than this. */
const PID_REUSE_MS = 1000;

/** Returns false if there is no such group of processes, or where the system has no groups. */
function signalGroup(pid: number, signal: "SIGKILL" | 0): boolean {
  return withFallback(false, () => process.kill(-pid, signal));
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** The time limit in milliseconds. Absent: no limit. */
  readonly milliseconds?: number;
  readonly input?: string;
  /** The maximum number of bytes of output. A program that prints more is ended. */
  readonly maxBytes: number;
  /** true for a program that starts no others, so that its other processes need not be searched for. */
  readonly isAlone?: boolean;
}

export interface ReadResult extends ChildEnd {
  readonly output: Buffer;
  /** The last part of its error output. */
  readonly errors: string;
  /** Why Burin ended it: `time` it ran too long, `size` it printed too much, or the signal aborted. */
  readonly stopped: "time" | "size" | "abort" | null;
}

/** Reads a process's output until it ends, or ends it with everything that it has started. */
export async function readToEnd(run: SupervisedProcess, reading: ReadOptions): Promise<ReadResult> {
  const { child } = run;
  const [output, errorOutput] = child.streams;
  let stopped: ReadResult["stopped"] = null;
  let resolveHalt: () => void = () => {};
  const halted = new Promise<void>((resolve) => {
    resolveHalt = resolve;
  });
  const stop = (reason: ReadResult["stopped"]) => {
    stopped ??= reason;
    resolveHalt();
  };
  const { milliseconds, signal, maxBytes, input, isAlone = false } = reading;
  const onAbort = () => stop("abort");
  const stopTimer = milliseconds === undefined ? () => {} : startTimeout(milliseconds, () => stop("time"));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const pieces: Buffer[] = [];
  let bytes = 0;
  output?.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (stopped === null) pieces.push(piece);
    if (bytes > maxBytes) stop("size");
  });
  const errors = collectLastOutput(errorOutput);
  const closed = Promise.all(
    child.streams.map((stream) => new Promise((done) => stream.once("close", done))),
  );
  child.input?.end(input);
  try {
    await Promise.race([child.ended, halted]);
    if (stopped === null) await Promise.race([waitUntilDrained(closed, () => bytes), halted]);
    // Listing all processes of the machine would take longer than the program itself.
    const isEnded = stopped === "size" && isAlone && signalGroup(child.pid, "SIGKILL");
    if (!isEnded && (stopped !== null || (!isAlone && run.mayStillRun()))) await run.end();
    return { ...(await child.ended), output: Buffer.concat(pieces), errors: errors(), stopped };
  } finally {
    stopTimer();
    signal.removeEventListener("abort", onAbort);
    await run.release();
  }
}

/** Runs a program that starts no others, found in the PATH of its own environment. Rejects when it cannot start. */
export async function runProgram({
  command,
  args,
  cwd,
  env,
  ...reading
}: ProgramRequest): Promise<ReadResult> {
  const program = findHelper(command, env.PATH);
  if (program === null) throw new Error(`there is no program ${command}`);
  const plain = { writeEnd: null, isVerbatim: false };
  const child = await startChild({ program, args, cwd, env, ...plain });
  const own = { runId: randomName(), sandbox: null, systemRoot: env.SystemRoot, onGone: () => {} };
  const run = new SupervisedProcess(child, own);
  return readToEnd(run, { ...reading, isAlone: true });
}

const MAX_ERROR_BYTES = 64 * 1024;

export function collectLastOutput(
  stream: Child["streams"][number] | undefined,
  max = MAX_ERROR_BYTES,
): () => string {
  let last = Buffer.alloc(0);
  stream?.on("data", (piece: Buffer) => {
    last = Buffer.concat([last, piece]).subarray(-max);
  });
  return () => last.toString("utf8");
}

const DRAIN_MS = 40;

/**
 * Resolves when the stream closes, or when it has been quiet for a moment because another process holds the pipe open.
 */
export async function waitUntilDrained(closed: Promise<unknown>, bytes: () => number): Promise<void> {
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  for (let before = -1; !isClosed && before !== bytes(); ) {
    before = bytes();
    await Promise.race([closed, pauseForInput(DRAIN_MS)]);
  }
}

/** On a busy machine the timer may fire before pending input is read; this waits until that was read. */
export async function pauseForInput(milliseconds: number): Promise<void> {
  await pause(milliseconds);
  await nextTurn();
}
