import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentEvent, BaseTool, createSession } from "@burin/core";
import { resumeSession } from "@burin/core/internal";
import { buildHistory, type ChatModel, readLog, scriptedModel } from "@burin/core/sessions";
import { createFile } from "@burin/testing/made-files";
import { beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();
beforeEach(() => {
  createFile(root, "a.txt", "alpha\n");
});

/** Has an effect, and tells whether the record knows of it meanwhile. */
class Look extends BaseTool {
  readonly name = "look";
  readonly displayName = "Look";
  readonly kind = "execute";
  readonly description = "Looks into the record.";
  readonly parameterSchema = { type: "object" as const, properties: {} };
  isRecorded = false;

  getDescription(): string {
    return "Look";
  }

  execute() {
    const [project = ""] = readdirSync(join(home, "sessions"));
    const folder = join(home, "sessions", project);
    const logs = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    const text = logs.map((name) => readFileSync(join(folder, name), "utf8")).join("");
    this.isRecorded = /"subagent_call"[^\n]*"name":"look"[^\n]*"executing"/.test(text);
    return Promise.resolve({ llmContent: "Looked.", returnDisplay: "Looked." });
  }
}

const read = () => ({ name: "read_file", args: { absolute_path: join(root, "a.txt") } });
const missing = () => ({ name: "read_file", args: { absolute_path: join(root, "none.txt") } });
const task = () => ({
  name: "task",
  args: { description: "look around", prompt: "look", subagent_type: "general" },
});

/** The subagent has a script of its own. */
function model(): ChatModel {
  const session = scriptedModel([{ calls: [task()] }, { text: "Done." }]);
  const subagent = scriptedModel([
    { calls: [read(), missing(), { name: "look", args: {} }] },
    { text: "Seen." },
  ]);
  return {
    name: "two",
    stream: (request, signal) =>
      (request.system.includes("You do the whole task") ? subagent : session).stream(request, signal),
  };
}

const callsIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "subagent_call" ? [event] : []));

describe("the calls of a subagent", () => {
  it("R45 P11 are told and recorded one by one, before they begin and when they have ended", async () => {
    const look = new Look();
    const ground = { root, environment: { BURIN_HOME: home }, approvalMode: "yolo" as const };
    const session = createSession({ ...ground, model: model(), tools: [look], record: true });
    const events = await collectEvents(session.run("go"));
    await session.close();
    expect(events.at(-1)).toMatchObject({ status: "success", result: "Done." });
    expect(look.isRecorded).toBe(true);
    const states = callsIn(events).map(({ call }) => `${call.name} ${call.status}`);
    expect(states.slice(0, 4).sort()).toEqual([
      "read_file error",
      "read_file executing",
      "read_file executing",
      "read_file success",
    ]);
    expect(states.slice(4)).toEqual(["look executing", "look success"]);
    expect(callsIn(events)[0]).toMatchObject({ agent: "general", task: "look around", call: read() });
    const failed = callsIn(events).find(({ call }) => call.status === "error");
    expect(failed?.call.error?.message).toContain("none.txt");
    const resume = await resumeSession({ home, root });
    const again = createSession({ ...ground, model: model(), resume });
    expect(again.history).toEqual(session.history);
    expect(buildHistory(events)).toEqual(session.history);
    await again.close();
    const recorded = [...readLog(resume.session.path)].map(({ event }) => event);
    expect(callsIn(recorded)).toEqual(callsIn(events));
    expect(JSON.stringify(callsIn(recorded)), "what the session was not told").not.toContain("alpha");
  });
});
