import { gzipSync } from "node:zlib";
import type { ChatModel } from "@burin/contract/chat-model";
import type { FunctionDeclaration, Message } from "@burin/contract/messages/message";
import type { FakeReply } from "@burin/testing/fake-model-server";
import { ASK, closeServers, delta, readAll, serve, serveAs, sse } from "@burin/testing/served-model";
import type { ServiceName } from "@burin/testing/service-habits";
import { afterEach, describe, expect, it } from "vitest";
import { type ModelChoice, openModel } from "../src/choice/open-model.ts";

afterEach(closeServers);

type Provider = ModelChoice["provider"];

async function playing(service: ServiceName | undefined, provider: Provider, ...replies: FakeReply[]) {
  const server = await serveAs(service, ...replies);
  const open = (name = "m"): ChatModel => openModel({ provider, name, baseUrl: server.baseUrl });
  const sent = (at: number): string => JSON.stringify(server.requests.at(at)?.body);
  return { server, open, sent };
}

const OK = { type: "end", reason: "stop" };
const IMAGE = { inlineData: { mimeType: "image/png", data: "aW1hZ2U=" } };

function called(id: string, more: Message["parts"] = [], response: object = { output: "x" }): Message[] {
  return [
    { role: "model", parts: [{ functionCall: { id, name: "look", args: {} } }] },
    { role: "user", parts: [{ functionResponse: { id, name: "look", response: { ...response } } }, ...more] },
  ];
}

describe("P12 a model that only reads", () => {
  it.each<ServiceName>(["openrouter", "llama.cpp", "groq", "deepseek"])(
    "is told of images in words from the first refusal on: %s",
    async (service) => {
      const { server, open, sent } = await playing(service, "openai", { text: "ok" }, { text: "ok" });
      const model = open();
      const history = [ASK, ...called("a", [IMAGE])];
      const events = await readAll(model, { history });
      expect(events[0]).toMatchObject({
        type: "notice",
        message: expect.stringContaining("cannot see images"),
      });
      expect(events.at(-1)).toEqual(OK);
      const another = { inlineData: { mimeType: "image/jpeg", data: "YW5vdGhlcg==" } };
      expect(await readAll(model, { history: [...history, ...called("b", [another])] })).toContainEqual(OK);
      expect(server.requests).toHaveLength(3);
      expect(sent(-1)).toContain("A file from look of type image/jpeg cannot be seen by this model");
    },
  );

  it("is not believed to be one for a single bad picture", async () => {
    const words = "You uploaded an unsupported image. Please make sure your image has one of these formats";
    const { open, sent } = await playing(
      undefined,
      "openai",
      { error: { status: 400, message: words } },
      { text: "ok" },
      { text: "ok" },
    );
    const model = open();
    await readAll(model, { history: [ASK, ...called("a", [IMAGE])] });
    const good = { inlineData: { mimeType: "image/png", data: "Z29vZA==" } };
    await readAll(model, { history: [ASK, ...called("a", [IMAGE]), ...called("b", [good])] });
    expect(sent(-1)).toContain("Z29vZA==");
  });
});

