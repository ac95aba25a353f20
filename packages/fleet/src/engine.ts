import type { Decision } from "@burin/core";
import { DBOSClient } from "@dbos-inc/dbos-sdk";
import { ensureSystemDatabase } from "@dbos-inc/dbos-sdk/internal/system_database";
import { GlobalLogger } from "@dbos-inc/dbos-sdk/internal/telemetry/logs";
import type { Pool } from "pg";
import type { Submission, TaskEnd } from "./steps.ts";

export const NAME = "burin_fleet";
export const QUEUE = "burin_tasks";
/** For tasks that may have crashed their workers: each runs in a process of its own. */
export const LONE_QUEUE = "burin_lone_tasks";
export const WORKFLOW = "task";
export const STEP = "step";
/** Of the steps that are kept: a worker of another version of Burin goes on with them as long as this is the same. */
export const STEPS_VERSION = "1";
/** A message to a task. */
export const ANSWERS = "answer";

export const json = {
  name: () => "json",
  stringify: (value: unknown) => JSON.stringify(value) ?? "null",
  parse: (text: string | null | undefined): unknown => (text ? JSON.parse(text) : null),
};

/** The engine's log: only what stops the work is shown to the user. */
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

/** A client of the database: submits, reads and controls tasks; runs nothing. */
export function openClient(url: string, pool: Pool): Promise<DBOSClient> {
  return DBOSClient.create({
    systemDatabaseUrl: url,
    systemDatabasePool: pool,
    serializer: json,
    logger: loggerFor(() => {}),
    applicationName: NAME,
  });
}

/** Creates the engine's tables if they are missing. */
export async function prepareDatabase(url: string): Promise<void> {
  const logger = new GlobalLogger(undefined, { logger: loggerFor(() => {}) });
  await ensureSystemDatabase(url, logger);
}

export async function submit(client: DBOSClient, workflowID: string, submission: Submission): Promise<void> {
  const { tenant = "default", model = "default" } = submission;
  const queue = { queueName: QUEUE, queuePartitionKey: JSON.stringify([tenant, model]) };
  const where = { ...queue, workflowName: WORKFLOW, appVersion: STEPS_VERSION };
  await client.enqueue<(submission: Submission) => Promise<TaskEnd>>({ ...where, workflowID }, submission);
}

/** Continues tasks from their last step: those that were cancelled, and those that ended or lost their workers too often. */
export async function resume(client: DBOSClient, cancelled: string[], ended: string[]): Promise<void> {
  await client.resumeWorkflows(cancelled, { queueName: QUEUE });
  for (const id of ended) {
    const { status } = (await client.getWorkflow(id)) ?? {};
    if (status !== "SUCCESS" && status !== "ERROR") await client.resumeWorkflow(id, { queueName: QUEUE });
    else {
      const steps = (await client.listWorkflowSteps(id)) ?? [];
      // The last step is the end; without it the session looks as if it was cut off there.
      await putBack(client, id, Math.max(steps.at(-1)?.functionID ?? 0, 0));
    }
  }
}

/** Continues a task that waits for an answer. */
export async function answer(client: DBOSClient, workflowID: string, decision: Decision): Promise<void> {
  await askAgain(client, workflowID);
  await client.send(workflowID, decision, ANSWERS);
}

/** Ends tasks; `waiting` are those that wait for an answer, which the engine takes for ended. */
export async function cancelTasks(client: DBOSClient, ids: string[], waiting: string[]): Promise<void> {
  for (const id of waiting) await askAgain(client, id);
  await client.cancelWorkflows([...ids, ...waiting]);
}

async function askAgain(client: DBOSClient, workflowID: string): Promise<void> {
  const steps = (await client.listWorkflowSteps(workflowID)) ?? [];
  await putBack(client, workflowID, (steps.findLast(({ name }) => name === STEP)?.functionID ?? 0) + 1);
}

async function putBack(client: DBOSClient, workflowID: string, startStep: number): Promise<void> {
  const { queuePartitionKey = "" } = (await client.getWorkflow(workflowID)) ?? {};
  await client.rewindWorkflow(workflowID, { startStep, queueName: QUEUE, queuePartitionKey });
}
