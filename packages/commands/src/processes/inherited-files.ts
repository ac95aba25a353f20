import { closeSync, openSync, readdirSync } from "node:fs";
import { withFallback } from "@burin/contract/with-fallback";
import { readProcFileHead } from "./process-table.ts";

const FIRST_DESCRIPTOR = 3;
const CLOSE_ON_EXEC = 0o2_000_000;

/**
 * Finds the inherited descriptors that every child would get besides its own three, for example an open folder that
 * this process was started with. Node closes the ones that it opened. Outside Linux, libuv closes all.
 */
export function findInheritedDescriptors(): readonly number[] {
  if (process.platform !== "linux") return [];
  const descriptors = withFallback([], () => readdirSync("/proc/self/fd")).map(Number);
  return descriptors.filter(
    (descriptor) => descriptor >= FIRST_DESCRIPTOR && isDescriptorInherited(descriptor),
  );
}

/** Whether the descriptor is inherited. One that is closed by now was the one for listing the folder. */
function isDescriptorInherited(descriptor: number): boolean {
  const text = readProcFileHead(`/proc/self/fdinfo/${descriptor}`) ?? "";
  const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}

type Stdio = "ignore" | "pipe" | "ipc" | number;

/** Calls `start` with a child's descriptors, with an empty file in the place of each inherited one. */
export function startWithoutInherited<Result>(
  stdio: readonly Stdio[],
  start: (stdio: Stdio[]) => Result,
): Result {
  const all = [...stdio];
  const inherited = findInheritedDescriptors().filter((descriptor) => descriptor >= stdio.length);
  if (inherited.length === 0) return start(all);
  const empty = openSync("/dev/null", "r+");
  try {
    // Beyond the first three descriptors, "ignore" makes Node leave a descriptor as it is.
    for (let descriptor = all.length; descriptor <= Math.max(...inherited); descriptor += 1)
      all.push(inherited.includes(descriptor) ? empty : "ignore");
    return start(all);
  } finally {
    closeSync(empty);
  }
}
