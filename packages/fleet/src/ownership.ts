import { setTimeout as pause } from "node:timers/promises";
import { type DBOSClient, DBOSWorkflowConflictError } from "@dbos-inc/dbos-sdk";
import type { SignOfLife } from "./sign-of-life.ts";

/** Others take a task when they have missed its worker at two looks, which are further apart. */
const LATE_AFTER_MS = 500;
const PAUSE_MS = 100;

/** Whether much time has passed since. */
export type HasElapsed = () => boolean;

/** By two clocks: one stands still while the machine sleeps, the other can be set. */
export function startWatch(): HasElapsed {
  const [uptime, time] = [performance.now(), Date.now()];
  return () => performance.now() - uptime > LATE_AFTER_MS || Math.abs(Date.now() - time) > LATE_AFTER_MS;
}

export interface OwnershipOptions {
  readonly id: string;
  readonly worker: string;
  readonly client: Pick<DBOSClient, "getWorkflow">;
  readonly life: Pick<SignOfLife, "isHeld">;
}

/**
 * The engine refuses the step of a worker that has lost its task. But a worker that was stopped after its step was
 * recorded may have lost the task since, and what it does next would be done twice: so it asks.
 */
export async function assertOwned(
  { id, worker, client, life }: OwnershipOptions,
  isLate: HasElapsed,
): Promise<void> {
  while (isLate()) {
    const isLateAgain = startWatch();
    const isHeld = await life.isHeld();
    const task = await client.getWorkflow(id);
    if (task?.status !== "PENDING" || task.executorId !== worker) throw new DBOSWorkflowConflictError(id);
    if (isHeld && !isLateAgain()) return;
    await pause(PAUSE_MS);
  }
}
