import type { ModelEvent, ModelRequest } from "@burin/contract/chat-model";
import type { FunctionDeclaration, Message } from "@burin/contract/messages/message";
import type { FakeReply } from "@burin/testing/fake-model-server";
import { ASK, closeServers, delta, raw, readAll, serve, sse } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { type ModelChoice, openModel } from "../src/choice/open-model.ts";

afterEach(closeServers);

const TOOLS: FunctionDeclaration[] = ["read_file", "list_directory"].map((name) => ({
  name,
  description: name,
  parameters: {
    type: "object",
    properties: { path: { type: "string" }, deep: { type: "boolean" } },
    required: ["path"],
  },
}));

async function open(replies: FakeReply[], choice: Partial<ModelChoice> = {}) {
  const { baseUrl, requests, problems } = await serve(...replies);
  const model = openModel({ provider: "openai", name: "m", baseUrl, ...choice });
  const read = (request: Partial<ModelRequest> = {}) =>
    readAll(model, { system: "", tools: TOOLS, ...request });
  return { read, requests, problems };
}

async function replyTo(reply: string | FakeReply, choice: Partial<ModelChoice> = {}): Promise<ModelEvent[]> {
  const { read } = await open([typeof reply === "string" ? raw(reply) : reply], choice);
  return read();
}

function textOf(events: readonly ModelEvent[]): string {
  let text = "";
  for (const event of events) {
    if (event.type === "text") text += event.text;
    if (event.type === "thought" && event.takesText) text = "";
  }
  return text;
}

function callsOf(events: readonly ModelEvent[]) {
  return events.flatMap((event) => (event.type === "function_call" ? [event.call] : []));
}

const said = (...pieces: string[]): string =>
  sse(...pieces.map((content) => delta({ content })), delta({}, "stop"), "[DONE]");

describe("P36 thoughts in the content", () => {
  const answer = "The answer is 4.";
  it.each([
    ["between tags", `<think>\nTwo and two.\n</think>\n\n${answer}`],
    ["with another tag", `<thought>Two and two.</thought>${answer}`],
    ["with the tag of gpt-oss", `<reasoning>Two and two.</reasoning>${answer}`],
    ["with the tag of Seed", `<seed:think>Two and two.</seed:think>${answer}`],
    ["in brackets", `[THINK]Two and two.[/THINK]${answer}`],
    ["behind a template that has begun them", `Two and two.\n</think>\n\n${answer}`],
  ])("%s are thoughts, however they are cut", async (_title, content) => {
    for (const pieces of [[content], [...content], content.split(" ").map((word) => `${word} `)]) {
      const events = await replyTo(said(...pieces));
      expect(textOf(events).trim()).toBe(answer);
      expect(events.some((event) => event.type === "thought")).toBe(true);
    }
  });

  it("are not found where an answer speaks of the tags", async () => {
    for (const text of [
      "Models close with `</think>` here.\nYes.",
      "Write </think> behind it, then go on.",
    ]) {
      expect(textOf(await replyTo(said(...text)))).toBe(text);
    }
  });

  it("make no call", async () => {
    const call = '<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>';
    for (const content of [`<think>\n${call}\n</think>\nDone.`, `So:\n${call}\n</think>\nDone.`]) {
      const events = await replyTo(said(...content));
      expect(callsOf(events)).toEqual([]);
      expect(textOf(events).trim()).toBe("Done.");
    }
  });
});

