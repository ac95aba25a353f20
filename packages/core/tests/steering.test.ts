import { type AgentEvent, createSession } from "@burin/core";
import { buildHistory, openModel } from "@burin/core/sessions";
import { type FakeModelServer, type ScriptLine, startFakeModelServer } from "@burin/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

let server: FakeModelServer | null = null;

makeFolders();

afterEach(async () => {
  await server?.close();
  server = null;
});

type Provider = "openai" | "openai-responses" | "anthropic" | "gemini";

async function sessionWith(script: readonly ScriptLine[], provider: Provider = "openai") {
  server = await startFakeModelServer(script);
  const model = openModel({ provider, name: "fake", baseUrl: server.baseUrl, apiKey: "k" });
  return { session: createSession({ root, model }), server };
}

const looking = { calls: [{ name: "list_directory", args: { path: "." } }] };

function saidIn(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => (event.type === "text" ? [`${event.role}: ${event.text}`] : []));
}

describe("what is typed while the model works", () => {
  it.each(["openai", "openai-responses", "anthropic", "gemini"] as const)(
    "steers: it goes with the next request, behind the answers (%s)",
    async (provider) => {
      const { session, server: fake } = await sessionWith([looking, { text: "Yes." }], provider);
      const events: AgentEvent[] = [];
      for await (const event of session.run("look")) {
        events.push(event);
        if (event.type === "tool_call" && event.call.description === "") {
          session.steer("Only files, please.");
        }
      }
      expect(fake.problems).toEqual([]);
      expect(JSON.stringify(fake.requests[1]?.body)).toContain("Only files, please.");
      expect(saidIn(events)).toContain("user: Only files, please.");
      expect(events.at(-1)).toMatchObject({ status: "success", turns: 2 });
      expect(buildHistory(events)).toEqual(session.history);
    },
  );

  it("steers a turn that would end: the run goes on", async () => {
    const { session, server: fake } = await sessionWith([{ text: "One." }, { text: "Two." }]);
    const events: AgentEvent[] = [];
    for await (const event of session.run("go")) {
      events.push(event);
      if (event.type === "text" && event.text.includes("One")) session.steer("And now?");
    }
    expect(saidIn(events).join("|")).toContain("One.|user: And now?|");
    expect(events.filter(({ type }) => type === "done")).toMatchObject([
      { status: "success", result: "Two." },
    ]);
    expect(fake.problems).toEqual([]);
  });

  it("queued prompts get a turn each, in their order, once the model is done", async () => {
    const { session, server: fake } = await sessionWith([
      looking,
      { text: "One." },
      { text: "Two." },
      { text: "Three." },
    ]);
    session.queue("first");
    const events: AgentEvent[] = [];
    const running = session.run("go");
    // Said before the run: it goes before the prompt. Said within it: after the turn.
    for await (const event of running) {
      events.push(event);
      if (event.type === "tool_call" && event.call.status === "success") {
        session.queue("second");
        session.queue("third");
      }
    }
    expect(saidIn(events).filter((line) => line.startsWith("user"))).toEqual([
      "user: first",
      "user: go",
      "user: second",
      "user: third",
    ]);
    expect(events.at(-1)).toMatchObject({ status: "success", result: "Three.", turns: 1 });
    expect(fake.problems).toEqual([]);
  });

  it("what was not sent when the run was interrupted can be taken back, or goes before the next prompt", async () => {
    const { session, server: fake } = await sessionWith([looking, { text: "Late." }]);
    const controller = new AbortController();
    for await (const event of session.run("go", controller.signal)) {
      if (event.type !== "tool_call" || controller.signal.aborted) continue;
      session.steer("steered");
      session.queue("queued");
      controller.abort();
    }
    expect(session.takeWaiting()).toEqual(["steered", "queued"]);
    expect(session.takeWaiting()).toEqual([]);
    session.steer("once more");
    for await (const event of session.run("go on")) void event;
    const last = session.history.at(-2)?.parts.flatMap(({ text }) => text ?? []);
    expect(last).toEqual(["once more", "go on"]);
    expect(fake.problems).toEqual([]);
  });
});
