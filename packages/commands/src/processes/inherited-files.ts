import { closeSync, openSync, readdirSync } from "node:fs";
import { orElse } from "@burin/contract/or-else";
import { firstTextOf } from "./process-table.ts";

const FIRST = 3;
const CLOSE_ON_EXEC = 0o2_000_000;

/**
 * Finds the descriptors that every child would get beside its own three: those that this process was started with,
 * for example of an open folder. Node's own close by themselves. On other systems than Linux, libuv closes all.
 */
export function findInherited(): readonly number[] {
  if (process.platform !== "linux") return [];
  const descriptors = orElse([], () => readdirSync("/proc/self/fd")).map(Number);
  return descriptors.filter((descriptor) => descriptor >= FIRST && isInherited(descriptor));
}

/** One that is closed by now was the one that listed the others. */
function isInherited(descriptor: number): boolean {
  const text = firstTextOf(`/proc/self/fdinfo/${descriptor}`) ?? "";
  const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}

type Stdio = "ignore" | "pipe" | "ipc" | number;

/** Calls `start` with the descriptors of a child, in which an empty file is in the place of each inherited one. */
export function withoutInherited<Result>(stdio: readonly Stdio[], start: (stdio: Stdio[]) => Result): Result {
  const all = [...stdio];
  const inherited = findInherited().filter((descriptor) => descriptor >= stdio.length);
  if (inherited.length === 0) return start(all);
  const empty = openSync("/dev/null", "r+");
  try {
    // Node leaves a descriptor as it is where it is to ignore one beyond the first three.
    for (let descriptor = all.length; descriptor <= Math.max(...inherited); descriptor += 1)
      all.push(inherited.includes(descriptor) ? empty : "ignore");
    return start(all);
  } finally {
    closeSync(empty);
  }
}
