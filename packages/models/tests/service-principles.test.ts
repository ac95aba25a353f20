import type { ChatModel, ModelEvent } from "@burin/contract/chat-model";
import type { FunctionDeclaration, JsonSchema, Message } from "@burin/contract/messages/message";
import type { FakeReply } from "@burin/testing/fake-model-server";
import { ASK, closeServers, delta, raw, readAll, serve, sse } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openModel } from "../src/choice/open-model.ts";

afterEach(closeServers);

const OK = { type: "end", reason: "stop" };
const declared = (name: string, properties: Readonly<Record<string, JsonSchema>>): FunctionDeclaration => ({
  name,
  description: name,
  parameters: { type: "object", properties },
});
const TOOLS = [
  declared("plain", { a: { type: "string", format: "uri" } }),
  declared("fetch_it", {
    url: { type: "string", format: "uri", minLength: 1 },
    n: { type: "integer", multipleOf: 2, default: 4 },
    way: { type: "string", enum: ["up", "down"] },
  }),
];

const refused = (message: string, status = 400): FakeReply => ({ error: { status, message } });

async function asking(...replies: FakeReply[]) {
  const server = await serve(...replies);
  const model = openModel({ provider: "openai", name: "m", baseUrl: server.baseUrl });
  const schemas = (at: number) => {
    const { tools = [] } = (server.requests.at(at)?.body ?? {}) as {
      tools?: { function: { name: string } }[];
    };
    return Object.fromEntries(tools.map((tool) => [tool.function.name, JSON.stringify(tool)]));
  };
  return { server, model, schemas };
}

describe("a keyword of a schema that a service refuses", () => {
  it.each([
    ["by its name", "Unknown name \"multipleOf\" at 'tools[1].function.parameters'", "multipleOf"],
    ["as a bare word", "JSON schema keyword default is not supported", "default"],
    [
      "with the number of the tool",
      "tool #1 (fetch_it): unsupported keyword minLength in 'fetch_it'",
      "minLength",
    ],
    [
      "as a format, by its path",
      "tools[1].function.parameters.properties.url.format: not supported",
      "format",
    ],
    [
      "as a format, by its value",
      "Invalid schema for function 'fetch_it': 'uri' is not a valid format.",
      "format",
    ],
  ])("P16 is lost by that tool alone, and everything else stays: %s", async (_, message, keyword) => {
    const { server, model, schemas } = await asking(refused(message), { text: "ok" });
    expect((await readAll(model, { history: [ASK], tools: TOOLS })).at(-1)).toEqual(OK);
    const { plain, fetch_it: own } = schemas(-1);
    expect(server.requests).toHaveLength(2);
    expect(own).not.toContain(`"${keyword}"`);
    for (const kept of ["enum", "url", "down"]) expect(own).toContain(kept);
    if (!message.includes("keyword default")) expect(plain).toContain('"format"');
  });

  it("P16 a format that is named without its tool is lost by all that have it", async () => {
    const message = 'unknown format "uri" ignored in schema at path "#/properties/url"';
    const { model, schemas } = await asking(refused(message), { text: "ok" });
    expect((await readAll(model, { history: [ASK], tools: TOOLS })).at(-1)).toEqual(OK);
    expect(JSON.stringify(schemas(-1))).not.toContain("uri");
    expect(schemas(-1).fetch_it).toContain("multipleOf");
  });

  it("P16 several are lost one after the other, and what narrows least goes first where none is named", async () => {
    const [first, then] = ["'multipleOf' is not permitted", "'default' is not permitted"];
    const named = (words: string) => refused(`Invalid schema for function 'fetch_it': ${words}.`);
    const wrong = named("it is no JSON Schema");
    const { model, schemas } = await asking(named(first), named(then), wrong, wrong, { text: "ok" });
    const events = await readAll(model, { history: [ASK], tools: TOOLS });
    expect(events).toEqual([expect.objectContaining({ type: "text" }), ...events.slice(1)]);
    expect(events.at(-1)).toEqual(OK);
    expect(schemas(1).fetch_it).toContain("default");
    expect(schemas(2).fetch_it).toContain("minLength");
    expect(schemas(3).fetch_it).toContain("enum");
    expect(schemas(4).fetch_it).toContain('"way"');
    expect(schemas(4).fetch_it).not.toContain("enum");
    expect(schemas(4).plain).toContain('"format"');
  });
});

describe("a chat template that fails", () => {
  it.each([
    'Error rendering prompt with jinja template: "Unknown StringValue filter: safe".',
    "Value is not callable: null at row 1, column 72",
    "Failed to parse template: Unknown method startswith",
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "error rendering chat template: After the optional system message, conversation roles must alternate",
  ])("P35 is not asked again with the same request: %s", async (message) => {
    const { server, model } = await asking(...Array(8).fill(refused(message, 500)));
    expect((await readAll(model, { history: [ASK], tools: TOOLS })).at(-1)).toMatchObject({
      reason: "error",
    });
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    expect(new Set(bodies).size).toBe(bodies.length);
  });
});

