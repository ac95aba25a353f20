import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { startTimeout } from "@burin/contract/async/wait";
import type { EgressLease } from "../egress/session-egress.ts";
import type { TakenBack } from "../processes/limited-program.ts";
import { listListeningAddresses } from "../processes/listening-addresses.ts";
import type { ProcessEntry } from "../processes/process-table.ts";
import type { Child, ChildEnd } from "../processes/run-process.ts";
import {
  pauseForInput,
  type StartRequest,
  type SupervisedProcess,
  type Supervisor,
  waitUntilDrained,
} from "../processes/supervisor.ts";
import { hideFromGit, restoreTaken } from "../sandbox/settle-taken.ts";
import { CommandOutput } from "./command-output.ts";
import type { RunningCommand, ShellEnd } from "./command-request.ts";
import { closePipe, closeQuietly, type OutputPipe, readPipe } from "./output-pipe.ts";
import { findHiddenPaths, findPathsOnlyCommandsSee } from "./private-temporary.ts";

export interface RunPlan extends Omit<StartRequest, "writeEnd"> {
  /** The pipe for the output; null for a command with its own terminal. */
  readonly pipe: OutputPipe | null;
  /** The access to the network's proxy; null for a command without one. */
  readonly egress?: EgressLease | null;
  /** Returns the path of the output's file for a run's id. */
  readonly outputFile: (id: string) => string;
  /** Burin's own folder. */
  readonly home: string;
  /** The user's. */
  readonly environment: NodeJS.ProcessEnv;
  readonly roots: readonly string[];
  /** What the command sees as `/tmp`; null if it sees the real one. */
  readonly temporary: string | null;
  readonly isSecretIn?: ((bytes: Buffer) => boolean) | undefined;
}

const QUIET_MS = 250;

export class CommandRun implements RunningCommand {
  readonly output: CommandOutput;
  readonly shellEnded: Promise<ShellEnd>;
  readonly startedAt: number;
  isOver = false;
  shellEnd: ShellEnd | null = null;
  onLetGo: () => void = () => {};
  onOutput: () => void = () => {};
  readonly #plan: Pick<
    RunPlan,
    "sandbox" | "terminal" | "egress" | "home" | "cwd" | "roots" | "temporary" | "environment"
  >;
  readonly #process: SupervisedProcess;
  readonly #child: Child;
  readonly #sources: readonly Readable[];
  readonly #outputClosed: Promise<unknown>;
  /** What bubblewrap reports about the command, available as soon as its channel can be read. */
  readonly #said: Promise<string>;
  #ending: Promise<readonly ProcessEntry[]> | null = null;
  #stopLimit = () => {};
  /** The kept copies of what has been restored. */
  readonly #settled = new Set<string>();
  #finished: Promise<void> | null = null;

  /** Rejects when the program cannot be started. */
  static async start(
    supervisor: Supervisor,
    { pipe, outputFile, egress, home, roots, temporary, environment, isSecretIn, ...request }: RunPlan,
  ): Promise<CommandRun> {
    try {
      const started = await supervisor.start({ ...request, writeEnd: pipe?.writeEnd ?? null });
      if (pipe) closeQuietly(pipe.writeEnd);
      const own = { home, roots, temporary, environment, isSecretIn };
      const plan = { ...request, ...own, pipe, outputFile, egress: egress ?? null };
      return new CommandRun(started, plan);
    } catch (error) {
      closePipe(pipe);
      throw error;
    }
  }

  private constructor(started: SupervisedProcess, plan: RunPlan) {
    this.#plan = plan;
    this.#process = started;
    this.startedAt = started.startedAt;
    this.#child = started.child;
    const { outputFile, isSecretIn } = plan;
    this.output = new CommandOutput(outputFile(started.id), isSecretIn && { isSecretIn });
    const addOutput = (bytes: Uint8Array) => this.#addOutput(bytes);
    this.#sources = plan.pipe
      ? [readPipe(plan.pipe.readEnd, addOutput)]
      : this.#child.streams.map((stream) => stream.on("data", addOutput));
    const closed = this.#sources.map((source) => new Promise((resolve) => source.once("close", resolve)));
    this.#outputClosed = Promise.all(closed);
    this.#said = readChannel(this.#child.channels[0]);
    this.shellEnded = this.#waitForEnd();
  }

