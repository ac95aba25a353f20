import type { Pool } from "pg";
import { type ShownEntry, shownEntries } from "./page-entries.ts";
import { patchesOf } from "./states.ts";
import { spentIn } from "./steps.ts";

const PAGE_ROWS = 50;
/** Steps of a transcript that are sent together. */
const MOST_STEPS = 50;
const FOLDED_AT_ONCE = 200;
/** Of a prompt or a result in a list. */
const LIST_CHARACTERS = 400;

/**
 * The state and cost of each task, so that no list has to read patches or records: of an ended task from its end,
 * otherwise the sum of its steps up to `upto`.
 */
export const PAGE_TABLE = `
  create table if not exists burin_fleet.spent (
    task text primary key,
    upto integer not null,
    ended bigint,
    state text,
    words text,
    turns integer not null,
    tokens bigint not null,
    cost float8
  )`;

const FOLD_ENDS = `
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
const NEW_STEPS = `
  select w.workflow_uuid as task, o.function_id as step, burin_fleet.readable(o.output)->>'lines' as lines, s.upto,
    coalesce(s.turns, 0) as turns, coalesce(s.tokens, 0)::float8 as tokens, s.cost
  from dbos.workflow_status w
    left join burin_fleet.spent s on s.task = w.workflow_uuid and s.ended is null
    join dbos.operation_outputs o on o.workflow_uuid = w.workflow_uuid and o.function_id > coalesce(s.upto, -1)
  where w.name = 'task' and w.status <> 'SUCCESS'
  order by 1, 2 limit ${FOLDED_AT_ONCE}`;

/** Another page may have stored a sum already, which is kept. */
const KEEP_SUM = `
  insert into burin_fleet.spent as s values ($1, $2, null, null, null, $3, $4, $5)
  on conflict (task) do update set (upto, ended, state, words, turns, tokens, cost) = ($2, null, null, null, $3, $4, $5)
  where case when s.ended is null then s.upto end is not distinct from $6`;

/** The plain states of a task; any other end counts as failed. */
const PLAIN_STATES = ["queued", "running", "waiting", "success", "cancelled"];
const KINDS = [...PLAIN_STATES, "failed"];

const TASKS = `
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

interface ListRequest {
  readonly search: string;
  readonly offset: number;
}

/** What the page shows, loaded from the database piece by piece. */
export class PageData {
  readonly #pool: Pool;
  #folding: Promise<void> | null = null;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Runs, the newest first, each with the number of its tasks in each state. */
  async runs({ search, offset }: ListRequest) {
    await this.#fold();
    const text = `
      ${TASKS}, run as (
        select run as name, min(created) as created, max(changed) as changed, ${COUNTS}
        from task where $1 = '' or run ilike $1 group by run)
      select *, count(*) over ()::int as total, (sum(running) over ())::int as "allRunning",
        (sum(waiting) over ())::int as "allWaiting"
      from run order by created desc, name limit ${PAGE_ROWS} offset $2`;
    const { rows } = await this.#pool.query(text, [patternOf(search), offset]);
    const [{ total = 0, allRunning = 0, allWaiting = 0 } = {}] = rows;
    return { runs: rows, total, running: allRunning, waiting: allWaiting, rows: PAGE_ROWS };
  }

  /** Some of the tasks of a run, in the order of submission; null when there is no such run. */
  async run(name: string, { search, offset, kind }: ListRequest & { readonly kind: string }) {
    await this.#fold();
    const counted = `${TASKS} select ${COUNTS} from task where run = $1`;
    const [counts] = (await this.#pool.query(counted, [name])).rows;
    if (counts.tasks === 0) return null;
    const listed = `
      ${TASKS}, chosen as (
        select task.*, count(*) over ()::int as total
        from task left join dbos.workflow_input i on i.workflow_uuid = task.id
        where run = $1 and $2 in ('', kind) and ($3 = '' or id ilike $3 or ${PROMPT} ilike $3)
        order by created, id limit ${PAGE_ROWS} offset $4)
      select chosen.*, left(${PROMPT}, ${LIST_CHARACTERS}) as prompt
      from chosen left join dbos.workflow_input i on i.workflow_uuid = chosen.id order by created, id`;
    const { rows } = await this.#pool.query(listed, [name, kind, patternOf(search), offset]);
    return { name, counts, tasks: rows, total: rows[0]?.total ?? 0, rows: PAGE_ROWS };
  }

  /** A task, and what has happened in it from a step on. */
  async task(id: string, from: number) {
    await this.#fold();
    const text = `
      ${TASKS}
      select task.*, coalesce(o.error, words) as words, ${PROMPT} as prompt,
        burin_fleet.readable(i.inputs)->0->>'model' as model, burin_fleet.readable(o.output)->'question' as question,
        burin_fleet.readable(o.output)->'check' as check, burin_fleet.readable(o.output)->>'patch' <> '' as "hasPatch"
      from task left join dbos.workflow_input i on i.workflow_uuid = task.id
        left join dbos.workflow_output o on o.workflow_uuid = task.id
      where id = $1`;
    const [task] = (await this.#pool.query(text, [id])).rows;
    return task === undefined ? null : { ...task, ...(await this.#entries(id, from)) };
  }

  /** What a task has changed, as a git patch. */
  async patch(id: string): Promise<string> {
    for await (const { patch } of patchesOf(this.#pool, [id])) return patch;
    return "";
  }

  async #entries(id: string, from: number) {
    const text = `
      select function_id as step, value->>'lines' as lines, value->>'worker' as worker, value->>'aside' as aside
      from (select function_id, burin_fleet.readable(output) as value from dbos.operation_outputs
        where workflow_uuid = $1 and function_id >= $2 order by function_id limit ${MOST_STEPS}) steps
      order by step`;
    const { rows } = await this.#pool.query(text, [id, from]);
    const entries: ShownEntry[] = rows.flatMap(shownEntries);
    return { entries, next: (rows.at(-1)?.step ?? from - 1) + 1, hasMore: rows.length === MOST_STEPS };
  }

  /** Adds what has happened since the last time; shared by all requests at the same time. */
  #fold(): Promise<void> {
    this.#folding ??= this.#foldAll().finally(() => {
      this.#folding = null;
    });
    return this.#folding;
  }

  async #foldAll(): Promise<void> {
    await this.#pool.query(FOLD_ENDS);
    for (let isMore = true; isMore; ) {
      const { rows } = await this.#pool.query(NEW_STEPS);
      const sums = new Map<string, (typeof rows)[number]>();
      for (const row of rows) {
        const sum = sums.get(row.task) ?? row;
        const { turns, tokens, cost } = spentIn([row]);
        sum.turns += turns;
        sum.tokens += tokens;
        if (cost !== undefined) sum.cost = (sum.cost ?? 0) + cost;
        sums.set(row.task, { ...sum, step: row.step });
      }
      for (const { task, step, turns, tokens, cost, upto } of sums.values())
        await this.#pool.query(KEEP_SUM, [task, step, turns, tokens, cost, upto]);
      isMore = rows.length === FOLDED_AT_ONCE;
    }
  }
}

/** For ILIKE; empty without a search. */
function patternOf(search: string): string {
  return search === "" ? "" : `%${search.replace(/[\\%_]/g, "\\$&")}%`;
}
