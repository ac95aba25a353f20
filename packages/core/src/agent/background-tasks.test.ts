import type { AgentEvent } from "@burin/contract/agent-event";
import { describe, expect, it } from "vitest";
import { BackgroundTasks } from "./background-tasks.ts";

const order = {
  description: "find",
  prompt: "find it",
  subagent_type: "explore",
  is_background: true,
  callId: "c",
};

function tasks(maxCharacters = 10_000) {
  const heard: AgentEvent[] = [];
  return { heard, tasks: new BackgroundTasks({ maxCharacters, tell: (event) => heard.push(event) }) };
}

function change(id: string, status: "running" | "cancelled") {
  return { type: "task" as const, id, agent: "explore", description: "find", callId: "c", status };
}

describe("BackgroundTasks", () => {
  it("P46 of a session that is taken up again: what its end cut off is told once, and no id is given twice", async () => {
    const { tasks: again, heard } = tasks();
    again.replay(change("task_1", "running"));
    again.replay(change("task_2", "running"));
    again.replay({ type: "context", task: "task_1", text: "found" });
    expect(again.isPending).toBe(false);
    const text = "[Background task task_2 (explore: find) was cut off when the session ended.]";
    expect(again.takeReports()).toEqual([{ type: "context", task: "task_2", text }]);
    expect(heard).toEqual([change("task_2", "cancelled")]);
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
    const ended = heard.filter((event) => event.type === "task" && event.status === "success");
    expect(ended).toHaveLength(3);
    const reports = several.takeReports();
    expect(reports).toHaveLength(3);
    expect(JSON.stringify(reports).length).toBeLessThan(3700);
  });
});
