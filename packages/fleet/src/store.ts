import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { Client, Pool } from "pg";
import type { Change } from "./folder-changes.ts";

const PART_BYTES = 8 * 1024 * 1024;

/** A server whose machine is gone is noticed within half a minute, and so is a worker whose machine is. */
const KEEP_ALIVE =
  "set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3";

const TABLES = `
  create schema if not exists burin_fleet;
  create table if not exists burin_fleet.base (
    hash text not null,
    part integer not null,
    bytes bytea not null,
    primary key (hash, part)
  )`;

/** What the fleet keeps beside the engine's own tables: folders that tasks begin with. */
export class Store {
  readonly #pool: Pool;

  constructor(url: string) {
    this.#pool = new Pool({ connectionString: url, max: 2, application_name: "burin_fleet" });
    // A connection that breaks while nobody uses it is made anew with the next query.
    this.#pool.on("error", () => {});
  }

  async open(): Promise<void> {
    // Two that begin at the same time would both find nothing there.
    await this.#pool.query(`begin; select pg_advisory_xact_lock(${SCHEMA_KEY}); ${TABLES}; commit`);
  }

  /** Keeps a folder once, whoever hands it in how often; gives its name. */
  async keepBase(changes: readonly Change[]): Promise<string> {
    const packed = deflateRawSync(JSON.stringify(changes), { level: 1 });
    const hash = createHash("sha256").update(packed).digest("hex").slice(0, 32);
    const { rowCount } = await this.#pool.query("select 1 from burin_fleet.base where hash = $1 limit 1", [
      hash,
    ]);
    if (rowCount) return hash;
    const client = await this.#pool.connect();
    try {
      await client.query("begin");
      for (let part = 0; part === 0 || part * PART_BYTES < packed.length; part += 1) {
        const bytes = packed.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
        const insert = "insert into burin_fleet.base values ($1, $2, $3) on conflict do nothing";
        await client.query(insert, [hash, part, bytes]);
      }
      await client.query("commit");
    } catch (error) {
      await client.query("rollback").catch(() => {});
      throw error;
    } finally {
      client.release();
    }
    return hash;
  }

  async base(hash: string): Promise<readonly Change[]> {
    const text = "select bytes from burin_fleet.base where hash = $1 order by part";
    const { rows } = await this.#pool.query<{ bytes: Buffer }>(text, [hash]);
    if (rows.length === 0) throw new Error(`The folder ${hash} is not in the database.`);
    return JSON.parse(inflateRawSync(Buffer.concat(rows.map(({ bytes }) => bytes))).toString());
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

const SCHEMA_KEY = 7_261_903_118;

/**
 * What shows that a worker lives: a lock of the database on its name, which goes with the connection. A process that
 * is killed loses it at once, one that is stopped for a while keeps it.
 */
export class SignOfLife {
  readonly #url: string;
  readonly #name: string;
  #client: Client | null = null;
  #isClosed = false;

  constructor(url: string, name: string) {
    this.#url = url;
    this.#name = name;
  }

  /** Resolves when the lock is held; it is taken again whenever the connection breaks. */
  async hold(): Promise<void> {
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
      if (!this.#isClosed) this.#holdAgain();
    });
  }

  /** Whether that worker is gone; then `takeOver` has run meanwhile, and nobody else has. */
  async ifGone(name: string, takeOver: () => Promise<void>): Promise<boolean> {
    const client = this.#client;
    if (client === null) return false;
    const text = "select pg_try_advisory_lock(hashtextextended($1, 0)) as gone";
    const { rows } = await client.query<{ gone: boolean }>(text, [name]);
    if (rows[0]?.gone !== true) return false;
    try {
      await takeOver();
    } finally {
      await client.query("select pg_advisory_unlock(hashtextextended($1, 0))", [name]).catch(() => {});
    }
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client?.end().catch(() => {});
  }

  #holdAgain(): void {
    if (this.#isClosed) return;
    this.hold().catch(() => setTimeout(() => this.#holdAgain(), RETRY_MS).unref());
  }
}

const RETRY_MS = 250;