describe("a refusal that teaches several lessons", () => {
  it("P36 teaches the next one where the first changes nothing", async () => {
    // No limit of the output is sent under either name.
    const refusal = refused("max_completion_tokens 4096: this model does not support the 'system' role");
    const { server, model } = await asking(refusal, { text: "ok" });
    expect((await readAll(model, { system: "Be brief.", history: [ASK] })).at(-1)).toEqual(OK);
    const roles = server.requests.map(({ body }) =>
      (body as { messages: { role: string }[] }).messages.map(({ role }) => role),
    );
    expect(roles).toEqual([["system", "user"], ["user"]]);
  });

  it("P36 sends no request again that was refused, also where two lessons undo each other", async () => {
    const refusal = refused("messages.1.assistant.reasoning_content: property is unsupported");
    const { server, model } = await asking(...Array(10).fill(refusal));
    const history: Message[] = [ASK, { role: "model", parts: [{ text: "Here." }] }, ASK];
    expect((await readAll(model, { history, tools: TOOLS })).at(-1)).toMatchObject({ reason: "error" });
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    expect(bodies.length).toBeGreaterThan(1);
    expect(new Set(bodies).size).toBe(bodies.length);
  });
});

const called = (id: string): Message[] => [
  { role: "model", parts: [{ functionCall: { id, name: "plain", args: {} } }] },
  { role: "user", parts: [{ functionResponse: { id, name: "plain", response: { output: "x" } } }] },
];

describe("what is known of a service before it refuses", () => {
  it.each([
    ["devstral-medium-latest", true],
    ["mistralai/mistral-small-3.2", true],
    ["open-mixtral-8x22b", true],
    ["labs-devstral-small-2512", true],
    ["us.mistral.pixtral-large-2502-v1:0", true],
    ["qwen3-coder", false],
  ])(
    "P16 calls of another model have the ids that a Mistral model wants in the first request: %s",
    async (name, isNine) => {
      const server = await serve({ text: "ok" });
      const model = openModel({ provider: "openai", name, baseUrl: server.baseUrl });
      await readAll(model, { history: [ASK, ...called("toolu_01A:functions.plain-0")], tools: TOOLS });
      const { messages = [] } = (server.requests[0]?.body ?? {}) as {
        messages?: { tool_call_id?: string }[];
      };
      const id = messages.at(-1)?.tool_call_id ?? "";
      expect(/^[A-Za-z0-9]{9}$/.test(id)).toBe(isNine);
    },
  );

  const WRITTEN = '<tool_call>\n{"name": "plain", "arguments": {"a": "b"}}\n</tool_call>';
  /** The service is reached through a proxy, so that it has its real name. */
  async function readAt(host: string, provider: "openai" | "anthropic" | "gemini"): Promise<ModelEvent[]> {
    const server = await serve({ text: WRITTEN });
    const { origin, pathname } = new URL(server.baseUrl);
    const environment = { HTTP_PROXY: origin };
    const model: ChatModel = openModel({
      provider,
      name: "m",
      baseUrl: `http://${host}${pathname}`,
      environment,
    });
    return readAll(model, { history: [ASK], tools: TOOLS });
  }

  it.each([
    ["api.openai.com", "openai"],
    ["eu.api.openai.com", "openai"],
    ["api.anthropic.com", "anthropic"],
    ["generativelanguage.googleapis.com", "gemini"],
    ["aiplatform.googleapis.com", "gemini"],
    ["us-central1-aiplatform.googleapis.com", "gemini"],
    ["aiplatform.eu.rep.googleapis.com", "anthropic"],
  ] as const)("P15 a call in the text of a first party's model stays text: %s", async (host, provider) => {
    const events = await readAt(host, provider);
    expect(events.at(-1)).toEqual(OK);
    expect(events.filter(({ type }) => type === "function_call")).toEqual([]);
    expect(events.map((event) => (event.type === "text" ? event.text : "")).join("")).toContain("tool_call");
  });

  it("P15 a call in the text of a model elsewhere is made, also behind a name that looks like a first party's", async () => {
    const hosts = ["models.example.org", "api.openai.com.example.org", "us-east5-aiplatform.googleapis.com"];
    for (const host of hosts) {
      const calls = (await readAt(host, "openai")).filter(({ type }) => type === "function_call");
      expect(calls).toHaveLength(1);
    }
  });
});

describe("a tag that comes in pieces", () => {
  it.each([
    ["<think>", "</think>"],
    ["<thinking>", "</thinking>"],
    ["<reasoning>", "</reasoning>"],
    ["[THINK]", "[/THINK]"],
  ])("P36 ends the thoughts wherever a piece ends in it: %s", async (start, tag) => {
    for (let at = 1; at < tag.length; at += 1) {
      const pieces = [`${start}Where?`, tag.slice(0, at), `${tag.slice(at)}Here.`];
      const server = await serve(raw(sse(...pieces.map((content) => delta({ content })), delta({}, "stop"))));
      const model = openModel({ provider: "openai", name: "m", baseUrl: server.baseUrl });
      const events = await readAll(model, { history: [ASK] });
      const said = (type: "text" | "thought") =>
        events.map((event) => (event.type === type ? event.text : "")).join("");
      expect([at, said("thought"), said("text")]).toEqual([at, "Where?", "Here."]);
    }
  });
});
