import { runWithTopContext } from "@dbos-inc/dbos-sdk/internal/context";
import type { SystemDatabase } from "@dbos-inc/dbos-sdk/internal/system_database";
import { expect, it } from "vitest";
import { recordStepsAtOnce } from "./record-steps.ts";

/** A database that answers a record after so many milliseconds, and then each question with the next rows. */
function databaseWith(milliseconds: number, answers: { held: boolean }[][]) {
  const asked: string[] = [];
  const query = async (text: string | { text: string }) => {
    if (typeof text === "string") {
      asked.push(text.replace(/\s+/g, " ").slice(0, 40));
      return { rows: answers.shift() };
    }
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return { rowCount: 1 };
  };
  const none = async () => undefined;
  const system = {
    pool: { query },
    recordOperationResult: none,
    getOperationResultAndThrowIfCancelled: none,
    checkIfCanceled: none,
    recordWorkflowOutput: none,
  } as unknown as SystemDatabase;
  recordStepsAtOnce(system, "worker");
  const context = { workflowId: "run.task", ownerXid: "mine" } as Parameters<typeof runWithTopContext>[0];
  const record = () => system.recordOperationResult("run.task", 1, "step", false, 0, 0, { output: "{}" });
  return { asked, recorded: runWithTopContext(context, record) };
}

it("goes on at once after a step that was recorded soon", async () => {
  const { asked, recorded } = databaseWith(0, []);
  await recorded;
  expect(asked).toEqual([]);
});

it("a worker that was stopped while a step was recorded goes on only while the task is its own", async () => {
  const lost = databaseWith(700, [[]]);
  await expect(lost.recorded).rejects.toThrow("no longer owned");
  const kept = databaseWith(700, [[{ held: false }], [{ held: true }]]);
  await kept.recorded;
  expect(kept.asked).toHaveLength(2);
});