describe("P16 the order of messages, ids and roles", () => {
  const foreign = "toolu_01A:functions.look-0";
  const steered = [ASK, ...called(foreign, [{ text: "and be quick" }])];

  it("follow Mistral, also with calls of another model", async () => {
    const { server, open } = await playing("mistral", "openai", { text: "ok" }, { text: "ok" });
    const model = open();
    expect((await readAll(model, { history: steered })).at(-1)).toEqual(OK);
    expect((await readAll(model, { history: steered })).at(-1)).toEqual(OK);
    expect(server.problems).toEqual([]);
    expect(server.requests.at(-1)?.body).toEqual(server.requests.at(-2)?.body);
  });

  it("ids of more than 40 characters are changed for every service, and different ones stay different", async () => {
    const { server, open } = await playing(undefined, "openai", { text: "ok" });
    const ids = ["a", "b"].map((end) => `${"call".repeat(20)}${end}`);
    await readAll(open(), { history: [ASK, ...ids.flatMap((id) => called(id))] });
    const found = [...JSON.stringify(server.requests[0]?.body).matchAll(/"tool_call_id":"([^"]+)"/g)];
    const wire = found.map(([, id = ""]) => id);
    expect(new Set(wire).size).toBe(2);
    expect(wire.every((id) => id.length <= 40)).toBe(true);
    expect(server.problems).toEqual([]);
  });

  it("a system role that a template refuses goes to the start of the first message", async () => {
    const { server, open, sent } = await playing("gemma", "openai", { text: "ok" }, { text: "ok" });
    const model = open();
    expect((await readAll(model, { system: "Be brief." })).at(-1)).toEqual(OK);
    await readAll(model, { system: "Be brief." });
    expect(server.requests).toHaveLength(3);
    expect(sent(-1)).toMatch(/"role":"user","content":"Be brief\.\\n\\ngo"/);
  });

  it("so do Gemini's instructions for a model that takes none", async () => {
    const message = "Developer instruction is not enabled for models/gemma-3-27b-it";
    const { server, open, sent } = await playing(
      undefined,
      "gemini",
      { error: { status: 400, message } },
      { text: "ok" },
    );
    expect((await readAll(open(), { system: "Be brief." })).at(-1)).toEqual(OK);
    expect(sent(-1)).toContain('"parts":[{"text":"Be brief."},{"text":"go"}]');
    expect(server.problems).toEqual([]);
  });

  it("content that may not be null is none", async () => {
    const { open, sent } = await playing(
      undefined,
      "openai",
      { error: { status: 400, message: "messages[2].content: must not be null" } },
      { text: "ok" },
    );
    await readAll(open(), { history: [ASK, ...called("a", [], { output: "" })] });
    expect(sent(-1)).not.toContain('"content":null');
    expect(sent(-1)).not.toContain('"content":""');
  });
});

describe("P16 schemas of tools", () => {
  it("have properties at the top, where OpenAI refuses one without", async () => {
    const { open, sent } = await playing(undefined, "openai", { text: "ok" });
    await readAll(open(), {
      tools: [{ name: "look", description: "looks", parameters: { type: "object" } }],
    });
    expect(sent(0)).toContain('"parameters":{"type":"object","properties":{}}');
  });

  const tool = (parameters: object): FunctionDeclaration => ({
    name: "look",
    description: "looks",
    parameters: { type: "object", ...parameters },
  });
  it.each<[string, object]>([
    [
      "a type beside anyOf",
      { properties: { a: { type: "string", anyOf: [{ enum: ["x"] }, { pattern: "y" }] } } },
    ],
    [
      "a choice that only asks",
      {
        properties: {
          list: {
            type: "array",
            items: {
              type: "object",
              properties: { id: { type: "string" }, name: { type: "string" } },
              anyOf: [{ required: ["id"] }, { required: ["name"] }],
            },
          },
        },
      },
    ],
    [
      "properties without a type",
      { properties: { any: {}, told: { description: "d" }, set: { enum: ["a"] }, list: { type: "array" } } },
    ],
    ["what is not described", { properties: { a: { type: "string" } }, required: ["a", "b"] }],
    [
      "a choice of types at the top",
      { anyOf: [{ properties: { a: {} } }, { properties: { b: { oneOf: [{}, {}] } } }] },
    ],
  ])("are written as Kimi takes them: %s", async (_title, parameters) => {
    const { server, open } = await playing("kimi", "openai", { text: "ok" });
    expect((await readAll(open(), { tools: [tool(parameters)] })).at(-1)).toEqual(OK);
    expect(server.requests).toHaveLength(1);
  });

  it.each<[Provider, string]>([
    [
      "openai",
      "Invalid schema for function 'look': In context=('properties', 'a'), 'uniqueItems' is not permitted.",
    ],
    ["openai", "Unsupported JSON schema fields: {'uniqueItems'}"],
    ["anthropic", "tools.0.custom.input_schema.properties.a.uniqueItems: not supported"],
    ["openai-responses", "Invalid schema for function 'look': uniqueItems is not permitted."],
  ])("lose the keyword that is refused, and stay: %s, %s", async (provider, message) => {
    const { server, open, sent } = await playing(
      undefined,
      provider,
      { error: { status: 400, message } },
      { text: "ok" },
    );
    const parameters = { properties: { a: { type: "array", items: { type: "string" }, uniqueItems: true } } };
    const events = await readAll(open(), { tools: [tool(parameters)] });
    expect(events.at(-1)).toEqual(OK);
    expect(sent(0)).toContain("uniqueItems");
    expect(sent(-1)).not.toContain("uniqueItems");
    expect(sent(-1)).toContain("look");
    expect(server.problems).toEqual([]);
  });
});

