import { expect, it } from "vitest";
import { assertOwned, startStopwatch } from "./ownership.ts";

/** A fake database that answers each query with the next of these answers. */
function needsWith(...answers: { status: string; executorId: string; isHeld: boolean }[]) {
  let asked = 0;
  return {
    id: "run.task",
    worker: "mine",
    life: { isHeld: async () => answers[asked]?.isHeld === true },
    client: { getWorkflow: async () => answers[asked++] as never },
    asked: () => asked,
  };
}
const OURS = { status: "PENDING", executorId: "mine", isHeld: true };

it("goes on at once after a step that was recorded soon", async () => {
  const needs = needsWith();
  await assertOwned(needs, startStopwatch());
  expect(needs.asked()).toBe(0);
});

it("a worker that was stopped while a step was recorded goes on only while the task is its own", async () => {
  const isLate = () => true;
  for (const other of [
    { ...OURS, status: "ENQUEUED" },
    { ...OURS, executorId: "other" },
    { ...OURS, status: "CANCELLED" },
  ])
    await expect(assertOwned(needsWith(other), isLate)).rejects.toThrow("no longer owned");
  const kept = needsWith({ ...OURS, isHeld: false }, OURS);
  await assertOwned(kept, isLate);
  expect(kept.asked()).toBe(2);
});
