import type { Decision } from "@burin/core";
import { DBOS, DBOSClient, type DBOSConfig } from "@dbos-inc/dbos-sdk";
import type { Pool } from "pg";
import { isAnyHeld } from "./sign-of-life.ts";
import type { Submission, TaskEnd } from "./steps.ts";

const NAME = "burin_fleet";
/** Tasks wait in this queue until a worker takes them into its own queue. No worker listens to it. */
export const QUEUE = "burin_tasks";
/** The queue for tasks that may have crashed their workers. Each of them runs in its own process. */
export const LONE_QUEUE = "burin_lone_tasks";
const NO_QUEUE = "burin_none";
/** The beginning of the names of workers' queues. The worker's name follows. */
export const WORKER_QUEUES = "burin_worker:";
export const WORKFLOW = "task";
export const STEP = "step";
/** The version of the recorded steps. Workers with another version of Burin continue a task if this is the same. */
export const STEPS_VERSION = "1";
/** The topic of answers that are sent to a task. */
export const ANSWERS = "answer";

export const jsonSerializer = {
  name: () => "json",
  stringify: (value: unknown) => JSON.stringify(value) ?? "null",
  parse: (text: string | null | undefined): unknown => (text ? JSON.parse(text) : null),
};

/** The engine's log. Only messages about problems that stop the work are shown to the user. */
function createLogger(note: (text: string) => void) {
  let last = "";
  const reportEntry = (entry: unknown) => {
    const text = String(entry);
    if (!/Database connection failed|Unexpected error (?:in pool|on)/.test(text)) return;
    const words = "The database does not answer; the work goes on when it does.";
    if (last !== words) note(words);
    last = words;
  };
  return { info: () => {}, debug: () => {}, warn: reportEntry, error: reportEntry };
}

/** What is needed to control tasks: the engine's calls, and the fleet's own tables. */
interface Engine {
  readonly client: DBOSClient;
  readonly pool: Pool;
}

/** Opens a client that submits, reads and controls tasks but runs none. */
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

/** The options that every start of the engine in this process shares. */
export function buildConfig(url: string, note: (text: string) => void): DBOSConfig {
  return {
    name: NAME,
    systemDatabaseUrl: url,
    applicationVersion: STEPS_VERSION,
    serializer: jsonSerializer,
    logger: createLogger(note),
    // The fleet has no schedules.
    schedulerPollingIntervalMs: RARE_INTERVAL_MS,
    // Setting it would require a query during another one, about which the driver warns.
    systemDatabaseIdleTransactionTimeoutMs: 0,
    // Waiting for an answer polls instead, which saves a connection and a timer in each worker.
    useListenNotify: false,
  };
}

/** Creates the engine's tables if they are missing. Does the same as `DBOS.migrate`, which would write to stdout. */
export async function prepareDatabase(url: string): Promise<void> {
  DBOS.setConfig({ ...buildConfig(url, () => {}), executorID: "migration", listenQueues: [NO_QUEUE] });
  await DBOS.launch();
  await DBOS.shutdown();
}

export function formatQueueName(worker: string): string {
  return WORKER_QUEUES + worker;
}

/** Whether any worker that takes tasks is running, on any machine. */
export async function hasWorker({ client, pool }: Engine): Promise<boolean> {
  return isAnyHeld(pool, await listWorkers(client));
}

/** Lists the workers that have a queue, including those that were killed while they had no task. */
export async function listWorkers(client: DBOSClient): Promise<string[]> {
  const names = (await client.listQueues()).map(({ name }) => name);
  return names.flatMap((name) => (name.startsWith(WORKER_QUEUES) ? [name.slice(WORKER_QUEUES.length)] : []));
}

/** Removes the queue of a worker that is gone, unless it contains tasks. */
export async function removeEmptyQueue(client: DBOSClient, worker: string): Promise<void> {
  const queueName = formatQueueName(worker);
  const asked = { queueName, limit: 1, loadInput: false, loadOutput: false };
  const found = await client.listWorkflows({ ...asked, status: ["PENDING", "ENQUEUED"] });
  if (found.length === 0) await client.deleteQueue(queueName);
}

/**
 * Puts the tasks of a lost worker back into the queue and removes the worker's own queue. If such a task is still
 * running, its next step stops it, because the engine refuses it.
 */
export async function requeueTasksOfWorker(client: DBOSClient, worker: string): Promise<void> {
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

/** Cancelled tasks, until they are continued. */
export const CANCELLED_TABLE = "create table if not exists burin_fleet.cancelled (task text primary key)";

/** Continues tasks from their last step: tasks that were cancelled, and tasks that failed or lost too many workers. */
export async function resumeTasks(
  { client, pool }: Engine,
  cancelled: string[],
  failed: string[],
): Promise<void> {
  await pool.query("delete from burin_fleet.cancelled where task = any($1)", [[...cancelled, ...failed]]);
  await client.resumeWorkflows(cancelled, { queueName: QUEUE });
  for (const id of failed) {
    const { status } = (await client.getWorkflow(id)) ?? {};
    if (status !== "SUCCESS" && status !== "ERROR") await client.resumeWorkflow(id, { queueName: QUEUE });
    else {
      const steps = (await client.listWorkflowSteps(id)) ?? [];
      // Remove the last step, which is the end; the session then looks as if it was cut off there.
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
  await retryLastQuestion(client, workflowID);
  await client.send(workflowID, decision, ANSWERS);
}

/** Cancels tasks. `waiting` are those that wait for an answer, which the engine considers ended. */
export async function cancelTasks({ client, pool }: Engine, ids: string[], waiting: string[]): Promise<void> {
  const all = [...ids, ...waiting];
  const text = "insert into burin_fleet.cancelled select unnest($1::text[]) on conflict do nothing";
  await pool.query(text, [all]);
  for (const id of waiting) await retryLastQuestion(client, id);
  await client.cancelWorkflows(all);
}

/** Whether a task was cancelled. The engine forgets that if a worker takes the task at the same moment. */
export async function isCancelled(pool: Pool, id: string): Promise<boolean> {
  const { rowCount } = await pool.query("select 1 from burin_fleet.cancelled where task = $1", [id]);
  return rowCount !== 0;
}

async function retryLastQuestion(client: DBOSClient, workflowID: string): Promise<void> {
  const steps = (await client.listWorkflowSteps(workflowID)) ?? [];
  await requeueTask(client, workflowID, (steps.findLast(({ name }) => name === STEP)?.functionID ?? 0) + 1);
}

async function requeueTask(client: DBOSClient, workflowID: string, startStep: number): Promise<void> {
  const { queuePartitionKey = "" } = (await client.getWorkflow(workflowID)) ?? {};
  await client.rewindWorkflow(workflowID, { startStep, queueName: QUEUE, queuePartitionKey });
}
