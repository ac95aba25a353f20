import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { lockPath } from "@burin/core/internal";
import { requirePrograms } from "@burin/testing/needs";
import { DBOS, DBOSClient } from "@dbos-inc/dbos-sdk";
import { Pool } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../src/database.ts";
import { jsonSerializer } from "../src/engine.ts";
import { findDataFolder, query, stopDatabase, waitUntil } from "./fleet-room.mjs";

const PROCESS = fileURLToPath(new URL("engine-process.mjs", import.meta.url));
const WAITING = "nobody-listens";
const DOWN_MS = 5000;

let home: string;
let folder: string;
let database: Database;
let pool: Pool;
let client: DBOSClient;
const children = new Set<ChildProcess>();

const silent = { info() {}, debug() {}, warn() {}, error() {} };

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "burin-engine-"));
  database = await openDatabase(undefined, home);
  await DBOS.migrate(database.url);
  pool = new Pool({ connectionString: database.url, max: 4 });
  pool.on("error", () => {});
  client = await DBOSClient.create({
    systemDatabaseUrl: database.url,
    systemDatabasePool: pool,
    serializer: jsonSerializer,
    logger: silent,
    applicationName: "contract",
  });
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await waitUntil(() => children.size === 0);
});

afterAll(async () => {
  await pool.end();
  await database.close();
  await rm(findDataFolder(join(home, "fleet/database")), { recursive: true, force: true });
  await rm(home, { recursive: true, force: true });
});

async function startTest(): Promise<void> {
  folder = await mkdtemp(join(home, "test-"));
}

function told(): string {
  const path = join(folder, "told");
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

async function hear(words: string): Promise<void> {
  await waitUntil(() => told().includes(`${words}\n`));
}

async function startWorker(name: string, version = "1"): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROCESS, database.url, name, version, folder], { stdio: "inherit" });
  children.add(child);
  child.once("exit", () => children.delete(child));
  await hear(`${name} works`);
  return child;
}

async function submit(id: string, queueName = WAITING, appVersion = "1"): Promise<void> {
  await client.enqueue({ workflowName: "count", workflowID: id, queueName, appVersion }, id);
}

/** Lets these steps of a task go on. */
async function release(id: string, ...steps: number[]): Promise<void> {
  for (const step of steps) await writeFile(join(folder, `${id}-${step}`), "");
}

async function endOf(id: string): Promise<unknown> {
  for (;;) {
    const task = await client.getWorkflow(id);
    if (task?.status === "SUCCESS") return task.output;
    if (task?.status === "ERROR") throw new Error(JSON.stringify(task.error));
    await pause(50);
  }
}

function beginningsOf(id: string): string[] {
  return [...told().matchAll(new RegExp(`^(\\S+) begins ${id} (\\d)$`, "gm"))].map(
    ([, name, step]) => `${name} ${step}`,
  );
}

