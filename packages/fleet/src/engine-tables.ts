/**
 * The only file that reads the engine's tables (https://docs.dbos.dev/explanations/system-tables). The engine's own
 * calls return single rows; this file reads lists for a page or a status, and finds the tasks that wait for a worker.
 * It never writes.
 */
import type { Pool, PoolClient } from "pg";
import { LONE_QUEUE, STEPS_VERSION, WORKER_QUEUES } from "./engine.ts";
import { HELD_KEYS } from "./sign-of-life.ts";
import type { Submission, TaskEnd } from "./steps.ts";

export type State = "queued" | "running" | "cancelled" | "ended" | "failed";

/** The state of a task in the database. */
export interface TaskState {
  /** `run.task`. */
  readonly id: string;
  readonly state: State;
  readonly worker?: string;
  readonly createdAt: number;
  /** The task's end, without its patch. */
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

/** A pool or a connection. */
export interface Queries {
  query: Pool["query"];
}

/** Selects a run, one task, or all tasks. */
const RUN_FILTER =
  "w.name = 'task' and ($1::text is null or w.workflow_uuid = $1 or starts_with(w.workflow_uuid, $1 || '.'))";
const STATUS = "w.workflow_uuid as id, w.status, w.executor_id as worker, w.created_at::float8 as created";
/** The loaded parts of an end. Patches are left out: a run may have thousands. Other forms are loaded as a whole. */
const KEYS = ["status", "result", "error", "turns", "tokens", "cost", "check", "question"];
const COLUMNS = KEYS.map((key) => `"${key}" json`).join(", ");
const OBJECT = `(select row_to_json(kept)::text from json_to_record(o.output::json) kept(${COLUMNS}))`;
const END = `case when burin_fleet.is_plain(o.output) then ${OBJECT} else o.output end`;
const TASKS = `select ${STATUS}, case when o.output is not null then ${END} end as end, o.error
  from dbos.workflow_status w left join dbos.workflow_output o using (workflow_uuid) where ${RUN_FILTER} order by w.created_at, 1`;

interface Row {
  readonly id: string;
  readonly status: string;
  readonly worker: string | null;
  readonly created: number;
  readonly end: string | null;
  readonly error: string | null;
}

/** Returns the tasks of a run, of all runs, or one task by its id. */
export async function readTaskStates(
  database: Queries,
  run: string | undefined,
): Promise<readonly TaskState[]> {
  const { rows } = await database.query<Row>(TASKS, [run ?? null]);
  return rows.map(({ id, status, worker, created, end, error }) => {
    const state = STATES[status] ?? "failed";
    return {
      id,
      state,
      createdAt: created,
      ...(worker !== null && state === "running" && { worker }),
      ...(state === "ended" && end && { end: pickKnownFields(JSON.parse(end)) }),
      ...(error && { error: readErrorMessage(error) }),
    };
  });
}

function pickKnownFields(end: Omit<TaskEnd, "patch">): Omit<TaskEnd, "patch"> {
  const known = Object.entries(end).filter(([key, value]) => KEYS.includes(key) && value !== null);
  return Object.fromEntries(known) as typeof end;
}

/** Returns the message from the engine's stored form of an error. */
function readErrorMessage(error: string): string {
  try {
    const { message } = JSON.parse(error);
    return typeof message === "string" ? message : error;
  } catch {
    return error;
  }
}

/** Returns what was submitted to a run, by task name. */
export async function readSubmissions(pool: Pool, run: string): Promise<Map<string, Submission>> {
  const text = `select w.workflow_uuid as id, i.inputs from dbos.workflow_status w
    join dbos.workflow_input i using (workflow_uuid) where ${RUN_FILTER}`;
  const { rows } = await pool.query<{ id: string; inputs: string }>(text, [run]);
  return new Map(rows.map(({ id, inputs }) => [id.slice(run.length + 1), JSON.parse(inputs)[0]]));
}

/** Counts the tasks of a run in each state. */
export async function countByState(pool: Pool, run: string): Promise<ReadonlyMap<State, number>> {
  const text = `select w.status, count(*)::int as count from dbos.workflow_status w where ${RUN_FILTER} group by 1`;
  const { rows } = await pool.query<{ status: string; count: number }>(text, [run]);
  const counts = new Map<State, number>();
  for (const { status, count } of rows) {
    const state = STATES[status] ?? "failed";
    counts.set(state, (counts.get(state) ?? 0) + count);
  }
  return counts;
}

/** Counts those of these tasks that workers of this version cannot run, because they belong to another version. */
export async function countOtherVersionTasks(pool: Pool, ids: readonly string[]): Promise<number> {
  const text = `select count(*)::int as count from dbos.workflow_status
    where workflow_uuid = any($1) and status in ('ENQUEUED', 'PENDING') and application_version <> $2`;
  const { rows } = await pool.query<{ count: number }>(text, [ids, STEPS_VERSION]);
  return rows[0]?.count ?? 0;
}

/** Returns the id of a task from the run that was started last. */
export async function findLastTask(pool: Pool): Promise<string | undefined> {
  const text =
    "select workflow_uuid as id from dbos.workflow_status where name = 'task' order by created_at desc limit 1";
  const { rows } = await pool.query<{ id: string }>(text);
  return rows[0]?.id;
}

const PATCHES = "select workflow_uuid as id, output from dbos.workflow_output where workflow_uuid = any($1)";
const PATCHES_AT_ONCE = 20;

/** Yields the patches of ended tasks, loading a few at a time. */
export async function* readPatches(
  pool: Pool,
  ids: readonly string[],
): AsyncGenerator<{ readonly id: string; readonly patch: string }> {
  for (let from = 0; from < ids.length; from += PATCHES_AT_ONCE) {
    const some = ids.slice(from, from + PATCHES_AT_ONCE);
    const { rows } = await pool.query<{ id: string; output: string | null }>(PATCHES, [some]);
    for (const { id, output } of rows) yield { id, patch: JSON.parse(output ?? "{}").patch ?? "" };
  }
}

/** Finds the queues that have tasks. Takes one index step per queue, however many tasks they have. */
const IN_FLIGHT = "dbos.workflow_status where status in ('ENQUEUED', 'PENDING')";
const QUEUES = `place as (
    (select queue_name as queue from ${IN_FLIGHT} and queue_name is not null order by queue_name limit 1)
    union all
    select (select queue_name from ${IN_FLIGHT} and queue_name > place.queue order by queue_name limit 1)
    from place where place.queue is not null)`;
const WORKER_NAME = `substr(place.queue, ${WORKER_QUEUES.length + 1})`;
const IS_WORKER_QUEUE = `starts_with(place.queue, '${WORKER_QUEUES}')`;

const SNAPSHOT_QUERY = `
  with recursive ${QUEUES}
  select
    array(select ${WORKER_NAME} from place
      where ${IS_WORKER_QUEUE} and hashtextextended(${WORKER_NAME}, 0) not in (${HELD_KEYS})) as gone,
    exists (select 1 from place where queue = '${LONE_QUEUE}') as lone,
    array(select id from unnest($1::text[]) id left join dbos.workflow_status w on w.workflow_uuid = id
      where w.status is distinct from 'PENDING' or w.executor_id <> $2) as lost`;

export interface FleetSnapshot {
  /** Workers that have tasks but hold no lock; see `SignOfLife`. */
  readonly gone: readonly string[];
  /** Whether a task is waiting that must run alone. */
  readonly lone: boolean;
  /** The given tasks that are cancelled or no longer belong to the given worker. */
  readonly lost: readonly string[];
}

/** Looks at the state of all workers, in a single query however many there are. */
export async function readSnapshot(
  pool: Pool,
  ids: readonly string[],
  worker: string,
): Promise<FleetSnapshot> {
  const { rows } = await pool.query<FleetSnapshot>(SNAPSHOT_QUERY, [ids, worker]);
  return rows[0] ?? { gone: [], lone: false, lost: [] };
}

/** The parts of a queue. Waiting tasks with the same tenant and model are in one part. */
const PARTS = `
  with recursive kind as (
    (select queue_partition_key as key from dbos.workflow_status
      where queue_name = $1 and status = 'ENQUEUED' and queue_partition_key is not null
      order by queue_partition_key limit 1)
    union all
    select (select queue_partition_key from dbos.workflow_status
      where queue_name = $1 and status = 'ENQUEUED' and queue_partition_key > kind.key
      order by queue_partition_key limit 1)
    from kind where kind.key is not null)
  select key from kind where key is not null`;

/** The first tasks of each part. The parts take turns, so that none has to wait for another. */
const FIRST = `
  select first.id, kind.key
  from unnest($2::text[]) with ordinality as kind(key, place)
    cross join lateral (
      select workflow_uuid as id, row_number() over (order by priority, created_at, workflow_uuid) as turn
      from dbos.workflow_status
      where queue_name = $1 and status = 'ENQUEUED' and queue_partition_key = kind.key and application_version = $3
      order by priority, created_at, workflow_uuid limit $4) first
  order by first.turn, kind.place`;

const AT_WORK = `
  with recursive ${QUEUES}
  select place.queue, w.queue_partition_key as key, count(*)::int as count
  from place join dbos.workflow_status w on w.queue_name = place.queue and w.status in ('ENQUEUED', 'PENDING')
  where ${IS_WORKER_QUEUE} group by 1, 2`;

/** A waiting task. `key` is the JSON of its tenant and model. */
export interface WaitingTask {
  readonly id: string;
  readonly key: string;
}

export async function listQueueParts(pool: Pool, queue: string): Promise<string[]> {
  return (await pool.query<{ key: string }>(PARTS, [queue])).rows.map(({ key }) => key);
}

export async function listFirstTasks(
  client: PoolClient,
  { queue, parts, max }: { readonly queue: string; readonly parts: readonly string[]; readonly max: number },
): Promise<WaitingTask[]> {
  return (await client.query<WaitingTask>(FIRST, [queue, parts, STEPS_VERSION, max])).rows;
}

/** Counts the tasks that workers have taken, by queue and kind. */
export async function countTasksAtWork(client: PoolClient) {
  return (await client.query<{ queue: string; key: string; count: number }>(AT_WORK)).rows;
}

/** The longest text in a list; longer ones are cut. */
const LIST_CHARACTERS = 400;

/** Adds the tasks that have ended since the last time to the page's own table. */
export const FOLD_ENDS = `
  insert into burin_fleet.spent
  select w.workflow_uuid, -1, w.completed_at, e.value->>'status',
    left(coalesce(e.value->'error'->>'message', e.value->>'result'), ${LIST_CHARACTERS}),
    coalesce((e.value->>'turns')::int, 0), coalesce((e.value->>'tokens')::bigint, 0), (e.value->>'cost')::float8
  from dbos.workflow_status w join dbos.workflow_output o using (workflow_uuid)
    left join burin_fleet.spent s on s.task = w.workflow_uuid
    cross join lateral (select burin_fleet.readable(o.output) as value offset 0) e
  where w.name = 'task' and w.status = 'SUCCESS' and w.completed_at is distinct from s.ended
  on conflict (task) do update set (upto, ended, state, words, turns, tokens, cost) = (-1, excluded.ended,
    excluded.state, excluded.words, excluded.turns, excluded.tokens, excluded.cost)`;

/** Selects the steps that are not summed yet. A task that continued after its end is summed again as a whole. */
export const NEW_STEPS = `
  select w.workflow_uuid as task, o.function_id as step, burin_fleet.readable(o.output)->>'lines' as lines, s.upto,
    coalesce(s.turns, 0) as turns, coalesce(s.tokens, 0)::float8 as tokens, s.cost
  from dbos.workflow_status w
    left join burin_fleet.spent s on s.task = w.workflow_uuid and s.ended is null
    join dbos.operation_outputs o on o.workflow_uuid = w.workflow_uuid and o.function_id > coalesce(s.upto, -1)
  where w.name = 'task' and w.status <> 'SUCCESS'
  order by 1, 2 limit $1`;

/** The plain states of a task. Any other end counts as failed. */
const PLAIN_STATES = ["queued", "running", "waiting", "success", "cancelled"];
const KINDS = [...PLAIN_STATES, "failed"];

const PAGE_TASKS = `
  with every as (
    select w.workflow_uuid as id, split_part(w.workflow_uuid, '.', 1) as run, w.created_at::float8 as created,
      w.started_at_epoch_ms::float8 as started, w.completed_at::float8 as ended, w.updated_at::float8 as changed,
      case when w.status = 'PENDING' then w.executor_id end as worker,
      case w.status when 'ENQUEUED' then 'queued' when 'DELAYED' then 'queued' when 'PENDING' then 'running'
        when 'CANCELLED' then 'cancelled' when 'SUCCESS' then coalesce(s.state, 'running') else 'failed' end as state,
      s.turns, s.tokens::float8 as tokens, s.cost, coalesce(s.words, '') as words
    from dbos.workflow_status w left join burin_fleet.spent s on s.task = w.workflow_uuid
    where w.name = 'task'),
  task as (
    select *, case when state in ('${PLAIN_STATES.join("','")}') then state else 'failed' end as kind from every)`;
const COUNTS = [
  "count(*)::int as tasks",
  ...KINDS.map((kind) => `count(*) filter (where kind = '${kind}')::int as ${kind}`),
  "sum(tokens) as tokens, sum(cost) as cost",
].join(", ");
const PROMPT = "burin_fleet.readable(i.inputs)->0->>'prompt'";

export const PAGE_RUNS = `
  ${PAGE_TASKS}, run as (
    select run as name, min(created) as created, max(changed) as changed, ${COUNTS}
    from task where $1 = '' or run ilike $1 group by run)
  select *, count(*) over ()::int as total, (sum(running) over ())::int as "allRunning",
    (sum(waiting) over ())::int as "allWaiting"
  from run order by created desc, name limit $2 offset $3`;

export const PAGE_COUNTS = `${PAGE_TASKS} select ${COUNTS} from task where run = $1`;

export const PAGE_RUN_TASKS = `
  ${PAGE_TASKS}, chosen as (
    select task.*, count(*) over ()::int as total
    from task left join dbos.workflow_input i on i.workflow_uuid = task.id
    where run = $1 and $2 in ('', kind) and ($3 = '' or id ilike $3 or ${PROMPT} ilike $3)
    order by created, id limit $4 offset $5)
  select chosen.*, left(${PROMPT}, ${LIST_CHARACTERS}) as prompt
  from chosen left join dbos.workflow_input i on i.workflow_uuid = chosen.id order by created, id`;

export const PAGE_TASK = `
  ${PAGE_TASKS}
  select task.*, coalesce(o.error, words) as words, ${PROMPT} as prompt,
    burin_fleet.readable(i.inputs)->0->>'model' as model, burin_fleet.readable(o.output)->'question' as question,
    burin_fleet.readable(o.output)->'check' as check, burin_fleet.readable(o.output)->>'patch' <> '' as "hasPatch"
  from task left join dbos.workflow_input i on i.workflow_uuid = task.id
    left join dbos.workflow_output o on o.workflow_uuid = task.id
  where id = $1`;

export const PAGE_ENTRIES = `
  select function_id as step, value->>'lines' as lines, value->>'worker' as worker, value->>'aside' as aside
  from (select function_id, burin_fleet.readable(output) as value from dbos.operation_outputs
    where workflow_uuid = $1 and function_id >= $2 order by function_id limit $3) steps
  order by step`;
