import { setTimeout as pause } from "node:timers/promises";
import { type DBOSClient, DBOSWorkflowConflictError } from "@dbos-inc/dbos-sdk";
import type { SignOfLife } from "./sign-of-life.ts";

/** Others take a task after two checks in a row without its worker, which are further apart than this. */
const LATE_AFTER_MS = 500;
const PAUSE_MS = 100;

/** Returns whether a long time has passed since the watch was created. */
export type HasElapsed = () => boolean;

/** Starts a watch with two clocks: one stands still while the machine sleeps, and the other can be set. */
export function startStopwatch(): HasElapsed {
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
 * Throws if the task no longer belongs to this worker. The engine refuses the steps of a worker that has lost its task.
 * But a worker that was stopped after a step was recorded may have lost the task since then, and would do the next work
 * a second time; so it asks first.
 */
export async function assertOwned(
  { id, worker, client, life }: OwnershipOptions,
  isLate: HasElapsed,
): Promise<void> {
  while (isLate()) {
    const isLateAgain = startStopwatch();
    const isHeld = await life.isHeld();
    const task = await client.getWorkflow(id);
    if (task?.status !== "PENDING" || task.executorId !== worker) throw new DBOSWorkflowConflictError(id);
    if (isHeld && !isLateAgain()) return;
    await pause(PAUSE_MS);
  }
}
