import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterTime } from "@burin/contract/async/wait";
import type { EgressLease } from "../egress/session-egress.ts";
import type { ProcessEntry } from "../processes/process-table.ts";
import type { Child, ChildEnd } from "../processes/run-process.ts";
import {
  drained,
  pauseAndRead,
  type StartRequest,
  type Supervised,
  type Supervisor,
} from "../processes/supervisor.ts";
import type { TakenBack } from "../sandbox/taken-back.ts";
import { CommandOutput } from "./command-output.ts";
import type { RunningCommand, ShellEnd } from "./command-request.ts";
import { closePipe, closeQuietly, type OutputPipe, readPipe } from "./output-pipe.ts";

export interface RunPlan extends Omit<StartRequest, "writeEnd"> {
  /** null for a command with its own terminal. */
  readonly pipe: OutputPipe | null;
  /** null without a proxy between it and the network. */
  readonly egress?: EgressLease | null;
  /** Returns the file's path for the id of the run. */
  readonly outputFile: (id: string) => string;
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
  readonly #plan: Pick<RunPlan, "sandbox" | "terminal" | "egress">;
  readonly #process: Supervised;
  readonly #child: Child;
  readonly #sources: readonly Readable[];
  readonly #outputClosed: Promise<unknown>;
  /** The number of processes in the sandbox besides its own two, when the shell had ended; null until that is known. */
  #keptInside: number | null = null;
  #ending: Promise<readonly ProcessEntry[]> | null = null;
  #stopLimit = () => {};

  /** Rejects when the program cannot be started. */
  static async start(
    supervisor: Supervisor,
    { pipe, outputFile, egress, ...request }: RunPlan,
  ): Promise<CommandRun> {
    try {
      const started = await supervisor.start({ ...request, writeEnd: pipe?.writeEnd ?? null });
      if (pipe) closeQuietly(pipe.writeEnd);
      return new CommandRun(started, { ...request, pipe, outputFile, egress: egress ?? null });
    } catch (error) {
      closePipe(pipe);
      throw error;
    }
  }

  private constructor(started: Supervised, plan: RunPlan) {
    this.#plan = plan;
    this.#process = started;
    this.startedAt = started.startedAt;
    this.#child = started.child;
    this.output = new CommandOutput(plan.outputFile(started.id));
    const take = (bytes: Uint8Array) => this.#take(bytes);
    this.#sources = plan.pipe
      ? [readPipe(plan.pipe.readEnd, take)]
      : this.#child.streams.map((stream) => stream.on("data", take));
    const closed = this.#sources.map((source) => new Promise((resolve) => source.once("close", resolve)));
    this.#outputClosed = Promise.all(closed);
    this.shellEnded = this.#watch();
  }

  takenBack(): readonly TakenBack[] {
    return this.#process.takenBack();
  }

  refusedHosts(): readonly string[] {
    return (this.#plan.egress?.refusals ?? []).map(({ reason }) => reason);
  }

  waitedMs(): number {
    return this.#plan.egress?.waitedMs() ?? 0;
  }

  #take(bytes: Uint8Array): void {
    this.output.take(bytes);
    this.onOutput();
  }

