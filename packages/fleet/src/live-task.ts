import { realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type AgentEvent, createSession, type Session, type SessionOptions } from "@burin/core";
import { describeError, resumeSession } from "@burin/core/internal";
import { type LogRecord, restoreSession } from "@burin/core/sessions";
import { type BaseFolder, type BaseFolders, copyBase, createPatch } from "./base-folders.ts";
import { applyChanges, WatchedFolder } from "./folder-changes.ts";
import type { FleetOptions } from "./ground.ts";
import type { Ledger } from "./ledger.ts";
import { isFullDisk } from "./retry-queries.ts";
import { runCommand } from "./run-command.ts";
import {
  addSpent,
  computeBudgetLeft,
  countTries,
  findNewAnswer,
  joinLines,
  parseRecords,
  readRunName,
  type Spent,
  type Step,
  type Submission,
  sumSpent,
  type TaskEnd,
} from "./steps.ts";
import { SESSION_HOME, type TaskFolders } from "./task-folders.ts";
import { MARK_VARIABLE } from "./task-memory.ts";

const FULL_DISK_MS = 2000;

export interface LiveTaskOptions {
  /** `run.task`. */
  readonly id: string;
  readonly submission: Submission;
  /** The steps so far. The caller, who records new steps, appends them. */
  readonly past: readonly Step[];
  readonly worker: string;
  /** Whether no other task runs in this process. */
  readonly isAlone: boolean;
  /** Whether this worker is only for tasks that must run alone. It gives back tasks that need not. */
  readonly isLone: boolean;
  readonly ledger: Ledger;
  readonly places: TaskFolders;
  readonly bases: BaseFolders;
  readonly ground: Pick<FleetOptions, "open" | "note"> & {
    /** Folders that give access to the database, to be hidden from commands. */
    readonly hide: readonly string[];
  };
}

/** Records a step. Resolves when it is in the database and the list; rejects if the task is not this worker's. */
export type RecordStep = (step: Step) => Promise<unknown>;

/** A running task with its session. After each step it waits until the step is recorded. */
export class LiveTask {
  readonly #needs: LiveTaskOptions;
  readonly #stop = new AbortController();
  readonly #halt = new AbortController();
  #isDraining = false;
  readonly #ended = AbortSignal.any([this.#stop.signal, this.#halt.signal]);
  #record: RecordStep = async () => {};
  /** Why a step could not be recorded; null if all were. */
  #lost: unknown = null;
  #spent: Spent | null = null;
  #work: Promise<void> | null = null;
  #folder: WatchedFolder | null = null;
  #base: BaseFolder | null = null;
  #session: Session | null = null;
  /** This task's own folder; "" until it has one. */
  #place = "";

  constructor(needs: LiveTaskOptions) {
    this.#needs = needs;
  }

  get id(): string {
    return this.#needs.id;
  }

  /** The mark of all processes that the task's commands start. */
  get mark(): string {
    return `fleet:${this.#needs.worker}:${this.#needs.id}`;
  }

