import { AsyncResource } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Decision } from "@burin/core";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { DBOSExecutor } from "@dbos-inc/dbos-sdk/internal/dbos-executor";
import { DBOSWorkflowConflictError } from "@dbos-inc/dbos-sdk/internal/error";
import type { SystemDatabase } from "@dbos-inc/dbos-sdk/internal/system_database";
import { INTERNAL_QUEUE_NAME } from "@dbos-inc/dbos-sdk/internal/utils";
import { registerInternalQueue } from "@dbos-inc/dbos-sdk/internal/wfqueue";
import {
  ANSWERS,
  json,
  LONE_QUEUE,
  loggerFor,
  NAME,
  QUEUE,
  STEP,
  STEPS_VERSION,
  WORKFLOW,
} from "./engine.ts";
import { askOnlyForTasks, type Limits, limitClaims } from "./limit-claims.ts";
import type { LiveTask } from "./live-task.ts";
import { recordStepsAtOnce } from "./record-steps.ts";
import { HELD_KEYS, SignOfLife } from "./sign-of-life.ts";
import { type Step, type Submission, type TaskEnd, waitingFor } from "./steps.ts";

/**
 * The tries of a task are counted by its progress, see `LiveTask`; this limit is for a task that never gets that
 * far.
 */
const MOST_RECOVERIES = 1000;
/** Answering puts the task into the queue again and sends the answer directly after that. */
const ANSWER_TIME = { timeoutSeconds: 10, pollingIntervalMs: 500 };
const NO_TIME = { timeoutSeconds: 0 };
const SWEEP_MS = 1000;
const POLL_MS = 200;
const SELDOM_MS = 3_600_000;
/** Beside one for each task at work: to take tasks, and to look at what others do. */
const CONNECTIONS = 4;
const MOST_CONNECTIONS = 40;

/**
 * Which workers have tasks at work and hold no lock, see `SignOfLife`, and whether a task waits that is to be worked on
 * alone: one question, however many workers there are.
 */
const LOOK = `
  with at_work as (select distinct executor_id as worker from dbos.workflow_status where status = 'PENDING')
  select
    array(select worker from at_work where hashtextextended(worker, 0) not in (${HELD_KEYS})) as gone,
    exists (select 1 from dbos.workflow_status where status = 'ENQUEUED' and queue_name = '${LONE_QUEUE}') as lone`;

export interface WorkerOptions {
  readonly url: string;
  readonly concurrency: number;
  readonly limits: Limits;
  /** Works only on tasks that may have crashed other workers. */
  readonly isLone: boolean;
  readonly begin: (id: string, submission: Submission, past: readonly Step[]) => LiveTask;
  /** Called every second, with whether a task waits that must run alone. */
  readonly look: (hasLone: boolean, atWork: ReadonlySet<LiveTask>) => Promise<void>;
  readonly note: (text: string) => void;
}

