import { AsyncResource } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { Decision } from "@burin/core";
import { describeError } from "@burin/core/internal";
import { DBOS, DBOSWorkflowConflictError } from "@dbos-inc/dbos-sdk";
import { admitTasks, type Limits } from "./admission.ts";
import {
  ANSWERS,
  buildConfig,
  formatQueueName,
  isCancelled,
  LONE_QUEUE,
  listWorkers,
  QUEUE,
  removeEmptyQueue,
  requeueTasksOfWorker,
  STEP,
  WORKFLOW,
} from "./engine.ts";
import { readSnapshot } from "./engine-tables.ts";
import type { LiveTask } from "./live-task.ts";
import { assertOwned, startStopwatch } from "./ownership.ts";
import { isTemporary, retryUntilAvailable } from "./retry-queries.ts";
import { SignOfLife } from "./sign-of-life.ts";
import { createWaitingEnd, type Step, type Submission, type TaskEnd } from "./steps.ts";
import type { Store } from "./store.ts";

/**
 * The attempts at a task are counted by its progress; see `LiveTask`. This limit is for tasks that never get that far.
 */
const MAX_RECOVERIES = 1000;
/** How long a task that was put back waits for its answer, which is sent directly afterwards. */
const ANSWER_TIMEOUT = { timeoutSeconds: 10, pollingIntervalMs: 500 };
const NO_TIMEOUT = { timeoutSeconds: 0 };
/** Longer than a worker can be late without noticing; see `ownership.ts`. */
const CHECK_INTERVAL_MS = 600;
const POLL_MS = 250;
/** The pause before taking tasks again, after each kind of result. */
const ADMIT_MS = { none: 300, busy: 30, full: 100, taken: 250, blocked: 500 };
/** The engine records an end shortly after the task has left its worker. */
const END_DELAY_MS = 30;
const DRAIN_LOOK_MS = 50;
/** Connections in addition to one for each running task: for taking tasks, and for checking on other workers. */
const CONNECTIONS = 4;
const MAX_CONNECTIONS = 40;

export interface WorkerOptions {
  readonly url: string;
  readonly store: Store;
  readonly concurrency: number;
  readonly limits: Limits;
  /** Works only on tasks that may have crashed other workers. */
  readonly isLone: boolean;
  readonly begin: (id: string, submission: Submission, past: readonly Step[]) => LiveTask;
  /** Called after each check of the tasks, with whether a task is waiting that must run alone. */
  readonly look: (hasLone: boolean, atWork: ReadonlySet<LiveTask>) => Promise<void>;
  readonly note: (text: string) => void;
}

/** The state of a worker, for health checks. */
export interface WorkerState {
  readonly worker: string;
  readonly tasks: number;
  readonly concurrency: number;
  readonly isDraining: boolean;
  /** The time since the worker last tried to check its tasks, and since the database last answered. */
  readonly triedMsAgo: number;
  readonly lookedMsAgo: number;
}

