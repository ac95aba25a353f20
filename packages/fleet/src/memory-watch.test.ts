import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { parseMemory } from "./memory-watch.ts";
import { MARK_VARIABLE, TaskProcesses } from "./task-memory.ts";

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Starts a process that uses this much memory, from a shell. */
async function startWith(mark: string, megabytes: number): Promise<void> {
  const code = `const b = Buffer.alloc(${megabytes} * 1024 * 1024, 1); console.log("here"); setInterval(() => b, 1000)`;
  const child = spawn("sh", ["-c", `"$0" -e '${code}'; true`, process.execPath], {
    env: { [MARK_VARIABLE]: mark },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  children.push(child);
  await once(child.stdout, "data");
}

it("P21 reads amounts of memory", () => {
  expect([parseMemory("500M"), parseMemory("2GB"), parseMemory("1.5g")]).toEqual([
    524_288_000, 2_147_483_648, 1_610_612_736,
  ]);
  for (const wrong of ["", "2", "M", "-1G", "0M", "2T"])
    expect(() => parseMemory(wrong)).toThrow("as in 500M or 2G");
});

describe.skipIf(process.platform !== "linux")("what tasks have in memory", () => {
  it("P21 is found by the mark that all their processes have, also with the marks of others", async () => {
    await startWith("outer task:a abc.1", 100);
    await startWith("task:b def.2", 10);
    await startWith("task:other", 10);
    const processes = new TaskProcesses();
    for (const _ of [1, 2]) {
      const found = processes.measure(new Set(["task:a", "task:b"]));
      expect([...found.keys()].sort()).toEqual(["task:a", "task:b"]);
      const [a, b] = [found.get("task:a"), found.get("task:b")];
      expect(a?.pids).toHaveLength(2);
      expect(a?.bytes).toBeGreaterThan(100 * 1024 ** 2);
      expect(b?.bytes).toBeLessThan(90 * 1024 ** 2);
    }
    for (const child of children) if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  });
});
