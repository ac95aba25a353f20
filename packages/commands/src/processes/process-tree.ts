import { setTimeout as pause } from "node:timers/promises";
import { orElse } from "@burin/contract/or-else";
import { listProcesses, type ProcessEntry, startedWith } from "./process-table.ts";

/** The variable that every child of Burin inherits; a Burin inside adds its own value. */
export const RUN_VARIABLE = "BURIN_RUN_ID";

/** How to recognize the processes of a run: by the environment they were started with, and by their ancestors. */
export interface TreeMarks {
  /** The value of RUN_VARIABLE; with a trailing `.` every value that begins like this. */
  readonly runId: string;
  /** The processes that Burin itself started, or that once belonged to one of those. */
  readonly known: ReadonlyMap<number, string>;
  /** Returns further ones that belong by what the kernel knows. */
  readonly more?: () => readonly ProcessEntry[];
}

/** A process belongs by the run's mark, as a known one, or by its parent, its group's or its session's leader. */
export function membersOf(
  marks: TreeMarks,
  table: readonly ProcessEntry[],
  markOf: (pid: number) => string | null = (pid) => startedWith(pid, RUN_VARIABLE),
): ProcessEntry[] {
  const members = new Map<number, ProcessEntry>();
  const leaders = new Set<number>();
  const join = (entry: ProcessEntry) => {
    members.set(entry.pid, entry);
    leaders.add(entry.pid);
  };
  for (const [pid, started] of [...marks.known, ...moreKnown(marks)]) {
    const now = table.find((entry) => entry.pid === pid);
    if (now === undefined) leaders.add(pid);
    else if (now.started === started) join(now);
  }
  const others = table.filter(({ pid }) => pid > 1 && pid !== process.pid);
  for (const entry of others) {
    if (!members.has(entry.pid) && hasMark(markOf(entry.pid), marks.runId)) join(entry);
  }
  const belongs = ({ pid, parent, group, session }: ProcessEntry) =>
    !members.has(pid) && [parent, group, session].some((from) => from > 1 && leaders.has(from));
  for (let found = others.filter(belongs); found.length > 0; found = others.filter(belongs)) {
    found.forEach(join);
  }
  return [...members.values()].filter((entry) => !entry.isZombie);
}

function moreKnown({ more }: TreeMarks): (readonly [number, string])[] {
  return (more?.() ?? []).map(({ pid, started }) => [pid, started] as const);
}

function hasMark(mark: string | null, runId: string): boolean {
  if (mark === null) return false;
  return mark.split(" ").some((id) => (runId.endsWith(".") ? id.startsWith(runId) : id === runId));
}

/** How long processes that were asked to end may take before they are killed. */
const GRACE_MS = 700;
const MOST_ROUNDS = 60;

/** Asks the tree to end, and kills the rest, until nothing is left. Resolves to what could not be ended. */
export async function endTree(marks: TreeMarks): Promise<readonly ProcessEntry[]> {
  let known = new Map(marks.known);
  const living = () => {
    const members = membersOf({ ...marks, known }, listProcesses());
    known = new Map([...known, ...members.map(({ pid, started }) => [pid, started] as const)]);
    return members;
  };
  let left = living();
  // The sandbox's own processes would end the others before those can clean up.
  for (const { pid } of left.filter(isNoSandbox)) signal(pid, "SIGTERM");
  const deadline = performance.now() + GRACE_MS;
  for (let wait = 5; left.some(isNoSandbox) && performance.now() < deadline; wait = Math.min(wait * 2, 80)) {
    await pause(wait);
    left = living();
  }
  for (let round = 0; left.length > 0 && round < MOST_ROUNDS; round += 1) {
    for (const { pid } of left) signal(pid, "SIGKILL");
    await pause(10 + round * 2);
    left = living();
  }
  return left;
}

function isNoSandbox({ name }: ProcessEntry): boolean {
  return name !== "bwrap" && name !== "nsenter";
}

/** Kills them at once without asking, for when Burin itself is ending. */
export function killTreeNow(marks: TreeMarks): void {
  for (let round = 0; round < 5; round += 1) {
    const members = membersOf(marks, listProcesses());
    if (members.length === 0) return;
    for (const { pid } of members) signal(pid, "SIGKILL");
  }
}

/** One that has ended by itself, or whose pid belongs to another process now, shows at the next look. */
function signal(pid: number, name: NodeJS.Signals): void {
  orElse(false, () => process.kill(pid, name));
}
