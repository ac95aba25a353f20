import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, BaseTool, createSession } from "@burin/core";
import { buildHistory, openModel, withRetries } from "@burin/core/sessions";
import {
  type FakeModelServer,
  type FakeReply,
  type ScriptLine,
  startFakeModelServer,
} from "@burin/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolders, root } from "./folder.ts";

const PROVIDERS = ["openai", "openai-responses", "anthropic", "gemini"] as const;

let server: FakeModelServer | null = null;

makeFolders();
beforeEach(async () => {
  await writeFile(join(root, "a.txt"), "alpha\n");
});

afterEach(async () => {
  await server?.close();
  server = null;
});

/** A tool with an awkward name and schema, whose work can be seen on disk and in what it gives back. */
class Note extends BaseTool<{ text: string; count?: number }> {
  readonly name = "1-notes";
  readonly displayName = "Note";
  readonly kind = "edit";
  readonly description = "Appends a line.";
  readonly parameterSchema = {
    $defs: { line: { type: "string" } },
    type: "object",
    properties: { text: { $ref: "#/$defs/line" }, count: { anyOf: [{ type: "integer" }, { type: "null" }] } },
    required: ["text"],
    additionalProperties: false,
  };
  async execute({ text }: { text: string }) {
    await writeFile(join(root, "notes.txt"), `${text}\n`, { flag: "a" });
    const image = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };
    return { llmContent: ["noted", image], returnDisplay: "noted" };
  }
  getDescription() {
    return "note";
  }
}

async function play(provider: (typeof PROVIDERS)[number], script: readonly ScriptLine[]) {
  server = await startFakeModelServer(script);
  const choice = { provider, name: "fake", baseUrl: server.baseUrl, apiKey: "k" };
  const model = withRetries(openModel(choice), { firstDelayMs: 1 });
  const session = createSession({ root, model, tools: [new Note()], approvalMode: "yolo" });
  const events: AgentEvent[] = [];
  for (const prompt of ["first", "second"]) {
    for await (const event of session.run(prompt)) events.push(event);
  }
  return { session, events, server };
}

function wireName(body: unknown): string {
  return /"(_1-notes_[A-Za-z0-9_-]+)"/.exec(JSON.stringify(body))?.[1] ?? "";
}

describe("the same scripted task in every protocol", () => {
  const results = new Map<string, unknown>();
  it.each(PROVIDERS)("P10 P16 P36 %s", async (provider) => {
    const path = join(root, "a.txt");
    const script = (name: string): ScriptLine[] => [
      {
        thought: "I should read first.",
        text: "I look.",
        calls: [
          { name: "read_file", args: { absolute_path: path } },
          { name: "no_such_tool", args: {} },
        ],
        usage: { inputTokens: 100, outputTokens: 5, cachedTokens: 60 },
      },
      { error: { message: "overloaded", status: 503 } },
      { thought: "Now write.", calls: [{ name, args: { text: "grüße 漢字 😀", count: 1 } }] },
      { text: "Noted." },
      { text: "Bye." },
    ];
    // The service knows the tool by a name of its own making, so the script must say that one.
    const probe = await play(provider, [{ text: "x" }, { text: "y" }]);
    const name = wireName(probe.server.requests[0]?.body);
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    await probe.server.close();
    const { session, events, server: fake } = await play(provider, script(name));
    expect(fake.problems).toEqual([]);
    expect(fake.unusedReplies()).toEqual([]);
    expect(
      events.filter((event) => event.type === "tool_call" && event.call.status === "error"),
    ).toHaveLength(1);
    expect(await readFile(join(root, "notes.txt"), "utf8")).toBe("grüße 漢字 😀\n");
    expect(events.filter((event) => event.type === "done")).toMatchObject([
      { status: "success", result: "Noted.", turns: 3 },
      { status: "success", result: "Bye.", turns: 1 },
    ]);
    expect(events.filter((event) => event.type === "notice")).toMatchObject([
      { message: expect.stringMatching(/HTTP 503.*Attempt 2 of 6/) },
    ]);
    expect(buildHistory(events)).toEqual(session.history);
    const plain = JSON.stringify(session.history).replaceAll(root, "ROOT");
    // What a provider wants back is its own affair; all else is the same whoever was asked.
    const history = (
      JSON.parse(plain) as { parts: { thought?: boolean; thoughtSignature?: string }[] }[]
    ).map((message) =>
      message.parts.filter((part) => !part.thought).map(({ thoughtSignature: _, ...part }) => part),
    );
    results.set(provider, { history, usage: events.filter((event) => event.type === "usage")[0] });
    expect(results.get(provider)).toEqual(results.get(PROVIDERS[0]));
  });
});

describe("P36 services that want reasoning back, and services that refuse it", () => {
  const thoughtsIn = (body: unknown): unknown[] =>
    (body as { messages: { role: string; reasoning_content?: string }[] }).messages
      .filter(({ role }) => role === "assistant")
      .map((message) => message.reasoning_content);
  const wants = (body: unknown) =>
    thoughtsIn(body).every((thought) => typeof thought === "string" && thought !== "");
  const refuses = (body: unknown) => thoughtsIn(body).every((thought) => thought === undefined);

  it.each([
    ["wants", wants, 1],
    ["refuses", refuses, 0],
  ] as const)(
    "%s: a turn of three steps passes, and the next session's too",
    async (_title, isFine, lessons) => {
      const path = join(root, "a.txt");
      const calls = [{ name: "read_file", args: { absolute_path: path } }];
      let refusals = 0;
      const checked =
        (line: ScriptLine): FakeReply =>
        ({ body }) => {
          if (isFine(body)) return line;
          refusals += 1;
          return { error: { status: 400, message: "reasoning_content must be passed back, or must not" } };
        };
      const steps = [
        { thought: "one", calls },
        { thought: "two", calls },
        { thought: "three", text: "Done." },
      ].map(checked);
      const again = steps.slice(1, 1 + lessons);
      const started = await startFakeModelServer([...steps.slice(0, 1), ...again, ...steps.slice(1)]);
      server = started;
      const model = openModel({ provider: "openai", name: "m", baseUrl: started.baseUrl });
      const session = createSession({ root, model });
      const events: AgentEvent[] = [];
      for await (const event of session.run("go"))
        events.push(JSON.parse(JSON.stringify(event)) as AgentEvent);
      expect(events.at(-1)).toMatchObject({ status: "success", result: "Done.", turns: 3 });
      expect([refusals, started.unusedReplies(), started.problems]).toEqual([lessons, [], []]);
      // A session that is taken up again is folded from its events, so the thoughts are still there.
      expect(buildHistory(events).flatMap(({ parts }) => parts.filter((part) => part.thought))).toHaveLength(
        3,
      );
    },
  );
});
