import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { SandboxPlan } from "../sandbox/sandbox.ts";
import type { TakenBack } from "../sandbox/taken-back.ts";
import { endAtExit } from "./at-exit.ts";
import { CommandOutput } from "./command-output.ts";
import { closeQuietly, type OutputPipe, type PipeReader, readPipe } from "./output-pipe.ts";
import { lastPid, type ProcessEntry } from "./process-table.ts";
import { endTree, membersOf, type TreeMarks } from "./process-tree.ts";
import {
  type Child,
  type ChildEnd,
  endWindowsTree,
  killNow,
  startChild,
  systemProcesses,
} from "./run-process.ts";

/** Everything that decides how one command is run. */
export interface RunPlan {
  readonly runId: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly isVerbatim: boolean;
  readonly pipe: OutputPipe | null;
  /** It has a terminal of its own instead of the pipe. */
  readonly terminal: boolean;
  readonly outputFile: string;
  /** Absent when the command runs without limits. */
  readonly sandbox: SandboxPlan | null;
}

/** How the shell itself ended. What it started may live on. */
export interface ShellEnd {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** It never got as far as the command: what the sandbox says of it stands in the output. */
  readonly wasNotStarted: boolean;
}

/** Output that is still on its way when the shell has ended comes within this time. */
const DRAIN_MS = 40;
const QUIET_MS = 250;
/** Below that no system has given out all its process ids and begun again. */
const SHORT_MS = 1000;

/** One command from its start until nothing of it is left. */
export class CommandRun {
  readonly output: CommandOutput;
  readonly startedAt = Date.now();
  /** Resolves when the shell has ended and its own output is here; what it left may go on. */
  readonly shellEnded: Promise<ShellEnd>;
  /** Called when a person wants whoever waits for it to let it go on by itself. */
  onLetGo: () => void = () => {};
  /** Called with each piece of output that came. */
  onOutput: () => void = () => {};
  readonly #plan: RunPlan;
  readonly #child: Child;
  readonly #marks: TreeMarks & { readonly known: Map<number, string> };
  readonly #outputClosed: Promise<void>;
  #reader: PipeReader | null = null;
  /** Processes in the sandbox beside its own two, when the shell had ended; null while that is not told. */
  #keptInside: number | null = null;
  #ending: Promise<readonly ProcessEntry[]> | null = null;
  #isOver = false;
  #shellEnd: ShellEnd | null = null;
  #limit: NodeJS.Timeout | null = null;
  #taken: readonly TakenBack[] = [];
  readonly #forget: () => void;

  /** Rejects when the program cannot be started. */
  static async start(plan: RunPlan): Promise<CommandRun> {
    try {
      const start = plan.terminal ? (await import("./terminal-process.ts")).startInTerminal : startChild;
      const child = await start({
        program: plan.program,
        args: plan.args,
        cwd: plan.cwd,
        env: plan.env,
        writeEnd: plan.pipe?.writeEnd ?? null,
        hasControl: plan.sandbox?.hasControl ?? false,
        isVerbatim: plan.isVerbatim,
      });
      if (plan.pipe) closeQuietly(plan.pipe.writeEnd);
      return new CommandRun(plan, child);
    } catch (error) {
      for (const fd of plan.pipe ? [plan.pipe.readEnd, plan.pipe.writeEnd] : []) closeQuietly(fd);
      plan.sandbox?.release();
      throw error;
    }
  }