  get run(): string {
    return readRunName(this.#needs.id);
  }

  /** Works until the last step is an end or a question. Returns "elsewhere" for a task of another process. */
  async runUntilEndOrQuestion(record: RecordStep): Promise<Step | "elsewhere" | "stopped"> {
    this.#record = record;
    this.#work = this.#run();
    await this.#work;
    if (this.#lost !== null) throw this.#lost;
    const last = this.#needs.past.at(-1);
    if (last?.end !== undefined || last?.question !== undefined) return last;
    return this.#hasProvenHarmless() ? "elsewhere" : "stopped";
  }

  /** Ends the session now, because its run as a whole has reached a limit. */
  endForLimit(why: string): void {
    this.#halt.abort(why);
  }

  /** Ends the session after the current step: a call or a reply of the model. */
  endAfterStep(): void {
    this.#isDraining = true;
  }

  /** Ends what is running, without another step. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#work;
    // All results are in the database, and the next worker uses its own folder.
    if (this.#place !== "") await this.#needs.places.removeFolder(this.#place);
  }

  /**
   * Returns the task's first step here. Any task of a crashed worker may have caused the crash; only for a task that
   * ran alone is that certain. So the last attempt, before a task is set aside, runs alone.
   */
  decideFirstStep(): Step | "elsewhere" {
    const { past, submission, worker, isAlone } = this.#needs;
    const { tries, wasAlone, doing } = countTries(past);
    if (tries >= submission.tries && wasAlone) {
      const during = doing === "" ? "" : `, the last one during ${doing}`;
      return { aside: `${tries} workers in a row were lost with this task${during}.` };
    }
    if (tries > 0 && tries >= submission.tries - 1 && !isAlone) return "elsewhere";
    return isAlone ? { worker, alone: true } : { worker };
  }

  /** Whether the task has finished a call while it ran alone, so that it may again run next to others. */
  #hasProvenHarmless(): boolean {
    const { isLone, past } = this.#needs;
    const begun = past.findLastIndex(({ worker }) => worker !== undefined);
    return isLone && past.length > begun + 1 && countTries(past.slice(begun)).tries === 0;
  }

  async #run(): Promise<void> {
    const aside = this.#needs.past.at(-1)?.aside;
    try {
      if (aside === undefined) await this.#runSession();
      else await this.#recordEndOutsideSession("set_aside", "set_aside", aside);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const { aborted, reason } = this.#halt.signal;
      const given = aborted
        ? this.#recordLimitEnd(reason)
        : this.#recordEndOutsideSession("error", "failed", describeError(error));
      await given.catch(() => {});
    }
  }

