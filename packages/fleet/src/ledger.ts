import { setTimeout as pause } from "node:timers/promises";
import { type BudgetLimits, type ChatModel, type ModelEvent, parseBudget } from "@burin/core/sessions";
import type { Pool } from "pg";
import { retryUntilAvailable } from "./retry-queries.ts";
import { readRunName, type Spent } from "./steps.ts";

/** The pause if a service that refused a request did not say how long to wait. */
const PAUSE_MS = 2000;

export const LEDGER_TABLES = `
  create table if not exists burin_fleet.budget (
    run text primary key, budget text not null, since timestamptz not null default now());
  create table if not exists burin_fleet.usage (
    task text primary key, run text not null, tokens bigint not null, money float8 not null, calls integer not null);
  create index if not exists usage_run on burin_fleet.usage (run);
  create table if not exists burin_fleet.pause (model text primary key, until timestamptz not null);`;

const SPEND = `
  insert into burin_fleet.usage as known values ($1, $2, $3, $4, $5)
  on conflict (task) do update set (tokens, money, calls) = (excluded.tokens, excluded.money, excluded.calls)`;
const SPENT = `
  select b.run, b.budget, (extract(epoch from now() - b.since) * 1000)::float8 as milliseconds,
    coalesce(sum(u.tokens), 0)::float8 as tokens, coalesce(sum(u.money), 0) as money,
    coalesce(sum(u.calls), 0)::float8 as calls
  from burin_fleet.budget b left join burin_fleet.usage u using (run) where b.run = any($1) group by b.run`;
const LEARN = `
  insert into burin_fleet.pause as known values ($1, now() + $2 * interval '1 ms')
  on conflict (model) do update set until = greatest(known.until, excluded.until)`;
const PAUSES = `
  select model, (extract(epoch from until - now()) * 1000)::float8 as left from burin_fleet.pause where until > now()`;

/** What all workers must know about each other: what runs have spent, and which models are paused. */
export class Ledger {
  readonly #pool: Pool;
  /** When each pause ends, by this process's monotonic clock. */
  #pauses = new Map<string, number>();
  /** Why each run with a budget is over, or null while it is not. */
  #runs = new Map<string, string | null>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async setBudget(run: string, budget: string): Promise<void> {
    const text = "insert into burin_fleet.budget values ($1, $2) on conflict (run) do update set budget = $2";
    await this.#pool.query(text, [run, budget]);
  }

  /** Loads these runs. Returns those with a used-up budget, and which part of it is used up. */
  async loadBudgetsAndPauses(runs: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const [spent, pauses] = await Promise.all([
      runs.length === 0 ? { rows: [] } : this.#pool.query(SPENT, [runs]),
      this.#pool.query<{ model: string; left: number }>(PAUSES),
    ]);
    this.#pauses = new Map(pauses.rows.map(({ model, left }) => [model, performance.now() + left]));
    this.#runs = new Map(spent.rows.map((row) => [row.run, explainUsedUpBudget(row)]));
    return this.#runs;
  }

  /** Adds the cost of one task to its run. Returns why the run is over, or null. */
  async addCost(task: string, spent: Spent, signal: AbortSignal): Promise<string | null> {
    const run = readRunName(task);
    if (!this.#runs.has(run)) return null;
    const values = [task, run, spent.tokens, spent.cost ?? 0, spent.calls];
    await retryUntilAvailable(() => this.#pool.query(SPEND, values), signal);
    return this.explainRunOverBudget(run, signal);
  }

  async explainRunOverBudget(run: string, signal: AbortSignal): Promise<string | null> {
    const { rows } = await retryUntilAvailable(() => this.#pool.query(SPENT, [[run]]), signal);
    const why = rows.length === 0 ? null : explainUsedUpBudget(rows[0]);
    if (rows.length > 0) this.#runs.set(run, why);
    return why;
  }

  /** Wraps a model so that it is asked only while no worker has been told to pause it. */
  readonly around = (model: ChatModel): ChatModel => ({
    ...model,
    stream: (request, signal) => this.#streamWithCosts(model, request, signal),
  });

  async *#streamWithCosts(
    model: ChatModel,
    ...[request, signal]: Parameters<ChatModel["stream"]>
  ): AsyncGenerator<ModelEvent, void, undefined> {
    const left = (this.#pauses.get(model.name) ?? 0) - performance.now();
    // Spread the requests: those that were refused together must not be repeated together.
    if (left > 0) await pause(left * (1 + Math.random() / 4), undefined, { signal }).catch(() => {});
    for await (const event of model.stream(request, signal)) {
      const failure = event.type === "end" && event.reason === "error" ? event.error : undefined;
      if (failure?.type === "rate_limited")
        await this.#notePause(model.name, failure.retryAfterMs ?? PAUSE_MS);
      yield event;
    }
  }

  async #notePause(model: string, milliseconds: number): Promise<void> {
    const until = performance.now() + milliseconds;
    this.#pauses.set(model, Math.max(this.#pauses.get(model) ?? 0, until));
    // If other workers cannot be told, the service will tell them.
    await this.#pool.query(LEARN, [model, milliseconds]).catch(() => {});
  }
}

function explainUsedUpBudget(row: Required<BudgetLimits> & { readonly budget: string }): string | null {
  const limits = Object.entries(parseBudget(row.budget)) as [keyof BudgetLimits, number][];
  const isOver = limits.some(([kind, max]) => row[kind] >= max);
  return isOver ? `The budget of the run, ${row.budget}, is used up.` : null;
}
