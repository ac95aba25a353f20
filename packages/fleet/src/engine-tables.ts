/**
 * The only file that reads the engine's tables (https://docs.dbos.dev/explanations/system-tables). It reads what the
 * engine's calls give only row by row: lists for a page or a status, and which tasks wait for a worker. It never writes.
 */
import type { Pool, PoolClient } from "pg";
import { LONE_QUEUE, STEPS_VERSION, WORKER_QUEUES } from "./engine.ts";
import { HELD_KEYS } from "./sign-of-life.ts";
import type { Submission, TaskEnd } from "./steps.ts";

export type State = "queued" | "running" | "cancelled" | "ended" | "failed";

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

/** A pool or a connection. */
export interface Queries {
  query: Pool["query"];
}

/** A run, one task of it, or all of them. */
const RUN_FILTER =
  "w.name = 'task' and ($1::text is null or w.workflow_uuid = $1 or starts_with(w.workflow_uuid, $1 || '.'))";
const STATUS = "w.workflow_uuid as id, w.status, w.executor_id as worker, w.created_at::float8 as created";
/** Patches are not loaded, because a run may have thousands; values that are not plain are read here as a whole. */
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

/** The tasks of a run, of all runs, or one task by its id. */
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

/** The engine's stored form of an error. */
function readErrorMessage(error: string): string {
  try {
    const { message } = JSON.parse(error);
    return typeof message === "string" ? message : error;
  } catch {
    return error;
  }
}

/** What was submitted to a run, by the names of its tasks. */
export async function readSubmissions(pool: Pool, run: string): Promise<Map<string, Submission>> {
  const text = `select w.workflow_uuid as id, i.inputs from dbos.workflow_status w
    join dbos.workflow_input i using (workflow_uuid) where ${RUN_FILTER}`;
  const { rows } = await pool.query<{ id: string; inputs: string }>(text, [run]);
  return new Map(rows.map(({ id, inputs }) => [id.slice(run.length + 1), JSON.parse(inputs)[0]]));
}

/** The number of tasks of a run in each state. */
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

/** The number of these tasks that workers of this version leave to others. */
export async function countOtherVersions(pool: Pool, ids: readonly string[]): Promise<number> {
  const text = `select count(*)::int as count from dbos.workflow_status
    where workflow_uuid = any($1) and status in ('ENQUEUED', 'PENDING') and application_version <> $2`;
  const { rows } = await pool.query<{ count: number }>(text, [ids, STEPS_VERSION]);
  return rows[0]?.count ?? 0;
}

/** The id of a task of the run that was started last. */
export async function findLastTask(pool: Pool): Promise<string | undefined> {
  const text =
    "select workflow_uuid as id from dbos.workflow_status where name = 'task' order by created_at desc limit 1";
  const { rows } = await pool.query<{ id: string }>(text);
  return rows[0]?.id;
}

const PATCHES = "select workflow_uuid as id, output from dbos.workflow_output where workflow_uuid = any($1)";
const PATCHES_AT_ONCE = 20;

/** The patches of ended tasks, a few at a time. */
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

/** The queues that have tasks: as many steps through an index as there are queues, however many tasks they have. */
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
  /** Workers that have tasks and hold no lock, see `SignOfLife`. */
  readonly gone: readonly string[];
  /** Whether a task waits that is to be worked on alone. */
  readonly lone: boolean;
  /** Of the given tasks those that are not the given worker's any more, or are cancelled. */
  readonly lost: readonly string[];
}

/** One question each time, however many workers there are. */
export async function readSnapshot(
  pool: Pool,
  ids: readonly string[],
  worker: string,
): Promise<FleetSnapshot> {
  const { rows } = await pool.query<FleetSnapshot>(SNAPSHOT_QUERY, [ids, worker]);
  return rows[0] ?? { gone: [], lone: false, lost: [] };
}

/** Tasks with the same tenant and model wait in one part of the queue. */
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

/** The first tasks of each part; the parts take turns, so that none waits for another. */
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

/** A task that waits; `key` is the JSON of its tenant and model. */
export interface WaitingTask {
  readonly id: string;
  readonly key: string;
}

export async function listQueueParts(pool: Pool, queue: string): Promise<string[]> {
  return (await pool.query<{ key: string }>(PARTS, [queue])).rows.map(({ key }) => key);
}

export async function listFirstTasks(
  client: PoolClient,
  {
    queue,
    parts,
    most,
  }: { readonly queue: string; readonly parts: readonly string[]; readonly most: number },
): Promise<WaitingTask[]> {
  return (await client.query<WaitingTask>(FIRST, [queue, parts, STEPS_VERSION, most])).rows;
}

/** The tasks of each kind that are with a worker, by its queue. */
export async function listTasksAtWork(client: PoolClient) {
  return (await client.query<{ queue: string; key: string; count: number }>(AT_WORK)).rows;
}

/** For a list a text is shortened to so many characters. */
const LIST_CHARACTERS = 400;

/** Sums what has ended since the last time into the page's own table. */
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

/** A task that continues after its end is summed again: the steps after that point have been deleted. */
export const NEW_STEPS = `
  select w.workflow_uuid as task, o.function_id as step, burin_fleet.readable(o.output)->>'lines' as lines, s.upto,
    coalesce(s.turns, 0) as turns, coalesce(s.tokens, 0)::float8 as tokens, s.cost
  from dbos.workflow_status w
    left join burin_fleet.spent s on s.task = w.workflow_uuid and s.ended is null
    join dbos.operation_outputs o on o.workflow_uuid = w.workflow_uuid and o.function_id > coalesce(s.upto, -1)
  where w.name = 'task' and w.status <> 'SUCCESS'
  order by 1, 2 limit $1`;

/** The plain states of a task; any other end counts as failed. */
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