describe("P36 a history that once held what a service refuses", () => {
  const spoken: Message = {
    role: "model",
    parts: [{ text: "I look." }, { functionCall: { id: "a", name: "look", args: {} } }],
  };
  const answered: Message = {
    role: "user",
    parts: [{ functionResponse: { id: "a", name: "look", response: { output: "x" } } }],
  };
  const STAND_IN = /"extra_content":\{"google":\{"thought_signature":"skip_thought_signature_validator"\}\}/;

  it.each<[string, object, RegExp, Provider?]>([
    [
      "Gemini, compatible: calls that another model made",
      [
        {
          error: {
            code: 400,
            message: "Function call is missing a thought_signature in functionCall parts.",
          },
        },
      ],
      STAND_IN,
    ],
    [
      "Vertex, compatible: calls that another model made",
      {
        error: { message: "function call `look` in the 5. content block is missing a `thought_signature`." },
      },
      STAND_IN,
    ],
    [
      "Mistral: words beside a call",
      { object: "error", message: "Assistant message must have either content or tool_calls, but not both." },
      /"go"\},\{"role":"assistant","content":null/,
    ],
    [
      "Xiaomi behind OpenRouter: a reply without words",
      {
        error: {
          message: "Provider returned error",
          metadata: {
            raw: '{"error":{"param":"messages[2] assistant content must contain at least one part"}}',
          },
        },
      },
      /"content":"\(calling tools\)"/,
    ],
    [
      "Perplexity: alternation",
      { error: { message: "user or tool message(s) should alternate with assistant message(s)." } },
      /"role":"assistant","content":"I have read the results."/,
    ],
    [
      "Vertex: ids of calls",
      {
        error: {
          code: 400,
          message: `Invalid JSON payload received. Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field.`,
          status: "INVALID_ARGUMENT",
        },
      },
      /"functionCall":\{"name":"look".*"functionResponse":\{"name":"look"/,
      "gemini",
    ],
    [
      "Bedrock: less output",
      { message: "The maximum tokens you requested exceeds the model limit of 8192" },
      /"max_tokens":8192,/,
      "anthropic",
    ],
  ])("goes on: %s", async (...[, body, learned, provider = "openai"]) => {
    const refuse: FakeReply = {
      raw: (_request, response) => void response.writeHead(400).end(JSON.stringify(body)),
    };
    const { open, sent } = await playing(undefined, provider, refuse, { text: "ok" });
    const history = [ASK, spoken, answered, ...called("b", [{ text: "and now?" }])];
    expect((await readAll(open(), { history })).at(-1)).toEqual(OK);
    expect(sent(0)).not.toMatch(learned);
    expect(sent(-1)).toMatch(learned);
  });

  it("is not changed for a refusal that has nothing to do with it", async () => {
    const body = { error: { message: "Content Exists Risk", param: null, code: "invalid_request_error" } };
    const refuse: FakeReply = {
      raw: (_request, response) => void response.writeHead(400).end(JSON.stringify(body)),
    };
    const { server, open } = await playing(undefined, "openai", refuse);
    await readAll(open(), { history: [ASK, spoken, answered] });
    expect(server.requests).toHaveLength(1);
  });
});

describe("P36 what is sent back", () => {
  it("Anthropic gets the image of a failed call beside the result", async () => {
    const { server, open, sent } = await playing(undefined, "anthropic", { text: "ok" });
    const history = [ASK, ...called("a", [IMAGE], { error: "half of it failed" })];
    expect((await readAll(open(), { history })).at(-1)).toEqual(OK);
    expect(server.problems).toEqual([]);
    expect(sent(0)).toContain(IMAGE.inlineData.data);
  });

  it("Responses gets messages that vLLM takes, and the phase that it gave", async () => {
    const message = {
      type: "message",
      role: "assistant",
      id: "msg_9",
      status: "completed",
      phase: "commentary",
    };
    const events = [
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { ...message, content: [{ type: "output_text", text: "I look." }] },
      },
      { type: "response.completed", response: { status: "completed", output: [] } },
    ];
    const raw: FakeReply = { raw: (_request, response) => void response.end(sse(...events)) };
    const { server, open } = await playing("vllm", "openai-responses", raw, { text: "ok" });
    const model = open();
    const said = (await readAll(model)).flatMap((event): Message["parts"] => {
      if (event.type === "text") return [{ text: event.text }];
      if (event.type !== "thought" || event.signature === undefined) return [];
      return [{ text: "", thought: true, thoughtSignature: event.signature }];
    });
    const history: Message[] = [
      ASK,
      { role: "model", parts: said },
      { role: "user", parts: [{ text: "on" }, IMAGE] },
    ];
    expect((await readAll(model, { history })).at(-1)).toEqual(OK);
    expect(server.requests.at(-1)?.body.input).toContainEqual({
      type: "message",
      role: "assistant",
      content: "I look.",
      phase: "commentary",
    });
  });

  it("Claude behind a compatible service is told what to keep, until that is refused", async () => {
    const { open, sent } = await playing(
      undefined,
      "openai",
      { text: "ok" },
      {
        error: { status: 400, message: "messages.0.content.0.cache_control: Extra inputs are not permitted" },
      },
      { text: "ok" },
      { text: "ok" },
    );
    const claude = open("anthropic/claude-sonnet-4.5");
    const history = [ASK, ...called("a")];
    await readAll(claude, { history });
    expect(sent(0).match(/"cache_control":\{"type":"ephemeral"\}/g)).toHaveLength(3);
    await readAll(claude, { history });
    expect(sent(-1)).not.toContain("cache_control");
    await readAll(open("gpt"), { history });
    expect(sent(-1)).not.toContain("cache_control");
  });
});

describe("P35 the way to a service", () => {
  it("changes the protocol for a model that speaks Responses only, says so, and keeps to it", async () => {
    const { server, open } = await playing("codex", "openai", { text: "one" }, { text: "two" });
    const model = open();
    const events = await readAll(model);
    expect(events[0]).toMatchObject({ type: "notice", message: expect.stringContaining("Responses") });
    expect(events.at(-1)).toEqual(OK);
    await readAll(model);
    expect(server.requests.map(({ body }) => "input" in body)).toEqual([false, true, true]);
  });

  it("says who asks", async () => {
    const { server, open } = await playing(undefined, "openai", { text: "ok" });
    await readAll(open());
    expect(server.requests[0]?.headers["user-agent"]).toMatch(/^burin\/\d+\.\d+\.\d+/);
  });

  it("reads bodies that come packed, replies and refusals", async () => {
    const packed = (body: string, status = 200): FakeReply => ({
      raw: (_request, response) => {
        response.writeHead(status, { "content-encoding": "gzip", "content-type": "text/event-stream" });
        response.end(gzipSync(body));
      },
    });
    const { baseUrl } = await serve(
      packed(sse(delta({ content: "hi" }, "stop"), "[DONE]")),
      packed('{"error":"no such thing"}', 422),
    );
    const model = openModel({ provider: "openai", name: "m", baseUrl });
    expect(await readAll(model)).toContainEqual({ type: "text", text: "hi" });
    expect((await readAll(model)).at(-1)).toMatchObject({
      error: { message: expect.stringContaining("no such thing") },
    });
  });
});
