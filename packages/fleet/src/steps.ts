import type { AgentEvent, Decision, Question } from "@burin/core";
import { isAnswered, type LogRecord, parseBudget } from "@burin/core/sessions";
import type { FolderChanges } from "./folder-changes.ts";
import type { Task } from "./task.ts";

type RunEnd = Extract<AgentEvent, { type: "done" }>;

/** A submitted task: everything that a worker on any machine needs. */
export interface Submission extends Omit<Task, "source"> {
  /** What the task starts from: a folder, by its hash in the database, or a repository that every worker can reach. */
  readonly base: { readonly hash: string } | { readonly git: string; readonly revision: string };
}

/** One step of a task. It is recorded in the database before anything after it happens. */
export interface Step extends Partial<FolderChanges> {
  /** The worker that has started the task. */
  readonly worker?: string;
  /** true if the worker runs no other task. */
  readonly alone?: true;
  /** The commit that a branch pointed to. */
  readonly commit?: string;
  /** The next lines of the session's log. */
  readonly lines?: string;
  /** Why the task is set aside here. After a retry, the workers before this step no longer count. */
  readonly aside?: string;
  /** The question at which the session has stopped until it is answered. */
  readonly question?: Question;
  /** The answer to the previous question. */
  readonly answer?: Decision;
  readonly end?: TaskEnd;
}

/** How a task ended. `set_aside`: it crashed its workers too often. `waiting`: it waits for an answer. */
export interface TaskEnd extends Spent, Pick<RunEnd, "result" | "error" | "check"> {
  readonly status: RunEnd["status"] | "set_aside" | "waiting";
  /** The session's changes as a git patch. */
  readonly patch: string;
  /** The question that the task waits for. */
  readonly question?: Question;
}

/** Returns the run that a task's id belongs to. */
export function readRunName(id: string): string {
  return id.slice(0, id.lastIndexOf("."));
}

/** Returns the session's log from these steps. */
export function joinLines(steps: readonly Step[]): string {
  return steps.map(({ lines }) => lines ?? "").join("");
}

export function parseRecords(lines: string): LogRecord[] {
  return lines.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as LogRecord]));
}

/** The errors of calls that did not finish because a worker was lost. */
const LOST_ERRORS = ["may_have_run", "interrupted", "not_run"];

/** Counts the workers that have started the task since its last finished call, and says what the last one was doing. */
export function countTries(steps: readonly Step[]) {
  let tries = 0;
  /** true if the last worker ran no other task. */
  let wasAlone = false;
  let doing = "";
  for (const { worker, alone = false, aside, lines } of steps) {
    if (worker !== undefined) {
      tries += 1;
      wasAlone = alone;
    }
    if (aside !== undefined) tries = 0;
    for (const { event } of parseRecords(lines ?? "")) {
      if (event.type !== "tool_call") continue;
      const { call } = event;
      if (call.status === "executing") doing = `${call.name} ${JSON.stringify(call.args)}`;
      const isLost = call.status === "error" && LOST_ERRORS.includes(call.error.type);
      if (call.status === "success" || (call.status === "error" && !isLost)) tries = 0;
    }
  }
  return { tries, wasAlone, doing };
}

/** What a task has spent. */
export interface Spent {
  readonly turns: number;
  readonly tokens: number;
  readonly calls: number;
  /** The cost in the currency of the prices, if these are known. */
  readonly cost?: number;
}

/** Adds the cost of these records to what was spent before. */
export function addSpent({ turns, tokens, calls, cost }: Spent, records: readonly LogRecord[]): Spent {
  for (const { event } of records) {
    if (event.type === "tool_call" && isAnswered(event.call)) calls += 1;
    if (event.type !== "usage") continue;
    if (event.purpose === undefined) turns += 1;
    tokens += event.usage.inputTokens + event.usage.outputTokens;
    if (event.usage.cost !== undefined) cost = (cost ?? 0) + event.usage.cost;
  }
  return { turns, tokens, calls, ...(cost !== undefined && { cost }) };
}

export function sumSpent(steps: readonly Step[]): Spent {
  return addSpent({ turns: 0, tokens: 0, calls: 0 }, parseRecords(joinLines(steps)));
}

/** Returns an answer that the session has not received yet. */
export function findNewAnswer(steps: readonly Step[]): Decision | undefined {
  const last = steps.findLast(({ lines, answer }) => lines !== undefined || answer !== undefined);
  return last?.answer;
}

export function createWaitingEnd(question: Question, steps: readonly Step[]): TaskEnd {
  const error = { type: "waiting", message: `Waiting for an answer to: ${question.confirmation.title}` };
  return { status: "waiting", result: "", error, ...sumSpent(steps), patch: "", question };
}

/** Returns what is left of a budget; undefined without one, null if used up. Time starts again with each worker. */
export function computeBudgetLeft(
  budget: string | undefined,
  steps: readonly Step[],
): string | null | undefined {
  if (budget === undefined) return undefined;
  const { tokens, money, milliseconds, calls } = parseBudget(budget);
  const spent = sumSpent(steps);
  const left = {
    tokens: tokens && tokens - spent.tokens,
    money: money && money - (spent.cost ?? 0),
    calls: calls && calls - spent.calls,
  };
  if (Object.values(left).some((amount) => amount !== undefined && amount <= 0)) return null;
  const parts = [
    left.tokens && `${left.tokens} tokens`,
    left.money && `$${left.money.toFixed(6)}`,
    left.calls && `${left.calls} calls`,
    milliseconds && `${milliseconds / 1000}s`,
  ];
  return parts.filter(Boolean).join(", ");
}
