import type { SystemDatabase } from "@dbos-inc/dbos-sdk/internal/system_database";
import type { Client } from "pg";
import { QUEUE } from "./engine.ts";
import type { SignOfLife } from "./sign-of-life.ts";

/** How many tasks may run at the same time, on all workers together. */
export interface Limits {
  readonly perModel?: number | undefined;
  readonly perProvider?: number | undefined;
  readonly perTenant?: number | undefined;
}

/** Of the lock that is held while tasks are taken from the queue within limits. */
const CLAIMS = "claims";
const AT_WORK = `select queue_partition_key as key, count(*)::int as count from dbos.workflow_status
  where status = 'PENDING' and queue_partition_key is not null group by 1`;

/** The engine also asks for what the fleet never has, and for tasks while this worker can take none. */
export function askOnlyForTasks(system: SystemDatabase, most: number): void {
  const partitions = system.getQueuePartitions.bind(system);
  system.getQueuePartitions = async (queue) =>
    system.countRunningWorkflowsForQueue(queue) < most ? partitions(queue) : [];
  system.listQueues = async () => [];
  system.listSchedules = async () => [];
  system.transitionDelayedWorkflows = async () => {};
  system.cancelTimedOutWorkflows = async () => [];
}

/** One worker at a time takes tasks from the queue, and only as many as the limits allow. */
export function limitClaims(system: SystemDatabase, life: SignOfLife, limits: Limits): void {
  if (Object.values(limits).every((limit) => limit === undefined)) return;
  const claim = system.findAndMarkStartableWorkflows.bind(system);
  system.findAndMarkStartableWorkflows = async (...asked) => {
    const [queue, executor, version, key, running = 0, ...more] = asked;
    if (key === undefined || queue.name !== QUEUE) return claim(...asked);
    const claimed = await life.ifFree(CLAIMS, async (client) => {
      const room = await roomFor(key, limits, client);
      const most = Math.min(queue.workerConcurrency ?? Number.POSITIVE_INFINITY, running + room);
      if (most <= running) return [];
      const limited = Object.create(queue, { workerConcurrency: { value: most } });
      return claim(limited, executor, version, key, running, ...more);
    });
    return claimed ?? [];
  };
}

async function roomFor(key: string, limits: Limits, client: Client): Promise<number> {
  const { rows } = await client.query<{ key: string; count: number }>(AT_WORK);
  const own = sharesOf(key);
  const rooms = (Object.keys(limits) as (keyof Limits)[]).map((name) => {
    const alike = rows.filter((row) => sharesOf(row.key)[name] === own[name]);
    return (limits[name] ?? Number.POSITIVE_INFINITY) - alike.reduce((sum, { count }) => sum + count, 0);
  });
  return Math.min(...rooms);
}

/** What a part of the queue has its share of. */
function sharesOf(key: string): Record<keyof Limits, string> {
  const [tenant = "", model = ""] = JSON.parse(key) as string[];
  return { perTenant: tenant, perModel: model, perProvider: model.slice(0, Math.max(model.indexOf("/"), 0)) };
}