describe("the engine keeps what the fleet relies on:", requirePrograms("PostgreSQL"), () => {
  it("P44 a task waits in a queue that nobody listens to, and is moved to that of a worker", async () => {
    await startTest();
    await startWorker("one");
    await submit("moved");
    await pause(1500);
    expect(await client.getWorkflow("moved")).toMatchObject({ status: "ENQUEUED", queueName: WAITING });
    await client.resumeWorkflows(["moved"], { queueName: "own:one" });
    await release("moved", 0, 1, 2);
    expect(await endOf("moved")).toEqual({ done: ["0 by one", "1 by one", "2 by one"], message: null });
    // It moves tasks that have not ended, and no others.
    await client.resumeWorkflows(["moved"], { queueName: WAITING });
    expect((await client.getWorkflow("moved"))?.status).toBe("SUCCESS");
  });

  it("P44 a task that a worker has begun goes on at another one, and the first one's step is refused", async () => {
    await startTest();
    const first = await startWorker("first");
    await startWorker("second");
    await submit("taken", "own:first");
    await release("taken", 0);
    await hear("first begins taken 1");
    // A stopped worker whose connection is cut loses its lock, and knows nothing of it.
    first.kill("SIGSTOP");
    const held =
      "select 1 from pg_locks where locktype = 'advisory' and (classid::bigint << 32 | objid::bigint) = hashtextextended('first', 0)";
    expect(await query(database.url, held)).toHaveLength(1);
    await query(database.url, held.replace("select 1", "select pg_terminate_backend(pid)"));
    await waitUntil(async () => (await query(database.url, held)).length === 0);
    const found = await client.listWorkflows({ queueName: "own:first", status: ["PENDING", "ENQUEUED"] });
    expect(found).toMatchObject([{ workflowID: "taken", status: "PENDING", executorId: "first" }]);
    await client.resumeWorkflows(["taken"], { queueName: "own:second" });
    await client.deleteQueue("own:first");
    await hear("second begins taken 1");
    await release("taken", 1);
    first.kill("SIGCONT");
    await hear("first refused taken 1 DBOSWorkflowConflictError");
    await release("taken", 2);
    expect(await endOf("taken")).toMatchObject({ done: ["0 by first", "1 by second", "2 by second"] });
    expect(beginningsOf("taken")).toEqual(["first 0", "first 1", "second 1", "second 2"]);
    expect(await client.listWorkflowSteps("taken")).toHaveLength(4);
  });

  it("P44 a task that has ended is begun again behind a step, and hears what it is sent then", async () => {
    await startTest();
    await startWorker("again");
    await submit("ended", "own:again");
    await release("ended", 0, 1, 2);
    await endOf("ended");
    const options = { startStep: 2, queueName: "own:again", queuePartitionKey: "kept" };
    await client.rewindWorkflow("ended", options);
    await client.send("ended", "hello", "words");
    await waitUntil(async () => (await client.getWorkflow("ended"))?.status === "SUCCESS");
    expect(await client.getWorkflow("ended")).toMatchObject({ queuePartitionKey: "kept" });
    expect(beginningsOf("ended")).toEqual(["again 0", "again 1", "again 2", "again 2"]);
    await submit("open");
    await expect(client.rewindWorkflow("open", options)).rejects.toThrow("terminal state");
  });

  it("P44 a worker takes only tasks of its version", async () => {
    await startTest();
    await startWorker("old", "1");
    await startWorker("new", "2");
    for (const queue of ["own:old", "own:new"]) await submit(`two-${queue.slice(4)}`, queue, "2");
    for (const id of ["two-old", "two-new"]) await release(id, 0, 1, 2);
    await endOf("two-new");
    expect(await client.getWorkflow("two-old")).toMatchObject({ status: "ENQUEUED" });
    expect(beginningsOf("two-old")).toEqual([]);
  });

  it.each(["fast", "immediate"])(
    "P44 a step is recorded once where the database is down for five seconds: %s",
    async (way) => {
      await startTest();
      const id = `down-${way}`;
      await startWorker(`down:${way}`);
      await submit(id, `own:down:${way}`);
      await release(id, 0);
      await hear(`down:${way} begins ${id} 1`);
      const place = join(home, "fleet/database");
      const end = async () => {
        await stopDatabase(place, way === "immediate" ? "SIGQUIT" : "SIGINT");
        await release(id, 1, 2);
        await pause(DOWN_MS);
      };
      // Whoever uses it would start it again at once.
      await lockPath(findDataFolder(place), end);
      expect(await endOf(id)).toMatchObject({
        done: ["0", "1", "2"].map((step) => `${step} by down:${way}`),
      });
      expect(beginningsOf(id)).toHaveLength(3);
    },
  );

  it("P44 a step of a task that is cancelled meanwhile is refused, and the task goes on from there later", async () => {
    await startTest();
    await startWorker("cancelling");
    await submit("cancelled", "own:cancelling");
    await release("cancelled", 0);
    await hear("cancelling begins cancelled 1");
    await client.cancelWorkflows(["cancelled"]);
    await release("cancelled", 1);
    await waitUntil(() =>
      /cancelling refused cancelled 1 DBOSWorkflow(?:Conflict|Cancelled)Error\n/.test(told()),
    );
    expect(await client.getWorkflow("cancelled")).toMatchObject({ status: "CANCELLED" });
    expect(await client.listWorkflowSteps("cancelled")).toHaveLength(1);
    await release("cancelled", 2);
    await client.resumeWorkflows(["cancelled"], { queueName: "own:cancelling" });
    await endOf("cancelled");
    expect(beginningsOf("cancelled").map((words) => words.at(-1))).toEqual(["0", "1", "1", "2"]);
  });
});

describe.skipIf(process.getuid?.() !== 0)(
  "the engine, with a disk of its own,",
  requirePrograms("PostgreSQL"),
  () => {
    it("P44 waits with a step until its full disk has room again", async () => {
      await startTest();
      const before = database;
      const small = await mkdtemp(join(tmpdir(), "burin-engine-small-"));
      const data = findDataFolder(join(small, "fleet/database"));
      await mkdir(data, { recursive: true });
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=90m", "tmpfs", data]);
      try {
        database = await openDatabase(undefined, small);
        await DBOS.migrate(database.url);
        const own = await DBOSClient.create({
          systemDatabaseUrl: database.url,
          serializer: jsonSerializer,
          logger: silent,
          applicationName: "contract",
        });
        await startWorker("full");
        await own.enqueue(
          { workflowName: "count", workflowID: "full", queueName: "own:full", appVersion: "1" },
          "full",
        );
        await hear("full begins full 0");
        const filler = join(data, "filler");
        const isWaiting = () => /No space left on device/.test(readFileSync(join(data, "log"), "utf8"));
        await fill(filler);
        // What is left of a file of the server is used first.
        const table = query(
          database.url,
          "create table big as select repeat(md5(n::text), 100) from generate_series(1, 100000) n",
        ).catch(() => {});
        await waitUntil(isWaiting);
        await table;
        await fill(filler);
        await release("full", 0, 1, 2);
        await pause(2000);
        expect((await own.getWorkflow("full"))?.status).toBe("PENDING");
        await rm(filler);
        await waitUntil(async () => (await own.getWorkflow("full"))?.status === "SUCCESS");
        expect(beginningsOf("full")).toEqual(["full 0", "full 1", "full 2"]);
        await own.destroy();
        await database.close();
      } finally {
        database = before;
        execFileSync("umount", ["-l", data]);
        await rm(data, { recursive: true, force: true });
        await rm(small, { recursive: true, force: true });
      }
    });
  },
);

async function fill(path: string): Promise<void> {
  const file = await open(path, "a");
  for (let bytes = 1024 * 1024; bytes >= 1; )
    await file.write(Buffer.alloc(bytes)).catch(() => {
      bytes = Math.floor(bytes / 2);
    });
  await file.close();
}
