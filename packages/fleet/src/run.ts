import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { describeError, readText } from "@burin/core/internal";
import type { Pool } from "pg";
import { unpackTarball } from "./base-folders.ts";
import { submitTask } from "./engine.ts";
import { countByState, readSubmissions, readTaskStates, type TaskState } from "./engine-tables.ts";
import { readWholeFolder } from "./folder-changes.ts";
import { type Fleet, FleetError, type FleetOptions, type FleetRequest } from "./ground.ts";
import { openWorker } from "./open-worker.ts";
import { retryUntilAvailable } from "./retry-queries.ts";
import { formatCount, formatCounts, formatStanding, formatTable } from "./states.ts";
import type { Submission } from "./steps.ts";
import { openStore, type Store } from "./store.ts";
import { findNameFault, readTasks, type Source, type Task, TaskError } from "./task.ts";

const LOOK_MS = 500;
const MAX_TASK_BYTES = 100_000_000;
const MAX_PARALLEL = 16;
const MAX_NAMES = 5;

interface RunToSubmit {
  readonly file: string;
  readonly run: string;
  readonly tasks: readonly Task[];
}

/** Reads a file of tasks, to be submitted and worked on with all other workers until they have ended. */
export async function readRunToSubmit(request: FleetRequest, { root }: FleetOptions) {
  const [file] = request.words;
  if (file === undefined) throw new FleetError("name a file of tasks: burin fleet run tasks.jsonl");
  const { run = createRunName() } = request;
  const fault = findNameFault(run);
  if (fault !== null) throw new FleetError(`--run ${fault}`);
  const path = resolve(root, file);
  const tasks = readTasks(readTaskFile(path), dirname(path));
  for (const { id, source } of tasks) await assertExists(id, source);
  return (fleet: Fleet) => runTasks(fleet, { file, run, tasks });
}

async function assertExists(id: string, source: Source): Promise<void> {
  if ("git" in source) return;
  const [kind, path] = "folder" in source ? ["folder", source.folder] : ["tarball", source.tarball];
  const found = await stat(path).catch(() => null);
  if (kind === "folder" ? found?.isDirectory() : found?.isFile()) return;
  throw new TaskError(`Task "${id}": there is no ${kind} ${path}.`);
}

async function runTasks(fleet: Fleet, asked: RunToSubmit): Promise<boolean> {
  const { file, run } = asked;
  const { url, ground, request } = fleet;
  const store = await openStore(url);
  try {
    await submitMissingTasks(fleet, store, asked);
    if (!request.follow) {
      ground.note(
        "to work on them: burin fleet worker, here or on any machine; how far they are: burin fleet status",
      );
      return true;
    }
    return await runOrContinue(fleet, store, { run, next: `burin fleet run --run ${run} ${file}` });
  } finally {
    await store.close();
  }
}

/** Works on an already submitted run, with all other workers, until its tasks have ended or wait for a user. */
export async function followRun(fleet: Fleet, run: string): Promise<boolean> {
  const store = await openStore(fleet.url);
  try {
    return await runOrContinue(fleet, store, { run, next: `burin fleet retry ${run} --follow` });
  } finally {
    await store.close();
  }
}

/** Works on a run. `next` is the command that continues the run if this one is interrupted. */
async function runOrContinue(
  fleet: Fleet,
  store: Store,
  { run, next }: { readonly run: string; readonly next: string },
): Promise<boolean> {
  const { ground } = fleet;
  const { close: closeWorker } = await openWorker(fleet, store);
  try {
    const states = await waitForEnds(store.pool, run, ground);
    ground.out(formatTable(states));
    return states.every(({ end }) => end?.status === "success");
  } catch (error) {
    if (!ground.signal.aborted) throw error;
    ground.note(`the run goes on with the next burin fleet worker, or ${next}`);
    return false;
  } finally {
    await closeWorker();
  }
}

function readTaskFile(path: string): string {
  let fault = "there is no such file";
  try {
    const text = readText(path, MAX_TASK_BYTES);
    if (text !== null) return text;
  } catch (error) {
    fault = describeError(error);
  }
  throw new FleetError(`${path} cannot be read: ${fault}`);
}

function createRunName(): string {
  const time = new Date().toISOString().replace(/[-:]/g, "").slice(0, 13).replace("T", "-");
  return `${time}-${randomBytes(2).toString("hex")}`;
}

