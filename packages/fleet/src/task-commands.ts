import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Decision } from "@burin/core";
import type { Pool } from "pg";
import { answerTaskQuestion, cancelTasks, hasWorker, resumeTasks } from "./engine.ts";
import {
  countOtherVersionTasks,
  findLastTask,
  readPatches,
  readTaskStates,
  type TaskState,
} from "./engine-tables.ts";
import { type Fleet, FleetError, type FleetOptions, type FleetRequest } from "./ground.ts";
import { retryUntilAvailable } from "./retry-queries.ts";
import { formatCount, formatStanding, formatTable, isTaskOver, isWaitingForAnswer } from "./states.ts";
import { parseRecords, readRunName, type Step } from "./steps.ts";
import { Store } from "./store.ts";

const LOOK_MS = 500;
export const NO_RUNS = "there are no runs yet: burin fleet run tasks.jsonl";

/** Wraps a command that shows or changes tasks but runs none. */
export function wrapWithOpenStore(command: (fleet: Fleet, store: Store) => Promise<unknown>) {
  return async (fleet: Fleet): Promise<boolean> => {
    const store = await Store.open(fleet.url);
    try {
      await command(fleet, store);
      return true;
    } catch (error) {
      // A missing table means that nothing was ever run with this database.
      if ((error as { code?: string }).code === "42P01") throw new FleetError(NO_RUNS);
      throw error;
    } finally {
      await store.close();
    }
  };
}

async function findLastRun(pool: Pool): Promise<string | undefined> {
  const task = await findLastTask(pool);
  return task && readRunName(task);
}

/** Returns the tasks of the named run, or of the last one. */
async function readStates({ request }: Fleet, pool: Pool): Promise<readonly TaskState[]> {
  const [name] = request.words;
  const named = name ?? request.run ?? (await findLastRun(pool));
  if (named === undefined) throw new FleetError(NO_RUNS);
  const states = await readTaskStates(pool, named);
  if (states.length === 0) throw new FleetError(`there is no run or task "${named}"`);
  return states;
}

/** Shows the state of a run's tasks; with --json, each task. */
export async function showStatus(fleet: Fleet, { pool }: Store): Promise<void> {
  const states = await readStates(fleet, pool);
  showStates(fleet, states);
  const left = await countOtherVersionTasks(pool, listTaskIds(states));
  if (left > 0)
    fleet.ground.note(
      `${formatCount(left, "task")} can run only on a worker of the submitting version of Burin`,
    );
}

/** Shows the stored state while this machine's database is stopped. */
export function showKeptStatus(
  request: FleetRequest,
  ground: FleetOptions,
  kept: readonly TaskState[] | null,
): void {
  const [named] = request.words;
  if (kept === null || (kept.length === 0 && named !== undefined))
    throw new FleetError(
      `the database is not running, so the state of the tasks is not known: burin fleet results starts it`,
    );
  const last = kept.reduce<TaskState | undefined>(
    (found, one) => (found && found.createdAt > one.createdAt ? found : one),
    undefined,
  );
  const run = named ?? request.run ?? (last && readRunName(last.id));
  if (run === undefined) throw new FleetError(NO_RUNS);
  const states = kept.filter(({ id }) => id === run || readRunName(id) === run);
  if (states.length === 0)
    throw new FleetError(
      `the database is not running, and ${run} is not among the last runs: burin fleet results ${run} starts it`,
    );
  showStates({ request, ground }, states);
  if (states.some((state) => !isTaskOver(state)))
    ground.note("no worker runs; to continue: burin fleet worker");
}

function showStates(
  { request, ground }: Pick<Fleet, "request" | "ground">,
  states: readonly TaskState[],
): void {
  if (request.json) ground.out(`${JSON.stringify(states.map(toPlainState), null, 2)}\n`);
  else ground.out(`${formatTable(states)}${formatStanding(states)}\n`);
}

function toPlainState({ id, state, worker, createdAt, end, error }: TaskState) {
  return { id, state, worker, createdAt: new Date(createdAt).toISOString(), ...(end && { end }), error };
}

