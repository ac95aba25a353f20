import type { Pool } from "pg";
import { STEPS_VERSION } from "./engine.ts";
import { runOf, type Submission, type TaskEnd } from "./steps.ts";

type State = "queued" | "running" | "cancelled" | "ended" | "failed";

/** A task as the database has it. */
export interface TaskState {
  /** `run.task`. */
  readonly id: string;
  readonly state: State;
  readonly worker?: string;
  readonly createdAt: number;
  /** Its end, without its patch. */
  readonly end?: Omit<TaskEnd, "patch">;
  readonly error?: string;
}

const STATES: Readonly<Record<string, State>> = {
  ENQUEUED: "queued",
  DELAYED: "queued",
  PENDING: "running",
  CANCELLED: "cancelled",
  SUCCESS: "ended",
};

/** A run, one task of it, or all of them. */
const OF =
  "w.name = 'task' and ($1::text is null or w.workflow_uuid = $1 or starts_with(w.workflow_uuid, $1 || '.'))";
const STATUS = "w.workflow_uuid as id, w.status, w.executor_id as worker, w.created_at::float8 as created";
/** Patches are not loaded, because a run may have thousands; values that are not plain are read here as a whole. */
const KEYS = ["status", "result", "error", "turns", "tokens", "cost", "check", "question"];
const COLUMNS = KEYS.map((key) => `"${key}" json`).join(", ");
const OBJECT = `(select row_to_json(kept)::text from json_to_record(o.output::json) kept(${COLUMNS}))`;
const END = `case when burin_fleet.is_plain(o.output) then ${OBJECT} else o.output end`;
const TASKS = `select ${STATUS}, case when o.output is not null then ${END} end as end, o.error
  from dbos.workflow_status w left join dbos.workflow_output o using (workflow_uuid) where ${OF} order by w.created_at, 1`;

interface Row {
  readonly id: string;
  readonly status: string;
  readonly worker: string | null;
  readonly created: number;
  readonly end: string | null;
  readonly error: string | null;
}

/** The tasks of a run, of all runs, or one task by its id. */
export async function tasksOf(pool: Pool, run: string | undefined): Promise<readonly TaskState[]> {
  const { rows } = await pool.query<Row>(TASKS, [run ?? null]);
  return rows.map(({ id, status, worker, created, end, error }) => {
    const state = STATES[status] ?? "failed";
    return {
      id,
      state,
      createdAt: created,
      ...(worker !== null && state === "running" && { worker }),
      ...(state === "ended" && end && { end: knownOf(JSON.parse(end)) }),
      ...(error && { error: wordsOf(error) }),
    };
  });
}

function knownOf(end: Omit<TaskEnd, "patch">): Omit<TaskEnd, "patch"> {
  const known = Object.entries(end).filter(([key, value]) => KEYS.includes(key) && value !== null);
  return Object.fromEntries(known) as typeof end;
}

/** The engine's stored form of an error. */
function wordsOf(error: string): string {
  try {
    const { message } = JSON.parse(error);
    return typeof message === "string" ? message : error;
  } catch {
    return error;
  }
}

/** What was submitted to a run, by the names of its tasks. */
export async function submissionsOf(pool: Pool, run: string): Promise<Map<string, Submission>> {
  const text = `select w.workflow_uuid as id, i.inputs from dbos.workflow_status w
    join dbos.workflow_input i using (workflow_uuid) where ${OF}`;
  const { rows } = await pool.query<{ id: string; inputs: string }>(text, [run]);
  return new Map(rows.map(({ id, inputs }) => [id.slice(run.length + 1), JSON.parse(inputs)[0]]));
}

/** The number of tasks of a run in each state. */
export async function countsOf(pool: Pool, run: string): Promise<ReadonlyMap<State, number>> {
  const text = `select w.status, count(*)::int as count from dbos.workflow_status w where ${OF} group by 1`;
  const { rows } = await pool.query<{ status: string; count: number }>(text, [run]);
  return countsIn(rows.map(({ status, count }) => ({ state: STATES[status] ?? "failed", count })));
}

