import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import { Pool } from "pg";
import { CANCELLED_TABLE, openClient, prepareDatabase } from "./engine.ts";
import type { Change } from "./folder-changes.ts";
import { LEDGER_TABLES, Ledger } from "./ledger.ts";
import { PAGE_TABLE } from "./page-data.ts";
import { retryUntilAvailable } from "./retry-queries.ts";

const PART_BYTES = 8 * 1024 * 1024;

const SCHEMA_KEY = 7_261_903_118;
const SCHEMA_PAUSE_MS = 50;
const MAX_CONNECTIONS = 4;

export function openPool(url: string): Pool {
  const pool = new Pool({ connectionString: url, max: MAX_CONNECTIONS, application_name: "burin_fleet" });
  // Ignore errors of idle connections: the next query replaces them.
  pool.on("error", () => {});
  return pool;
}

/**
 * SQL functions that make JSON readable. PostgreSQL cannot extract anything from JSON that contains U+0000 or half a
 * surrogate pair, which a model's text may contain. For reading, these and other control characters are written as
 * `/u`.
 */
const READABLE_FUNCTIONS = `
  create or replace function burin_fleet.is_plain(given text) returns boolean language plpgsql immutable as $$
  begin
    perform given::json->'';
    return true;
  exception when others then
    return false;
  end $$;
  create or replace function burin_fleet.readable(given text) returns json language sql immutable as $$
    select case when burin_fleet.is_plain(given) then given::json else replace(given, '\\u', '/u')::json end
  $$`;

const TABLES = `
  create schema if not exists burin_fleet;
  ${READABLE_FUNCTIONS};
  create table if not exists burin_fleet.base (
    hash text not null,
    part integer not null,
    bytes bytea not null,
    primary key (hash, part)
  );
  ${LEDGER_TABLES};
  ${CANCELLED_TABLE};
  ${PAGE_TABLE}`;

/** Opens the database, and creates the tables if they are missing. */
export async function openStore(url: string): Promise<Store> {
  const store = await Store.open(url);
  const client = await store.pool.connect();
  try {
    // Take a lock: two processes that start at the same time would both find no tables. Poll for it, because a waiting
    // query would prevent the engine from creating indexes. The lock is released with the connection.
    const lock = `select pg_try_advisory_lock(${SCHEMA_KEY}) as free`;
    while (!(await client.query(lock)).rows[0]?.free) await pause(SCHEMA_PAUSE_MS);
    await prepareDatabase(url);
    await client.query(TABLES);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  } finally {
    client.release(true);
  }
}

/** The database: the engine's tasks, and what the fleet itself stores, such as base folders and spending. */
export class Store {
  readonly pool: Pool;
  /** The engine's client, which submits, reads and controls tasks. */
  readonly client: DBOSClient;
  readonly ledger: Ledger;

  private constructor(pool: Pool, client: DBOSClient) {
    this.pool = pool;
    this.client = client;
    this.ledger = new Ledger(pool);
  }

  static async open(url: string): Promise<Store> {
    const pool = openPool(url);
    return new Store(pool, await openClient(url, pool));
  }

  /** Stores a folder once, however often it is submitted. Returns its hash. */
  async keepBase(changes: readonly Change[]): Promise<string> {
    const packed = deflateRawSync(JSON.stringify(changes), { level: 1 });
    const hash = createHash("sha256").update(packed).digest("hex").slice(0, 32);
    const known = "select 1 from burin_fleet.base where hash = $1 limit 1";
    const { rowCount } = await this.pool.query(known, [hash]);
    if (rowCount) return hash;
    const client = await this.pool.connect();
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

  async readBase(hash: string): Promise<readonly Change[]> {
    const text = "select bytes from burin_fleet.base where hash = $1 order by part";
    const { rows } = await retryUntilAvailable(() => this.pool.query<{ bytes: Buffer }>(text, [hash]));
    if (rows.length === 0) throw new Error(`The folder ${hash} is not in the database.`);
    return JSON.parse(inflateRawSync(Buffer.concat(rows.map(({ bytes }) => bytes))).toString());
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
