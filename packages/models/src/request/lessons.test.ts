import type { FunctionDeclaration, Message } from "@burin/contract/messages/message";
import type { FakeReply } from "@burin/testing/fake-model-server";
import { ASK, closeServers, raw, readAll, serve } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { type ModelChoice, openModel } from "../choice/open-model.ts";

afterEach(closeServers);

const PROVIDERS = ["openai", "openai-responses", "anthropic", "gemini"] as const;
type Provider = ModelChoice["provider"];

function refused(message: string): FakeReply {
  return { error: { message, status: 400, type: "invalid_request_error" } };
}

async function learning(provider: Provider, ...replies: FakeReply[]) {
  const server = await serve(...replies);
  return { server, model: openModel({ provider, name: "m", baseUrl: server.baseUrl, apiKey: "k" }) };
}

function image(bytes: string, mimeType = "image/png"): Message["parts"][number] {
  return { inlineData: { mimeType, data: Buffer.from(bytes).toString("base64") } };
}

function picture(bytes: string): Message[] {
  return [
    ASK,
    { role: "model", parts: [{ functionCall: { id: "a", name: "read_file", args: {} } }] },
    {
      role: "user",
      parts: [{ functionResponse: { id: "a", name: "read_file", response: { output: "" } } }, image(bytes)],
    },
  ];
}

describe("P12 a model that sees no images says so in many words:", () => {
  it.each<[number, string]>([
    [400, "this model does not support image input (ref: b8bd630e)"],
    [400, "facebook/opt-125m is not a multimodal model None"],
    [400, "Invalid content type. image_url is only supported by certain models."],
    [400, "Model does not support images. Please use a model that does."],
    [404, "The requested endpoint or model does not support image input capability"],
    [422, "messages.1.content: Input should be a valid string"],
    [500, 'Failed to parse messages: Unsupported content part type: "image_url"'],
    [400, "AiError: Bad input: Type mismatch of '/messages/1/content', 'array' not in 'string'"],
    [500, 'can only concatenate str (not "list") to str'],
  ])("%i %s", async (status, message) => {
    const refusal = { error: { message, status, type: "invalid_request_error" } };
    const { server, model } = await learning("openai", refusal, { text: "ok" });
    const events = await readAll(model, { history: picture("seen") });
    expect(events[0]).toMatchObject({
      type: "notice",
      message: expect.stringContaining("cannot see images"),
    });
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain("image_url");
  });
});

describe("P12 media that one answer brings", () => {
  it.each([
    ["openai", "Image from read_file:"],
    ["openai-responses", "File from read_file:"],
  ] as const)("are named by their tool behind a file that %s cannot carry, too", async (provider, label) => {
    const { server, model } = await learning(provider, { text: "ok" });
    const [asked, called, answered] = picture("seen");
    const parts = [...(answered?.parts ?? [])];
    parts.splice(1, 0, image("a film", "video/mp4"));
    const history = [asked, called, { role: "user", parts }] as Message[];
    await readAll(model, { history });
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent).toContain("A file from read_file of type video/mp4");
    expect(sent).toContain(label);
    expect(sent).not.toContain(Buffer.from("a film").toString("base64"));
  });

  it("are not named so where the user gave them", async () => {
    const { server, model } = await learning("openai", { text: "ok" });
    const [asked, called, answered] = picture("seen");
    const [answer, shown] = answered?.parts ?? [];
    const parts = [answer, { text: "and this?" }, shown];
    await readAll(model, { history: [asked, called, { role: "user", parts }] as Message[] });
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain("Image from");
  });
});

describe("P16 more tools than a service takes", () => {
  it.each([
    "Invalid 'tools': array too long. Expected an array with maximum length 3, but got an array with length 5 instead.",
    "'tools' : maximum number of items is 3",
  ])("leave out the last ones, with a notice: %s", async (words) => {
    const { server, model } = await learning("openai", refused(words), { text: "ok" });
    const tools = ["a", "b", "c", "d", "e"].map((name) => ({
      name,
      description: name,
      parameters: { type: "object" as const, properties: {} },
    }));
    const events = await readAll(model, { tools });
    expect(events[0]).toMatchObject({ type: "notice", message: expect.stringContaining("takes 3 tools") });
    expect(server.requests.map(({ body }) => (body.tools as unknown[]).length)).toEqual([5, 3]);
  });
});

