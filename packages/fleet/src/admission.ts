import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import type { Pool, PoolClient } from "pg";
import { formatQueueName, LONE_QUEUE, QUEUE } from "./engine.ts";
import { countTasksAtWork, listFirstTasks, listQueueParts, type WaitingTask } from "./engine-tables.ts";

/** The maximum number of tasks that may run at the same time, on all workers together. */
export interface Limits {
  readonly perModel?: number | undefined;
  readonly perProvider?: number | undefined;
  readonly perTenant?: number | undefined;
}

/** Tasks of the same tenant and model that a worker has taken. */
export interface TasksAtWork {
  readonly queue: string;
  readonly key: string;
  readonly count: number;
}

/** The key of the lock that a worker holds while it takes tasks. */
const ADMISSION_KEY = 7_261_903_121;
/** A worker that hangs while it holds the lock loses it after this time. */
const BEGIN = "begin; set local idle_in_transaction_session_timeout = 5000";
const LOCK = `select pg_try_advisory_xact_lock(${ADMISSION_KEY}) as free`;

export interface AdmissionOptions {
  readonly client: DBOSClient;
  readonly pool: Pool;
  readonly worker: string;
  readonly concurrency: number;
  readonly limits: Limits;
  /** true to take only tasks that must run alone. */
  readonly isLone: boolean;
}

/** `full`: the worker has no room. `blocked`: the limits or other versions leave no task for it. */
export type Admission = "none" | "busy" | "full" | "taken" | "blocked";

/**
 * Takes waiting tasks into the worker's own queue: as many as it has room for and as the limits allow. The engine's
 * queues have one limit per part, but the fleet has three at once, so they are counted here, by one worker at a time.
 */
export async function admitTasks(needs: AdmissionOptions): Promise<Admission> {
  const queue = needs.isLone ? LONE_QUEUE : QUEUE;
  const parts = await listQueueParts(needs.pool, queue);
  if (parts.length === 0) return "none";
  const client = await needs.pool.connect();
  let isFaulty = true;
  try {
    await client.query(BEGIN);
    const isFree = (await client.query<{ free: boolean }>(LOCK)).rows[0]?.free === true;
    const chosen = isFree ? await chooseTasks(client, { ...needs, queue, parts }) : null;
    // If this query succeeds, the lock is still held.
    if (chosen !== null && chosen.length > 0) {
      await client.query("select 1");
      await needs.client.resumeWorkflows(chosen, { queueName: formatQueueName(needs.worker) });
    }
    await client.query("commit");
    isFaulty = false;
    if (!isFree) return "busy";
    if (chosen === null) return "full";
    return chosen.length > 0 ? "taken" : "blocked";
  } finally {
    client.release(isFaulty);
  }
}

async function chooseTasks(
  client: PoolClient,
  {
    queue,
    parts,
    worker,
    concurrency,
    limits,
    isLone,
  }: AdmissionOptions & { queue: string; parts: string[] },
): Promise<string[] | null> {
  const atWork = await countTasksAtWork(client);
  const own = atWork.filter((one) => one.queue === formatQueueName(worker));
  const room = concurrency - own.reduce((sum, { count }) => sum + count, 0);
  if (room <= 0) return null;
  const order = parts.map((key) => ({ key, at: Math.random() })).sort((one, other) => one.at - other.at);
  const waiting = await listFirstTasks(client, { queue, parts: order.map(({ key }) => key), max: room });
  return chooseWithinLimits(isLone ? {} : limits, { waiting, atWork, room });
}

/** Chooses the first waiting tasks that fit within all limits. */
export function chooseWithinLimits(
  limits: Limits,
  {
    waiting,
    atWork,
    room,
  }: {
    readonly waiting: readonly WaitingTask[];
    readonly atWork: readonly TasksAtWork[];
    readonly room: number;
  },
): string[] {
  const counts = new Map<string, number>();
  const addToShares = (key: string, count: number) => {
    for (const share of listShares(key, limits))
      counts.set(share.name, (counts.get(share.name) ?? 0) + count);
  };
  for (const { key, count } of atWork) addToShares(key, count);
  const chosen: string[] = [];
  for (const { id, key } of waiting) {
    if (chosen.length === room) break;
    if (listShares(key, limits).some(({ name, max }) => (counts.get(name) ?? 0) >= max)) continue;
    chosen.push(id);
    addToShares(key, 1);
  }
  return chosen;
}

/** Returns the limits that apply to a task, each with a unique name. */
function listShares(key: string, { perTenant, perModel, perProvider }: Limits) {
  const [tenant = "", model = ""] = JSON.parse(key) as string[];
  const provider = model.slice(0, Math.max(model.indexOf("/"), 0));
  const shares = [
    { name: `tenant ${tenant}`, max: perTenant },
    { name: `model ${model}`, max: perModel },
    { name: `provider ${provider}`, max: perProvider },
  ];
  return shares.flatMap(({ name, max }) => (max === undefined ? [] : [{ name, max }]));
}