/** Takes tasks from the queue and works on them until it is closed, also on those of lost workers. */
export class Worker {
  readonly name = `${hostname()}-${process.pid}-${randomBytes(3).toString("hex")}`;
  readonly #options: WorkerOptions;
  readonly #life: SignOfLife;
  readonly #atWork = new Set<LiveTask>();
  #system: SystemDatabase | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** They were already gone at the last look: a worker may be about to connect again. */
  #missing = new Set<string>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#life = new SignOfLife(options.url, this.name);
  }

  async open(): Promise<void> {
    const { url, concurrency, limits, isLone, note } = this.#options;
    DBOS.setConfig({
      name: NAME,
      systemDatabaseUrl: url,
      executorID: this.name,
      applicationVersion: STEPS_VERSION,
      serializer: json,
      logger: loggerFor(note),
      // Setting it would need a query during another one, about which the driver warns.
      systemDatabaseIdleTransactionTimeoutMs: 0,
      systemDatabasePoolSize: Math.min(concurrency + CONNECTIONS, MOST_CONNECTIONS),
      // A wait for an answer polls: that saves a connection and a timer in each worker.
      useListenNotify: false,
    });
    const work = (submission: Submission) => this.#work(submission);
    DBOS.registerWorkflow(work, { name: WORKFLOW, maxRecoveryAttempts: MOST_RECOVERIES });
    registerInternalQueue(isLone ? LONE_QUEUE : QUEUE, {
      workerConcurrency: concurrency,
      // Each tenant and model has a partition of the queue; the partitions take turns, so that none waits for
      // another.
      partitionWorkerConcurrency: concurrency,
      minPollingIntervalMs: POLL_MS,
    });
    // The engine's own, in which the fleet has nothing.
    registerInternalQueue(INTERNAL_QUEUE_NAME, { minPollingIntervalMs: SELDOM_MS });
    await this.#life.hold();
    await DBOS.launch();
    this.#system = DBOSExecutor.globalInstance?.systemDatabase;
    if (this.#system === undefined) throw new Error("The engine has no database.");
    recordStepsAtOnce(this.#system, this.name);
    limitClaims(this.#system, this.#life, limits);
    askOnlyForTasks(this.#system, concurrency);
    this.#sweepLater();
  }

  /** Running tasks are left as they are, for another worker. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await Promise.allSettled([...this.#atWork].map((task) => task.stop()));
    await DBOS.shutdown().catch(() => {});
    await this.#life.close();
  }

  /** Only steps: known ones are returned again, and the task continues behind the last of them. */
  async #work(submission: Submission): Promise<TaskEnd> {
    const id = DBOS.workflowID ?? "";
    // A task that was cancelled and retried continues when its earlier execution has ended.
    await Promise.all([...this.#atWork].filter((other) => other.id === id).map((other) => other.stop()));
    const past: Step[] = [];
    const task = this.#options.begin(id, submission, past);
    this.#atWork.add(task);
    // The engine begins with tasks while it is launched.
    const watch = DBOSExecutor.globalInstance?.systemDatabase.watchForCancellation(id);
    watch?.signal.addEventListener("abort", () => void task.stop());
    let isNew = false;
    // The session records its steps from wherever it is called.
    const stepOf = AsyncResource.bind(async (make: () => Step | "elsewhere"): Promise<Step> => {
      const step = async () => {
        isNew = true;
        const made = make();
        return made === "elsewhere" ? this.#leave(id) : made;
      };
      const recorded = await DBOS.runStep(step, { name: STEP });
      past.push(recorded);
      return recorded;
    });
    try {
      for (;;) {
        const step = await (isNew ? task.work((made) => stepOf(() => made)) : stepOf(() => task.first()));
        if (step === "elsewhere") return await this.#leave(id);
        if (step === "stopped") return await this.#abandon(id);
        if (step.end !== undefined) return step.end;
        if (step.question === undefined) continue;
        const answer = await DBOS.recv<Decision>(ANSWERS, isNew ? NO_TIME : ANSWER_TIME);
        // No worker has to wait: `answer` makes the task continue from here.
        if (answer === null) return waitingFor(step.question, past);
        past.push({ answer });
      }
    } finally {
      watch?.release();
      this.#atWork.delete(task);
      await task.stop();
    }
  }

  /** Puts it into the other queue. */
  async #leave(id: string): Promise<never> {
    await this.#system?.resumeWorkflows([id], this.#options.isLone ? QUEUE : LONE_QUEUE);
    throw new DBOSWorkflowConflictError(id);
  }

  /** It was cancelled, or this worker is being closed: then nothing more is done with it. */
  #abandon(id: string): Promise<never> {
    return this.#isClosed ? new Promise(() => {}) : Promise.reject(new DBOSWorkflowConflictError(id));
  }

  #sweepLater(): void {
    const wait = SWEEP_MS * (0.75 + Math.random() / 2);
    // The database may be away; the next look asks again.
    this.#timer = setTimeout(() => {
      void this.#sweep()
        .catch(() => {})
        .finally(() => this.#sweepLater());
    }, wait);
  }

  /** Returns the tasks of lost workers to the queue. */
  async #sweep(): Promise<void> {
    const found = await this.#system?.pool.query<{ gone: string[]; lone: boolean }>(LOOK);
    const { gone = [], lone = false } = found?.rows[0] ?? {};
    const forGood = gone.filter((worker) => worker !== this.name && this.#missing.has(worker));
    for (const worker of forGood)
      await this.#life.ifFree(worker, async () => {
        await DBOSExecutor.globalInstance?.recoverPendingWorkflows([worker]);
      });
    this.#missing = new Set(gone);
    await this.#options.look(lone, this.#atWork);
  }
}