  async takenBack(): Promise<readonly TakenBack[]> {
    const all = await this.#process.readTakenBack();
    return all.filter(({ kept, path }) => !this.#settled.has(kept ?? path));
  }

  /**
   * Restores these taken-back files, or leaves them outside the project. Until the user has answered, all of them stay
   * outside.
   */
  async settleTaken(taken: readonly TakenBack[], isKept: boolean): Promise<void> {
    const left = new Set(isKept ? restoreTaken(taken, this.#plan.home) : taken);
    hideFromGit([...left], this.#plan.environment);
    for (const one of taken) if (!left.has(one)) this.#settled.add(one.kept ?? one.path);
  }

  hiddenPaths(text: string): readonly string[] {
    return findHiddenPaths(text, this.#plan.cwd, this.#plan.roots);
  }

  strayPaths(command: string): readonly string[] {
    const { cwd, roots, temporary } = this.#plan;
    return temporary === null
      ? []
      : findPathsOnlyCommandsSee(command, { cwd, roots, temporary, since: this.startedAt });
  }

  refusedHosts(): readonly string[] {
    return (this.#plan.egress?.refusals ?? []).map(({ reason }) => reason);
  }

  waitedMs(): number {
    return this.#plan.egress?.waitedMs() ?? 0;
  }

  #addOutput(bytes: Uint8Array): void {
    this.output.append(bytes);
    this.onOutput();
  }

  async #waitForEnd(): Promise<ShellEnd> {
    const end = await this.#child.ended;
    const hasLeft = this.#process.mayStillRun();
    await (!hasLeft && this.#plan.sandbox?.visit && this.#ending === null
      ? this.#readRestOfOutput()
      : this.#waitForOutput());
    const told = { ...end, wasNotStarted: await this.#isSandboxFault(end) };
    this.shellEnd = told;
    if (this.#ending !== null) return told;
    if (hasLeft) {
      void this.takenBack();
      void this.#outputClosed.then(() => this.settle());
    } else await this.#closeOnce();
    return told;
  }

  /** If the sandbox's own programs failed, the command never ran, unless bubblewrap reports its exit. */
  async #isSandboxFault({ exitCode }: ChildEnd): Promise<boolean> {
    if (exitCode !== 1 || this.#child.channels.length === 0) return false;
    if (!/^(?:bwrap|nsenter): /.test(this.output.soFar().head.toString("latin1", 0, 9))) return false;
    return !(await this.#said).includes('"exit-code"');
  }

  /** Everything that could write has ended, so the rest is already in the pipe. */
  async #readRestOfOutput(): Promise<void> {
    for (let quiet = 0, before = -1; quiet < 3; quiet += 1) {
      if (before !== this.output.bytes) quiet = 0;
      before = this.output.bytes;
      await nextTurn();
    }
  }

  #waitForOutput(): Promise<void> {
    return waitUntilDrained(this.#outputClosed, () => this.output.bytes);
  }

  members(): readonly ProcessEntry[] {
    return this.isOver ? [] : this.#process.members();
  }

  addresses(): readonly string[] {
    return listListeningAddresses(this.members());
  }

  type(text: string): boolean {
    if (!this.#plan.terminal || this.shellEnd !== null) return false;
    return this.#child.input?.write(text) !== undefined;
  }

  async quiet(): Promise<void> {
    for (let before = -1, rounds = 0; before !== this.output.bytes && rounds < 20; rounds += 1) {
      before = this.output.bytes;
      await pauseForInput(QUIET_MS);
    }
  }

  /** Checks whether the processes that the shell left behind have ended. */
  async settle(): Promise<void> {
    // Before the shell's end is known, its last output may still be on its way.
    if (this.shellEnd === null || this.isOver || this.#ending !== null) return;
    if (!this.#process.mayStillRun()) await this.#closeOnce();
  }

  endAfter(milliseconds: number): void {
    this.#stopLimit = startTimeout(milliseconds, () => void this.end());
  }

  end(): Promise<readonly ProcessEntry[]> {
    this.#ending ??= this.#endAll();
    return this.#ending;
  }

  async #endAll(): Promise<readonly ProcessEntry[]> {
    if (this.isOver) return [];
    const left = await this.#process.end();
    await this.#waitForOutput();
    await this.#closeOnce();
    return left;
  }

  async #closeOnce(): Promise<void> {
    this.#finished ??= this.#close();
    await this.#finished;
  }

  async #close(): Promise<void> {
    this.isOver = true;
    this.#stopLimit();
    for (const source of this.#sources) source.destroy();
    this.output.end();
    await this.#process.release();
  }
}

/** The maximum number of bytes that bubblewrap reports about one command. */
const MAX_MESSAGE_BYTES = 4096;

/** Reads a channel until it closes, which happens when its process ends. */
async function readChannel(channel: Readable | undefined): Promise<string> {
  let said = "";
  channel?.on("data", (bytes: Buffer) => {
    said = (said + bytes.toString("latin1")).slice(0, MAX_MESSAGE_BYTES);
  });
  await new Promise((resolve) => (channel ? channel.once("close", resolve) : resolve(null)));
  return said;
}
