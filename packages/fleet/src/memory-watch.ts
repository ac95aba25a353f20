import { FleetError } from "./ground.ts";
import type { LiveTask } from "./live-task.ts";
import { TaskProcesses } from "./task-memory.ts";

const UNITS: Readonly<Record<string, number>> = { M: 1024 ** 2, G: 1024 ** 3 };

/** Parses a size such as `500M` or `2G`. */
export function parseMemory(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6}(?:\.\d+)?)\s*([MG])B?$/i.exec(text.trim()) ?? [];
  const bytes = Number(count) * (UNITS[unit.toUpperCase()] ?? 0);
  if (bytes > 0) return bytes;
  throw new FleetError("--task-memory must be an amount of memory, as in 500M or 2G");
}

/**
 * Kills the commands of a task that together use more memory than allowed. The system's own limits would need control
 * groups, which not every user may use.
 */
export class MemoryWatch {
  readonly #max: number;
  readonly #processes = new TaskProcesses();

  constructor(max: number) {
    this.#max = max;
  }

  endCommandsOfLargeTasks(tasks: ReadonlySet<LiveTask>, note: (text: string) => void): void {
    const byMark = new Map([...tasks].map((task) => [task.mark, task]));
    for (const [mark, { bytes, pids }] of this.#processes.measure(new Set(byMark.keys()))) {
      if (bytes <= this.#max) continue;
      for (const pid of pids) endProcess(pid);
      const amount = `${Math.round(bytes / 1024 ** 2)} MB`;
      note(
        `${byMark.get(mark)?.id} had ${amount} in memory, more than --task-memory: its commands were ended`,
      );
    }
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended in the meantime.
  }
}
