import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readText } from "@burin/core";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import type { Pool } from "pg";
import { unpackTarball } from "./bases.ts";
import { openClient, submit } from "./engine.ts";
import { wholeFolder } from "./folder-changes.ts";
import { type Fleet, FleetError, type FleetRequest, type Ground } from "./ground.ts";
import { openWorker } from "./open-worker.ts";
import { countsOf, countWords, type TaskState, tableOf, tasksOf } from "./states.ts";
import type { Submission } from "./steps.ts";
import { openStore, type Store } from "./store.ts";
import { readTasks, type Source, type Task, TaskError } from "./task.ts";

const RUN_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/;
const LOOK_MS = 500;
const MOST_TASK_BYTES = 100_000_000;
const SIDE_BY_SIDE = 16;
/** So many tasks make the queue another one. */
const MANY = 1000;

interface AskedRun {
  readonly file: string;
  readonly run: string;
  readonly tasks: readonly Task[];
}

/** Submits the tasks of a file, and works on them with all other workers until they have ended. */
export async function readRun(request: FleetRequest, { root }: Ground) {
  const [file] = request.words;
  if (file === undefined) throw new FleetError("name a file of tasks: burin fleet run tasks.jsonl");
  const { run = newRunName() } = request;
  // It becomes part of folder names.
  if (!RUN_NAME.test(run)) throw new FleetError("--run must be letters, digits, - and _, at most 80 of them");
  const path = resolve(root, file);
  const tasks = readTasks(readTaskFile(path), dirname(path));
  for (const { id, source } of tasks) await assertThere(id, source);
  return (fleet: Fleet) => runTasks(fleet, { file, run, tasks });
}

async function assertThere(id: string, source: Source): Promise<void> {
  if ("git" in source) return;
  const [kind, path] = "folder" in source ? ["folder", source.folder] : ["tarball", source.tarball];
  const found = await stat(path).catch(() => null);
  if (kind === "folder" ? found?.isDirectory() : found?.isFile()) return;
  throw new TaskError(`Task "${id}": there is no ${kind} ${path}.`);
}

async function runTasks(fleet: Fleet, { file, run, tasks }: AskedRun): Promise<boolean> {
  const { url, ground, request } = fleet;
  const store = await openStore(url);
  const client = await openClient(url);
  try {
    if (request.budget !== undefined) await store.ledger.setBudget(run, request.budget);
    const ids = await submitAll({ client, store, run }, tasks);
    ground.note(`run ${run}: ${ids.length} tasks submitted`);
    if (!request.follow) {
      ground.note(
        "burin fleet worker works on them, here or on any machine; burin fleet status shows how far they are",
      );
      return true;
    }
    const { close: closeWorker } = await openWorker(fleet, store);
    try {
      const states = await follow({ store, run, ground });
      if (states === null) {
        ground.note(
          `the run goes on with the next burin fleet worker, or burin fleet run --run ${run} ${file}`,
        );
        return false;
      }
      ground.out(tableOf(states));
      return states.every(({ end }) => end?.status === "success");
    } finally {
      await closeWorker();
    }
  } finally {
    await client.destroy();
    await store.close();
  }
}

function readTaskFile(path: string): string {
  let fault = "there is no such file";
  try {
    const text = readText(path, MOST_TASK_BYTES);
    if (text !== null) return text;
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error);
  }
  throw new FleetError(`${path} cannot be read: ${fault}`);
}

function newRunName(): string {
  const time = new Date().toISOString().replace(/[-:]/g, "").slice(0, 13).replace("T", "-");
  return `${time}-${randomBytes(2).toString("hex")}`;
}

interface Place {
  readonly client: DBOSClient;
  readonly store: Store;
  readonly run: string;
}

/** A task that was submitted before in the same run is not submitted again. */
async function submitAll({ client, store, run }: Place, tasks: readonly Task[]): Promise<string[]> {
  const bases = new Map<string, Promise<Submission["base"]>>();
  const ids: string[] = [];
  const waiting = [...tasks];
  const work = async (): Promise<void> => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      const { source, ...rest } = task;
      const key = JSON.stringify(source);
      const base = bases.get(key) ?? baseOf(source, store);
      bases.set(key, base);
      const id = `${run}.${task.id}`;
      await submit(client, id, { ...rest, base: await base });
      ids.push(id);
      if (ids.length % MANY === 0) await analyze(store.pool);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  await analyze(store.pool);
  return ids;
}

/** Else the database takes the queue for the short one that it was, and reads all of it each time that a worker asks. */
async function analyze(pool: Pool): Promise<void> {
  await pool.query("analyze dbos.workflow_status");
}

/** A folder is kept in the database as it is now, so that every worker begins with the same. */
async function baseOf(source: Source, store: Store): Promise<Submission["base"]> {
  if ("git" in source) return source;
  if ("folder" in source) return { hash: await keepFolder(source.folder, store) };
  const folder = await mkdtemp(join(tmpdir(), "burin-fleet-tarball-"));
  try {
    await unpackTarball(source.tarball, folder);
    return { hash: await keepFolder(folder, store) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function keepFolder(folder: string, store: Store): Promise<string> {
  const { changes, left } = await wholeFolder(folder);
  const [first] = left;
  if (first !== undefined)
    throw new FleetError(`${join(folder, first)} is too large for the database (32 MB a file)`);
  if (changes.length === 0) throw new FleetError(`there is nothing in ${folder}`);
  return store.keepBase(changes);
}

interface Followed {
  readonly store: Store;
  readonly run: string;
  readonly ground: Ground;
}

/** The ends of all tasks of the run; null when the user interrupts before. */
async function follow({ store, run, ground }: Followed): Promise<readonly TaskState[] | null> {
  let told = "";
  for (;;) {
    const counts = await countsOf(store.pool, run);
    const line = countWords(counts);
    if (line !== told) ground.note(line);
    told = line;
    if (!counts.has("queued") && !counts.has("running")) return tasksOf(store.pool, run);
    await pause(LOOK_MS, undefined, { signal: ground.signal }).catch(() => {});
    if (ground.signal.aborted) return null;
  }
}