describe("P15 arguments that are nearly JSON", () => {
  const making = (text: string, finish = "tool_calls"): string =>
    sse(
      delta({
        tool_calls: [
          { index: 0, id: "c1", type: "function", function: { name: "read_file", arguments: text } },
        ],
      }),
      delta({}, finish),
    );
  it.each([
    ['{"path": "a b",}', { path: "a b" }],
    ["{'path': 'a b', 'deep': True}", { path: "a b", deep: true }],
    ['```json\n{"path": "a b"}\n```', { path: "a b" }],
    ["{'path': 'it\\'s \"here\"'}", { path: 'it\'s "here"' }],
    ['{"path": "line\nbreak"}', { path: "line\nbreak" }],
    ["{path: 'a'}", { path: "a" }],
  ])("are repaired where they can mean one thing only: %s", async (text, args) => {
    expect(callsOf(await replyTo(making(text)))).toEqual([{ id: "c1", name: "read_file", args }]);
  });

  it.each([
    ["several readings", "{'path': 'a', 'deep': 'b', 'path2': 'x', 'y': 'z'' }"],
    ["an apostrophe between single quotes", "{'path': 'it's here'}"],
    ["an apostrophe that looks like an end", "{'path': 'a', 'deep': 'b's'}"],
    ["two objects", '{"path": "a",} {"path": "b"}'],
    ["no reading that fits", "{'file': 'a',}"],
    ["a text that is cut", '{"path": "a'],
  ])("stay an error of the call with %s", async (_title, text) => {
    expect(callsOf(await replyTo(making(text)))).toMatchObject([{ argsError: expect.any(String) }]);
  });

  it("are not guessed where the limit cut them", async () => {
    expect(callsOf(await replyTo(making("{'path': 'a',}", "length")))).toMatchObject(
      [{ argsError: /limit/ }].map(() => ({ argsError: expect.stringContaining("limit") })),
    );
  });
});

describe("P15 names that are nearly a tool's", () => {
  it.each([
    "List_Directory",
    "functions.list_directory",
    "list_directory<|channel|>commentary",
    "listDirectory",
    "default_api:list_directory",
    "functions.list_directory:0",
  ])("%s means list_directory", async (name) => {
    const calls = callsOf(await replyTo({ calls: [{ name, args: { path: "." } }] }));
    expect(calls.map((call) => call.name)).toEqual(["list_directory"]);
  });

  it("others stay as they are", async () => {
    const calls = callsOf(await replyTo({ calls: [{ name: "write_file", args: {} }] }));
    expect(calls.map((call) => call.name)).toEqual(["write_file"]);
  });
});