  async #watch(): Promise<ShellEnd> {
    const end = await (this.#isReported ? this.#endInside() : this.#child.ended);
    const isAllGone = this.#keptInside === 0 && this.#ending === null;
    await (isAllGone ? this.#drainedAtOnce() : this.#drained());
    const told = { ...end, wasNotStarted: this.#isSandboxFault(end) };
    this.shellEnd = told;
    if (this.#ending !== null) return told;
    if (this.#mayHaveLeft()) {
      this.takenBack();
      void this.#outputClosed.then(() => this.settle());
    } else await this.#finish();
    return told;
  }

  /** Reported by the keeper in the sandbox; without a report the sandbox could not be created, or was ended. */
  async #endInside(): Promise<ChildEnd> {
    const told = await new Promise<string>((resolve) => {
      let text = "";
      const control = this.#child.control;
      control?.on("data", (bytes: Buffer) => {
        text += bytes.toString("latin1");
        if (text.includes("\n")) resolve(text);
      });
      control?.once("error", () => resolve(text));
      void this.#child.ended.then(() => pauseAndRead(text === "" ? 20 : 0)).then(() => resolve(text));
    });
    const found = /^(\d+) (\d+)\n/.exec(told);
    if (found === null) return this.#child.ended;
    this.#keptInside = Number(found[2]) - 2;
    return { exitCode: Number(found[1]), signal: null };
  }

  /** Without a report, and with an error of bubblewrap itself, the command never ran. */
  #isSandboxFault({ exitCode }: ChildEnd): boolean {
    if (!this.#isReported || this.#keptInside !== null || exitCode !== 1) return false;
    return /^(?:bwrap|nsenter): /.test(this.output.soFar().head.toString("latin1", 0, 9));
  }

  /** Everything that could write has ended, so the rest is already in the pipe. */
  async #drainedAtOnce(): Promise<void> {
    for (let quiet = 0, before = -1; quiet < 3; quiet += 1) {
      if (before !== this.output.bytes) quiet = 0;
      before = this.output.bytes;
      await nextTurn();
    }
  }

  #drained(): Promise<void> {
    return drained(this.#outputClosed, () => this.output.bytes);
  }

  #mayHaveLeft(): boolean {
    if (!this.#isReported) return this.#process.mayHaveLeft();
    return this.#keptInside !== 0 && this.members().length > 0;
  }

  /** Without the sandbox's own. */
  members(): readonly ProcessEntry[] {
    if (this.isOver) return [];
    const members = this.#process.members();
    if (!this.#isReported) return members;
    const keeper = keeperOf(members, this.#child.pid);
    return members.filter(({ pid, name }) => name !== "bwrap" && pid !== keeper);
  }

  type(text: string): boolean {
    if (!this.#plan.terminal || this.shellEnd !== null) return false;
    return this.#child.input?.write(text) !== undefined;
  }

  async quiet(): Promise<void> {
    for (let before = -1, rounds = 0; before !== this.output.bytes && rounds < 20; rounds += 1) {
      before = this.output.bytes;
      await pauseAndRead(QUIET_MS);
    }
  }

  /** Checks whether the processes that the shell left have ended. */
  async settle(): Promise<void> {
    // Before the shell's end is known, its last output may still be on its way.
    if (this.shellEnd === null || this.isOver || this.#ending !== null) return;
    if (this.members().length === 0) await this.#finish();
  }

  endAfter(milliseconds: number): void {
    this.#stopLimit = afterTime(milliseconds, () => void this.end());
  }

  end(): Promise<readonly ProcessEntry[]> {
    this.#ending ??= this.#endAll();
    return this.#ending;
  }

  get #isReported(): boolean {
    return this.#plan.sandbox?.hasControl === true;
  }

  async #endAll(): Promise<readonly ProcessEntry[]> {
    if (this.isOver) return [];
    const left = await this.#process.end();
    await this.#drained();
    await this.#finish();
    return left;
  }

  async #finish(): Promise<void> {
    this.isOver = true;
    this.#stopLimit();
    this.#child.control?.destroy();
    for (const source of this.#sources) source.destroy();
    this.output.end();
    // A process that is left inside can still create something.
    if (this.#isReported && this.#keptInside !== 0) await this.#child.ended;
    this.#process.release();
  }
}

/** Below bwrap's first process is the one that acts as init, and below that the keeper. */
function keeperOf(members: readonly ProcessEntry[], outer: number): number | undefined {
  const init = members.find(({ parent, name }) => parent === outer && name === "bwrap");
  const inside = members.filter(({ parent }) => parent === init?.pid);
  return inside.sort((a, b) => Number(a.started) - Number(b.started) || a.pid - b.pid)[0]?.pid;
}