  /**
   * Runs the session until its end or a question. If the session ended because a disk was full, continues it from the
   * database once there is space again.
   */
  async #runSession(): Promise<void> {
    let isTold = false;
    for (;;) {
      try {
        return await this.#runOnce();
      } catch (error) {
        if (!isFullDisk(error) || this.#stop.signal.aborted) throw error;
        const { id, ground, places } = this.#needs;
        if (!isTold) ground.note(`${id} waits until there is room on the disk: ${describeError(error)}`);
        isTold = true;
        const place = this.#place;
        this.#place = "";
        if (place !== "") await places.removeFolder(place);
        await pause(FULL_DISK_MS, undefined, { signal: this.#stop.signal });
      }
    }
  }

  async #runOnce(): Promise<void> {
    const { id, past, ledger, submission } = this.#needs;
    const { signal } = this.#stop;
    this.#spent = sumSpent(past);
    const why = await ledger.explainRunOverBudget(this.run, signal);
    if (why !== null) this.endForLimit(why);
    if (this.#halt.signal.aborted) return this.#recordLimitEnd(this.#halt.signal.reason);
    await ledger.addCost(id, this.#spent, signal);
    const budget = computeBudgetLeft(submission.budget, past);
    if (budget === null) return this.#recordLimitEnd("The budget of the task is used up.");
    const options = { ...(await this.#prepareSession()), ...(budget !== undefined && { budget }) };
    const session = await this.#openSession(options);
    this.#session = session;
    const isParked = await this.#followSession(session);
    if (!isParked) return;
    const asked = parseRecords(joinLines(past)).map(({ event }) => event);
    const event = asked.findLast((one) => one.type === "question");
    if (event === undefined) throw new Error("The session waits for an answer, but has asked no question.");
    const { type: _, ...question } = event;
    await this.#recordStep({ question });
  }

  #recordLimitEnd(message: string): Promise<void> {
    return this.#recordEndOutsideSession("limit", "budget", message);
  }

  /** Records an end that does not come from the session. */
  #recordEndOutsideSession(status: TaskEnd["status"], type: string, message: string): Promise<void> {
    const end = { status, result: "", error: { type, message }, ...sumSpent(this.#needs.past), patch: "" };
    return this.#recordStep({ end });
  }

  /** Runs the session. Resolves to whether it waits for an answer. */
  async #followSession(session: Session): Promise<boolean> {
    const { submission, past } = this.#needs;
    try {
      const signal = this.#ended;
      const events = past.some(hasRecordLines)
        ? session.goOn(signal)
        : session.run(submission.prompt, signal);
      let isParked = false;
      for await (const event of events) {
        const error = readError(event);
        // Handles a recorded end, which is the task's end. An end that could not be recorded is reported differently.
        if (error?.type === "not_recorded" && (event.type === "done" || isFullDisk(error.message)))
          throw new Error(error.message);
        isParked = error?.type === "parked";
      }
      return isParked;
    } finally {
      await session.close();
    }
  }

  /** Restores the folder as the steps so far left it. Returns the session's options for it. */
  async #prepareSession(): Promise<SessionOptions> {
    const { id, submission, past, places, bases, ledger, ground } = this.#needs;
    if (this.#place === "") this.#place = await places.takeFolder(id);
    const place = this.#place;
    const folder = join(place, "project");
    await rm(folder, { recursive: true, force: true });
    const commit = past.find((step) => step.commit !== undefined)?.commit;
    this.#base = await bases.open(submission.base, this.#ended, commit);
    await copyBase(this.#base, folder);
    const root = await realpath(folder);
    const { allow, deny, setup, approvalMode, maxTurns, check } = submission;
    const given = await ground.open(root, { model: submission.model, around: ledger.around });
    const { permissions, sandbox, ...settings } = given.settings ?? {};
    const options: SessionOptions = {
      ...given,
      root,
      approvalMode,
      park: true,
      isCopy: true,
      ...(maxTurns !== undefined && { maxTurns }),
      ...(check !== undefined && { check }),
      settings: {
        ...settings,
        sandbox: { ...sandbox, hide: [...(sandbox?.hide ?? []), ...ground.hide] },
        permissions: {
          ...permissions,
          allow: [...(permissions?.allow ?? []), ...allow],
          deny: [...(permissions?.deny ?? []), ...deny],
        },
      },
      environment: this.#markEnvironment(given.environment ?? process.env, place),
    };
    if (setup !== undefined) {
      const { settings: own = {}, environment = {} } = options;
      await runCommand(setup, { root, settings: own, environment }, this.#ended).catch((error: Error) => {
        throw new Error(`The setup command failed: ${error.message}`);
      });
    }
    const changes = past.flatMap((step) => step.changes ?? []);
    await applyChanges(root, changes);
    // If setup or earlier steps have changed files, the folder no longer equals the base.
    const isBase = setup === undefined && changes.length === 0;
    this.#folder = new WatchedFolder(root, isBase ? this.#base.folder : null);
    await this.#folder.beginComparison();
    return options;
  }

  #markEnvironment(given: NodeJS.ProcessEnv, place: string): NodeJS.ProcessEnv {
    const marks = [given[MARK_VARIABLE], this.mark].filter(Boolean).join(" ");
    return { ...given, BURIN_HOME: join(place, SESSION_HOME), [MARK_VARIABLE]: marks };
  }

  async #openSession(options: SessionOptions): Promise<Session> {
    const lines = joinLines(this.#needs.past);
    const keepLog = (more: string) => this.#recordLines(more);
    const id = parseRecords(lines.slice(0, lines.indexOf("\n") + 1)).flatMap(({ event }) =>
      event.type === "session" ? event.sessionId : [],
    )[0];
    if (id === undefined) return createSession({ ...options, keepLog });
    const { root } = options;
    const home = join(this.#place, "home");
    await restoreSession({ home, root, id, lines });
    const resume = await resumeSession({ home, root, id });
    const answer = findNewAnswer(this.#needs.past);
    return createSession({ ...options, keepLog, resume, ...(answer && { answer }) });
  }

  /** Records these lines together with the changes in the folder so far. Resolves when they are in the database. */
  async #recordLines(lines: string): Promise<void> {
    const records = parseRecords(lines);
    const done = records.map(({ event }) => event).findLast((event) => event.type === "done");
    const folder = this.#folder;
    const isLookedAt = folder !== null && (done !== undefined || records.some(this.#mayHaveChanged));
    const { changes, left } = isLookedAt ? await folder.readChanges() : { changes: [], left: [] };
    const step: Step = {
      ...(this.#base?.commit !== undefined &&
        !this.#needs.past.some(hasRecordLines) && { commit: this.#base.commit }),
      lines,
      ...(changes.length > 0 && { changes }),
      ...(left.length > 0 && { left }),
    };
    const end = done && (await this.#buildTaskEnd(done, step));
    await this.#recordStep(end === undefined ? step : { ...step, end });
    await this.#payForRecords(records);
  }

  async #payForRecords(records: readonly LogRecord[]): Promise<void> {
    if (this.#spent === null) return;
    const before = this.#spent;
    this.#spent = addSpent(before, records);
    const { tokens, calls } = this.#spent;
    if (tokens === before.tokens && calls === before.calls) return;
    const why = await this.#needs.ledger.addCost(this.#needs.id, this.#spent, this.#stop.signal);
    if (why !== null) this.endForLimit(why);
  }

  async #buildTaskEnd(done: Extract<AgentEvent, { type: "done" }>, last: Step): Promise<TaskEnd> {
    const { status, result, error, check } = done;
    const place = this.#place;
    const base = this.#base;
    const patch = base === null ? "" : await createPatch(base, join(place, "project"), place);
    const spent = sumSpent([...this.#needs.past, last]);
    if (status === "cancelled" && this.#halt.signal.aborted) {
      const halted = { type: "budget", message: String(this.#halt.signal.reason) };
      return { status: "limit", result, error: halted, ...spent, patch };
    }
    return { status, result, ...(error && { error }), ...(check && { check }), ...spent, patch };
  }

  /** Whether the folder must be checked after this record: only calls that may change something need that. */
  readonly #mayHaveChanged = ({ event }: LogRecord): boolean => {
    if (event.type !== "tool_call" && event.type !== "subagent_call") return false;
    const { name, status } = event.call;
    const kind = this.#session?.registry.getTool(name)?.kind;
    return ["success", "error", "cancelled"].includes(status) && !(kind && READING_KINDS.has(kind));
  };

  /** Records a step. Resolves when it is in the database and the task still belongs to this worker. */
  async #recordStep(step: Step): Promise<void> {
    if (this.#needs.past.at(-1)?.end !== undefined) return;
    if (!this.#stop.signal.aborted) {
      await this.#record(step).catch((error: unknown) => {
        this.#lost = error;
        this.#stop.abort();
      });
    }
    if (this.#hasProvenHarmless() || (this.#isDraining && haveAllCallsEnded(step))) this.#stop.abort();
    if (this.#stop.signal.aborted) throw new Error("the task was stopped");
  }
}

function readError(event: AgentEvent) {
  if (event.type === "tool_call") return event.call.status === "error" ? event.call.error : undefined;
  return event.type === "done" ? event.error : undefined;
}

/** Whether every call that has begun has ended. */
function haveAllCallsEnded({ lines, end }: Step): boolean {
  const calls = parseRecords(lines ?? "").flatMap(({ event }) =>
    event.type === "tool_call" ? [event.call] : [],
  );
  const last = new Map(calls.map((call) => [call.callId, call.status]));
  return end === undefined && ![...last.values()].includes("executing");
}

function hasRecordLines({ lines }: Step): boolean {
  return lines !== undefined;
}

const READING_KINDS = new Set(["read", "plan", "fetch"]);