describe("P10 other forms of a reply", () => {
  it("understands the legacy function_call, streamed and whole", async () => {
    const name = "read_file";
    const streamed = sse(
      delta({ function_call: { name, arguments: '{"pa' } }),
      delta({ function_call: { arguments: 'th": "a"}' } }),
      delta({}, "function_call"),
    );
    const message = { role: "assistant", content: null, function_call: { name, arguments: '{"path": "a"}' } };
    const whole = JSON.stringify({ choices: [{ message, finish_reason: "function_call" }] });
    for (const body of [streamed, whole]) {
      expect(callsOf(await replyTo(body))).toMatchObject([{ name, args: { path: "a" } }]);
    }
  });

  it("understands chunks of one line each, of chat completions and of Ollama", async () => {
    const lines = [delta({ content: "Hel" }), delta({ content: "lo" }, "stop")];
    const ollama = [
      { message: { role: "assistant", content: "Hel" }, done: false },
      { message: { role: "assistant", content: "lo" }, done: true, done_reason: "stop" },
    ];
    for (const chunks of [lines, ollama]) {
      const events = await replyTo(chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join(""));
      expect(textOf(events)).toBe("Hello");
      expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
    }
  });

  it("takes the tools that a service runs itself for no call", async () => {
    const block = (index: number, content_block: object) => ({
      type: "content_block_start",
      index,
      content_block,
    });
    const anthropic = sse(
      block(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: '{"query": "x"}' },
      },
      block(1, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }),
      block(2, { type: "text", text: "Found." }),
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    );
    const chat = sse(
      delta({ tool_calls: [{ index: 0, id: "ws_1", type: "web_search", web_search: { query: "x" } }] }),
      delta({ tool_calls: [{ index: 0, web_search: { done: true } }] }),
      delta({ content: "Found." }, "stop"),
    );
    const responses = sse(
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { type: "mcp_call", id: "m1", name: "x", arguments: "" },
      },
      { type: "response.mcp_call_arguments.delta", output_index: 0, delta: "{}" },
      { type: "response.output_text.delta", output_index: 1, delta: "Found." },
      { type: "response.completed", response: { status: "completed" } },
    );
    const all = [
      ["anthropic", anthropic],
      ["openai", chat],
      ["openai-responses", responses],
    ] as const;
    for (const [provider, body] of all) {
      const events = await replyTo(body, { provider });
      expect(callsOf(events)).toEqual([]);
      expect(textOf(events)).toBe("Found.");
    }
  });

  it("P34 a completed response without text behind the answers of tools is the end of the turn", async () => {
    const body = sse({
      type: "response.completed",
      response: {
        status: "completed",
        output: [{ type: "message", content: [{ type: "output_text", text: "" }] }],
      },
    });
    const { read } = await open([raw(body), raw(body)], { provider: "openai-responses" });
    const functionCall = { id: "c1", name: "read_file", args: {} };
    const functionResponse = { id: "c1", name: "read_file", response: { output: "seen" } };
    const history: Message[] = [
      ASK,
      { role: "model", parts: [{ functionCall }] },
      { role: "user", parts: [{ functionResponse }] },
    ];
    expect(await read({ history })).toEqual([{ type: "end", reason: "stop" }]);
    expect((await read()).at(-1)).toMatchObject({ error: { isPassing: true } });
  });

  it("P34 a reply whose protocol tells its end, and that ends without, is taken up again", async () => {
    const text = { type: "text_delta", text: "Hel" };
    const messages = sse(
      { type: "message_start", message: { usage: { input_tokens: 5 } } },
      { type: "content_block_delta", index: 0, delta: text },
    );
    const responses = sse(
      { type: "response.created", response: { status: "in_progress" } },
      { type: "response.output_text.delta", output_index: 0, delta: "Hel" },
    );
    for (const [provider, body] of [
      ["anthropic", messages],
      ["openai-responses", responses],
    ] as const) {
      const events = await replyTo(body, { provider });
      expect(textOf(events)).toBe("Hel");
      expect(events.at(-1)).toMatchObject({ reason: "error", error: { type: "bad_reply", isPassing: true } });
    }
  });

  it("P35 shows why a model of Anthropic refuses", async () => {
    const stop_details = { type: "refusal", category: "cyber", explanation: "It asks for an attack." };
    const body = sse(
      { type: "message_start", message: { usage: { input_tokens: 5 } } },
      { type: "message_delta", delta: { stop_reason: "refusal", stop_details }, usage: { output_tokens: 4 } },
      { type: "message_stop" },
    );
    const end = (await replyTo(body, { provider: "anthropic" })).at(-1);
    expect(end).toMatchObject({ error: { message: expect.stringContaining("It asks for an attack.") } });
  });

  it("P10 takes Responses events that name their item by its id for those that name its place", async () => {
    const item = { type: "function_call", id: "fc_1", call_id: "c1", name: "read_file", arguments: "" };
    const args = '{"path":"a"}';
    const body = sse(
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.function_call_arguments.delta", item_id: "fc_1", delta: args },
      { type: "response.function_call_arguments.done", item_id: "fc_1", arguments: args },
      { type: "response.output_item.done", output_index: 0, item: { ...item, arguments: args } },
      { type: "response.completed", response: { status: "completed", output: [] } },
    );
    const calls = callsOf(await replyTo(body, { provider: "openai-responses" }));
    expect(calls).toEqual([{ id: "c1", name: "read_file", args: { path: "a" } }]);
  });

  it("P10 takes from a completed response what was only announced before", async () => {
    const message = { type: "message", id: "m1", content: [] };
    const whole = { ...message, content: [{ type: "output_text", text: "Hello" }] };
    const body = sse(
      { type: "response.output_item.added", output_index: 0, item: message },
      { type: "response.completed", response: { status: "completed", output: [whole] } },
    );
    expect(textOf(await replyTo(body, { provider: "openai-responses" }))).toBe("Hello");
  });

  it.each([
    ["Databricks, thoughts as a part", { content: [{ type: "reasoning", summary: [{ text: "Hm." }] }] }],
    ["Mistral, thoughts as a part", { content: [{ type: "thinking", thinking: [{ text: "Hm." }] }] }],
  ])("P10 %s", async (_who, first) => {
    const events = await replyTo(sse(delta(first), delta({ content: "Hello" }), delta({}, "stop"), "[DONE]"));
    expect(events.find(({ type }) => type === "thought")).toMatchObject({ text: "Hm." });
    expect(textOf(events)).toBe("Hello");
  });

  it.each([
    ["under the names of Responses", { input_tokens: 10, output_tokens: 5 }, { outputTokens: 5 }],
    [
      "with thoughts in the total alone",
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 90 },
      { outputTokens: 80 },
    ],
    [
      "with a price in parts",
      { prompt_tokens: 10, completion_tokens: 5, cost: { total_cost: 0.006 } },
      { cost: 0.006 },
    ],
  ])("P6 usage %s is counted", async (_how, usage, counted) => {
    const events = await replyTo(sse(delta({ content: "Hello" }, "stop"), { choices: [], usage }, "[DONE]"));
    const told = events.find(({ type }) => type === "usage");
    expect(told).toMatchObject({ usage: { inputTokens: 10, ...counted } });
  });

  it.each(["max_output_tokens", "MAX_TOKENS", "token_limit"])(
    "P4 the limit is one as %s, too",
    async (reason) => {
      const events = await replyTo(sse(delta({ content: "Hel" }), delta({}, reason), "[DONE]"));
      expect(events.at(-1)).toMatchObject({ reason: "length" });
    },
  );

  it("P5 z.ai's end of a conversation that is too long is one", async () => {
    const events = await replyTo(sse(delta({ content: "" }, "model_context_window_exceeded")));
    expect(events.at(-1)).toMatchObject({ error: { type: "context_length" } });
  });
});

