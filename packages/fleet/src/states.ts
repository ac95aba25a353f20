import type { State, TaskState } from "./engine-tables.ts";
import { readRunName } from "./steps.ts";

export const isTaskOver = ({ state }: TaskState) => state !== "queued" && state !== "running";

/** Summarises the number of tasks in each state, without reading how they ended. */
export function formatCounts(counts: ReadonlyMap<State, number>): string {
  const parts = (["queued", "running", "ended", "cancelled", "failed"] as const).flatMap((state) => {
    const count = counts.get(state);
    return count === undefined ? [] : [`${count} ${state}`];
  });
  return parts.length === 0 ? "no tasks" : parts.join(" · ");
}

/** Summarises the states and what to do: `3 done · 1 waits for you: burin fleet answer run.b yes`. */
export function formatStanding(states: readonly TaskState[]): string {
  const waiting = states.filter(isWaitingForAnswer);
  const endings = states.map((state) => readStandingState(state));
  const parts = (["queued", "running", "done", "failed", "cancelled"] as const).flatMap((standing) => {
    const count = endings.filter((one) => one === standing).length;
    return count === 0 ? [] : [`${count} ${standing}`];
  });
  const [first] = waiting;
  if (waiting.length === 1) parts.push(`1 waits for you: burin fleet answer ${first?.id} yes`);
  if (first !== undefined && waiting.length > 1)
    parts.push(`${waiting.length} wait for you: burin fleet questions ${readRunName(first.id)}`);
  return parts.length === 0 ? "no tasks" : parts.join(" · ");
}

export function isWaitingForAnswer({ end }: TaskState): boolean {
  return end?.status === "waiting";
}

function readStandingState(task: TaskState): Exclude<State, "ended"> | "done" | "waiting" {
  if (task.state !== "ended") return task.state;
  if (isWaitingForAnswer(task)) return "waiting";
  return task.end?.status === "success" ? "done" : "failed";
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Formats a table with one row for each task. Columns are as wide as their longest cell. */
export function formatTable(states: readonly TaskState[]): string {
  const rows = [["task", "status", "turns", "tokens", "cost", "result"], ...states.map(formatRow)];
  const widths = [0, 0, 0, 0, 0];
  for (const row of rows)
    for (const [at, width] of widths.entries()) widths[at] = Math.max(width, row[at]?.length ?? 0);
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

function formatRow({ id, state, end, error }: TaskState): string[] {
  const { status = state, turns = "", tokens = "", cost } = end ?? {};
  const words = (end?.error?.message ?? end?.result ?? error ?? "").replace(/\s+/g, " ");
  const result = words.length > 60 ? `${words.slice(0, 59)}…` : words;
  return [id, status, `${turns}`, `${tokens}`, cost === undefined ? "" : `$${cost.toFixed(4)}`, result];
}
