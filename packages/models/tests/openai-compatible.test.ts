import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ModelEvent } from "@burin/contract/chat-model";
import type { Message } from "@burin/contract/messages/message";
import type { FakeReply } from "@burin/testing/fake-model-server";
import { ASK, ask, closeServers, delta, raw, readAll, serve, sse } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openAiCompatible, openModel } from "../src/choice/open-model.ts";

const KEY = "sk-very-secret-key";
const STOP: ModelEvent = { type: "end", reason: "stop" };
const HELLO: ModelEvent[] = [{ type: "text", text: "Hello" }, STOP];

afterEach(closeServers);

function textOf(events: readonly ModelEvent[], type: "text" | "thought"): string {
  return events.map((event) => (event.type === type ? event.text : "")).join("");
}

describe("a whole exchange", () => {
  it("P10 streams text and thought, gives whole calls, and sends their answers back so that a strict server agrees", async () => {
    const calls = [
      { name: "read_file", args: { path: "src/grüße.ts", note: "漢字 😀" } },
      { name: "ls", args: {} },
    ];
    const usage = { inputTokens: 10, outputTokens: 4, cachedTokens: 6 };
    const server = await serve(
      { thought: "let me look around", text: "I will read it now.", calls, usage },
      { text: "Done." },
    );
    const first = await ask({ baseUrl: server.baseUrl, apiKey: `${KEY}\n` });
    expect(textOf(first, "text")).toBe("I will read it now.");
    expect(textOf(first, "thought")).toBe("let me look around");
    expect(first.filter((event) => event.type === "text").length).toBeGreaterThan(1);
    expect(first.slice(-4)).toEqual([
      { type: "function_call", call: { id: "call_1", ...calls[0] } },
      { type: "function_call", call: { id: "call_2", ...calls[1] } },
      { type: "usage", usage },
      STOP,
    ]);
    const asked = first.flatMap((event) => (event.type === "function_call" ? [event.call] : []));
    const history: Message[] = [
      ASK,
      { role: "model", parts: asked.map((functionCall) => ({ functionCall })) },
      {
        role: "user",
        parts: asked.map(({ id, name }) => ({ functionResponse: { id, name, response: { output: name } } })),
      },
    ];
    expect(textOf(await ask({ baseUrl: `${server.baseUrl}/` }, history), "text")).toBe("Done.");
    expect(server.problems).toEqual([]);
    expect(server.unusedReplies()).toEqual([]);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(server.requests[1]?.headers.authorization).toBeUndefined();
  });

  it("uses one connection for one request after the other", async () => {
    const ports = new Set<number | undefined>();
    const reply: FakeReply = {
      raw: (request, response) => {
        ports.add(request.socket.remotePort);
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(sse(delta({ content: "Hello" }, "stop"), "[DONE]"));
        setTimeout(() => response.end(), 5);
      },
    };
    const { baseUrl } = await serve(reply, reply, reply);
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await ask({ baseUrl })).toEqual(HELLO);
      // The client itself frees the connection only in the next turn of the event loop.
      await nextTurn();
    }
    expect(ports.size).toBe(1);
  });

  it("takes the address of the end point itself and keeps a query", async () => {
    const { baseUrl } = await serve({ text: "a" }, { text: "b" });
    expect((await ask({ baseUrl: `${baseUrl}/chat/completions` })).at(-1)).toEqual(STOP);
    expect((await ask({ baseUrl: ` ${baseUrl}?api-version=1 ` })).at(-1)).toEqual(STOP);
  });

  it.each([
    ["openai", "/completions", "/v1/chat/completions"],
    ["openai", "/responses", "/v1/chat/completions"],
    ["openai", "/models/", "/v1/chat/completions"],
    ["openai-responses", "/chat/completions", "/v1/responses"],
    ["anthropic", "/messages", "/v1/messages"],
  ] as const)(
    "P54 an address that was copied with its path is understood: %s, %s",
    async (provider, path, asked) => {
      const server = await serve({ text: "a" });
      const model = openModel({ provider, name: "m", baseUrl: `${server.baseUrl}${path}` });
      const events = await readAll(model);
      expect(events.at(-1)).toEqual(STOP);
      expect(server.requests.map((request) => request.path)).toEqual([asked]);
    },
  );

  it("makes a new id where the server gives one that the history has", async () => {
    const body = sse(
      delta(
        { tool_calls: [{ index: 0, id: "call_0", function: { name: "ls", arguments: "{}" } }] },
        "tool_calls",
      ),
    );
    const { baseUrl } = await serve(raw(body));
    const history: Message[] = [
      ASK,
      { role: "model", parts: [{ functionCall: { id: "call_0", name: "ls", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { id: "call_0", name: "ls", response: { output: "" } } }] },
    ];
    const [event] = await ask({ baseUrl }, history);
    expect(event).toMatchObject({ type: "function_call", call: { name: "ls", args: {} } });
    expect(JSON.stringify(event)).not.toContain("call_0");
  });
});

describe("abort", () => {
  const moments: Record<string, (response: ServerResponse) => void> = {
    "before the head": () => undefined,
    "after the head": (response) => response.flushHeaders(),
    "in the text": (response) => response.write(sse(delta({ content: "Hello" }))),
    "in the arguments": (response) =>
      response.write(
        sse(delta({ tool_calls: [{ index: 0, id: "a", function: { name: "ls", arguments: '{"a' } }] })),
      ),
    "in an error answer": (response) => {
      response.writeHead(500);
      response.write("oh");
    },
  };
  it.each(Object.entries(moments))(
    "%s ends as cancelled and closes the connection",
    async (_title, begin) => {
      const controller = new AbortController();
      let closed: Promise<unknown> | undefined;
      const { baseUrl } = await serve({
        raw: (_request, response) => {
          closed = once(response, "close");
          begin(response);
          setTimeout(() => controller.abort(), 30);
        },
      });
      const model = openAiCompatible({ name: "m", baseUrl });
      const events: ModelEvent[] = [];
      for await (const event of model.stream({ system: "", history: [ASK], tools: [] }, controller.signal))
        events.push(event);
      expect(events.filter((event) => event.type !== "text")).toEqual([{ type: "end", reason: "cancelled" }]);
      await closed;
    },
  );

  it("before the start sends nothing, and after the first text gives no more", async () => {
    const server = await serve({
      text: "a text that comes in many pieces",
      calls: [{ name: "ls", args: {} }],
    });
    const controller = new AbortController();
    const model = openAiCompatible({ name: "m", baseUrl: server.baseUrl });
    const request = { system: "", history: [ASK], tools: [] };
    const events: ModelEvent[] = [];
    for await (const event of model.stream(request, AbortSignal.abort())) events.push(event);
    expect(server.requests).toHaveLength(0);
    for await (const event of model.stream(request, controller.signal)) {
      events.push(event);
      controller.abort();
    }
    const cancelled = { type: "end", reason: "cancelled" };
    expect(events).toEqual([cancelled, { type: "text", text: "a text " }, cancelled]);
  });

  it("leaving the loop closes the connection", async () => {
    let closed: Promise<unknown> | undefined;
    const { baseUrl } = await serve({
      raw: (_request, response) => {
        closed = once(response, "close");
        response.write(sse(delta({ content: "Hello" })));
      },
    });
    const model = openAiCompatible({ name: "m", baseUrl });
    const { signal } = new AbortController();
    for await (const event of model.stream({ system: "", history: [ASK], tools: [] }, signal)) {
      expect(event.type).toBe("text");
      break;
    }
    await closed;
  });
});