/** Shows the results of a run's tasks, in one of several formats. */
export async function showRunResults(fleet: Fleet, { pool }: Store): Promise<void> {
  const { request, ground } = fleet;
  const states = await readStates(fleet, pool);
  const ended = states.flatMap(({ id, end }) => (end === undefined ? [] : [id]));
  if (request.patches !== undefined) await writePatches(fleet, readPatches(pool, ended));
  if (request.predictions !== undefined) await writePredictions(fleet, readPatches(pool, ended));
  if (request.json) await showResults(fleet, states, readPatches(pool, ended));
  else if (request.patches === undefined && request.predictions === undefined)
    ground.out(formatTable(states));
}

type Patches = ReturnType<typeof readPatches>;

async function writePatches({ request, ground }: Fleet, patches: Patches): Promise<void> {
  const folder = resolve(ground.root, request.patches ?? "");
  await mkdir(folder, { recursive: true });
  let count = 0;
  for await (const { id, patch } of patches) {
    if (patch === "") continue;
    await writeFile(join(folder, `${id}.patch`), patch);
    count += 1;
  }
  ground.note(`${formatCount(count, "patch", "patches")} in ${folder}`);
}

/** Writes the patches in the format of evaluations such as SWE-bench. */
async function writePredictions({ request, ground }: Fleet, patches: Patches): Promise<void> {
  const path = resolve(ground.root, request.predictions ?? "");
  let lines = "";
  let count = 0;
  for await (const { id, patch } of patches) {
    const instance_id = id.slice(id.lastIndexOf(".") + 1);
    lines += `${JSON.stringify({ instance_id, model_name_or_path: "burin", model_patch: patch })}\n`;
    count += 1;
  }
  await writeFile(path, lines);
  ground.note(`${formatCount(count, "prediction")} in ${request.predictions}`);
}

async function showResults({ ground }: Fleet, states: readonly TaskState[], patches: Patches): Promise<void> {
  const ends = new Map(states.map(({ id, end }) => [id, end]));
  const results: object[] = [];
  for await (const { id, patch } of patches) results.push({ id, ...ends.get(id), patch });
  ground.out(`${JSON.stringify(results, null, 2)}\n`);
}

/** Shows what has happened in a task; with -f, also what happens until it ends. */
export async function showLogs(fleet: Fleet, { client, pool }: Store): Promise<void> {
  const { ground, request } = fleet;
  const [named, second] = await findNamedTasks(fleet, pool, "logs");
  if (named === undefined || second !== undefined)
    throw new FleetError("name one task: burin fleet logs <id>");
  const { id } = named;
  let shown = 0;
  for (;;) {
    const [task] = await retryUntilAvailable(() => readTaskStates(pool, id), ground.signal);
    const listNewSteps = () => client.listWorkflowSteps(id, { offset: shown });
    const steps = (await retryUntilAvailable(listNewSteps, ground.signal)) ?? [];
    for (const { output } of steps) showStep(output as Step | null, fleet);
    shown += steps.length;
    if (!request.follow || task === undefined || isTaskOver(task)) return;
    await pause(LOOK_MS, undefined, { signal: ground.signal });
  }
}

function showStep(step: Step | null, { ground, request }: Fleet): void {
  if (step?.worker !== undefined && !request.json) ground.out(`--- worker ${step.worker}\n`);
  // The session's log does not contain errors outside of the session.
  if (step?.end?.error && step.lines === undefined && !request.json)
    ground.out(`${step.end.status}: ${step.end.error.message}\n`);
  for (const record of parseRecords(step?.lines ?? "")) {
    const words = request.json ? JSON.stringify(record) : ground.showRecord(record);
    if (words !== "") ground.out(`${words}\n`);
  }
}

