import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { readText } from "@burin/core";
import { Client } from "pg";
import { FleetError } from "./ground.ts";
import { quoted, runOwn } from "./run-command.ts";

const MOST_URL_BYTES = 10_000;

export interface Database {
  readonly url: string;
  /** In words, for the user. */
  readonly name: string;
  /** Ends a server of this machine's own, unless others use it. */
  close(): Promise<void>;
}

/** The database of that address; without one a PostgreSQL server in the user's own folder, started when it is needed. */
export async function openDatabase(given: string | undefined, home: string): Promise<Database> {
  if (given === undefined) return openOwn(join(home, "fleet", "database"));
  await assertReached(given);
  return { url: given, name: `the database ${withoutPassword(given)}`, close: async () => {} };
}

async function openOwn(folder: string): Promise<Database> {
  const programs = findPrograms();
  if (programs === null) {
    throw new FleetError(
      "there is no PostgreSQL on this machine. Install it (Debian: apt install postgresql), or name a server: --database postgresql://...",
    );
  }
  const server = new OwnServer(folder, await programs);
  const url = await server.start();
  return { url, name: `PostgreSQL of this machine, in ${server.data}`, close: () => server.stop(url) };
}

/** Where Debian, Homebrew and others put what is not in PATH. */
const PLACES = [
  "/usr/lib/postgresql",
  "/opt/homebrew/opt/postgresql/bin",
  "/usr/local/pgsql/bin",
  "/usr/pgsql/bin",
];

function findPrograms(): Promise<string> | null {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...PLACES];
  const found = folders.find(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "pg_ctl")),
  );
  if (found !== undefined) return Promise.resolve(found);
  return existsSync(PLACES[0] ?? "") ? newestIn(PLACES[0] ?? "") : null;
}

async function newestIn(top: string): Promise<string> {
  const versions = (await readdir(top)).sort((one, other) => Number(other) - Number(one));
  return join(top, versions[0] ?? "", "bin");
}

/** A server that listens on this computer alone, with a password that only its user can read. */
class OwnServer {
  readonly data: string;
  readonly #folder: string;
  readonly #programs: string;
  readonly #asOwner: string;

  constructor(folder: string, programs: string) {
    // The server refuses to be run by root: then the system's own user for it has the data.
    const isRoot = process.getuid?.() === 0;
    this.#folder = folder;
    this.#programs = programs;
    const name = createHash("sha256").update(folder).digest("hex").slice(0, 8);
    this.data = isRoot ? `/var/lib/postgresql/burin-fleet-${name}` : join(folder, "data");
    this.#asOwner = isRoot ? "runuser -u postgres -- " : "";
  }

  async start(): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = join(this.#folder, "url");
    const known = existsSync(this.data) && existsSync(file) ? readText(file, MOST_URL_BYTES) : null;
    const url = known ?? (await this.#create());
    if (!(await isReached(url))) {
      const { port } = new URL(url);
      // Without the variables by which what a command leaves behind is known and ended: the server is to go on.
      const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200`;
      await this.#run(
        `env -i PATH="$PATH" pg_ctl -D ${quoted(this.data)} -l ${quoted(`${this.data}/log`)} -w -t 60 -o ${quoted(options)} start`,
      );
    }
    await assertReached(url);
    return url;
  }

  async stop(url: string): Promise<void> {
    if ((await otherClients(url)) > 0) return;
    await this.#run(`pg_ctl -D ${quoted(this.data)} -m fast -w stop`).catch(() => {});
  }

  async #create(): Promise<string> {
    const password = randomBytes(18).toString("base64url");
    const url = `postgresql://burin:${password}@127.0.0.1:${await freePort()}/postgres`;
    const given = quoted(`${this.data}.password`);
    const init = `initdb -D ${quoted(this.data)} -U burin --auth=scram-sha-256 --pwfile=${given} -E UTF8 --locale=C`;
    const script = `umask 077; printf %s "$BURIN_INPUT" >${given} && ${init}; code=$?; rm -f ${given}; exit $code`;
    await this.#run(script, { BURIN_INPUT: password });
    await writeFile(join(this.#folder, "url"), url, { mode: 0o600 });
    return url;
  }

  async #run(script: string, variables: NodeJS.ProcessEnv = {}): Promise<void> {
    const PATH = `${this.#programs}${delimiter}${process.env.PATH}`;
    const shell = `cd / && ${this.#asOwner}sh -c ${quoted(script)} </dev/null`;
    await runOwn(this.#folder, shell, { ...process.env, ...variables, PATH }).catch((error: Error) => {
      throw new FleetError(`PostgreSQL could not be started: ${error.message}`);
    });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

async function ask<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: "burin_fleet_look",
  });
  client.on("error", () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function isReached(url: string): Promise<boolean> {
  return ask(url, async () => true).catch(() => false);
}

async function assertReached(url: string): Promise<void> {
  await ask(url, async () => {}).catch((error: Error) => {
    throw new FleetError(`the database ${withoutPassword(url)} cannot be reached: ${error.message}`);
  });
}

async function otherClients(url: string): Promise<number> {
  const text =
    "select count(*)::int as count from pg_stat_activity where client_addr is not null and application_name <> 'burin_fleet_look'";
  return ask(url, async (client) => (await client.query<{ count: number }>(text)).rows[0]?.count ?? 0).catch(
    () => 1,
  );
}

function withoutPassword(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return "that was named";
  }
}
