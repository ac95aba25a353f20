import { setTimeout as pause } from "node:timers/promises";
import { withFallback } from "@burin/contract/with-fallback";
import { listProcesses, type ProcessEntry, readStartVariable } from "./process-table.ts";

/** The variable that every child of Burin inherits; a Burin inside adds its own value. */
export const RUN_VARIABLE = "BURIN_RUN_ID";

/** How to recognize the processes of a run: by the environment they were started with, and by their ancestors. */
export interface TreeMarks {
  /** The value of RUN_VARIABLE. A trailing `.` matches every value with this prefix. */
  readonly runId: string;
  /** The processes that Burin itself started, or that once belonged to one of those. */
  readonly known: ReadonlyMap<number, string>;
  /** Returns further processes that belong to the run according to the kernel. */
  readonly more?: () => readonly ProcessEntry[];
}

/**
 * A process belongs to the run if it has the run's mark, is known, or has a parent, group leader or session leader that
 * belongs.
 */
export function findMembers(
  marks: TreeMarks,
  table: readonly ProcessEntry[],
  markOf: (pid: number) => string | null = (pid) => readStartVariable(pid, RUN_VARIABLE),
): ProcessEntry[] {
  const members = new Map<number, ProcessEntry>();
  const leaders = new Set<number>();
  const addMember = (entry: ProcessEntry) => {
    members.set(entry.pid, entry);
    leaders.add(entry.pid);
  };
  for (const [pid, started] of [...marks.known, ...listAdditionalMembers(marks)]) {
    const now = table.find((entry) => entry.pid === pid);
    if (now === undefined) leaders.add(pid);
    else if (now.started === started) addMember(now);
  }
  const others = table.filter(({ pid }) => pid > 1 && pid !== process.pid);
  for (const entry of others) {
    if (!members.has(entry.pid) && carriesRunId(markOf(entry.pid), marks.runId)) addMember(entry);
  }
  const isMember = ({ pid, parent, group, session }: ProcessEntry) =>
    !members.has(pid) && [parent, group, session].some((from) => from > 1 && leaders.has(from));
  for (let found = others.filter(isMember); found.length > 0; found = others.filter(isMember)) {
    found.forEach(addMember);
  }
  return [...members.values()].filter((entry) => !entry.isZombie);
}

function listAdditionalMembers({ more }: TreeMarks): (readonly [number, string])[] {
  return (more?.() ?? []).map(({ pid, started }) => [pid, started] as const);
}

function carriesRunId(mark: string | null, runId: string): boolean {
  if (mark === null) return false;
  return mark.split(" ").some((id) => (runId.endsWith(".") ? id.startsWith(runId) : id === runId));
}

/** How long processes that were asked to end may take before they are killed. */
const GRACE_MS = 700;
const MAX_ROUNDS = 60;

/** Asks the tree to end, and kills the rest, until nothing is left. Resolves to what could not be ended. */
export async function endTree(marks: TreeMarks): Promise<readonly ProcessEntry[]> {
  let known = new Map(marks.known);
  const listLiving = () => {
    const members = findMembers({ ...marks, known }, listProcesses());
    known = new Map([...known, ...members.map(({ pid, started }) => [pid, started] as const)]);
    return members;
  };
  let left = listLiving();
  // The sandbox's own processes are spared at first: ending them would kill the others before those can clean up.
  for (const { pid } of left.filter(isNotBubblewrap)) sendSignal(pid, "SIGTERM");
  const deadline = performance.now() + GRACE_MS;
  for (
    let wait = 5;
    left.some(isNotBubblewrap) && performance.now() < deadline;
    wait = Math.min(wait * 2, 80)
  ) {
    await pause(wait);
    left = listLiving();
  }
  for (let round = 0; left.length > 0 && round < MAX_ROUNDS; round += 1) {
    for (const { pid } of left) sendSignal(pid, "SIGKILL");
    await pause(10 + round * 2);
    left = listLiving();
  }
  return left;
}

function isNotBubblewrap({ name }: ProcessEntry): boolean {
  return name !== "bwrap" && name !== "nsenter";
}

/** Kills the processes at once, for when Burin itself is ending. */
export function killTreeNow(marks: TreeMarks): void {
  for (let round = 0; round < 5; round += 1) {
    const members = findMembers(marks, listProcesses());
    if (members.length === 0) return;
    for (const { pid } of members) sendSignal(pid, "SIGKILL");
  }
}

/** The process has already ended, or its pid now belongs to another one; the next look shows which. */
function sendSignal(pid: number, name: NodeJS.Signals): void {
  withFallback(false, () => process.kill(pid, name));
}
