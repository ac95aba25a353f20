import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { BaseFolders } from "./base-folders.ts";
import { listDatabaseFolders } from "./database.ts";
import type { Fleet } from "./ground.ts";
import { readHealthAddress, serveHealth } from "./health.ts";
import { LiveTask } from "./live-task.ts";
import { MemoryWatch, parseMemory } from "./memory-watch.ts";
import { formatCount } from "./states.ts";
import { openStore, Store } from "./store.ts";
import { TaskFolders } from "./task-folders.ts";
import { Worker } from "./worker.ts";

/** Marks the process of a lone worker. It gets the database's URL from the process that started it. */
export const LONE_MARK = "BURIN_FLEET_LONE";
/** How long a lone worker waits for another task. */
const LONE_IDLE_MS = 10_000;
const LONE_START_MS = 3000;
/** Service managers send SIGTERM, and SIGKILL half a minute later; draining must end before that. */
const DRAIN_MS = 20_000;

/** Works on tasks until the user interrupts. */
export async function runWorker(fleet: Fleet): Promise<boolean> {
  const { ground, request } = fleet;
  if (request.health !== undefined) readHealthAddress(request.health);
  const store = await openStore(fleet.url);
  const { worker, close } = await openWorker(fleet, store);
  const health =
    request.health === undefined ? null : await serveHealth(request.health, () => worker.describeState());
  if (health !== null) ground.note(`/health and /ready are at port ${health.port}`);
  ground.note(
    `worker ${worker.name}: up to ${formatCount(request.concurrency, "task")} at a time; Ctrl+C ends it`,
  );
  let isTerminated = false;
  process.once("SIGTERM", () => {
    isTerminated = true;
  });
  await waitForAbort(ground.signal);
  if (isTerminated) {
    ground.note("the steps at work are finished, and their tasks put back");
    await worker.drainTasks(DRAIN_MS);
  }
  await close();
  health?.close();
  await store.close();
  return true;
}

/** Runs tasks one at a time, in a process of their own, until there are none left. */
export async function runLoneWorker(fleet: Fleet): Promise<boolean> {
  const idle = new AbortController();
  const store = await Store.open(fleet.url);
  const { close } = await openWorker(fleet, store, () => idle.abort());
  await waitForAbort(AbortSignal.any([fleet.ground.signal, idle.signal]));
  await close();
  await store.close();
  return true;
}

/** Opens a worker. `onIdle` makes it a worker for tasks that must run alone. */
export async function openWorker({ url, ground: given, request }: Fleet, store: Store, onIdle?: () => void) {
  await mkdir(given.home, { recursive: true, mode: 0o700 });
  // A sandbox needs the real paths of folders.
  const home = await realpath(given.home);
  const ground = { ...given, hide: [home, ...listDatabaseFolders(given.home)] };
  const top = join(home, "fleet");
  const bases = new BaseFolders(join(top, "bases"), store);
  const { ledger } = store;
  const lone = new LoneProcesses(url, request.concurrency);
  const memory = request.taskMemory === undefined ? null : new MemoryWatch(parseMemory(request.taskMemory));
  let busyAt = performance.now();
  const places = new TaskFolders(join(top, "work"));
  await places.removeAbandonedFolders();
  const isLone = onIdle !== undefined;
  const concurrency = isLone ? 1 : request.concurrency;
  const worker: Worker = new Worker({
    url,
    store,
    concurrency,
    limits: request.limits,
    isLone,
    note: ground.note,
    look: async (hasLone, atWork) => {
      if (hasLone || atWork.size > 0) busyAt = performance.now();
      if (isLone && performance.now() - busyAt > LONE_IDLE_MS) onIdle();
      if (hasLone && !isLone) lone.start();
      memory?.endCommandsOfLargeTasks(atWork, ground.note);
      const over = await ledger.loadBudgetsAndPauses([...new Set([...atWork].map(({ run }) => run))]);
      for (const task of atWork) {
        const why = over.get(task.run) ?? null;
        if (why !== null) task.endForLimit(why);
      }
    },
    begin: (id, submission, past) => {
      const where = { id, worker: worker.name, isAlone: concurrency === 1, isLone, places };
      return new LiveTask({ submission, past, bases, ledger, ground, ...where });
    },
  });
  await worker.open();
  const close = async () => {
    await Promise.all([worker.close(), lone.close()]);
  };
  return { worker, close };
}

/** Starts this command in additional processes, one for each task, so that a crash affects no other task. */
class LoneProcesses {
  readonly #url: string;
  readonly #max: number;
  readonly #children = new Set<ChildProcess>();
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(url: string, max: number) {
    this.#url = url;
    this.#max = max;
  }

  /** Starts another process, unless the last one may still be about to take its task. */
  start(): void {
    const isEarly = this.#children.size > 0 && performance.now() - this.#startedAt < LONE_START_MS;
    if (isEarly || this.#children.size >= this.#max) return;
    this.#startedAt = performance.now();
    const [, program = "", ...words] = process.argv;
    const child = fork(program, words, {
      env: { ...process.env, [LONE_MARK]: "1" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#children.add(child);
    child.on("error", () => {});
    child.once("exit", () => this.#children.delete(child));
    // Send the URL as a message: the task's commands could read variables and arguments.
    child.send(this.#url, () => {});
  }

  async close(): Promise<void> {
    const ends = [...this.#children].map((child) => once(child, "exit"));
    for (const child of this.#children) if (child.connected) child.disconnect();
    await Promise.all(ends);
  }
}

/** Waits for the message from the process that started this lone worker. `isLeft` aborts when that process is gone. */
export async function receiveFromStarter(): Promise<{ readonly url: string; readonly isLeft: AbortSignal }> {
  const left = new AbortController();
  process.once("disconnect", () => left.abort());
  const [url] = (await once(process, "message", { signal: left.signal })) as [string];
  return { url, isLeft: left.signal };
}

export async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
