import { setTimeout as pause } from "node:timers/promises";
import type { ModelEvent } from "@burin/contract/chat-model";
import type { FakeReply } from "@burin/testing/fake-model-server";
import {
  ask,
  closeServers,
  delta,
  findFailure,
  raw,
  readReply,
  serve,
  sse,
} from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";

const STOP: ModelEvent = { type: "end", reason: "stop" };
const HELLO: ModelEvent[] = [{ type: "text", text: "Hello" }, STOP];

afterEach(closeServers);

describe("replies as servers really send them", () => {
  const usage = { prompt_tokens: 3, completion_tokens: 1 };
  const told: ModelEvent = { type: "usage", usage: { inputTokens: 3, outputTokens: 1, cachedTokens: 0 } };
  it.each<[string, string, ModelEvent[]]>([
    ["P34 no finish reason and no [DONE]", sse(delta({ content: "Hello" })), HELLO],
    [
      "P34 an empty finish reason",
      sse({ choices: [{ delta: { content: "Hello" }, finish_reason: "" }] }),
      HELLO,
    ],
    ["P34 a last event without a blank line", sse(delta({ content: "Hello" }, "stop")).trimEnd(), HELLO],
    [
      "P34 usage in a chunk of its own, also with null choices",
      sse(delta({ content: "Hello" }, "stop"), { choices: null, usage }),
      [HELLO[0] ?? STOP, told, STOP],
    ],
    ["P34 an empty reply that is properly finished", sse(delta({ content: "" }, "stop"), "[DONE]"), [STOP]],
    [
      "P34 a chunk that is no JSON among good ones, which is told, and mere words, which are not",
      sse(delta({ content: "Hel" }), "ping", "{bad", delta({ content: "lo" }, "stop")),
      [
        { type: "text", text: "Hel" },
        { type: "text", text: "lo" },
        { type: "notice", message: "A piece of the reply could not be read and is missing from it: {bad" },
        STOP,
      ],
    ],
    [
      "P6 usage of a key of the user's own at OpenRouter, whose costs are not in the router's (forgecode#1641)",
      sse(delta({ content: "Hello" }, "stop"), {
        choices: [],
        usage: { ...usage, cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.036 } },
      }),
      [
        HELLO[0] ?? STOP,
        { type: "usage", usage: { inputTokens: 3, outputTokens: 1, cachedTokens: 0, cost: 0.037 } },
        STOP,
      ],
    ],
    [
      "P10 calls in Snowflake's own form (langchain-snowflake#40)",
      sse(
        delta({ type: "text", content: "Hello", content_list: [{ type: "text", text: "Hello" }] }),
        delta({ type: "tool_use", tool_use_id: "tooluse_1", name: "ls" }),
        delta({ type: "tool_use", input: '{"path":' }),
        delta({ type: "tool_use", input: '"a"}' }),
        delta({ type: "tool_use", tool_use_id: "tooluse_2", name: "ls" }),
        delta({ type: "tool_use", input: '{"path":"b"}' }),
      ),
      [
        HELLO[0] ?? STOP,
        { type: "function_call", call: { id: "tooluse_1", name: "ls", args: { path: "a" } } },
        { type: "function_call", call: { id: "tooluse_2", name: "ls", args: { path: "b" } } },
        STOP,
      ],
    ],
    ["comments as signs of life", `: ping\n\n${sse(delta({ content: "Hello" }, "stop"))}: ping\n\n`, HELLO],
    [
      "content as a list of parts",
      sse(
        delta(
          {
            content: [
              { type: "thinking", thinking: [{ text: "hm" }] },
              { type: "text", text: "Hello" },
            ],
          },
          "stop",
        ),
      ),
      [{ type: "thought", text: "hm" }, ...HELLO],
    ],
    [
      "reasoning under both names",
      sse(delta({ reasoning: "hm", reasoning_content: "hm" }), delta({ content: "Hello" }, "stop")),
      [{ type: "thought", text: "hm" }, ...HELLO],
    ],
    [
      "data after [DONE]",
      sse(delta({ content: "Hello" }, "stop"), "[DONE]", delta({ content: "again" })),
      HELLO,
    ],
    [
      "the output limit",
      sse(delta({ content: "Hello" }, "length")),
      [HELLO[0] ?? STOP, { type: "end", reason: "length" }],
    ],
  ])("%s", async (_title, body, events) => {
    expect(await readReply(raw(body))).toEqual(events);
  });

  it("reads a plain JSON answer from a server that ignores stream, whatever it calls it", async () => {
    const tool_calls = [{ id: "a", type: "function", function: { name: "ls", arguments: '{"path":"."}' } }];
    const body = JSON.stringify(
      { choices: [{ message: { content: "Hello", tool_calls }, finish_reason: "tool_calls" }], usage },
      null,
      2,
    );
    for (const type of ["application/json", "text/event-stream"]) {
      expect(await readReply(raw(body, { type }))).toEqual([
        HELLO[0],
        { type: "function_call", call: { id: "a", name: "ls", args: { path: "." } } },
        told,
        STOP,
      ]);
    }
    expect(await readReply(raw(sse(delta({ content: "Hello" })), { type: "text/plain" }))).toEqual(HELLO);
  });

  it("P9 a call that the output limit cut is given with the reason and without arguments", async () => {
    const cut = delta({
      tool_calls: [{ index: 0, id: "a", function: { name: "write_file", arguments: '{"content":"abc' } }],
    });
    const events = await readReply(raw(sse(cut, delta({}, "length"), "[DONE]")));
    expect(events).toEqual([
      {
        type: "function_call",
        call: { id: "a", name: "write_file", args: {}, argsError: expect.stringContaining("output limit") },
      },
      { type: "end", reason: "length" },
    ]);
  });

  it("runs no call in whose arguments a chunk was unreadable, though the rest would read as JSON", async () => {
    const begun = { index: 0, id: "a", function: { name: "write_file", arguments: '{"content":"abc' } };
    const rest = { index: 0, function: { arguments: 'ghi"}' } };
    const body = sse(delta({ tool_calls: [begun] }), "{bad", delta({ tool_calls: [rest] }, "tool_calls"));
    const [event] = await readReply(raw(body));
    expect(event).toMatchObject({ call: { id: "a", args: {}, argsError: expect.stringContaining("lost") } });
  });

  it("reads to the end when the connection breaks after the reply was finished, and fails when before", async () => {
    const breaking = (body: string): FakeReply => ({
      raw: async (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(body);
        await pause(20);
        response.destroy();
      },
    });
    expect(await readReply(breaking(sse(delta({ content: "Hello" }, "stop"))))).toEqual(HELLO);
    const call = { index: 0, id: "a", function: { name: "ls", arguments: "{}" } };
    const events = await readReply(breaking(sse(delta({ content: "Hello", tool_calls: [call] }))));
    expect(events).toHaveLength(2);
    expect(findFailure(events)).toMatchObject({
      type: "unreachable",
      message: expect.stringContaining("closed the connection"),
    });
  });

  it("does not wait for a server that keeps the connection open after [DONE]", async () => {
    const { baseUrl } = await serve({
      raw: (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(sse(delta({ content: "Hello" }, "stop"), "[DONE]"));
      },
    });
    expect(await ask({ baseUrl })).toEqual(HELLO);
  });
});