describe("P12 media that a service refuses", () => {
  it.each(PROVIDERS)("are left out at once and from then on: %s", async (provider) => {
    const { server, model } = await learning(
      provider,
      refused("messages.2.content.0.image.source.base64.data: Could not process image"),
      { text: "ok" },
      { text: "still" },
    );
    const events = await readAll(model, { history: picture("broken") });
    expect(events[0]).toMatchObject({ type: "notice", message: expect.stringContaining("refused a file") });
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
    expect((await readAll(model, { history: structuredClone(picture("broken")) })).at(-1)).toMatchObject({
      reason: "stop",
    });
    const sent = server.requests.map(({ body }) => JSON.stringify(body));
    const data = Buffer.from("broken").toString("base64");
    expect(sent.map((body) => body.includes(data))).toEqual([true, false, false]);
    expect(sent[2]).toContain("A file from read_file of type image/png was refused");
    expect(server.problems).toEqual([]);
  });

  it("are the new ones, not those that were taken before; and the older half when they are too many", async () => {
    const { server, model } = await learning(
      "anthropic",
      { text: "ok" },
      refused("Could not process image"),
      { text: "ok" },
      refused("too many images and documents: 104 + 1 > 100"),
      { text: "ok" },
    );
    const user = (...parts: Message["parts"]): Message => ({ role: "user", parts });
    const first = user({ text: "a" }, image("one"), image("two"));
    await readAll(model, { history: [first] });
    const history = [
      first,
      { role: "model" as const, parts: [{ text: "ok" }] },
      user({ text: "b" }, image("bad")),
    ];
    await readAll(model, { history });
    await readAll(model, { history });
    const shown = server.requests.map(({ body }) =>
      ["one", "two", "bad"].filter((name) =>
        JSON.stringify(body).includes(Buffer.from(name).toString("base64")),
      ),
    );
    expect(shown).toEqual([["one", "two"], ["one", "two", "bad"], ["one", "two"], ["one", "two"], ["two"]]);
  });

  it("that are empty, or of a kind that it cannot take, become text before they are sent", async () => {
    const odd: Message = {
      role: "user",
      parts: [{ text: "x" }, image(""), image("zip", "application/zip"), image("pdf", "application/pdf")],
    };
    for (const provider of PROVIDERS) {
      const { server, model } = await learning(provider, { text: "ok" });
      expect((await readAll(model, { history: [odd] })).at(-1)).toMatchObject({ reason: "stop" });
      const sent = JSON.stringify(server.requests[0]?.body);
      expect(sent).toContain("image/png was empty");
      expect(sent).toContain("type application/zip of 3 bytes cannot be sent to this model");
      expect(sent.includes(Buffer.from("pdf").toString("base64"))).toBe(provider !== "openai");
      expect(server.problems).toEqual([]);
    }
  });
});

describe("P16 a tool that a service refuses", () => {
  const tool = (name: string): FunctionDeclaration => ({
    name,
    description: name,
    parameters: { type: "object" as const, properties: { a: { type: "string" } } },
  });
  it.each<[Provider, string]>([
    ["openai", "Invalid schema for function 'bad_one': None is not of type 'array'."],
    ["openai", "Unable to submit request because `bad_one` functionDeclaration schema is wrong."],
    ["openai-responses", "Invalid schema for function 'bad_one': In context=('properties', 'a')."],
    ["anthropic", "tools.1.custom.input_schema: JSON schema is invalid."],
    [
      "gemini",
      "* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties: should be non-empty",
    ],
  ])("disables itself alone: %s", async (provider, words) => {
    const { server, model } = await learning(provider, refused(words), { text: "ok" }, { text: "ok" });
    const tools = [tool("good"), tool("bad_one"), tool("last")];
    const events = await readAll(model, { tools });
    expect(events[0]).toMatchObject({ type: "notice", message: expect.stringContaining("the tool bad_one") });
    await readAll(model, { tools });
    for (const { body } of server.requests.slice(1)) {
      expect(JSON.stringify(body)).not.toContain("bad_one");
      expect(JSON.stringify(body)).toContain("last");
    }
  });
});

