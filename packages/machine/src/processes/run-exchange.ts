import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { messageOf } from "@burin/contract/text/error-message";
import type { SandboxPlan } from "../sandbox/sandbox.ts";
import { endAtExit } from "./at-exit.ts";
import { ProcessLedger } from "./process-ledger.ts";
import { endTree, RUN_VARIABLE, type TreeMarks } from "./process-tree.ts";
import { type Child, endWindowsTree, killNow, startChild, systemProcesses } from "./run-process.ts";
import { shellArguments } from "./shell-arguments.ts";
import type { ShellProgram } from "./shell-program.ts";

/** One question to a program: a line for the shell, what it reads, and how much it may take. */
export interface ExchangeRequest {
  readonly command: string;
  /** Where it is written down that it runs, for the next start to end it after a crash. */
  readonly home: string;
  readonly shell: ShellProgram;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly milliseconds: number;
  /** Of its output; what it writes as errors is kept to its last part. */
  readonly mostBytes: number;
  readonly signal: AbortSignal;
  /** Absent when it runs without limits. */
  readonly limit?: (argv: readonly [string, ...string[]]) => Promise<SandboxPlan | null>;
}

/** All that there is to know of the answer. */
export interface ExchangeEnd {
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it was ended by us: its time, its size, or because nobody wants it any more. */
  readonly stopped: "time" | "size" | "abort" | null;
  /** Set when it could not be started. */
  readonly startError: string | null;
}

const MOST_ERROR_BYTES = 64 * 1024;
/** Output that is still on its way when the program has ended comes within this time. */
const DRAIN_MS = 300;

/** Starts it, hands it the input, and ends it with everything that it started. Never rejects. */
export async function exchange(request: ExchangeRequest): Promise<ExchangeEnd> {
  const ledger = new ProcessLedger(request.home, systemProcesses);
  const runId = `${ledger.id}.1`;
  const argv = [request.shell.path, ...shellArguments(request.shell, request.command)] as const;
  let plan: SandboxPlan | null = null;
  try {
    plan = (await request.limit?.(argv as unknown as readonly [string, ...string[]])) ?? null;
    const child = await startChild({
      program: plan?.program ?? request.shell.path,
      args: plan?.args ?? argv.slice(1),
      cwd: request.cwd,
      env: { ...request.env, PWD: request.cwd, ...plan?.env, [RUN_VARIABLE]: marked(request.env, runId) },
      writeEnd: null,
      hasControl: false,
      hasInput: true,
      isVerbatim: request.shell.isVerbatim,
    });
    const started = systemProcesses.find(child.pid)?.started ?? "";
    ledger.note({ pid: child.pid, started });
    return await answerOf(child, request, { runId, known: new Map([[child.pid, started]]) });
  } catch (error) {
    const startError = messageOf(error);
    return { stdout: Buffer.alloc(0), stderr: "", exitCode: null, signal: null, stopped: null, startError };
  } finally {
    plan?.release();
    ledger.close();
  }
}

function marked(env: Readonly<Record<string, string>>, runId: string): string {
  const inherited = env[RUN_VARIABLE];
  return inherited ? `${inherited} ${runId}` : runId;
}

async function answerOf(child: Child, request: ExchangeRequest, marks: TreeMarks): Promise<ExchangeEnd> {
  const forget = endAtExit(() => killNow(marks));
  let stopped: ExchangeEnd["stopped"] = null;
  let halt: () => void = () => {};
  const halted = new Promise<void>((resolve) => {
    halt = resolve;
  });
  const stop = (reason: ExchangeEnd["stopped"]) => {
    stopped ??= reason;
    halt();
  };
  const onAbort = () => stop("abort");
  const timer = setTimeout(() => stop("time"), request.milliseconds);
  request.signal.addEventListener("abort", onAbort, { once: true });
  if (request.signal.aborted) onAbort();
  const [out, errors] = child.streams;
  const stdout = collected(out, request.mostBytes, () => stop("size"));
  const stderr = collected(errors, MOST_ERROR_BYTES);
  child.input?.end(request.input);
  try {
    await Promise.race([child.ended, halted]);
    if (stopped === null) await Promise.race([Promise.all([stdout.closed, stderr.closed]), pause(DRAIN_MS)]);
    await endAll(child, marks);
    const { exitCode, signal } = await child.ended;
    const [text, faults] = [stdout.bytes(), stderr.bytes().toString("utf8")];
    return { stdout: text, stderr: faults, exitCode, signal, stopped, startError: null };
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", onAbort);
    forget();
    for (const stream of child.streams) stream.destroy();
  }
}

async function endAll(child: Child, marks: TreeMarks): Promise<void> {
  if (process.platform === "win32") endWindowsTree(child.pid);
  await endTree(marks, systemProcesses);
}

/** The last `most` bytes; one more calls `onMore`, when given. */
function collected(stream: Readable | undefined, most: number, onMore?: () => void) {
  const pieces: Buffer[] = [];
  let size = 0;
  stream?.on("data", (piece: Buffer) => {
    pieces.push(piece);
    size += piece.length;
    if (size > most) onMore?.();
    while (pieces.length > 1 && size - (pieces[0]?.length ?? 0) >= most) size -= pieces.shift()?.length ?? 0;
  });
  const closed = new Promise<void>((resolve) => {
    stream?.once("close", resolve);
    if (stream === undefined) resolve();
  });
  return { closed, bytes: () => Buffer.concat(pieces).subarray(-most) };
}
