import { Client, type Pool } from "pg";

/** Makes the system detect within half a minute that the machine of a server or worker is gone. */
const KEEP_ALIVE =
  "set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3";
const RETRY_MS = 250;
/** Selects the keys of all advisory locks that are held, by any worker. */
export const HELD_KEYS = `
  select (classid::bigint << 32) | objid::bigint from pg_locks
  where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())`;

export async function isAnyHeld(pool: Pool, names: readonly string[]): Promise<boolean> {
  const text = `select 1 from unnest($1::text[]) name where hashtextextended(name, 0) in (${HELD_KEYS}) limit 1`;
  return (await pool.query(text, [names])).rowCount === 1;
}

/**
 * Shows that a worker is alive, by a database lock on its name that is released with the connection. A killed process
 * loses it at once; a paused one keeps it for a while.
 */
export class SignOfLife {
  readonly #url: string;
  readonly #name: string;
  readonly #onHold: () => Promise<void>;
  #client: Client | null = null;
  #isClosed = false;

  /** `onHold` is called each time the lock is taken: meanwhile, others may have taken over the worker's tasks. */
  constructor(url: string, name: string, onHold: () => Promise<void>) {
    this.#url = url;
    this.#name = name;
    this.#onHold = onHold;
  }

  /** Resolves when the lock is held. The lock is taken again whenever the connection breaks. */
  async holdLock(): Promise<void> {
    const client = new Client({
      connectionString: this.#url,
      keepAlive: true,
      application_name: "burin_fleet",
    });
    client.on("error", () => {});
    await client.connect();
    await client.query(KEEP_ALIVE);
    await client.query("select pg_advisory_lock(hashtextextended($1, 0))", [this.#name]);
    this.#client = client;
    client.once("end", () => {
      this.#client = null;
      this.#holdAgain();
    });
    await this.#onHold();
  }

  /** Whether the lock is held now, which only the server knows. */
  async isHeld(): Promise<boolean> {
    const answer = await this.#client?.query("select 1").catch(() => undefined);
    return answer !== undefined;
  }

  /** Runs `work` and resolves to its result. Resolves to null if another process holds the lock on that name. */
  async runIfFree<T>(name: string, work: (client: Client) => Promise<T>): Promise<T | null> {
    const client = this.#client;
    if (client === null) return null;
    const text = "select pg_try_advisory_lock(hashtextextended($1, 0)) as free";
    const { rows } = await client.query<{ free: boolean }>(text, [name]);
    if (rows[0]?.free !== true) return null;
    try {
      return await work(client);
    } finally {
      await client.query("select pg_advisory_unlock(hashtextextended($1, 0))", [name]).catch(() => {});
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client?.end().catch(() => {});
  }

  #holdAgain(): void {
    if (this.#isClosed) return;
    this.holdLock().catch(() => setTimeout(() => this.#holdAgain(), RETRY_MS).unref());
  }
}
