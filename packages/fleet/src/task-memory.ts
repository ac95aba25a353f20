import { readdirSync, readFileSync } from "node:fs";

/** The variable that marks the processes of a session. Everything that its commands start inherits it. */
export const MARK_VARIABLE = "BURIN_RUN_ID";
const KILOBYTE = 1024;

/** The memory that the processes of one task use together, without memory that they share with others. */
export interface TaskMemory {
  readonly bytes: number;
  readonly pids: readonly number[];
}

/** Knows which processes belong to which task. Works only on Linux; elsewhere it finds none. */
export class TaskProcesses {
  /** The mark of each process that was seen, by its id and start time. */
  #marks = new Map<string, string>();

  /** Measures memory by task. A process belongs to the task whose mark is the first in its `MARK_VARIABLE`. */
  measure(tasks: ReadonlySet<string>): ReadonlyMap<string, TaskMemory> {
    const found = new Map<string, { bytes: number; pids: number[] }>();
    const marks = new Map<string, string>();
    for (const pid of listProcessIds()) {
      const started = readStart(pid);
      if (started === null) continue;
      const key = `${pid} ${started}`;
      const mark = this.#marks.get(key) ?? readMark(pid);
      marks.set(key, mark);
      const task = mark.split(" ").find((word) => tasks.has(word));
      if (task === undefined) continue;
      const sum = found.get(task) ?? { bytes: 0, pids: [] };
      sum.bytes += readOwnBytes(pid);
      sum.pids.push(pid);
      found.set(task, sum);
    }
    this.#marks = marks;
    return found;
  }
}

function listProcessIds(): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function readStart(pid: number): string | null {
  return tryRead(`/proc/${pid}/stat`)?.split(") ").at(-1)?.split(" ")[19] ?? null;
}

function readMark(pid: number): string {
  const variables = tryRead(`/proc/${pid}/environ`)?.split("\0") ?? [];
  return variables.find((one) => one.startsWith(`${MARK_VARIABLE}=`))?.slice(MARK_VARIABLE.length + 1) ?? "";
}

function readOwnBytes(pid: number): number {
  const status = tryRead(`/proc/${pid}/status`) ?? "";
  const kilobytes = ["RssAnon", "RssShmem"].map((name) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, count) => sum + count, 0) * KILOBYTE;
}

/** Returns null for a process that has ended or belongs to another user. */
function tryRead(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return null;
  }
}
