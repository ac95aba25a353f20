import type { DBOSClient, WorkflowStatus } from "@dbos-inc/dbos-sdk";
import type { TaskEnd } from "./steps.ts";

const WORKFLOW_NAME = "task";

/** A task as the database has it. */
export interface TaskState {
  /** `run.task`. */
  readonly id: string;
  readonly state: "queued" | "running" | "cancelled" | "ended" | "failed";
  readonly worker?: string;
  readonly createdAt: number;
  /** What it has come to; only where it was asked for. */
  readonly end?: TaskEnd;
  readonly error?: string;
  readonly workflow: WorkflowStatus;
}

const STATES: Readonly<Record<string, TaskState["state"]>> = {
  ENQUEUED: "queued",
  DELAYED: "queued",
  PENDING: "running",
  CANCELLED: "cancelled",
  SUCCESS: "ended",
};

/** The tasks of a run, of all runs, or one task by its id. */
export async function tasksOf(
  client: DBOSClient,
  run: string | undefined,
  { withEnds = false } = {},
): Promise<readonly TaskState[]> {
  const prefix = run === undefined ? {} : { workflow_id_prefix: run };
  const found = await client.listWorkflows({
    workflowName: WORKFLOW_NAME,
    ...prefix,
    loadInput: false,
    loadOutput: withEnds,
  });
  const own = run === undefined ? found : found.filter(({ workflowID }) => isOf(workflowID, run));
  return own.map((workflow) => {
    const { workflowID: id, status, executorId, createdAt, output, error } = workflow;
    const state = STATES[status] ?? "failed";
    return {
      id,
      state,
      createdAt,
      workflow,
      ...(executorId !== undefined && state === "running" && { worker: executorId }),
      ...(output ? { end: output as TaskEnd } : {}),
      ...(error ? { error: error instanceof Error ? error.message : JSON.stringify(error) } : {}),
    };
  });
}

function isOf(id: string, run: string): boolean {
  return id === run || id.startsWith(`${run}.`);
}

export function isOver({ state }: TaskState): boolean {
  return state !== "queued" && state !== "running";
}

export function countStates(states: readonly TaskState[]): string {
  const counts = new Map<string, number>();
  for (const { state } of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = ["queued", "running", "ended", "cancelled", "failed"].flatMap((state) => {
    const count = counts.get(state);
    return count === undefined ? [] : [`${count} ${state}`];
  });
  return parts.length === 0 ? "no tasks" : parts.join(", ");
}

/** One row for each task, as wide as its longest cells. */
export function tableOf(states: readonly TaskState[]): string {
  const rows = [["task", "status", "turns", "tokens", "cost", "result"], ...states.map(rowOf)];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function rowOf({ id, state, end, error }: TaskState): string[] {
  const words = end?.error?.message ?? end?.result ?? error ?? "";
  const line = words.replace(/\s+/g, " ");
  const cost = end?.cost === undefined ? "" : `$${end.cost.toFixed(4)}`;
  const [turns, tokens] = [end?.turns, end?.tokens].map((count) =>
    count === undefined ? "" : String(count),
  );
  return [
    id,
    end?.status ?? state,
    turns ?? "",
    tokens ?? "",
    cost,
    line.length > 60 ? `${line.slice(0, 59)}…` : line,
  ];
}
