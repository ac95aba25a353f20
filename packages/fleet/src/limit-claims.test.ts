import type { SystemDatabase } from "@dbos-inc/dbos-sdk/internal/system_database";
import { expect, it } from "vitest";
import { askOnlyForTasks } from "./limit-claims.ts";

it("asks for tasks only while there is room for one, and never for what the fleet does not have", async () => {
  const asked: string[] = [];
  const asking = (name: string, found: readonly unknown[]) => async () => {
    asked.push(name);
    return found;
  };
  let running = 2;
  const system = {
    countRunningWorkflowsForQueue: () => running,
    getQueuePartitions: asking("partitions", ["one"]),
    listQueues: asking("queues", []),
    listSchedules: asking("schedules", []),
    transitionDelayedWorkflows: asking("delayed", []),
    cancelTimedOutWorkflows: asking("timed out", []),
  } as unknown as SystemDatabase;
  askOnlyForTasks(system, 2);
  expect(await system.getQueuePartitions("tasks")).toEqual([]);
  await system.listQueues();
  await system.listSchedules();
  await system.transitionDelayedWorkflows();
  await system.cancelTimedOutWorkflows(1);
  expect(asked).toEqual([]);
  running = 1;
  expect(await system.getQueuePartitions("tasks")).toEqual(["one"]);
});