/** The number of these tasks that workers of this version leave to others. */
export async function countOfOthers(pool: Pool, ids: readonly string[]): Promise<number> {
  const text = `select count(*)::int as count from dbos.workflow_status
    where workflow_uuid = any($1) and status in ('ENQUEUED', 'PENDING') and application_version <> $2`;
  const { rows } = await pool.query<{ count: number }>(text, [ids, STEPS_VERSION]);
  return rows[0]?.count ?? 0;
}

/** The run that was started last. */
export async function lastRun(pool: Pool): Promise<string | undefined> {
  const text =
    "select workflow_uuid as id from dbos.workflow_status where name = 'task' order by created_at desc limit 1";
  const { rows } = await pool.query<{ id: string }>(text);
  return rows[0] && runOf(rows[0].id);
}

const PATCHES = "select workflow_uuid as id, output from dbos.workflow_output where workflow_uuid = any($1)";
const PATCHES_AT_ONCE = 20;

/** The patches of ended tasks, a few at a time. */
export async function* patchesOf(
  pool: Pool,
  ids: readonly string[],
): AsyncGenerator<{ readonly id: string; readonly patch: string }> {
  for (let from = 0; from < ids.length; from += PATCHES_AT_ONCE) {
    const some = ids.slice(from, from + PATCHES_AT_ONCE);
    const { rows } = await pool.query<{ id: string; output: string | null }>(PATCHES, [some]);
    for (const { id, output } of rows) yield { id, patch: JSON.parse(output ?? "{}").patch ?? "" };
  }
}

export const isOver = ({ state }: TaskState) => state !== "queued" && state !== "running";

/** Of one task each, where no count is given. */
function countsIn(
  states: readonly { readonly state: State; readonly count?: number }[],
): ReadonlyMap<State, number> {
  const counts = new Map<State, number>();
  for (const { state, count = 1 } of states) counts.set(state, (counts.get(state) ?? 0) + count);
  return counts;
}

/** Of tasks whose ends have not been read. */
export function countWords(counts: ReadonlyMap<State, number>): string {
  const parts = (["queued", "running", "ended", "cancelled", "failed"] as const).flatMap((state) => {
    const count = counts.get(state);
    return count === undefined ? [] : [`${count} ${state}`];
  });
  return parts.length === 0 ? "no tasks" : parts.join(" · ");
}

/** How tasks stand, and what those that wait wait for: `3 done · 1 waits for you: burin fleet answer run.b yes`. */
export function standingWords(states: readonly TaskState[]): string {
  const waiting = states.filter(isWaiting);
  const endings = states.map((state) => standingOf(state));
  const parts = (["queued", "running", "done", "failed", "cancelled"] as const).flatMap((standing) => {
    const count = endings.filter((one) => one === standing).length;
    return count === 0 ? [] : [`${count} ${standing}`];
  });
  const [first] = waiting;
  if (waiting.length === 1) parts.push(`1 waits for you: burin fleet answer ${first?.id} yes`);
  if (first !== undefined && waiting.length > 1)
    parts.push(`${waiting.length} wait for you: burin fleet questions ${runOf(first.id)}`);
  return parts.length === 0 ? "no tasks" : parts.join(" · ");
}

export function isWaiting({ end }: TaskState): boolean {
  return end?.status === "waiting";
}

function standingOf(task: TaskState): Exclude<State, "ended"> | "done" | "waiting" {
  if (task.state !== "ended") return task.state;
  if (isWaiting(task)) return "waiting";
  return task.end?.status === "success" ? "done" : "failed";
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** One row for each task; columns are as wide as their longest cell. */
export function tableOf(states: readonly TaskState[]): string {
  const rows = [["task", "status", "turns", "tokens", "cost", "result"], ...states.map(rowOf)];
  const widths = [0, 0, 0, 0, 0];
  for (const row of rows)
    for (const [at, width] of widths.entries()) widths[at] = Math.max(width, row[at]?.length ?? 0);
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

function rowOf({ id, state, end, error }: TaskState): string[] {
  const { status = state, turns = "", tokens = "", cost } = end ?? {};
  const words = (end?.error?.message ?? end?.result ?? error ?? "").replace(/\s+/g, " ");
  const result = words.length > 60 ? `${words.slice(0, 59)}…` : words;
  return [id, status, `${turns}`, `${tokens}`, cost === undefined ? "" : `$${cost.toFixed(4)}`, result];
}
