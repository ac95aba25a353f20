import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, createSession, type Session, type SessionOptions } from "@burin/core";
import {
  Budget,
  buildHistory,
  type ChatModel,
  type ModelRequest,
  type ScriptLine,
  scriptedModel,
} from "@burin/core/sessions";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { home, makeFolders, root } from "./folder.ts";

makeFolders();
beforeEach(async () => {
  await writeFile(join(root, "a.txt"), "alpha\n");
});

const EXPLORE = "You explore.";
const GENERAL = "You do the whole task";
const task = (subagent_type: string, description = "find") => ({
  name: "task",
  args: { description, prompt: "find it", subagent_type, is_background: true },
});
const look = { name: "list_directory", args: { path: "." } };
const write = (name: string) => ({
  name: "write_file",
  args: { file_path: join(root, name), content: "b\n" },
});

/** Opened by somebody else. */
function gate() {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Says nothing before the gate is open, nor after it is cancelled. */
function behind(opened: Promise<void>, model: ChatModel): ChatModel {
  return {
    name: "gated",
    async *stream(request, signal) {
      const cancelled = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      await Promise.race([opened, cancelled]);
      if (signal.aborted) yield { type: "end", reason: "cancelled" };
      else yield* model.stream(request, signal);
    },
  };
}

/** The session's own script, and a model for each subagent by a mark in its system prompt. */
function models(main: readonly ScriptLine[] | ChatModel, others: Readonly<Record<string, ChatModel>>) {
  const session = "stream" in main ? main : scriptedModel(main);
  const requests: ModelRequest[] = [];
  const model: ChatModel = {
    name: "many",
    stream(request, signal) {
      const mark = Object.keys(others).find((one) => request.system.includes(one)) ?? "";
      if (mark === "") requests.push(structuredClone(request));
      return (others[mark] ?? session).stream(request, signal);
    },
  };
  return { model, requests };
}

function open(model: ChatModel, options: Partial<SessionOptions> = {}) {
  return createSession({ root, model, environment: { BURIN_HOME: home }, ...options });
}

interface Heard {
  readonly onEvent?: (event: AgentEvent) => void;
  readonly signal?: AbortSignal;
}

async function run(session: Session, { onEvent, signal }: Heard = {}) {
  const events: AgentEvent[] = [];
  for await (const event of session.run("go", signal)) {
    events.push(event);
    onEvent?.(event);
  }
  return events;
}

const noticesIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
const answersIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "tool_call" && "llmContent" in event.call ? [event.call] : []));

