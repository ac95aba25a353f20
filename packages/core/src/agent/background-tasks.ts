import { type AgentEvent, createNotice, type TaskChange } from "@burin/contract/agent-event";
import { rejectOnAbort } from "@burin/contract/async/wait";
import { describeError } from "@burin/contract/text/error-message";
import { keepHeadAndTail, MAX_ANSWER_CHARACTERS } from "@burin/contract/text/truncate";
import { formatTaskAnswer, type StartedTask, type SubagentAnswer } from "../tools/task.ts";

export interface BackgroundTask {
  /** The id under which the model knows the task. */
  readonly id: string;
  readonly description: string;
  readonly subagent: string;
  readonly status: "running" | SubagentAnswer["status"];
  /** The latest steps, one line each, oldest first. */
  readonly steps: readonly string[];
}

export interface TaskList {
  /** Returns running and ended tasks, oldest first. */
  list(): readonly BackgroundTask[];
  /** Stops a task and everything that it started. Returns false if no running task has this id. */
  stop(id: string): Promise<boolean>;
}

/** The work of a task. It must end soon after its signal aborts. */
export type TaskWork = (
  signal: AbortSignal,
  onStep: (steps: readonly string[]) => void,
) => Promise<SubagentAnswer>;

interface TaskOptions {
  /** The maximum number of characters of all answers that are reported together. */
  readonly maxCharacters: number;
  readonly tell: (event: AgentEvent) => void;
}

interface Task {
  shown: BackgroundTask;
  readonly work: AbortController;
  /** Never rejects. */
  end: Promise<void>;
}

const SHOWN_STEPS = 8;
/** The maximum number of ended tasks that are remembered. A long session forgets the oldest. */
const MAX_ENDED = 50;

/** Subagents that work while their session continues, with the reports of their results. */
export class BackgroundTasks implements TaskList {
  readonly #needs: TaskOptions;
  readonly #tasks = new Map<string, Task>();
  /** Tasks of an earlier process that were started but whose end is not in the log. */
  readonly #cutOff = new Map<string, TaskChange>();
  #reports: { readonly task: string; readonly head: string; readonly text: string }[] = [];
  #count = 0;
  #wake: () => void = () => {};

  constructor(needs: TaskOptions) {
    this.#needs = needs;
  }

  /** Replays an event of a resumed session. Tasks that were running when it ended are later reported as lost. */
  replay(event: AgentEvent): void {
    if (event.type === "context" && event.task !== undefined) this.#cutOff.delete(event.task);
    if (event.type !== "task" || event.status !== "running") return;
    this.#count += 1;
    this.#cutOff.set(event.id, event);
  }

  /** Starts the work and returns the task's id at once. The result is reported later. */
  start(order: StartedTask, work: TaskWork): string {
    this.#count += 1;
    const id = `task_${this.#count}`;
    const { description, subagent_type: subagent } = order;
    const shown = { id, description, subagent, status: "running" as const, steps: [] };
    const task: Task = { shown, work: new AbortController(), end: Promise.resolve() };
    this.#tasks.set(id, task);
    this.#announceTaskChange(task.shown, order);
    task.end = this.#runTask(task, order, work);
    return id;
  }

  #announceTaskChange(
    { id, description, subagent: agent, status }: BackgroundTask,
    { callId }: StartedTask,
  ): void {
    this.#needs.tell({ type: "task", id, agent, description, callId, status });
  }

  async #runTask(task: Task, order: StartedTask, work: TaskWork): Promise<void> {
    const { signal } = task.work;
    const onStep = (steps: readonly string[]): void => {
      task.shown = { ...task.shown, steps: steps.slice(-SHOWN_STEPS) };
    };
    let answer = await work(signal, onStep).catch((error: unknown): SubagentAnswer => {
      return { status: "failed", text: "", reason: describeError(error), steps: [] };
    });
    // A stopped task may still have returned a result; nobody needs it any more.
    if (signal.aborted) answer = { ...answer, status: "cancelled", reason: "it was stopped" };
    const { error, llmContent } = formatTaskAnswer(order, answer);
    const status = answer.status === "success" && error ? "failed" : answer.status;
    task.shown = { ...task.shown, status };
    const { id, subagent, description } = task.shown;
    const how = { success: "is done", failed: "failed", cancelled: "was stopped" }[status];
    const name = `${subagent}: ${description}`;
    this.#reports.push({
      task: id,
      head: `[Background task ${id} (${name}) ${how}.]`,
      text: String(llmContent),
    });
    this.#announceTaskChange(task.shown, order);
    this.#needs.tell(createNotice(`The background task ${id} (${name}) ${how}.`));
    const ended = this.list().filter((one) => one.status !== "running");
    for (const oldest of ended.slice(0, -MAX_ENDED)) this.#tasks.delete(oldest.id);
    this.#wake();
  }

  list(): readonly BackgroundTask[] {
    return [...this.#tasks.values()].map(({ shown }) => shown);
  }

  async stop(id: string): Promise<boolean> {
    const task = this.#tasks.get(id);
    if (task?.shown.status !== "running") return false;
    task.work.abort();
    await task.end;
    return true;
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#tasks.keys()].map((id) => this.stop(id)));
  }

  /** Returns the reports for the model, each once. They name their task, so the log shows what the model knows. */
  takeReports(): readonly AgentEvent[] {
    const lost = [...this.#cutOff.values()].map((task) => {
      this.#needs.tell({ ...task, status: "cancelled" });
      const name = `${task.agent}: ${task.description}`;
      const text = `[Background task ${task.id} (${name}) was cut off when the session ended.]`;
      return { type: "context" as const, text, task: task.id };
    });
    this.#cutOff.clear();
    const max = Math.min(this.#needs.maxCharacters / (this.#reports.length + 1), MAX_ANSWER_CHARACTERS);
    const reports = this.#reports.map(({ task, head, text: whole }) => {
      const text = `${head}\n${keepHeadAndTail(whole, Math.floor(max), "ask for less at a time")}`;
      return { type: "context" as const, text, task };
    });
    this.#reports = [];
    return [...lost, ...reports];
  }

  /** Whether a task is running, or has ended without its report having reached the model. */
  get isPending(): boolean {
    return this.hasReports || this.list().some(({ status }) => status === "running");
  }

  get hasReports(): boolean {
    return this.#reports.length > 0;
  }

  /** Resolves when there is a report or the signal aborts. */
  async waitForReport(signal: AbortSignal): Promise<void> {
    if (this.hasReports || signal.aborted) return;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await rejectOnAbort(woken, signal).catch(() => {});
  }
}
