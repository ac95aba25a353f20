import type { Decision } from "@burin/core";
import { DBOS, DBOSClient, type DBOSConfig } from "@dbos-inc/dbos-sdk";
import type { Pool } from "pg";
import { isAnyHeld } from "./sign-of-life.ts";
import type { Submission, TaskEnd } from "./steps.ts";

const NAME = "burin_fleet";
/** Tasks wait here until a worker takes them into its own queue; nobody listens to it. */
export const QUEUE = "burin_tasks";
/** The same for tasks that may have crashed their workers: each runs in a process of its own. */
export const LONE_QUEUE = "burin_lone_tasks";
const NO_QUEUE = "burin_none";
/** Of the queues of workers; the name of the worker follows. */
export const WORKER_QUEUES = "burin_worker:";
export const WORKFLOW = "task";
export const STEP = "step";
/** Of the steps that are kept: a worker of another version of Burin goes on with them as long as this is the same. */
export const STEPS_VERSION = "1";
/** A message to a task. */
export const ANSWERS = "answer";

export const jsonSerializer = {
  name: () => "json",
  stringify: (value: unknown) => JSON.stringify(value) ?? "null",
  parse: (text: string | null | undefined): unknown => (text ? JSON.parse(text) : null),
};

/** The engine's log: only what stops the work is shown to the user. */
function createLogger(note: (text: string) => void) {
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

/** What tasks are controlled with: the engine's calls, and the fleet's own tables. */
interface Engine {
  readonly client: DBOSClient;
  readonly pool: Pool;
}

/** A client of the database: submits, reads and controls tasks; runs nothing. */
export function openClient(url: string, pool: Pool): Promise<DBOSClient> {
  return DBOSClient.create({
    systemDatabaseUrl: url,
    systemDatabasePool: pool,
    serializer: jsonSerializer,
    logger: createLogger(() => {}),
    applicationName: NAME,
  });
}

const RARE_INTERVAL_MS = 3_600_000;

/** What every start of the engine in this process has in common. */
export function buildConfig(url: string, note: (text: string) => void): DBOSConfig {
  return {
    name: NAME,
    systemDatabaseUrl: url,
    applicationVersion: STEPS_VERSION,
    serializer: jsonSerializer,
    logger: createLogger(note),
    // The fleet has no schedules.
    schedulerPollingIntervalMs: RARE_INTERVAL_MS,
    // Setting it would need a query during another one, about which the driver warns.
    systemDatabaseIdleTransactionTimeoutMs: 0,
    // A wait for an answer polls: that saves a connection and a timer in each worker.
    useListenNotify: false,
  };
}

/** Creates the engine's tables if they are missing, as `DBOS.migrate` does, which writes to the standard output. */
export async function prepareDatabase(url: string): Promise<void> {
  DBOS.setConfig({ ...buildConfig(url, () => {}), executorID: "migration", listenQueues: [NO_QUEUE] });
  await DBOS.launch();
  await DBOS.shutdown();
}

export function formatQueueName(worker: string): string {
  return WORKER_QUEUES + worker;
}

/** Whether a worker runs that takes tasks, on any machine. */
export async function hasWorker({ client, pool }: Engine): Promise<boolean> {
  return isAnyHeld(pool, await listWorkers(client));
}

/** The workers that have a queue, also those that were killed while they had nothing to do. */
export async function listWorkers(client: DBOSClient): Promise<string[]> {
  const names = (await client.listQueues()).map(({ name }) => name);
  return names.flatMap((name) => (name.startsWith(WORKER_QUEUES) ? [name.slice(WORKER_QUEUES.length)] : []));
}

/** Removes the queue of a worker that is gone, unless it has tasks. */
export async function removeEmptyQueue(client: DBOSClient, worker: string): Promise<void> {
  const queueName = formatQueueName(worker);
  const asked = { queueName, limit: 1, loadInput: false, loadOutput: false };
  const found = await client.listWorkflows({ ...asked, status: ["PENDING", "ENQUEUED"] });
  if (found.length === 0) await client.deleteQueue(queueName);
}

/**
 * Puts back what is in the queue of a worker that does not work any more, and removes the queue. A task that runs all
 * the same is stopped by its next step, which the engine refuses.
 */
export async function emptyQueue(client: DBOSClient, worker: string): Promise<void> {
  const queueName = formatQueueName(worker);
  const found = await client.listWorkflows({
    queueName,
    status: ["PENDING", "ENQUEUED"],
    loadInput: false,
    loadOutput: false,
  });
  const ids = found.map(({ workflowID }) => workflowID);
  if (ids.length > 0) await client.resumeWorkflows(ids, { queueName: QUEUE });
  await client.deleteQueue(queueName);
}

export async function submitTask(
  client: DBOSClient,
  workflowID: string,
  submission: Submission,
): Promise<void> {
  const { tenant = "default", model = "default" } = submission;
  const queue = { queueName: QUEUE, queuePartitionKey: JSON.stringify([tenant, model]) };
  const where = { ...queue, workflowName: WORKFLOW, appVersion: STEPS_VERSION };
  await client.enqueue<(submission: Submission) => Promise<TaskEnd>>({ ...where, workflowID }, submission);
}

/** Tasks that somebody has cancelled, until they are continued. */
export const CANCELLED_TABLE = "create table if not exists burin_fleet.cancelled (task text primary key)";

/** Continues tasks from their last step: those that were cancelled, and those that ended or lost their workers too often. */
export async function resumeTasks(
  { client, pool }: Engine,
  cancelled: string[],
  ended: string[],
): Promise<void> {
  await pool.query("delete from burin_fleet.cancelled where task = any($1)", [[...cancelled, ...ended]]);
  await client.resumeWorkflows(cancelled, { queueName: QUEUE });
  for (const id of ended) {
    const { status } = (await client.getWorkflow(id)) ?? {};
    if (status !== "SUCCESS" && status !== "ERROR") await client.resumeWorkflow(id, { queueName: QUEUE });
    else {
      const steps = (await client.listWorkflowSteps(id)) ?? [];
      // The last step is the end; without it the session looks as if it was cut off there.
      await requeueTask(client, id, Math.max(steps.at(-1)?.functionID ?? 0, 0));
    }
  }
}

/** Continues a task that waits for an answer. */
export async function answerTaskQuestion(
  client: DBOSClient,
  workflowID: string,
  decision: Decision,
): Promise<void> {
  await askAgain(client, workflowID);
  await client.send(workflowID, decision, ANSWERS);
}

/** Ends tasks; `waiting` are those that wait for an answer, which the engine takes for ended. */
export async function cancelTasks({ client, pool }: Engine, ids: string[], waiting: string[]): Promise<void> {
  const all = [...ids, ...waiting];
  const text = "insert into burin_fleet.cancelled select unnest($1::text[]) on conflict do nothing";
  await pool.query(text, [all]);
  for (const id of waiting) await askAgain(client, id);
  await client.cancelWorkflows(all);
}

/** A worker that takes a task at the same moment makes the engine forget that it was cancelled. */
export async function isCancelled(pool: Pool, id: string): Promise<boolean> {
  const { rowCount } = await pool.query("select 1 from burin_fleet.cancelled where task = $1", [id]);
  return rowCount !== 0;
}

async function askAgain(client: DBOSClient, workflowID: string): Promise<void> {
  const steps = (await client.listWorkflowSteps(workflowID)) ?? [];
  await requeueTask(client, workflowID, (steps.findLast(({ name }) => name === STEP)?.functionID ?? 0) + 1);
}

async function requeueTask(client: DBOSClient, workflowID: string, startStep: number): Promise<void> {
  const { queuePartitionKey = "" } = (await client.getWorkflow(workflowID)) ?? {};
  await client.rewindWorkflow(workflowID, { startStep, queueName: QUEUE, queuePartitionKey });
}
