import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Decision } from "@burin/core";
import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import { answer, openClient, resume } from "./engine.ts";
import { type Fleet, FleetError } from "./ground.ts";
import { countStates, isOver, type TaskState, tableOf, tasksOf } from "./states.ts";
import { recordsIn, type Step } from "./steps.ts";

const LOOK_MS = 500;

async function withClient(fleet: Fleet, work: (client: DBOSClient) => Promise<boolean>): Promise<boolean> {
  const client = await openClient(fleet.url);
  try {
    return await work(client);
  } catch (error) {
    // Nothing was ever run with this database.
    if ((error as { code?: string }).code === "42P01")
      throw new FleetError("there are no runs in this database yet");
    throw error;
  } finally {
    await client.destroy();
  }
}

/** The run that was named, or the last one. */
async function statesOf(
  { request }: Fleet,
  client: DBOSClient,
  withEnds = true,
): Promise<readonly TaskState[]> {
  const [name] = request.words;
  const named = name ?? request.run ?? (await lastRun(client));
  const states = named === undefined ? [] : await tasksOf(client, named, { withEnds });
  if (states.length === 0 && name !== undefined) throw new FleetError(`there is no run or task "${name}"`);
  return states;
}

async function lastRun(client: DBOSClient): Promise<string | undefined> {
  const [last] = await client.listWorkflows({
    workflowName: "task",
    sortDesc: true,
    limit: 1,
    loadInput: false,
    loadOutput: false,
  });
  return last && runOf(last.workflowID);
}

function runOf(id: string): string {
  return id.slice(0, id.lastIndexOf("."));
}

/** How far a run is; with --json each task. */
export function status(fleet: Fleet): Promise<boolean> {
  return withClient(fleet, async (client) => {
    const states = await statesOf(fleet, client);
    const { out } = fleet.ground;
    if (fleet.request.json) out(`${JSON.stringify(states.map(plainState), null, 2)}\n`);
    else if (states.length === 0) out("no runs\n");
    else out(`${tableOf(states)}${countStates(states)}\n`);
    return true;
  });
}

function plainState({ id, state, worker, createdAt, end, error }: TaskState) {
  return { id, state, worker, createdAt: new Date(createdAt).toISOString(), ...(end && { end }), error };
}

/** What the tasks of a run have come to, in one of several forms. */
export function results(fleet: Fleet): Promise<boolean> {
  return withClient(fleet, async (client) => {
    const { request, ground } = fleet;
    const states = await statesOf(fleet, client);
    const ended = states.flatMap(({ id, end }) => (end === undefined ? [] : [{ id, ...end }]));
    if (request.patches !== undefined) {
      const folder = resolve(ground.root, request.patches);
      await mkdir(folder, { recursive: true });
      const patches = ended.filter(({ patch }) => patch !== "");
      for (const { id, patch } of patches) await writeFile(join(folder, `${id}.patch`), patch);
      ground.note(`${patches.length} patches in ${folder}`);
    }
    if (request.predictions !== undefined) {
      const lines = ended.map(({ id, patch }) =>
        JSON.stringify({
          instance_id: id.slice(id.lastIndexOf(".") + 1),
          model_name_or_path: "burin",
          model_patch: patch,
        }),
      );
      await writeFile(resolve(ground.root, request.predictions), lines.map((line) => `${line}\n`).join(""));
      ground.note(`${lines.length} predictions in ${request.predictions}`);
    }
    if (request.json) ground.out(`${JSON.stringify(ended, null, 2)}\n`);
    else if (request.patches === undefined && request.predictions === undefined) ground.out(tableOf(states));
    return true;
  });
}

/** What has happened in a task; with -f also what happens until it ends. */
export function logs(fleet: Fleet): Promise<boolean> {
  return withClient(fleet, async (client) => {
    const { ground, request } = fleet;
    const [named, second] = await namedTasks(fleet, client, "logs");
    if (named === undefined || second !== undefined)
      throw new FleetError("name one task: burin fleet logs <id>");
    const { id } = named;
    let shown = 0;
    for (;;) {
      const [task] = await tasksOf(client, id);
      const steps = (await client.listWorkflowSteps(id, { offset: shown })) ?? [];
      for (const { output } of steps) showStep(output as Step | null, fleet);
      shown += steps.length;
      if (!request.follow || task === undefined || isOver(task)) return true;
      await pause(LOOK_MS, undefined, { signal: ground.signal }).catch(() => {});
      if (ground.signal.aborted) return false;
    }
  });
}

