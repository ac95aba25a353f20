import { setTimeout as pause } from "node:timers/promises";
import { currentOwnerXid } from "@dbos-inc/dbos-sdk/internal/context";
import { DBOSWorkflowConflictError } from "@dbos-inc/dbos-sdk/internal/error";
import type { SystemDatabase } from "@dbos-inc/dbos-sdk/internal/system_database";
import { HELD_KEYS } from "./sign-of-life.ts";
import { whenItPasses } from "./when-it-passes.ts";

/** As the engine does it: only for the execution that owns the task; a cancelled task has no owner. */
const RECORD = `with own as (
    select 1 from dbos.workflow_status where workflow_uuid = $1 and owner_xid = $2 for no key update)
  insert into dbos.operation_outputs (workflow_uuid, function_id, output, function_name, started_at_epoch_ms,
    completed_at_epoch_ms, serialization, retention_timestamp)
  select $1, $3::int, $4, $5, $6::bigint, $7::bigint, $8, (extract(epoch from now()) * 1000)::bigint from own`;

/** Whether the worker, which owns the task, shows that it is alive; no row when the task is another's. */
const IS_OURS = `select hashtextextended($3, 0) in (${HELD_KEYS}) as held from dbos.workflow_status
  where workflow_uuid = $1 and owner_xid = $2`;
/** Others take a task when they have missed its worker at two looks, which are further apart. */
const SOON_MS = 500;
const PAUSE_MS = 100;

/**
 * A step costs one statement instead of the engine's seven: after recording a step, a worker knows that there is
 * none after it, and the statement itself checks that it owns the task. Everything else is left to the engine. If
 * the database's disk is full, the step is recorded when there is room again.
 */
export function recordStepsAtOnce(system: SystemDatabase, worker: string): void {
  const record = system.recordOperationResult.bind(system);
  const find = system.getOperationResultAndThrowIfCancelled.bind(system);
  const check = system.checkIfCanceled.bind(system);
  const end = system.recordWorkflowOutput.bind(system);
  /** Tasks that are taken together have the same owner. */
  const keyOf = (id: string, owner = currentOwnerXid(id)) => `${id} ${owner}`;
  const atEnd = new Set<string>();
  const insert = async (...step: Parameters<typeof record>) => {
    const [id, number, name, , started, ended, { output, serialization, ...more } = {}] = step;
    const owner = currentOwnerXid(id);
    if (owner === undefined || output === undefined || Object.keys(more).length > 0) return false;
    const values = [id, owner, number, output, name, started, ended, serialization ?? null];
    const { rowCount } = await system.pool.query({ name: "burin_step", text: RECORD, values });
    if (rowCount === 1) atEnd.add(keyOf(id));
    return rowCount === 1;
  };

  /** A worker that was stopped before the answer came may have lost its task: what it does next would be done twice. */
  const assureOurs = async (id: string, isLate: () => boolean) => {
    const owner = currentOwnerXid(id);
    while (owner !== undefined && isLate()) {
      const isLateNow = lateness();
      const { rows } = await whenItPasses(() => system.pool.query(IS_OURS, [id, owner, worker]));
      if (rows.length === 0) throw new DBOSWorkflowConflictError(id);
      if (rows[0].held && !isLateNow()) return;
      await pause(PAUSE_MS);
    }
  };

  system.checkIfCanceled = async (id) => {
    if (!atEnd.has(keyOf(id))) await check(id);
  };
  system.getOperationResultAndThrowIfCancelled = async (id, number) =>
    atEnd.has(keyOf(id)) ? undefined : find(id, number);
  system.recordOperationResult = async (...step) => {
    const [id] = step;
    const isLate = lateness();
    if (!(await insert(...step).catch(() => false))) {
      atEnd.delete(keyOf(id));
      await check(id);
      await whenItPasses(() => record(...step));
    }
    await assureOurs(id, isLate);
  };
  system.recordWorkflowOutput = async (id, status, owner) => {
    atEnd.delete(keyOf(id, owner));
    return whenItPasses(() => end(id, status, owner));
  };
}

/** By two clocks: one stands still while the machine sleeps, the other can be set. */
function lateness(): () => boolean {
  const [uptime, time] = [performance.now(), Date.now()];
  return () => performance.now() - uptime > SOON_MS || Math.abs(Date.now() - time) > SOON_MS;
}
