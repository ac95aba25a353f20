import { afterEach, describe, expect, it } from "vitest";
import { type FakeModelServer, type FakeReply, startFakeModelServer } from "./index.ts";

const SYSTEM = { role: "system", content: "s" };
const USER = { role: "user", content: "go" };
const servers: FakeModelServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(...replies: FakeReply[]): Promise<FakeModelServer> {
  const server = await startFakeModelServer(replies);
  servers.push(server);
  return server;
}

async function post(server: FakeModelServer, body: unknown): Promise<Response> {
  return fetch(`${server.baseUrl}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
}

function assistant(...ids: string[]) {
  const tool_calls = ids.map((id) => ({ id, type: "function", function: { name: "ls", arguments: "{}" } }));
  return { role: "assistant", content: null, tool_calls };
}

function tool(id: string) {
  return { role: "tool", tool_call_id: id, content: "" };
}

function calling(name: string, given: unknown) {
  return {
    ...assistant(),
    tool_calls: [{ id: "a", type: "function", function: { name, arguments: given } }],
  };
}

describe("the fake model server", () => {
  it("lists its model, records requests and answers a request without stream whole", async () => {
    const server = await serve({ text: "hi", calls: [{ name: "ls", args: {} }] }, { text: "unused" });
    expect(await (await fetch(`${server.baseUrl}/models`)).json()).toEqual({
      object: "list",
      data: [{ id: "fake-model", object: "model" }],
    });
    expect((await fetch(`${server.baseUrl}/other`)).status).toBe(404);
    const body = { model: "m", messages: [SYSTEM, USER] };
    expect(await (await post(server, body)).json()).toMatchObject({
      choices: [{ message: { content: "hi", tool_calls: [{ id: "call_1" }] }, finish_reason: "tool_calls" }],
    });
    expect(server.requests).toMatchObject([{ body, bodyBytes: JSON.stringify(body).length }]);
    expect(server.requests[0]?.headers["content-type"]).toContain("text/plain");
    expect(server.unusedReplies()).toEqual([{ text: "unused" }]);
    expect(server.problems).toEqual([]);
  });

  it("streams a call in fragments and ends with usage and [DONE]", async () => {
    const server = await serve((request) => ({
      calls: [{ name: "ls", args: { path: String(request.body.model) } }],
    }));
    const text = await (await post(server, { model: "some-model", stream: true, messages: [USER] })).text();
    const events = text.split("\n\n").filter((event) => event !== "");
    expect(events.at(-1)).toBe("data: [DONE]");
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice("data: ".length)));
    const fragments = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(fragments.length).toBeGreaterThan(3);
    expect(fragments.map((fragment) => fragment.function.arguments).join("")).toBe('{"path":"some-model"}');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 0 } });
  });

  it("plays an error as a status, or inside the stream", async () => {
    const server = await serve(
      { error: { message: "slow", status: 429 } },
      { text: "so", error: { message: "boom" } },
    );
    const body = { model: "m", stream: true, messages: [USER] };
    expect((await post(server, body)).status).toBe(429);
    expect(await (await post(server, body)).text()).toMatch(/"so".*"error":\{"message":"boom"/s);
  });

  it("keeps the protocol over several rounds of calls", async () => {
    const server = await serve({ text: "x" });
    const messages = [
      SYSTEM,
      USER,
      assistant("a", "b"),
      tool("b"),
      tool("a"),
      assistant("c"),
      tool("c"),
      USER,
    ];
    expect((await post(server, { model: "m", messages })).status).toBe(200);
    expect(server.problems).toEqual([]);
  });

  const image = (url: string) => ({ role: "user", content: [{ type: "image_url", image_url: { url } }] });
  it.each<[string, unknown[], RegExp]>([
    [
      "a call without an answer at the end",
      [USER, assistant("a", "b"), tool("a")],
      /no answer to the call b/,
    ],
    [
      "a call without an answer before the user",
      [USER, assistant("a"), USER],
      /messages\[2\] comes before it: no answer/,
    ],
    ["an answer without a call", [USER, tool("z")], /"z" is answered, which no call has/],
    ["an answer given twice", [USER, assistant("a"), tool("a"), tool("a")], /a is answered once more/],
    [
      "an answer that comes too late",
      [USER, assistant("a"), tool("a"), assistant("b"), tool("b"), tool("a")],
      /too late/,
    ],
    ["an id used twice", [USER, assistant("a", "a"), tool("a")], /second call with the id a/],
    ["an id used again later", [USER, assistant("a"), tool("a"), assistant("a"), tool("a")], /second call/],
    ["a system message later", [USER, SYSTEM], /system message out of order/],
    ["two user messages", [USER, USER], /second user message/],
    ["an assistant first", [{ role: "assistant", content: "x" }, USER], /assistant message after start/],
    ["an assistant last", [USER, { role: "assistant", content: "x" }], /the last is of assistant/],
    [
      "an empty assistant",
      [USER, { role: "assistant", content: "" }, USER],
      /neither content nor tool calls/,
    ],
    ["an unknown role", [{ role: "model", content: "x" }], /unknown role "model"/],
    ["arguments as an object", [USER, calling("ls", {}), tool("a")], /not JSON text of an object/],
    ["arguments of a list", [USER, calling("ls", "[]"), tool("a")], /not JSON text of an object/],
    ["arguments cut", [USER, calling("ls", '{"a'), tool("a")], /not JSON text of an object/],
    ["a tool name that is not allowed", [USER, calling("a.b", "{}"), tool("a")], /"a\.b" is not allowed/],
    ["a tool name that is too long", [USER, calling("x".repeat(65), "{}"), tool("a")], /not allowed/],
    ["an image that is none", [image("file:///etc/passwd")], /no usable content/],
    ["no messages", [], /a list is missing/],
  ])("refuses %s", async (_title, messages, words) => {
    const server = await serve({ text: "x" });
    const response = await post(server, { model: "m", messages });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/invalid_request_error/);
    expect(server.problems).toHaveLength(1);
    expect(server.problems[0]).toMatch(words);
    expect(server.unusedReplies()).toHaveLength(1);
  });

  it.each<[string, unknown, RegExp]>([
    ["an empty list", [], /at least one/],
    [
      "a name that is not allowed",
      [{ type: "function", function: { name: "a b", description: "", parameters: {} } }],
      /"a b" is not allowed/,
    ],
    ["no schema", [{ type: "function", function: { name: "a", description: "" } }], /not a schema/],
    ["another kind", [{ type: "web" }], /not a function/],
  ])("refuses tools with %s", async (_title, tools, words) => {
    const server = await serve({ text: "x" });
    expect((await post(server, { model: "m", messages: [USER], tools })).status).toBe(400);
    expect(server.problems[0]).toMatch(words);
  });

  it("refuses a request after the last reply, and a body that is no JSON", async () => {
    const server = await serve();
    expect((await post(server, { model: "m", messages: [USER] })).status).toBe(400);
    expect((await post(server, "text")).status).toBe(400);
    expect(server.problems).toEqual([
      "Request 1: no reply is left in the script",
      "Request 2: model: a name is missing",
    ]);
  });
});
