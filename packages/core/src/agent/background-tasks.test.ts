import { describe, expect, it } from "vitest";
import { BackgroundTasks } from "./background-tasks.ts";

const order = { description: "find", prompt: "find it", subagent_type: "explore", is_background: true };

function tasks(mostCharacters = 10_000) {
  const heard: string[] = [];
  return { heard, tasks: new BackgroundTasks({ mostCharacters, onEnd: (message) => heard.push(message) }) };
}

function begun(id: string) {
  const call = {
    callId: "c",
    name: "task",
    args: { ...order },
    description: "Task for explore: find",
    status: "success" as const,
    llmContent: `The subagent explore works in the background as ${id}.`,
    returnDisplay: "",
  };
  return { type: "tool_call" as const, call };
}

describe("BackgroundTasks", () => {
  it("P46 of a session that is taken up again: what its end cut off is told once, and no id is given twice", async () => {
    const { tasks: again } = tasks();
    again.recall(begun("task_1"));
    again.recall(begun("task_2"));
    again.recall({ type: "context", text: "[Background task task_1 (explore: find) is done.]\nfound" });
    expect(again.isPending).toBe(false);
    expect(again.takeReports()).toEqual([
      "[Background task task_2 (Task for explore: find) was cut off when the session ended.]",
    ]);
    expect(again.takeReports()).toEqual([]);
    const done = { status: "success" as const, text: "found", reason: "", steps: [] };
    expect(again.start(order, async () => done)).toBe("task_3");
    await again.stopAll();
  });

  it("P46 several long answers that are told together fit into the room that answers have", async () => {
    const { tasks: several, heard } = tasks(3000);
    const long = { status: "success" as const, text: "x".repeat(50_000), reason: "", steps: [] };
    for (let index = 0; index < 3; index += 1) several.start(order, async () => long);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toHaveLength(3);
    const reports = several.takeReports();
    expect(reports).toHaveLength(3);
    expect(reports.join("").length).toBeLessThan(3500);
  });
});