/** Finds tasks by name. A name is a task's id, the name of a task in the last run, or a whole run. */
async function findNamedTasks(
  { request }: Fleet,
  pool: Pool,
  command: string,
): Promise<readonly TaskState[]> {
  if (request.words.length === 0)
    throw new FleetError(`name a task or a run: burin fleet ${command} <id>; see burin fleet status`);
  const found: TaskState[] = [];
  for (const word of request.words) {
    const states = await readTaskStates(pool, word);
    const run = states.length > 0 ? undefined : await findLastRun(pool);
    const short = run === undefined ? [] : await readTaskStates(pool, `${run}.${word}`);
    if (states.length + short.length === 0)
      throw new FleetError(`there is no task "${word}"; see burin fleet status`);
    found.push(...states, ...short);
  }
  return found;
}

/** Cancels tasks at once, including a running call or an open question. */
export async function cancelNamedTasks(fleet: Fleet, store: Store): Promise<void> {
  const states = await findNamedTasks(fleet, store.pool, "cancel");
  const open = listTaskIds(states.filter((state) => !isTaskOver(state)));
  const waiting = listTaskIds(states.filter(isWaitingForAnswer));
  await cancelTasks(store, open, waiting);
  fleet.ground.note(`${formatCount(open.length + waiting.length, "task")} cancelled`);
}

/** Continues tasks that did not end well, from where they stopped. */
export async function retryTasks(fleet: Fleet, store: Store): Promise<readonly string[]> {
  const states = await findNamedTasks(fleet, store.pool, "retry");
  const cancelled = listTaskIds(states.filter(({ state }) => state === "cancelled"));
  const ended = states.filter(({ state }) => state === "ended" || state === "failed");
  const failed = listTaskIds(ended.filter(({ end }) => !["success", "waiting"].includes(end?.status ?? "")));
  await resumeTasks(store, cancelled, failed);
  const again = [...cancelled, ...failed];
  fleet.ground.note(`${formatCount(again.length, "task")} back in the queue`);
  if (again.length > 0) await noteMissingWorker(fleet, store);
  return [...new Set(again.map(readRunName))];
}

/** Tells the user if no worker is running, because a worker must continue the queued tasks. */
async function noteMissingWorker({ request, ground }: Fleet, store: Store): Promise<void> {
  if (request.follow || (await hasWorker(store))) return;
  ground.note("no worker runs; to continue: burin fleet worker, or the same with --follow");
}

/** Shows the questions for which a run's tasks wait. */
export async function showQuestions(fleet: Fleet, { pool }: Store): Promise<void> {
  const { request, ground } = fleet;
  const waiting = (await readStates(fleet, pool)).flatMap(({ id, end }) =>
    end?.question === undefined ? [] : [{ id, question: end.question }],
  );
  if (request.json) ground.out(`${JSON.stringify(waiting, null, 2)}\n`);
  else for (const { id, question } of waiting) ground.out(`${id}  ${ground.showQuestion(question)}\n`);
  if (waiting.length === 0) ground.note("no task waits for an answer");
}

/** Answers a task's question. A worker then continues the task. */
export async function answerTask(fleet: Fleet, store: Store): Promise<readonly string[]> {
  const [id, word, ...rest] = fleet.request.words;
  const decision = parseDecision(word, rest.join(" "));
  if (id === undefined || decision === null)
    throw new FleetError("say which task and what: burin fleet answer <task> yes, or: no [why not]");
  const only = { ...fleet, request: { ...fleet.request, words: [id] } };
  const waiting = (await findNamedTasks(only, store.pool, "answer")).filter(isWaitingForAnswer);
  const [task] = waiting;
  if (task === undefined)
    throw new FleetError(`${id} does not wait for an answer; see burin fleet questions`);
  if (waiting.length > 1)
    throw new FleetError(`${waiting.length} tasks of ${id} wait for an answer; name one`);
  await answerTaskQuestion(store.client, task.id, decision);
  fleet.ground.note(`${task.id} is in the queue again`);
  await noteMissingWorker(fleet, store);
  return [readRunName(task.id)];
}

function listTaskIds(states: readonly TaskState[]): string[] {
  return states.map(({ id }) => id);
}

function parseDecision(word: string | undefined, why: string): Decision | null {
  if (word === "yes" && why === "") return { outcome: "once" };
  if (word !== "no") return null;
  return why === "" ? { outcome: "cancel" } : { outcome: "cancel", reason: why };
}
