import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Decision } from "@burin/core";
import { DBOS, DBOSClient, type WorkflowStatus } from "@dbos-inc/dbos-sdk";
import { DBOSExecutor } from "@dbos-inc/dbos-sdk/internal/dbos-executor";
import { ensureSystemDatabase } from "@dbos-inc/dbos-sdk/internal/system_database";
import { GlobalLogger } from "@dbos-inc/dbos-sdk/internal/telemetry/logs";
import { registerInternalQueue } from "@dbos-inc/dbos-sdk/internal/wfqueue";
import { type Step, type Submission, type TaskEnd, waitingFor } from "./steps.ts";
import { SignOfLife } from "./store.ts";

const NAME = "burin_fleet";
const QUEUE = "burin_tasks";
const WORKFLOW = "task";
const STEP = "step";
/** Whatever the settings of a worker name. */
const OWN_MODEL = "default";
/** Of the steps that are kept: a worker of another version of Burin goes on with them as long as this is the same. */
const STEPS_VERSION = "1";
/** The tries of a task are counted by what it gets done, see `LiveTask`; this is for what never gets that far. */
const MOST_RECOVERIES = 1000;
/** A message to a task. */
const ANSWERS = "answer";
/** After a question, and for the answer to come behind the task that is in the queue again. */
const ANSWER_TIME = { timeoutSeconds: 5, pollingIntervalMs: 500 };
const SWEEP_MS = 500;
const POLL_MS = 200;

const json = {
  name: () => "json",
  stringify: (value: unknown) => JSON.stringify(value) ?? "null",
  parse: (text: string | null | undefined): unknown => (text ? JSON.parse(text) : null),
};

/** It would be set with a query beside another one, which the driver warns of. */
const NO_TIMEOUT = { systemDatabaseIdleTransactionTimeoutMs: 0 };

/** What the engine has to say for itself: only what keeps work from going on is for the user. */
function loggerFor(note: (text: string) => void) {
  let last = "";
  const tell = (entry: unknown) => {
    const text = String(entry);
    if (!/Database connection failed|Unexpected error (?:in pool|on)/.test(text)) return;
    const words = "The database does not answer; the work goes on when it does.";
    if (last !== words) note(words);
    last = words;
  };
  return { info: () => {}, debug: () => {}, warn: tell, error: tell };
}

/** A client of the database: submits, looks and steers; runs nothing. */
export async function openClient(url: string): Promise<DBOSClient> {
  const logger = loggerFor(() => {});
  return DBOSClient.create({
    systemDatabaseUrl: url,
    serializer: json,
    logger,
    applicationName: NAME,
    ...NO_TIMEOUT,
  });
}

/** Makes the engine's tables, where they are missing. */
export async function prepareDatabase(url: string): Promise<void> {
  const logger = new GlobalLogger(undefined, { logger: loggerFor(() => {}) });
  await ensureSystemDatabase(url, logger);
}

export async function submit(client: DBOSClient, workflowID: string, submission: Submission): Promise<void> {
  const queue = { queueName: QUEUE, queuePartitionKey: submission.model ?? OWN_MODEL };
  const where = { ...queue, workflowName: WORKFLOW, appVersion: STEPS_VERSION };
  await client.enqueue<(submission: Submission) => Promise<TaskEnd>>({ ...where, workflowID }, submission);
}

/** From here the task goes on with what it has: for one that was cancelled, or lost its workers too often. */
export async function resume(
  client: DBOSClient,
  { workflowID, status, queuePartitionKey = OWN_MODEL }: WorkflowStatus,
): Promise<void> {
  if (status !== "SUCCESS" && status !== "ERROR") {
    await client.resumeWorkflow(workflowID, { queueName: QUEUE });
    return;
  }
  const steps = (await client.listWorkflowSteps(workflowID)) ?? [];
  // The last step holds the end; without it the session is one that was cut off there.
  const startStep = Math.max(steps.at(-1)?.functionID ?? 0, 0);
  await client.rewindWorkflow(workflowID, { startStep, queueName: QUEUE, queuePartitionKey });
}

/** Goes on with a task that waits for an answer. */
export async function answer(
  client: DBOSClient,
  { workflowID, queuePartitionKey = OWN_MODEL }: WorkflowStatus,
  decision: Decision,
): Promise<void> {
  const steps = (await client.listWorkflowSteps(workflowID)) ?? [];
  const asked = steps.findLast(({ name }) => name === STEP);
  await client.rewindWorkflow(workflowID, {
    startStep: (asked?.functionID ?? 0) + 1,
    queueName: QUEUE,
    queuePartitionKey,
  });
  await client.send(workflowID, decision, ANSWERS);
}

