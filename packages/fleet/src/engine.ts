import type { Decision } from "@burin/core";
import { DBOSClient } from "@dbos-inc/dbos-sdk";
import { ensureSystemDatabase } from "@dbos-inc/dbos-sdk/internal/system_database";
import { GlobalLogger } from "@dbos-inc/dbos-sdk/internal/telemetry/logs";
import type { Submission, TaskEnd } from "./steps.ts";

export const NAME = "burin_fleet";
export const QUEUE = "burin_tasks";
/** Of tasks that may be what their workers were lost by: each has a process of its own. */
export const LONE_QUEUE = "burin_lone_tasks";
export const WORKFLOW = "task";
export const STEP = "step";
/** Whatever the settings of a worker name; and whoever has handed a task in. */
const DEFAULT = "default";
/** Of the steps that are kept: a worker of another version of Burin goes on with them as long as this is the same. */
export const STEPS_VERSION = "1";
/** A message to a task. */
export const ANSWERS = "answer";

export const json = {
  name: () => "json",
  stringify: (value: unknown) => JSON.stringify(value) ?? "null",
  parse: (text: string | null | undefined): unknown => (text ? JSON.parse(text) : null),
};

/** It would be set with a query beside another one, which the driver warns of. */
export const NO_TIMEOUT = { systemDatabaseIdleTransactionTimeoutMs: 0 };

/** What the engine has to say for itself: only what keeps work from going on is for the user. */
export function loggerFor(note: (text: string) => void) {
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
  const { tenant = DEFAULT, model = DEFAULT } = submission;
  const queue = { queueName: QUEUE, queuePartitionKey: JSON.stringify([tenant, model]) };
  const where = { ...queue, workflowName: WORKFLOW, appVersion: STEPS_VERSION };
  await client.enqueue<(submission: Submission) => Promise<TaskEnd>>({ ...where, workflowID }, submission);
}

/** From here the task goes on with what it has: for one that was cancelled, or lost its workers too often. */
export async function resume(client: DBOSClient, workflowID: string): Promise<void> {
  const { status, queuePartitionKey = "" } = (await client.getWorkflow(workflowID)) ?? {};
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
export async function answer(client: DBOSClient, workflowID: string, decision: Decision): Promise<void> {
  const { queuePartitionKey = "" } = (await client.getWorkflow(workflowID)) ?? {};
  const steps = (await client.listWorkflowSteps(workflowID)) ?? [];
  const startStep = (steps.findLast(({ name }) => name === STEP)?.functionID ?? 0) + 1;
  await client.rewindWorkflow(workflowID, { startStep, queueName: QUEUE, queuePartitionKey });
  await client.send(workflowID, decision, ANSWERS);
}
