import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, createSession } from "@burin/core";
import { openAiCompatible } from "@burin/core/internal";
import { buildHistory, type Message } from "@burin/core/sessions";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "@burin/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collectEvents } from "./events-of.ts";
import { makeFolders, root } from "./folder.ts";

let server: FakeModelServer | null = null;

makeFolders();
beforeEach(async () => {
  await writeFile(join(root, "a.txt"), "alpha\n");
  await writeFile(join(root, "b.txt"), "beta\n");
});

afterEach(async () => {
  await server?.close();
  server = null;
});

async function sessionWith(
  replies: readonly FakeReply[],
  options: { readonly maxTurns?: number; readonly includeDirectories?: readonly string[] } = {},
) {
  const started = await startFakeModelServer(replies);
  server = started;
  const model = openAiCompatible({ name: "fake", baseUrl: started.baseUrl });
  return { server: started, session: createSession({ root, model, ...options }) };
}

const reading = (name: string) => ({ name: "read_file", args: { absolute_path: join(root, name) } });

function answersIn(history: readonly Message[]): unknown[] {
  return history.flatMap((message) => message.parts.flatMap((part) => part.functionResponse ?? []));
}

describe("a turn over real HTTP", () => {
  it("R27 R35 R36 two parallel reads and an unknown tool: every call gets one answer, in order", async () => {
    const { server, session } = await sessionWith([
      { text: "I look.", calls: [reading("a.txt"), reading("b.txt"), { name: "red_file", args: {} }] },
      { text: "alpha and beta" },
    ]);
    const events = await collectEvents(session.run("what do they say?"));
    expect(events.at(-1)).toMatchObject({
      type: "done",
      status: "success",
      result: "alpha and beta",
      turns: 2,
    });
    expect(server.problems).toEqual([]);
    expect(server.unusedReplies()).toEqual([]);
    expect(answersIn(session.history)).toMatchObject([
      { name: "read_file", response: { output: "alpha\n" } },
      { name: "read_file", response: { output: "beta\n" } },
      { name: "red_file", response: { error: expect.stringContaining("read_file") } },
    ]);
  });

  it("the events fold back to the history, after a trip through JSON", async () => {
    const { session } = await sessionWith([
      { text: "One.", calls: [reading("a.txt")] },
      { text: "Two." },
      { text: "Three." },
    ]);
    const lines: string[] = [];
    for (const prompt of ["first", "second"]) {
      for await (const event of session.run(prompt)) lines.push(JSON.stringify(event));
    }
    const events = lines.map((line) => JSON.parse(line) as AgentEvent);
    expect(buildHistory(events)).toEqual(session.history);
    expect(session.history.map((message) => message.role)).toEqual([
      "user",
      "model",
      "user",
      "model",
      "user",
      "model",
    ]);
  });

  it("P29 the prefix of each request is the one before, byte for byte", async () => {
    const { server, session } = await sessionWith([
      { calls: [reading("a.txt")] },
      { calls: [reading("b.txt")] },
      { text: "ok" },
    ]);
    await collectEvents(session.run("go"));
    const bodies = server.requests.map((request) => JSON.stringify(request.body));
    const messagesOf = (body: string) => /"messages":\[(.*)\]/.exec(body)?.[1] ?? "";
    expect(bodies).toHaveLength(3);
    for (const [index, body] of bodies.entries()) {
      const before = bodies[index - 1];
      if (before === undefined) continue;
      const { messages: earlier, ...restBefore } = JSON.parse(before);
      const { messages: later, ...rest } = JSON.parse(body);
      expect(JSON.stringify(rest)).toBe(JSON.stringify(restBefore));
      expect(JSON.stringify(later.slice(0, earlier.length))).toBe(JSON.stringify(earlier));
      expect(messagesOf(body).length).toBeGreaterThan(messagesOf(before).length);
    }
  });

  it("R49 the model is told of each folder that it may use, and of no other", async () => {
    const other = join(root, "other");
    await mkdir(other);
    for (const includeDirectories of [[], [other]]) {
      const { server: one, session } = await sessionWith([{ text: "ok" }], { includeDirectories });
      await collectEvents(session.run("go"));
      const system = JSON.stringify(one.requests[0]?.body);
      expect(system).toContain(root);
      expect(system.includes(other)).toBe(includeDirectories.length > 0);
      expect(system.includes("outside that folder")).toBe(includeDirectories.length === 0);
      await one.close();
    }
  });

  it("a limit of turns ends the run, with the history valid for the next prompt", async () => {
    const { server, session } = await sessionWith([{ calls: [reading("a.txt")] }, { text: "ok" }], {
      maxTurns: 1,
    });
    const events = await collectEvents(session.run("go"));
    expect(events.at(-1)).toMatchObject({ status: "limit", error: { type: "max_turns" } });
    expect((await collectEvents(session.run("go on"))).at(-1)).toMatchObject({
      status: "success",
      result: "ok",
    });
    expect(server.problems).toEqual([]);
  });

  it("P44 a failing service ends the run with its error, and the next prompt works", async () => {
    const { session } = await sessionWith([
      { error: { type: "server_error", message: "overloaded", status: 503 } },
      { text: "ok" },
    ]);
    expect((await collectEvents(session.run("go"))).at(-1)).toMatchObject({
      status: "error",
      error: { type: "server_error" },
    });
    expect((await collectEvents(session.run("again"))).at(-1)).toMatchObject({
      status: "success",
      result: "ok",
    });
  });

  it("P11 an abort in the middle of a call leaves a history that the next request can carry", async () => {
    const { server, session } = await sessionWith([
      { calls: [reading("a.txt"), reading("b.txt")] },
      { text: "ok" },
    ]);
    const controller = new AbortController();
    let last: AgentEvent | undefined;
    for await (const event of session.run("go", controller.signal)) {
      if (event.type === "tool_call") controller.abort();
      last = event;
    }
    expect(last).toMatchObject({ type: "done", status: "cancelled" });
    expect(answersIn(session.history)).toHaveLength(2);
    expect((await collectEvents(session.run("again"))).at(-1)).toMatchObject({ status: "success" });
    expect(server.problems).toEqual([]);
  });

  it("P11 a reader that leaves in the middle of a call stops the work, and the next prompt works", async () => {
    const { server, session } = await sessionWith([{ calls: [reading("a.txt")] }, { text: "ok" }]);
    for await (const event of session.run("go")) if (event.type === "tool_call") break;
    expect(server.requests).toHaveLength(1);
    expect((await collectEvents(session.run("again"))).at(-1)).toMatchObject({
      status: "success",
      result: "ok",
    });
    expect(answersIn(session.history)).toHaveLength(1);
    expect(server.problems).toEqual([]);
  });

  it("P11 a prompt that comes while another is worked on waits for its turn", async () => {
    const { server, session } = await sessionWith([
      { calls: [reading("a.txt")] },
      { text: "one" },
      { text: "two" },
    ]);
    const controller = new AbortController();
    const runs = [session.run("first"), session.run("second"), session.run("third", controller.signal)];
    controller.abort();
    const ends = (await Promise.all(runs.map(collectEvents))).map((events) => events.at(-1));
    expect(ends).toMatchObject([{ result: "one" }, { result: "two" }, { status: "cancelled" }]);
    expect(answersIn(session.history)).toHaveLength(1);
    expect(server.problems).toEqual([]);
    expect(() => session.run(5 as never)).toThrow("must be text");
  });

  it("P11 a reader that reads no further than the end of a run holds up no other", async () => {
    const { session } = await sessionWith([{ text: "one" }, { text: "two" }]);
    const run = session.run("first");
    for (let next = await run.next(); !next.done && next.value.type !== "done"; ) next = await run.next();
    expect((await collectEvents(session.run("second"))).at(-1)).toMatchObject({ result: "two" });
  });
});