/** Submits the tasks that the run does not have yet. Tasks that it already has stay as they were submitted. */
async function submitMissingTasks(
  { ground, request }: Fleet,
  store: Store,
  { run, tasks }: RunToSubmit,
): Promise<void> {
  const before = await readSubmissions(store.pool, run);
  const bases = new Map<string, Promise<Submission["base"]>>();
  const waiting: [id: string, submission: Submission][] = [];
  const withOtherCode: string[] = [];
  for (const { source, ...rest } of tasks) {
    const key = JSON.stringify(source);
    const base = bases.get(key) ?? resolveBase(source, store);
    bases.set(key, base);
    const submission = { ...rest, base: await base };
    const known = before.get(rest.id);
    if (known === undefined) waiting.push([`${run}.${rest.id}`, submission]);
    else if (differOnlyInCode(submission, known, run)) withOtherCode.push(rest.id);
    before.delete(rest.id);
  }
  // Set the budget first: no task may start without it.
  if (request.budget !== undefined) await store.ledger.setBudget(run, request.budget);
  const count = waiting.length;
  const submitWaiting = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      await submitTask(store.client, ...next);
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL }, submitWaiting));
  const old = tasks.length - count;
  ground.note(`run ${run}: ${formatCount(count, "task")} submitted${old > 0 ? `, and ${old} before` : ""}`);
  if (withOtherCode.length > 0)
    ground.note(`the code of ${formatNames(withOtherCode)} has changed; they keep what was submitted`);
  if (before.size > 0)
    ground.note(`${formatNames([...before.keys()])} of the run are not in the file; they stay in the run`);
}

/** Whether the tasks differ only in the content of their folder. No other part of a submitted task may differ. */
function differOnlyInCode(
  { base, ...now }: Submission,
  { base: old, ...before }: Submission,
  run: string,
): boolean {
  const isSame = isDeepStrictEqual(base, old);
  const keys = Object.keys({ ...now, ...before }) as (keyof typeof now)[];
  const changed = keys.find((key) => !isDeepStrictEqual(now[key], before[key]));
  if (changed === undefined && (isSame || ("hash" in base && "hash" in old))) return !isSame;
  throw new TaskError(
    [
      `Task "${now.id}" was submitted to the run ${run} with another ${changed ?? "source"},`,
      "and a submitted task does not change. Give the task another id, or the file another --run.",
    ].join(" "),
  );
}

function formatNames(ids: readonly string[]): string {
  const shown = ids.slice(0, MAX_NAMES).join(", ");
  return ids.length > MAX_NAMES ? `${shown} and ${ids.length - MAX_NAMES} more` : shown;
}

/** Returns what a task starts from. A folder is stored as it is now, so that every worker starts with the same. */
async function resolveBase(source: Source, store: Store): Promise<Submission["base"]> {
  if ("git" in source) return source;
  if ("folder" in source) return { hash: await storeFolder(source.folder, store) };
  const folder = await mkdtemp(join(tmpdir(), "burin-fleet-tarball-"));
  try {
    await unpackTarball(source.tarball, folder);
    return { hash: await storeFolder(folder, store) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function storeFolder(folder: string, store: Store): Promise<string> {
  const { changes, left } = await readWholeFolder(folder);
  const [first] = left;
  if (first !== undefined)
    throw new FleetError(`${join(folder, first)} is too large for the database (32 MB a file)`);
  if (changes.length === 0) throw new FleetError(`${folder} has no files`);
  return store.keepBase(changes);
}

/** Reports the run's progress until all tasks have ended. Resolves to their states. */
async function waitForEnds(
  pool: Pool,
  run: string,
  { note, signal }: FleetOptions,
): Promise<readonly TaskState[]> {
  let told = "";
  for (;;) {
    const counts = await retryUntilAvailable(() => countByState(pool, run), signal);
    if (!counts.has("queued") && !counts.has("running")) {
      const states = await retryUntilAvailable(() => readTaskStates(pool, run), signal);
      note(formatStanding(states));
      return states;
    }
    const line = formatCounts(counts);
    if (line !== told) note(line);
    told = line;
    await pause(LOOK_MS, undefined, { signal });
  }
}