describe("P36 reasoning that must go back, or must not", () => {
  const history: Message[] = [
    ASK,
    {
      role: "model",
      parts: [{ text: "hm", thought: true }, { functionCall: { id: "a", name: "ls", args: {} } }],
    },
    { role: "user", parts: [{ functionResponse: { id: "a", name: "ls", response: { output: "x" } } }] },
    { role: "model", parts: [{ functionCall: { id: "b", name: "ls", args: {} } }] },
    { role: "user", parts: [{ functionResponse: { id: "b", name: "ls", response: { output: "y" } } }] },
  ];
  const reasonings = (body: unknown): unknown[] =>
    (body as { messages: { role: string; reasoning_content?: string }[] }).messages
      .filter(({ role }) => role === "assistant")
      .map((message) => message.reasoning_content);

  it("is learned from the first refusal and kept to", async () => {
    const { server, model } = await learning(
      "openai",
      refused("The `reasoning_content` in the thinking mode must be passed back to the API."),
      { text: "ok" },
      { text: "ok" },
    );
    expect((await readAll(model, { history })).map((event) => event.type)).not.toContain("notice");
    await readAll(model, { history });
    expect(server.requests.map(({ body }) => reasonings(body))).toEqual([
      [undefined, undefined],
      ["hm", " "],
      ["hm", " "],
    ]);
  });

  it("is given up when that is refused too, and what was refused is not sent again", async () => {
    const no = refused("reasoning_content is not supported");
    const { server, model } = await learning("openai", no, no, { text: "never" });
    expect((await readAll(model, { history })).at(-1)).toMatchObject({
      reason: "error",
      error: { status: 400 },
    });
    expect(server.requests.map(({ body }) => reasonings(body)[0])).toEqual([undefined, "hm"]);
  });

  it.each<[Provider, string, string, RegExp]>([
    ["anthropic", "anthropic:c2ln", "messages.1: Invalid `signature` in `thinking` block", /thinking/],
    [
      "openai-responses",
      'openai-responses:{"id":"rs_1","summary":[],"encrypted_content":"c2ln"}',
      "invalid_encrypted_content: could not be verified",
      /c2ln/,
    ],
    ["gemini", "c2ln", "Thought signature is not valid.", /c2ln/],
  ])("a foreign signature is left out: %s", async (...[provider, thoughtSignature, words, trace]) => {
    const { server, model } = await learning(
      provider,
      raw(JSON.stringify({ error: { message: words } }), { status: 400 }),
      raw("{}", { status: 404 }),
    );
    const parts = [
      { text: "hm", thought: true, thoughtSignature },
      { functionCall: { id: "a", name: "ls", args: {} } },
    ];
    const signed = history.map((message, index) =>
      index === 1 ? { role: "model" as const, parts } : message,
    );
    // The fake knows only its own signatures, and rejects this one when it checks it.
    await readAll(model, { history: signed });
    const sent = server.requests.map(({ body }) => trace.test(JSON.stringify(body)));
    expect(sent.slice(0, 2)).toEqual([true, false]);
  });

  it("calls of another model get Gemini's stand-in when it asks for signatures", async () => {
    const { server, model } = await learning(
      "gemini",
      refused("Function call is missing a thought_signature in functionCall parts."),
      { text: "ok" },
    );
    expect((await readAll(model, { history })).at(-1)).toMatchObject({ reason: "stop" });
    expect(JSON.stringify(server.requests[1]?.body).match(/skip_thought_signature_validator/g)).toHaveLength(
      2,
    );
  });
});

