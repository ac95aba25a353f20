import { join } from "node:path";
import { requirePrograms } from "@burin/testing/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openScriptedRoom, type ScriptedRoom, scriptCommands, waitUntil } from "./fleet-room.mjs";

let room: ScriptedRoom;

beforeAll(async () => {
  room = await openScriptedRoom();
});

afterAll(async () => {
  await room.close();
});

/** Two of each tenant and model; one service has both models. */
const TASKS = ["a", "b"].flatMap((tenant) =>
  ["one", "two"].flatMap((model) =>
    [1, 2].map((number) => ({ id: `${tenant}-${model}-${number}`, tenant, model: `openai/${model}` })),
  ),
);

describe("burin fleet with two workers and one limit", requirePrograms("PostgreSQL"), () => {
  it.each([
    ["model", ({ model }: (typeof TASKS)[number]) => model],
    ["provider", () => "openai"],
    ["tenant", ({ tenant }: (typeof TASKS)[number]) => tenant],
  ])("P44 runs one task of each %s at a time, on both together", async (limit, shareOf) => {
    const tasks = TASKS.map((task) => {
      const busy = join(room.folder, `${limit}-${shareOf(task).replace("/", "-")}`);
      const prompt = `${limit} ${task.id}`;
      room.replies.set(prompt, scriptCommands(`mkdir ${busy} && sleep 0.2 && rmdir ${busy}`));
      return { ...task, prompt };
    });
    const file = await room.writeTasks(tasks);
    const workers = [1, 2].map(() =>
      room.commands.start(["worker", "--concurrency", "4", `--per-${limit}`, "1"]),
    );
    await waitUntil(() => workers.every(({ soFar }) => soFar.stderr.includes("at a time")));
    await room.fleet("run", file, "--run", limit, "--no-follow");
    for (const { id } of tasks) await waitUntil(() => room.hasEnded(`${limit}.${id}`));
    const logs = await Promise.all(tasks.map(({ id }) => room.fleet("logs", `${limit}.${id}`)));
    for (const { stdout } of logs) expect(stdout).toContain("done      Exit code: 0");
    for (const { child, end } of workers) {
      child.kill("SIGINT");
      await end;
    }
  });
});
