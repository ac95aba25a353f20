import { expect, it } from "vitest";
import { type TaskState, tableOf } from "./states.ts";

it("shows a run of two hundred thousand tasks", () => {
  const states = Array.from({ length: 200_000 }, (_, at): TaskState => {
    return { id: `run.${at}`, state: "queued", createdAt: 0 };
  });
  const lines = tableOf(states).split("\n");
  expect(lines.slice(0, 2)).toEqual([
    "task        status  turns  tokens  cost  result",
    "run.0       queued",
  ]);
  expect(lines).toHaveLength(200_002);
});