describe("other habits", () => {
  it.each<[Provider, string, (body: Record<string, unknown>) => unknown, unknown[]]>([
    ...[
      "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens",
      "max_tokens is too large: 32000. This model supports at most 8192 completion tokens, not 32000.",
      "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
      "max_tokens=32000cannot be greater than max_model_len=max_total_tokens=8192.",
      // The reply alone would fill this window, so the reply gets only a quarter of it.
      "'max_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 900 input tokens (32000 > 32768 - 900).",
      "This model's maximum context length is 32768 tokens. However, you requested about 33000 tokens (1000 of text input, 32000 in the output).",
    ].map((words): [Provider, string, (body: Record<string, unknown>) => unknown, unknown[]] => [
      "anthropic",
      words,
      (body) => body.max_tokens,
      [32000, 8192],
    ]),
    [
      "anthropic",
      "system.0.cache_control: Extra inputs are not permitted",
      (body) => JSON.stringify(body).includes("cache_control"),
      [true, false],
    ],
    [
      "openai",
      "Unrecognized request argument supplied: stream_options",
      (body) => Object.hasOwn(body, "stream_options"),
      [true, false],
    ],
    [
      "openai-responses",
      "Encrypted content is not supported with this model.",
      (body) => Object.hasOwn(body, "include"),
      [true, false],
    ],
    [
      "gemini",
      'Unknown name "parametersJsonSchema" at tools[0]',
      (body) => JSON.stringify(body).includes("parametersJsonSchema"),
      [true, false],
    ],
    ...[
      "Failed to initialize samplers: failed to parse grammar",
      "JSON schema conversion failed:\nPattern must start with '^'",
      "Upstream request failed: [invalid_request_error] unsupported_keyword",
    ].map((words): [Provider, string, (body: Record<string, unknown>) => unknown, unknown[]] => [
      "openai",
      words,
      (body) => /"(?:pattern|maxLength|minimum)"/.test(JSON.stringify(body)),
      [true, false],
    ]),
    ...[
      "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.",
      "Kimi K3 tool messages need a resolvable tool name: carry `tool`/`name`",
    ].map((words): [Provider, string, (body: Record<string, unknown>) => unknown, unknown[]] => [
      "openai",
      words,
      (body) => /"role":"tool","tool_call_id":"a","name":"ls"/.test(JSON.stringify(body)),
      [false, true],
    ]),
    [
      "openai",
      "messages.1.ChatCompletionMessageGenericParam.content.str\n  Input should be a valid string [type=string_type, input_value=None, input_type=NoneType]",
      (body) => JSON.stringify(body).includes('"content":null'),
      [true, false],
    ],
    [
      "openai",
      "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got a string with length 1103 instead.",
      (body) => /"description":"(d*)"/.exec(JSON.stringify(body))?.[1]?.length,
      [1103, 1024],
    ],
    [
      "openai",
      "Invalid schema for function 't': 'a+' is not a 'regex'.",
      (body) => JSON.stringify(body).match(/"name":"t"|"pattern"/g),
      [['"name":"t"', '"pattern"'], ['"name":"t"']],
    ],
  ])("are learned: %s, %s", async (...[provider, words, look, wanted]) => {
    const { server, model } = await learning(provider, refused(words), { text: "ok" });
    const properties = {
      a: { type: "string", pattern: "a+", maxLength: 9000 },
      b: { type: "number", minimum: 1 },
    };
    const description = "d".repeat(1103);
    const tools = [{ name: "t", description, parameters: { type: "object" as const, properties } }];
    const answer = { functionResponse: { id: "a", name: "ls", response: { output: "x" } } };
    const history: Message[] = [
      ASK,
      { role: "model", parts: [{ functionCall: { id: "a", name: "ls", args: {} } }] },
      { role: "user", parts: [answer] },
    ];
    expect((await readAll(model, { tools, history })).at(-1)).toMatchObject({ reason: "stop" });
    expect(server.requests.map(({ body }) => look(body))).toEqual(wanted);
  });

  it("a limit of output from the settings is lowered, too, and the user hears of it", async () => {
    const words = "max_tokens is too large: 90000. This model supports at most 16384 completion tokens.";
    const { baseUrl, requests } = await serve(refused(words), { text: "ok" });
    const model = openModel({ provider: "openai", name: "m", baseUrl, tuning: { maxOutput: 90_000 } });
    expect(JSON.stringify(await readAll(model))).toContain("may have only 16384 tokens");
    expect(requests.map(({ body }) => body.max_completion_tokens)).toEqual([90_000, 16_384]);
  });

  it("a refusal that teaches nothing ends the request", async () => {
    const { server, model } = await learning("anthropic", refused("prompt is too long"), { text: "never" });
    expect((await readAll(model, { history: picture("fine") })).at(-1)).toMatchObject({
      error: { type: "context_length" },
    });
    expect(server.requests).toHaveLength(1);
  });

  it("half a character is never sent, and text that only looks like one is kept", async () => {
    for (const provider of PROVIDERS) {
      const { server, model } = await learning(provider, { text: "ok" });
      await readAll(model, {
        history: [{ role: "user", parts: [{ text: "half \ud83d whole 😀 written \\ud83d" }] }],
      });
      expect(JSON.stringify(server.requests[0]?.body)).toContain("half \ufffd whole 😀 written \\\\ud83d");
    }
  });
});