/** One task at work: gives its steps one after the other, see `LiveTask`. */
export interface TaskAtWork {
  next(signal: AbortSignal): Promise<Step>;
  stop(): Promise<void>;
}

type BeginTask = (id: string, submission: Submission, past: readonly Step[]) => TaskAtWork;

export interface WorkerOptions {
  readonly url: string;
  readonly concurrency: number;
  /** How many tasks with the same model may run at a time, on all workers together. */
  readonly perModel?: number | undefined;
  readonly begin: BeginTask;
  readonly note: (text: string) => void;
}

/** Takes tasks from the queue and works on them, until it is closed; also on those of workers that are gone. */
export class Worker {
  readonly name = `${hostname()}-${process.pid}-${randomBytes(3).toString("hex")}`;
  readonly #options: WorkerOptions;
  readonly #life: SignOfLife;
  readonly #atWork = new Set<TaskAtWork>();
  #timer: NodeJS.Timeout | undefined;
  /** Were gone already when they were looked for last: a worker may be about to connect again. */
  #missing = new Set<string>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#life = new SignOfLife(options.url, this.name);
  }

  async open(): Promise<void> {
    const { url, concurrency, perModel, note } = this.#options;
    DBOS.setConfig({
      name: NAME,
      systemDatabaseUrl: url,
      executorID: this.name,
      applicationVersion: STEPS_VERSION,
      serializer: json,
      logger: loggerFor(note),
      ...NO_TIMEOUT,
      systemDatabasePoolSize: Math.min(10 + concurrency, 40),
    });
    const work = (submission: Submission) => this.#work(submission);
    DBOS.registerWorkflow(work, { name: WORKFLOW, maxRecoveryAttempts: MOST_RECOVERIES });
    registerInternalQueue(QUEUE, {
      workerConcurrency: concurrency,
      minPollingIntervalMs: POLL_MS,
      ...(perModel !== undefined && { partitionConcurrency: perModel }),
    });
    await this.#life.hold();
    await DBOS.launch();
    this.#sweepLater();
  }

  /** What is being worked on is left as it is, for another worker. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.allSettled([...this.#atWork].map((task) => task.stop()));
    await DBOS.shutdown().catch(() => {});
    await this.#life.close();
  }

  /** Nothing but steps: what they gave before is given again, and the first that is new goes on from there. */
  async #work(submission: Submission): Promise<TaskEnd> {
    const past: Step[] = [];
    const task = this.#options.begin(DBOS.workflowID ?? "", submission, past);
    this.#atWork.add(task);
    try {
      for (;;) {
        const next = () => task.next(DBOS.stepStatus?.cancelSignal ?? new AbortController().signal);
        const step: Step = await DBOS.runStep(next, { name: STEP });
        past.push(step);
        if (step.end !== undefined) return step.end;
        if (step.question === undefined) continue;
        const answer = await DBOS.recv<Decision>(ANSWERS, ANSWER_TIME);
        // Nobody has to be kept waiting: `answer` makes the task go on from here.
        if (answer === null) return waitingFor(step.question, past);
        past.push({ answer });
      }
    } finally {
      this.#atWork.delete(task);
      await task.stop();
    }
  }

  #sweepLater(): void {
    const wait = SWEEP_MS * (0.75 + Math.random() / 2);
    this.#timer = setTimeout(() => void this.#sweep().finally(() => this.#sweepLater()), wait);
  }

  /** Gives the tasks of workers that are gone back to the queue. */
  async #sweep(): Promise<void> {
    const input = { status: "PENDING" as const, loadInput: false, loadOutput: false };
    const pending = await DBOS.listWorkflows(input).catch(() => []);
    const others = new Set(pending.flatMap(({ executorId }) => executorId ?? []));
    others.delete(this.name);
    const missing = new Set<string>();
    for (const other of others) {
      const isSecondTime = this.#missing.has(other);
      const isGone = await this.#life
        .ifGone(other, async () => {
          if (isSecondTime) await DBOSExecutor.globalInstance?.recoverPendingWorkflows([other]);
        })
        .catch(() => false);
      if (isGone && !isSecondTime) missing.add(other);
    }
    this.#missing = missing;
  }
}