/** Takes tasks from the queue and works on them until it is closed. Also takes over the tasks of lost workers. */
export class Worker {
  readonly name = `${hostname()}-${process.pid}-${randomBytes(3).toString("hex")}`;
  readonly #options: WorkerOptions;
  readonly #life: SignOfLife;
  readonly #atWork = new Set<LiveTask>();
  #timer: NodeJS.Timeout | undefined;
  #admission: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isDraining = false;
  #triedAt = performance.now();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #fault = "";
  /** Workers that were missing at the last check. They get another chance, as they may be about to reconnect. */
  #missing = new Set<string>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#life = new SignOfLife(options.url, this.name, () => this.#openQueue());
  }

  async open(): Promise<void> {
    const { url, concurrency, note } = this.#options;
    DBOS.setConfig({
      ...buildConfig(url, note),
      executorID: this.name,
      // The fleet has created the tables.
      runMigrations: false,
      listenQueues: [formatQueueName(this.name)],
      systemDatabasePoolSize: Math.min(concurrency + CONNECTIONS, MAX_CONNECTIONS),
    });
    const runSubmission = (submission: Submission) => this.#runSubmission(submission);
    DBOS.registerWorkflow(runSubmission, { name: WORKFLOW, maxRecoveryAttempts: MAX_RECOVERIES });
    await this.#life.holdLock();
    await DBOS.launch();
    this.#lookedAt = performance.now();
    for (const worker of await listWorkers(this.#client))
      if (worker !== this.name)
        await this.#life.runIfFree(worker, () => removeEmptyQueue(this.#client, worker));
    this.#scheduleCheck();
    this.#scheduleAdmission(0);
  }

  describeState(): WorkerState {
    const now = performance.now();
    return {
      worker: this.name,
      tasks: this.#atWork.size,
      concurrency: this.#options.concurrency,
      isDraining: this.#isDraining || this.#isClosed,
      triedMsAgo: now - this.#triedAt,
      lookedMsAgo: now - this.#lookedAt,
    };
  }

  /** Takes no more tasks, and puts each back after its current step. Resolves when none is left or time is up. */
  async drainTasks(milliseconds: number): Promise<void> {
    this.#isDraining = true;
    clearTimeout(this.#admission);
    for (const task of this.#atWork) task.endAfterStep();
    const began = performance.now();
    while (this.#atWork.size > 0 && performance.now() - began < milliseconds) await pause(DRAIN_LOOK_MS);
  }

  /** Stops at once. Running tasks are put back as they are, for another worker. */
  async close(): Promise<void> {
    const { pool, client } = this.#options.store;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#admission);
    await Promise.allSettled([...this.#atWork].map((task) => task.stop()));
    await DBOS.shutdown().catch(() => {});
    // If the database is unreachable, other workers will notice that this one is gone.
    await pool
      .query("select 1")
      .then(() => requeueTasksOfWorker(client, this.name))
      .catch(() => {});
    await this.#life.close();
  }

  async #openQueue(): Promise<void> {
    const limits = { workerConcurrency: this.#options.concurrency, minPollingIntervalMs: POLL_MS };
    await this.#options.store.client.registerQueue(formatQueueName(this.name), limits);
  }

  /** Works on a task step by step. Recorded steps are returned again, and the task continues after the last. */
  async #runSubmission(submission: Submission): Promise<TaskEnd> {
    const id = DBOS.workflowID ?? "";
    // A task that was cancelled and retried continues only after its earlier execution has ended.
    await Promise.all([...this.#atWork].filter((other) => other.id === id).map((other) => other.stop()));
    const past: Step[] = [];
    const task = this.#options.begin(id, submission, past);
    this.#atWork.add(task);
    try {
      if (this.#isDraining) return await this.#requeueFromStart(id, QUEUE);
      await this.#refuseCancelled(id);
      return await this.#workOn(task, past);
    } catch (error) {
      // The step could not be recorded for a reason that has nothing to do with the task.
      if (isTemporary(error)) return await this.#requeueFromStart(id, QUEUE);
      throw error;
    } finally {
      this.#atWork.delete(task);
      await task.stop();
      this.#scheduleAdmission(END_DELAY_MS);
    }
  }

  async #workOn(task: LiveTask, past: Step[]): Promise<TaskEnd> {
    let isNew = false;
    // Bind the context: the session records its steps from wherever it is called.
    const stepOf = AsyncResource.bind(async (make: () => Step | "elsewhere"): Promise<Step> => {
      const time = startStopwatch();
      const makeNewStep = async () => {
        isNew = true;
        const made = make();
        return made === "elsewhere" ? this.#moveToOtherQueue(task.id) : made;
      };
      const recorded = await DBOS.runStep(makeNewStep, { name: STEP });
      await assertOwned({ id: task.id, worker: this.name, life: this.#life, client: this.#client }, time);
      past.push(recorded);
      return recorded;
    });
    for (;;) {
      const step = await (isNew
        ? task.runUntilEndOrQuestion((made) => stepOf(() => made))
        : stepOf(() => task.decideFirstStep()));
      if (step === "elsewhere") return await this.#moveToOtherQueue(task.id);
      if (step === "stopped" && this.#isDraining && !this.#isClosed)
        return await this.#requeueFromStart(task.id, QUEUE);
      if (step === "stopped") return await this.#abandonTask(task.id);
      if (step.end !== undefined) return step.end;
      if (step.question === undefined) continue;
      const answer = await DBOS.recv<Decision>(ANSWERS, isNew ? NO_TIMEOUT : ANSWER_TIMEOUT);
      // Do not keep a worker waiting: `answer` makes the task continue from here.
      if (answer === null) return createWaitingEnd(step.question, past);
      past.push({ answer });
    }
  }

  get #client() {
    return this.#options.store.client;
  }

  async #refuseCancelled(id: string): Promise<void> {
    const { pool } = this.#options.store;
    if (!(await retryUntilAvailable(() => isCancelled(pool, id)))) return;
    await this.#client.cancelWorkflows([id]);
    throw new DBOSWorkflowConflictError(id);
  }

  /** Puts the task into the queue for tasks that must run alone, or back into the normal one. */
  #moveToOtherQueue(id: string): Promise<never> {
    return this.#requeueFromStart(id, this.#options.isLone ? QUEUE : LONE_QUEUE);
  }

  async #requeueFromStart(id: string, queueName: string): Promise<never> {
    await this.#client.resumeWorkflows([id], { queueName });
    throw new DBOSWorkflowConflictError(id);
  }

  /** Stops working on a task that was cancelled, or because this worker is being closed. */
  #abandonTask(id: string): Promise<never> {
    return this.#isClosed ? new Promise(() => {}) : Promise.reject(new DBOSWorkflowConflictError(id));
  }

  #scheduleAdmission(milliseconds: number): void {
    clearTimeout(this.#admission);
    if (this.#isClosed || this.#isDraining) return;
    this.#admission = setTimeout(() => {
      void this.#admitTasksUntilPause()
        .catch((error) => this.#tellFaultAndGetPause(error))
        .then((next) => this.#scheduleAdmission(next));
    }, milliseconds);
  }

  /** Reports an error in checking the tasks. The next check tries again in any case. */
  #tellFaultAndGetPause(error: unknown): number {
    const words = describeError(error);
    if (!isTemporary(error) && words !== this.#fault)
      this.#options.note(`a look at the tasks failed: ${words}`);
    this.#fault = words;
    return ADMIT_MS.blocked;
  }

  async #admitTasksUntilPause(): Promise<number> {
    const { store, concurrency, limits, isLone } = this.#options;
    if (this.#atWork.size >= concurrency) return ADMIT_MS.blocked;
    const needs = { client: store.client, pool: store.pool, worker: this.name };
    return ADMIT_MS[await admitTasks({ ...needs, concurrency, limits, isLone })];
  }

  #scheduleCheck(): void {
    if (this.#isClosed) return;
    const wait = CHECK_INTERVAL_MS * (1 + Math.random() / 3);
    this.#timer = setTimeout(() => {
      void this.#checkTasks()
        .catch((error) => this.#tellFaultAndGetPause(error))
        .finally(() => this.#scheduleCheck());
    }, wait);
  }

  /** Stops tasks that no longer belong to this worker, and puts the tasks of lost workers back into the queue. */
  async #checkTasks(): Promise<void> {
    this.#triedAt = performance.now();
    const atWork = [...this.#atWork];
    const { pool, client } = this.#options.store;
    const { gone, lone, lost } = await readSnapshot(
      pool,
      atWork.map(({ id }) => id),
      this.name,
    );
    this.#lookedAt = performance.now();
    for (const task of atWork) if (lost.includes(task.id)) void task.stop();
    const forGood = gone.filter((worker) => worker !== this.name && this.#missing.has(worker));
    for (const worker of forGood)
      await this.#life.runIfFree(worker, () => requeueTasksOfWorker(client, worker));
    this.#missing = new Set(gone);
    await this.#options.look(lone, this.#atWork);
  }
}
