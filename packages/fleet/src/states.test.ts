import { expect, it } from "vitest";
import type { TaskState } from "./engine-tables.ts";
import { formatStanding, formatTable } from "./states.ts";

it("shows a run of two hundred thousand tasks", () => {
  const states = Array.from({ length: 200_000 }, (_, at): TaskState => {
    return { id: `run.${at}`, state: "queued", createdAt: 0 };
  });
  const lines = formatTable(states).split("\n");
  expect(lines.slice(0, 2)).toEqual([
    "task        status  turns  tokens  cost  result",
    "run.0       queued",
  ]);
  expect(lines).toHaveLength(200_002);
});

it("P44 says how the tasks of a run stand, and which one waits for an answer", () => {
  const task = (id: string, state: TaskState["state"], status?: string): TaskState => {
    const end = { status, result: "", turns: 0, tokens: 0 } as TaskState["end"];
    return { id: `run.${id}`, state, createdAt: 0, ...(status && end && { end }) };
  };
  const done = Array.from({ length: 297 }, (_, at) => task(`d${at}`, "ended", "success"));
  const failed = [task("f1", "ended", "error"), task("f2", "failed")];
  const waits = task("T17", "ended", "waiting");
  expect(formatStanding([...done, ...failed, waits])).toBe(
    "297 done · 2 failed · 1 waits for you: burin fleet answer run.T17 yes",
  );
  expect(formatStanding([waits, task("T18", "ended", "waiting"), task("q", "queued")])).toBe(
    "1 queued · 2 wait for you: burin fleet questions run",
  );
  expect(
    formatStanding([task("c", "cancelled"), task("r", "running"), task("s", "ended", "set_aside")]),
  ).toBe("1 running · 1 failed · 1 cancelled");
  expect(formatStanding([])).toBe("no tasks");
});