  private constructor(plan: RunPlan, child: Child) {
    this.#plan = plan;
    this.#child = child;
    this.output = new CommandOutput(plan.outputFile);
    const started = systemProcesses.find(child.pid)?.started ?? "";
    this.#marks = { runId: plan.runId, known: new Map([[child.pid, started]]) };
    this.#outputClosed = plan.pipe ? this.#readPipe(plan.pipe.readEnd) : this.#readStreams();
    this.#forget = endAtExit(() => {
      killNow(this.#marks);
      this.#plan.sandbox?.release();
    });
    this.shellEnded = this.#watch();
  }

  get pid(): number {
    return this.#child.pid;
  }

  get started(): string {
    return this.#marks.known.get(this.#child.pid) ?? "";
  }

  /** Nothing of it is left, and all output is here. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** null while the shell runs. */
  get shellEnd(): ShellEnd | null {
    return this.#shellEnd;
  }

  /** What it made that runs code later, and was taken out of the project. */
  takenBack(): readonly TakenBack[] {
    if (!this.#isOver) this.#taken = this.#plan.sandbox?.look() ?? [];
    return this.#taken;
  }

  #readPipe(fd: number): Promise<void> {
    return new Promise((resolve) => {
      const reader = readPipe(fd, (bytes) => this.#take(bytes, () => reader.resume()), resolve);
      this.#reader = reader;
    });
  }

  async #readStreams(): Promise<void> {
    await Promise.all(
      this.#child.streams.map((stream) => {
        stream.on("data", (bytes: Buffer) => {
          if (!this.#take(bytes, () => stream.resume())) stream.pause();
        });
        return new Promise<void>((resolve) => stream.once("close", resolve));
      }),
    );
  }

  #take(bytes: Uint8Array, onRoom: () => void): boolean {
    const hasRoom = this.output.take(bytes, onRoom);
    this.onOutput();
    return hasRoom;
  }

  async #watch(): Promise<ShellEnd> {
    const end = await (this.#plan.sandbox?.hasControl ? this.#endInside() : this.#child.ended);
    await (this.#isAllGoneInside() ? this.#drainedAtOnce() : this.#drained());
    const told = { ...end, wasNotStarted: this.#isSandboxFault(end) };
    this.#shellEnd = told;
    if (this.#ending !== null) return told;
    if (this.#mayHaveLeft()) {
      this.takenBack();
      void this.#outputClosed.then(() => this.settle());
    } else await this.#finish();
    return told;
  }

  /** The keeper in the sandbox tells; when the sandbox ends without that, it could not be made or was ended. */
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

  /** Told of nothing, and bubblewrap itself complains: the command never ran. */
  #isSandboxFault({ exitCode }: ChildEnd): boolean {
    if (this.#plan.sandbox?.hasControl !== true || this.#keptInside !== null) return false;
    return exitCode === 1 && this.output.soFar().head.toString("latin1", 0, 7) === "bwrap: ";
  }

  /** All that could write has ended, so what is still to come lies in the pipe already. */
  async #drainedAtOnce(): Promise<void> {
    for (let quiet = 0, before = -1; quiet < 3; quiet += 1) {
      if (before !== this.output.bytes) quiet = 0;
      before = this.output.bytes;
      await this.output.flush();
      await nextTurn();
    }
  }

  /** Until nobody can write any more, or nothing has come for a moment because others hold the pipe. */
  async #drained(): Promise<void> {
    let isClosed = false;
    void this.#outputClosed.then(() => {
      isClosed = true;
    });
    for (let before = -1; !isClosed && before !== this.output.bytes; ) {
      before = this.output.bytes;
      await Promise.race([this.#outputClosed, pauseAndRead(DRAIN_MS)]);
    }
  }

  #isAllGoneInside(): boolean {
    return this.#keptInside === 0 && this.#plan.sandbox?.hasControl === true && this.#ending === null;
  }

  /** Quick for the ordinary case: nothing else was started on the whole machine, or the group is empty. */
  #mayHaveLeft(): boolean {
    if (this.#plan.sandbox?.hasControl) return this.#keptInside !== 0 && this.members().length > 0;
    const isAlone = Date.now() - this.startedAt < SHORT_MS && lastPid() === this.#child.pid;
    if (isAlone && !hasGroup(this.#child.pid)) return false;
    return this.members().length > 0;
  }

  /** The processes of it that are alive now, the sandbox's own left out. */
  members(): readonly ProcessEntry[] {
    if (this.#isOver) return [];
    const members = membersOf(this.#marks, systemProcesses.list());
    for (const { pid, started } of members) this.#marks.known.set(pid, started);
    if (!this.#plan.sandbox?.hasControl) return members;
    const keeper = keeperOf(members, this.#child.pid);
    return members.filter(({ pid, name }) => name !== "bwrap" && pid !== keeper);
  }

  /** Types into its terminal; false when it has none, or has ended. */
  type(text: string): boolean {
    if (!this.#plan.terminal || this.#shellEnd !== null) return false;
    return this.#child.input?.write(text) !== undefined;
  }

  /** Until a program that was spoken to has nothing more to say for a moment. */
  async quiet(): Promise<void> {
    for (let before = -1, rounds = 0; before !== this.output.bytes && rounds < 20; rounds += 1) {
      before = this.output.bytes;
      await pauseAndRead(QUIET_MS);
    }
  }

  /** Looks whether what the shell left has ended meanwhile. */
  async settle(): Promise<void> {
    // Before the shell's end is known, its last output may still be on its way.
    if (this.#shellEnd === null || this.#isOver || this.#ending !== null) return;
    if (this.members().length === 0) await this.#finish();
  }

  endAfter(milliseconds: number): void {
    this.#limit = setTimeout(() => void this.end(), milliseconds);
  }

  /** Ends all of it. Resolves to what could not be ended. */
  end(): Promise<readonly ProcessEntry[]> {
    this.#ending ??= this.#endAll();
    return this.#ending;
  }

  async #endAll(): Promise<readonly ProcessEntry[]> {
    if (this.#isOver) return [];
    if (process.platform === "win32") endWindowsTree(this.#child.pid);
    const left = await endTree(this.#marks, systemProcesses);
    await Promise.race([this.#child.ended, pause(500)]);
    await this.#drained();
    await this.#finish();
    return left;
  }

  async #finish(): Promise<void> {
    this.#isOver = true;
    if (this.#limit !== null) clearTimeout(this.#limit);
    this.#child.control?.destroy();
    this.#reader?.close();
    for (const stream of this.#child.streams) stream.destroy();
    await this.output.end();
    this.#forget();
    // A process that is left inside can still make something.
    if (this.#plan.sandbox?.hasControl && this.#keptInside !== 0) await this.#child.ended;
    this.#taken = this.#plan.sandbox?.release() ?? [];
  }
}

/** On a busy machine the time is over before anybody looked what has come meanwhile; this looks. */
async function pauseAndRead(milliseconds: number): Promise<void> {
  await pause(milliseconds);
  await nextTurn();
}

function hasGroup(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** bwrap's first process, below it the one that stands in for init, below that the keeper. */
function keeperOf(members: readonly ProcessEntry[], outer: number): number | undefined {
  const init = members.find(({ parent, name }) => parent === outer && name === "bwrap");
  const inside = members.filter(({ parent }) => parent === init?.pid);
  return inside.sort((a, b) => Number(a.started) - Number(b.started) || a.pid - b.pid)[0]?.pid;
}
