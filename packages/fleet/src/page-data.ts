import { describeEffects, type Question } from "@burin/core";
import { readPatch } from "@burin/core/internal";
import type { Pool } from "pg";
import {
  FOLD_ENDS,
  NEW_STEPS,
  PAGE_COUNTS,
  PAGE_ENTRIES,
  PAGE_RUN_TASKS,
  PAGE_RUNS,
  PAGE_TASK,
  readPatches,
} from "./engine-tables.ts";
import { listPageEntries, type PageEntry, readChange } from "./page-entries.ts";
import { sumSpent } from "./steps.ts";

const PAGE_ROWS = 50;
/** The maximum number of steps of a transcript that are sent together. */
const MAX_STEPS = 50;
const FOLDED_AT_ONCE = 200;

/**
 * The state and cost of each task, so that no list has to read patches or records. For an ended task they come from its
 * end, otherwise from the sum of its steps up to `upto`.
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

/** Stores a sum. If another page has already stored a newer one, that is kept. */
const KEEP_SUM = `
  insert into burin_fleet.spent as s values ($1, $2, null, null, null, $3, $4, $5)
  on conflict (task) do update set (upto, ended, state, words, turns, tokens, cost) = ($2, null, null, null, $3, $4, $5)
  where case when s.ended is null then s.upto end is not distinct from $6`;

interface ListRequest {
  readonly search: string;
  readonly offset: number;
}

/** The data of the page, loaded from the database piece by piece. */
export class PageData {
  readonly #pool: Pool;
  #folding: Promise<void> | null = null;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Lists runs, the newest first, each with the number of its tasks in every state. */
  async listRuns({ search, offset }: ListRequest) {
    await this.#updateOnce();
    const { rows } = await this.#pool.query(PAGE_RUNS, [buildPattern(search), PAGE_ROWS, offset]);
    const [{ total = 0, allRunning = 0, allWaiting = 0 } = {}] = rows;
    return { runs: rows, total, running: allRunning, waiting: allWaiting, rows: PAGE_ROWS };
  }

  /** Lists some of a run's tasks in the order of submission; null if there is no such run. */
  async run(name: string, { search, offset, kind }: ListRequest & { readonly kind: string }) {
    await this.#updateOnce();
    const [counts] = (await this.#pool.query(PAGE_COUNTS, [name])).rows;
    if (counts.tasks === 0) return null;
    const values = [name, kind, buildPattern(search), PAGE_ROWS, offset];
    const { rows } = await this.#pool.query(PAGE_RUN_TASKS, values);
    return { name, counts, tasks: rows, total: rows[0]?.total ?? 0, rows: PAGE_ROWS };
  }

  /** Returns a task, and what has happened in it since the given step. */
  async readTask(id: string, from: number) {
    await this.#updateOnce();
    const [task] = (await this.#pool.query(PAGE_TASK, [id])).rows;
    if (task === undefined) return null;
    return {
      ...task,
      question: addQuestionEffects(task.question),
      ...(await this.#listEntries(id, from)),
    };
  }

  /** Returns the task's changes as a git patch, and as rows to show. */
  async readPatch(id: string) {
    for await (const { patch } of readPatches(this.#pool, [id])) return { patch, files: readPatch(patch) };
    return { patch: "", files: [] };
  }

  async #listEntries(id: string, from: number) {
    const { rows } = await this.#pool.query(PAGE_ENTRIES, [id, from, MAX_STEPS]);
    const entries: PageEntry[] = rows.flatMap(listPageEntries);
    return { entries, next: (rows.at(-1)?.step ?? from - 1) + 1, hasMore: rows.length === MAX_STEPS };
  }

  /** Adds what has happened since the last time. Simultaneous requests share one such update. */
  #updateOnce(): Promise<void> {
    this.#folding ??= this.#readNewEntries().finally(() => {
      this.#folding = null;
    });
    return this.#folding;
  }

  async #readNewEntries(): Promise<void> {
    await this.#pool.query(FOLD_ENDS);
    for (let isMore = true; isMore; ) {
      const { rows } = await this.#pool.query(NEW_STEPS, [FOLDED_AT_ONCE]);
      const sums = new Map<string, (typeof rows)[number]>();
      for (const row of rows) {
        const sum = sums.get(row.task) ?? row;
        const { turns, tokens, cost } = sumSpent([row]);
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

/** Converts a search to a pattern for ILIKE; "" without a search. */
function buildPattern(search: string): string {
  return search === "" ? "" : `%${search.replace(/[\\%_]/g, "\\$&")}%`;
}

/** Adds a description of what the question would allow, in the same words as in every interface. */
function addQuestionEffects(question: Question | null) {
  if (question === null) return null;
  const { confirmation } = question;
  const change = confirmation.kind === "edit" ? [readChange(confirmation.diff)] : null;
  return { ...question, change, reach: describeEffects(confirmation) };
}