describe("tasks in the background", () => {
  it("R45 answers at once, is told of with the next request, and the person hears of it", async () => {
    const { opened, open: finish } = gate();
    const main = scriptedModel([{ calls: [task("explore")] }, { calls: [look] }, { text: "alpha it is" }]);
    const { model, requests } = models(
      {
        name: "main",
        async *stream(request, signal) {
          // The second reply takes as long as the task.
          while (requests.length === 2 && running() > 0)
            await new Promise((resolve) => setTimeout(resolve, 5));
          yield* main.stream(request, signal);
        },
      },
      { [EXPLORE]: behind(opened, scriptedModel([{ text: "a.txt says alpha" }])) },
    );
    const session = open(model);
    const running = () => session.tasks.list().filter(({ status }) => status === "running").length;
    const onEvent = (event: AgentEvent) => {
      if (event.type !== "tool_call" || event.call.name !== "task" || event.call.status !== "success") return;
      expect(running()).toBe(1);
      finish();
    };
    const events = await run(session, { onEvent });
    expect(events.at(-1)).toMatchObject({ status: "success", result: "alpha it is" });
    expect(answersIn(events)[0]).toMatchObject({ llmContent: expect.stringContaining("task_1") });
    expect(JSON.stringify(requests[1]?.history)).not.toContain("a.txt says alpha");
    expect(JSON.stringify(requests[2]?.history)).toContain("a.txt says alpha");
    expect(noticesIn(events)).toEqual(["The background task task_1 (explore: find) is done."]);
    expect(buildHistory(events)).toEqual(session.history);
    expect(session.tasks.list()).toEqual([
      { id: "task_1", description: "find", subagent: "explore", status: "success", steps: [] },
    ]);
    await session.close();
  });

  it("R45 P46 two side by side: the run waits for both at its end, and goes on with each answer", async () => {
    const first = gate();
    const second = gate();
    const { model, requests } = models(
      [{ calls: [task("explore"), task("general")] }, { text: "waiting" }, { text: "one" }, { text: "both" }],
      {
        [EXPLORE]: behind(first.opened, scriptedModel([{ text: "found" }])),
        [GENERAL]: behind(second.opened, scriptedModel([{ text: "built" }])),
      },
    );
    const session = open(model);
    const onEvent = (event: AgentEvent) => {
      if (event.type !== "text" || event.role !== "model") return;
      if (event.text.includes("waiting")) second.open();
      if (event.text.includes("one")) first.open();
    };
    const events = await run(session, { onEvent });
    expect(events.at(-1)).toMatchObject({ status: "success", result: "both" });
    expect(JSON.stringify(requests[2]?.history)).toMatch(/task_2 \(general: find\) is done.*built/);
    expect(JSON.stringify(requests[2]?.history)).not.toContain("found");
    expect(JSON.stringify(requests[3]?.history)).toMatch(/task_1 \(explore: find\) is done.*found/);
    await session.close();
  });

  it("P46 one that crashes and one without an answer are told as failures, with what was done", async () => {
    const crashing: ChatModel = {
      name: "crash",
      stream() {
        throw new Error("the engine fell off");
      },
    };
    const { model } = models(
      [{ calls: [task("explore"), task("general")] }, { text: "w" }, { text: "o" }, { text: "k" }],
      {
        [EXPLORE]: crashing,
        [GENERAL]: scriptedModel([{ calls: [look] }, { text: " " }]),
      },
    );
    const session = open(model);
    const events = await run(session);
    const history = JSON.stringify(session.history);
    expect(history).toMatch(/task_1 \(explore: find\) failed.*the engine fell off/);
    expect(history).toMatch(/task_2 \(general: find\) failed.*without an answer.*What it did last/);
    expect(events.at(-1)).toMatchObject({ status: "success" });
    expect(session.tasks.list().map(({ status }) => status)).toEqual(["failed", "failed"]);
    await session.close();
  });

  it("P46 P11 a run that is interrupted stops them, tells so, and nothing of them runs later", async () => {
    const { opened, open: finish } = gate();
    const { model } = models([{ calls: [task("general")] }, { text: "waiting" }, { text: "again" }], {
      [GENERAL]: behind(opened, scriptedModel([{ calls: [write("late.txt")] }, { text: "written" }])),
    });
    const session = open(model, { approvalMode: "yolo" });
    const stop = new AbortController();
    const onEvent = (event: AgentEvent) => {
      if (event.type === "text" && event.text.includes("waiting")) setTimeout(() => stop.abort(), 20);
    };
    const events = await run(session, { onEvent, signal: stop.signal });
    expect(events.at(-1)).toMatchObject({ status: "cancelled" });
    expect(noticesIn(events)).toEqual(["The background task task_1 (general: find) was stopped."]);
    finish();
    await run(session);
    expect(JSON.stringify(session.history)).toContain("task_1 (general: find) was stopped");
    expect(await readdir(root)).toEqual(["a.txt"]);
    await session.close();
  });

  it("P46 a run that is out of time stops them, and says that it was the budget", async () => {
    const { opened, open: finish } = gate();
    const { model } = models([{ calls: [task("general")] }, { text: "waiting" }], {
      [GENERAL]: behind(opened, scriptedModel([{ calls: [write("late.txt")] }, { text: "written" }])),
    });
    const session = open(model, { approvalMode: "yolo", budget: "1.5s" });
    const events = await run(session);
    expect(events.at(-1)).toMatchObject({ status: "limit", error: { type: "budget" } });
    expect(session.tasks.list()).toMatchObject([{ status: "cancelled" }]);
    finish();
    await session.close();
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("P46 a run that is out of time stops them also where they would have been out of time before it", async () => {
    const { model } = models([{ calls: [task("general")] }, { text: "waiting" }], {
      [GENERAL]: behind(new Promise(() => {}), scriptedModel([])),
    });
    const session = open(model, { approvalMode: "yolo", budget: "1.5s" });
    const uptime = process.uptime.bind(process);
    let ahead = 0;
    const clock = vi.spyOn(process, "uptime").mockImplementation(() => uptime() + ahead);
    const onEvent = ({ type }: AgentEvent) => {
      if (type === "tool_call") ahead = 1;
    };
    await run(session, { onEvent });
    clock.mockRestore();
    expect(session.tasks.list()).toMatchObject([{ status: "cancelled" }]);
    await session.close();
  });

  it("P46 a reader that leaves, and a session that closes, stop them too", async () => {
    const { opened, open: finish } = gate();
    const { model } = models([{ calls: [task("general")] }, { text: "waiting" }], {
      [GENERAL]: behind(opened, scriptedModel([{ calls: [write("late.txt")] }, { text: "written" }])),
    });
    const session = open(model, { approvalMode: "yolo" });
    for await (const event of session.run("go")) {
      if (event.type === "text" && event.role === "model") break;
    }
    await session.close();
    finish();
    expect(session.tasks.list()).toMatchObject([{ status: "cancelled" }]);
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("R45 the person stops one, and the run goes on", async () => {
    const { model } = models([{ calls: [task("explore")] }, { text: "waiting" }, { text: "without it" }], {
      [EXPLORE]: behind(new Promise(() => {}), scriptedModel([])),
    });
    const session = open(model);
    const onEvent = (event: AgentEvent) => {
      if (event.type === "text" && event.text.includes("waiting")) void session.tasks.stop("task_1");
    };
    const events = await run(session, { onEvent });
    expect(events.at(-1)).toMatchObject({ status: "success", result: "without it" });
    expect(JSON.stringify(session.history)).toContain("it was stopped");
    expect(await session.tasks.stop("task_1")).toBe(false);
    await session.close();
  });

  it("R45 what the person says while a run waits goes on at once", async () => {
    const { opened, open: finish } = gate();
    const { model } = models(
      [{ calls: [task("explore")] }, { text: "waiting" }, { text: "heard" }, { text: "end" }],
      {
        [EXPLORE]: behind(opened, scriptedModel([{ text: "found" }])),
      },
    );
    const session = open(model);
    const onEvent = (event: AgentEvent) => {
      if (event.type !== "text" || event.role !== "model") return;
      if (event.text.includes("waiting")) setTimeout(() => session.steer("hurry"), 20);
      if (event.text.includes("heard")) finish();
    };
    const events = await run(session, { onEvent });
    expect(events.at(-1)).toMatchObject({ status: "success", result: "end" });
    await session.close();
  });

  it("P46 approvals of several reach the person one at a time, and the budget is shared", async () => {
    let asking = 0;
    let max = 0;
    const askers: unknown[] = [];
    const budget = new Budget({ calls: 50, tokens: 1_000_000 });
    const writer = (name: string) => scriptedModel([{ calls: [write(name)] }, { text: "written" }]);
    const { model } = models(
      [{ calls: [task("explore"), task("general")] }, { text: "w" }, { text: "o" }, { text: "k" }],
      {
        [EXPLORE]: writer("never.txt"),
        [GENERAL]: scriptedModel([{ calls: [write("b.txt"), write("c.txt")] }, { text: "written" }]),
      },
    );
    const confirm: SessionOptions["confirm"] = async (_confirmation, _signal, { agent, parentCallId }) => {
      asking += 1;
      max = Math.max(max, asking);
      askers.push([agent, parentCallId]);
      await new Promise((resolve) => setTimeout(resolve, 10));
      asking -= 1;
      return { outcome: "once" };
    };
    const session = open(model, { confirm, budget });
    await run(session);
    expect(askers).toEqual(Array(2).fill(["general", "call_2"]));
    expect(max).toBe(1);
    expect((await readdir(root)).sort()).toEqual(["a.txt", "b.txt", "c.txt"]);
    expect(budget.callsLeft).toBeLessThanOrEqual(50 - 4);
    await session.close();
  });
});