function showStep(step: Step | null, { ground, request }: Fleet): void {
  if (step?.worker !== undefined && !request.json) ground.out(`--- worker ${step.worker}\n`);
  for (const record of recordsIn(step?.lines ?? "")) {
    const words = request.json ? JSON.stringify(record) : ground.showRecord(record);
    if (words !== "") ground.out(`${words}\n`);
  }
}

/** The tasks of the words: each is the id of a task, a task of the last run by its own name, or a whole run. */
async function namedTasks(
  { request }: Fleet,
  client: DBOSClient,
  command: string,
): Promise<readonly TaskState[]> {
  if (request.words.length === 0)
    throw new FleetError(`name a task or a run: burin fleet ${command} <id>; see burin fleet status`);
  const found: TaskState[] = [];
  for (const word of request.words) {
    const states = await tasksOf(client, word, { withEnds: true });
    const run = states.length > 0 ? undefined : await lastRun(client);
    const short = run === undefined ? [] : await tasksOf(client, `${run}.${word}`, { withEnds: true });
    if (states.length + short.length === 0)
      throw new FleetError(`there is no task "${word}"; see burin fleet status`);
    found.push(...states, ...short);
  }
  return found;
}

/** Ends tasks as they are; a call at work is ended, too. */
export function cancel(fleet: Fleet): Promise<boolean> {
  return withClient(fleet, async (client) => {
    const states = await namedTasks(fleet, client, "cancel");
    const ids = states.filter((state) => !isOver(state)).map(({ id }) => id);
    if (ids.length > 0) await client.cancelWorkflows(ids);
    fleet.ground.note(`${ids.length} tasks cancelled`);
    return true;
  });
}

/** Goes on with tasks that did not end well, from where they stopped. */
export function retry(fleet: Fleet): Promise<boolean> {
  return withClient(fleet, async (client) => {
    const states = await namedTasks(fleet, client, "retry");
    const failed = states.filter(
      (state) => isOver(state) && !["success", "waiting"].includes(state.end?.status ?? ""),
    );
    for (const { workflow } of failed) await resume(client, workflow);
    fleet.ground.note(`${failed.length} tasks are in the queue again`);
    return true;
  });
}

/** What tasks of a run wait for. */
export function questions(fleet: Fleet): Promise<boolean> {
  return withClient(fleet, async (client) => {
    const { request, ground } = fleet;
    const waiting = (await statesOf(fleet, client)).flatMap(({ id, end }) =>
      end?.question === undefined ? [] : [{ id, question: end.question }],
    );
    if (request.json) ground.out(`${JSON.stringify(waiting, null, 2)}\n`);
    else for (const { id, question } of waiting) ground.out(`${id}  ${ground.showQuestion(question)}\n`);
    if (waiting.length === 0) ground.note("no task waits for an answer");
    return true;
  });
}

/** Answers what a task waits for; a worker then goes on with it. */
export function answerTask(fleet: Fleet): Promise<boolean> {
  return withClient(fleet, async (client) => {
    const [id, word, ...rest] = fleet.request.words;
    const decision = decisionOf(word, rest.join(" "));
    if (id === undefined || decision === null)
      throw new FleetError("say which task and what: burin fleet answer <task> yes, or: no [why not]");
    const only = { ...fleet, request: { ...fleet.request, words: [id] } };
    const waiting = (await namedTasks(only, client, "answer")).filter(({ end }) => end?.status === "waiting");
    const [task] = waiting;
    if (task === undefined)
      throw new FleetError(`${id} does not wait for an answer; see burin fleet questions`);
    if (waiting.length > 1)
      throw new FleetError(`${waiting.length} tasks of ${id} wait for an answer; name one`);
    await answer(client, task.workflow, decision);
    fleet.ground.note(`${task.id} is in the queue again`);
    return true;
  });
}

function decisionOf(word: string | undefined, why: string): Decision | null {
  if (word === "yes" && why === "") return { outcome: "once" };
  if (word !== "no") return null;
  return why === "" ? { outcome: "cancel" } : { outcome: "cancel", reason: why };
}