describe("P36 what a compatible service wants back with a reply", () => {
  /** The history as the agent would keep it. */
  function kept(events: readonly ModelEvent[]): Message[] {
    const signatures = new Map(
      events.flatMap((event) =>
        event.type === "thought" && event.callId ? [[event.callId, event.signature]] : [],
      ),
    );
    const parts = events.flatMap((event): Message["parts"] => {
      if (event.type === "thought" && event.signature && !event.callId) {
        return [{ text: "", thought: true, thoughtSignature: event.signature }];
      }
      if (event.type !== "function_call") return [];
      const thoughtSignature = signatures.get(event.call.id);
      return [{ functionCall: event.call, ...(thoughtSignature ? { thoughtSignature } : {}) }];
    });
    const functionResponse = { id: "c1", name: "read_file", response: { output: "seen" } };
    return [ASK, { role: "model", parts }, { role: "user", parts: [{ functionResponse }] }];
  }
  const call = {
    index: 0,
    id: "c1",
    type: "function",
    function: { name: "read_file", arguments: '{"path": "a"}' },
  };

  const extra_content = { google: { thought_signature: "c2ln" } };
  // microsoft/vscode-copilot-chat#2178, anomalyco/opencode#8900
  it.each([
    ["Gemini's thought signatures go back with the call", { extra_content }, {}],
    ["Copilot's opaque reasoning goes back with the message", {}, { reasoning_opaque: "c2ln" }],
  ])("%s", async (_title, ofCall, ofMessage) => {
    const told = delta({ tool_calls: [{ ...call, ...ofCall }], ...ofMessage });
    const { read, requests } = await open([raw(sse(told, delta({}, "tool_calls"))), { text: "ok" }]);
    await read({ history: kept(await read()) });
    expect(requests[1]?.body.messages).toContainEqual(
      expect.objectContaining({ ...ofMessage, tool_calls: [expect.objectContaining(ofCall)] }),
    );
  });

  it("OpenRouter's reasoning_details go back as they came, and to nobody who refuses them", async () => {
    const text = { type: "reasoning.text", index: 0, format: "anthropic-claude-v1" };
    const secret = { type: "reasoning.encrypted", index: 1, id: "c1", data: "c2VjcmV0" };
    const body = sse(
      delta({ reasoning: "I ", reasoning_details: [{ ...text, text: "I " }] }),
      delta({ reasoning: "look", reasoning_details: [{ ...text, text: "look" }] }),
      delta({ reasoning_details: [{ ...text, signature: "c2ln" }] }),
      delta({ reasoning_details: [secret], tool_calls: [call] }),
      delta({}, "tool_calls"),
    );
    const refusal = { status: 400, message: "property 'reasoning_details' is unsupported" };
    const { read, requests } = await open([raw(body), { text: "ok" }, { error: refusal }, { text: "ok" }]);
    const events = await read();
    expect(
      events
        .filter((event) => event.type === "thought")
        .map((event) => event.type === "thought" && event.text)
        .join(""),
    ).toBe("I look");
    const history = kept(events);
    await read({ history });
    const details = [{ ...text, text: "I look", signature: "c2ln" }, secret];
    expect(requests[1]?.body.messages).toContainEqual(
      expect.objectContaining({ reasoning_details: details }),
    );
    expect((await read({ history })).at(-1)).toMatchObject({ reason: "stop" });
    expect(JSON.stringify(requests[3]?.body)).not.toContain("reasoning_details");
  });
});
