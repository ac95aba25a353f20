import { type FakeModelServer, startFakeModelServer } from "@burin/testing/fake-model-server";
import { closeServers, raw, readAll, serve, sse } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { type ModelChoice, openModel } from "../choice/open-model.ts";

afterEach(closeServers);

/** Returns the last body that reached a service which accepts everything but what the refusals mention. */
async function sent(
  choice: Omit<ModelChoice, "baseUrl" | "name"> & { name?: string },
  refusals: readonly string[] = [],
): Promise<{ body: unknown; server: FakeModelServer }> {
  const refused = refusals.map((message) =>
    raw(JSON.stringify({ error: { message } }), { status: 400, type: "application/json" }),
  );
  const server = await serve(...refused, { text: "ok" });
  await readAll(openModel({ name: "m", ...choice, baseUrl: server.baseUrl }));
  return { body: server.requests.at(-1)?.body, server };
}

describe("how a model is asked", () => {
  it("P36 effort, sampling and the output limit are said in the words of chat completions", async () => {
    const tuning = { reasoning: "high", temperature: 0.2, topP: 0.9, maxOutput: 1000, cache: "24h" } as const;
    const { body } = await sent({ provider: "openai", tuning });
    expect(body).toMatchObject({
      reasoning_effort: "high",
      temperature: 0.2,
      top_p: 0.9,
      max_completion_tokens: 1000,
      prompt_cache_retention: "24h",
    });
  });

  it.each<[ModelChoice["provider"], object]>([
    ["openai-responses", { temperature: 0.2, top_p: 0.9, max_output_tokens: 1000 }],
    ["anthropic", { temperature: 0.2, top_p: 0.9, max_tokens: 1000 }],
    ["gemini", { generationConfig: { temperature: 0.2, topP: 0.9, maxOutputTokens: 1000 } }],
  ])("P36 sampling and the output limit are said in the words of %s", async (provider, words) => {
    const { body, server } = await sent({
      provider,
      tuning: { temperature: 0.2, topP: 0.9, maxOutput: 1000 },
    });
    expect(body).toMatchObject(words);
    expect(server.problems).toEqual([]);
  });

  it.each<[ModelChoice["provider"], string, RegExp]>([
    [
      "openai",
      "Unsupported value: 'temperature' does not support 0.1 with this model. Only the default (1) value is supported.",
      /"temperature"/,
    ],
    ["openai", "invalid temperature: only 1 is allowed for this model", /"temperature"/],
    ["openai", "Unrecognized request argument supplied: reasoning_effort.", /"reasoning_effort"/],
    ["openai", "Model grok-4-1-fast does not support parameter reasoningEffort.", /"reasoning_effort"/],
    [
      "openai-responses",
      "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
      /"reasoning"/,
    ],
    ["openai-responses", "Unsupported parameter: max_output_tokens", /"max_output_tokens"/],
    ["anthropic", "`temperature` is deprecated for this model.", /"temperature"/],
    ["gemini", "Thinking level is not supported for this model.", /"thinkingConfig"/],
    ["gemini", "Budget 0 is invalid. This model only works in thinking mode.", /"thinkingConfig"/],
    ["openai", '"gemma3:4b" does not support thinking', /reasoning/],
  ])("P36 an option that a model of %s refuses is left out: %s", async (provider, refusal, option) => {
    const isThought = provider !== "anthropic";
    const tuning = {
      temperature: 0.1,
      maxOutput: 1000,
      ...(isThought ? { reasoning: "high" as const } : {}),
    };
    const { body, server } = await sent({ provider, tuning }, [refusal]);
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[0]?.body)).toMatch(option);
    expect(JSON.stringify(body)).not.toMatch(option);
  });

  it("P36 P5 Claude behind a compatible service keeps its cache for an hour, too", async () => {
    const { body } = await sent({ provider: "openai", name: "anthropic/claude-x", tuning: { cache: "1h" } });
    expect(JSON.stringify(body)).toContain('"cache_control":{"type":"ephemeral","ttl":"1h"}');
  });

  it.each(["anthropic", "openai"] as const)(
    "P36 P5 a service of Claude that keeps nothing for an hour is asked for less from then on: %s",
    async (provider) => {
      const refused = "messages.0.content.0.cache_control.ephemeral.ttl: Extra inputs are not permitted";
      const choice = { provider, name: "claude-x", tuning: { cache: "1h" } } as const;
      const { body, server } = await sent(choice, [refused]);
      expect(JSON.stringify(server.requests[0]?.body)).toContain('"ttl":"1h"');
      expect(JSON.stringify(body)).toContain('"cache_control":{"type":"ephemeral"}');
      const { body: none } = await sent(choice, [refused, "cache_control is not supported"]);
      expect(JSON.stringify(none)).not.toContain("cache_control");
    },
  );

  it("P29 what goes into Claude's cache costs what is written there, for five minutes and for an hour", async () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 200_000 };
    const price = { input: 10, output: 50, cached: 1 };
    const server = await serve(
      { text: "a", usage },
      { text: "b", usage: { ...usage, cacheWrites: { tokens: 400_000, hour: 0 } } },
      { text: "c", usage: { ...usage, cacheWrites: { tokens: 400_000, hour: 100_000 } } },
    );
    const costs: unknown[] = [];
    for (const _ of server.unusedReplies()) {
      const told = await readAll(
        openModel({ provider: "anthropic", name: "claude-x", baseUrl: server.baseUrl, price }),
      );
      costs.push(told.flatMap((event) => (event.type === "usage" ? [event.usage.cost] : []))[0]);
    }
    expect(costs).toEqual([8.2, 9.2, 9.95]);
  });

  it.each([
    [
      "openai",
      { prompt_tokens: 1000, completion_tokens: 1 },
      (usage: object) => [{ choices: [{ delta: { content: "a" }, finish_reason: "stop" }], usage }],
    ],
    [
      "openai-responses",
      { input_tokens: 1000, output_tokens: 1 },
      (usage: object) => [
        { type: "response.output_text.delta", item_id: "i", delta: "a" },
        { type: "response.completed", response: { status: "completed", output: [], usage } },
      ],
    ],
    [
      "anthropic",
      { input_tokens: 1000, output_tokens: 1 },
      (usage: object) => [
        { type: "message_start", message: { usage } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "a" } },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
        { type: "message_stop" },
      ],
    ],
  ] as const)(
    "P29 what a service says that a request cost is believed, in %s",
    async (provider, usage, stream) => {
      const server = await serve(raw(sse(...stream({ ...usage, cost: 0.25 }))));
      const price = { input: 10, output: 50 };
      const told = await readAll(openModel({ provider, name: "m", baseUrl: server.baseUrl, price }));
      expect(told).toContainEqual({ type: "usage", usage: expect.objectContaining({ cost: 0.25 }) });
    },
  );

  it("P36 a budget of tokens is the nearest effort below it", async () => {
    const { body } = await sent({ provider: "openai", tuning: { reasoning: 5000 } });
    expect(body).toMatchObject({ reasoning_effort: "low" });
  });

  it("P36 a service that knows only the older name of the output limit is told by it", async () => {
    const refusal = "Unrecognized request argument supplied: max_completion_tokens";
    const { body } = await sent({ provider: "openai", tuning: { maxOutput: 7 } }, [refusal]);
    expect(body).toMatchObject({ max_tokens: 7 });
    expect(body).not.toHaveProperty("max_completion_tokens");
  });

  it("P36 Claude thinks when it is told how much, and as older ones take it after a refusal", async () => {
    const { body } = await sent({ provider: "anthropic", tuning: { reasoning: "medium", cache: "1h" } });
    expect(body).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "medium" },
      system: [{ cache_control: { type: "ephemeral", ttl: "1h" } }],
    });
    const refusal = "adaptive thinking is not supported on this model";
    const older = await sent({ provider: "anthropic", tuning: { reasoning: "medium" } }, [refusal]);
    expect(older.body).toMatchObject({ thinking: { type: "enabled", budget_tokens: 10_000 } });
    expect(older.body).not.toHaveProperty("output_config");
  });

  // Behind a gateway that hides names: CherryHQ/cherry-studio#15532; MiniMax: CherryHQ/cherry-studio#16431.
  const USE =
    'is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
  it.each([
    ["names", `"thinking.type.enabled" ${USE}`],
    ["hides", `"***.***.enabled" ${USE.replace("thinking.type", "***.***")}`],
    ["lists", 'invalid params, invalid thinking.type: "enabled" (allowed: adaptive, disabled) (2013)'],
  ])("P36 Claude thinks as much as a budget says, also where a refusal %s them", async (_how, refusal) => {
    const { body } = await sent({ provider: "anthropic", tuning: { reasoning: 12_000 } }, [refusal]);
    expect(body).toMatchObject({ thinking: { type: "adaptive" }, output_config: { effort: "medium" } });
  });

  it("P36 Claude's budget leaves room for the answer", async () => {
    const tuning = { reasoning: 50_000, maxOutput: 20_000 };
    const { body } = await sent({ provider: "anthropic", tuning });
    expect(body).toMatchObject({ max_tokens: 20_000, thinking: { budget_tokens: 12_000 } });
  });

  it.each([
    ["gemini-2.5-x", "high", { thinkingBudget: 24_000, includeThoughts: true }],
    ["gemini-3-x", "high", { thinkingLevel: "HIGH", includeThoughts: true }],
    ["gemini-3-x", "max", { thinkingLevel: "HIGH", includeThoughts: true }],
    ["gemini-3-x", 100, { thinkingBudget: 100, includeThoughts: true }],
    ["gemini-2.5-x", "off", { thinkingBudget: 0, includeThoughts: false }],
  ] as const)("P36 %s is told %s as it takes it", async (name, reasoning, thinkingConfig) => {
    const { body } = await sent({ provider: "gemini", name, tuning: { reasoning, maxOutput: 9 } });
    expect(body).toMatchObject({ generationConfig: { thinkingConfig, maxOutputTokens: 9 } });
  });

  it("P36 Responses gets its effort", async () => {
    const { body } = await sent({ provider: "openai-responses", tuning: { reasoning: "low" } });
    expect(body).toMatchObject({ reasoning: { effort: "low", summary: "auto" } });
  });

  it("P36 more fields of the body are joined with ours, and never stand in the place of the conversation", async () => {
    const body = { provider: { order: ["a"] }, stream_options: null, messages: [], tools: [] };
    const { body: chat } = await sent({ provider: "openai", tuning: { body } });
    expect(chat).toMatchObject({ provider: { order: ["a"] }, stream: true });
    expect(chat).not.toHaveProperty("stream_options");
    expect((chat as { messages: unknown[] }).messages).toHaveLength(2);
  });

  it("P36 headers of the person go with each request, and the key where it is wanted", async () => {
    const { server } = await sent({
      provider: "anthropic",
      apiKey: "secret-key",
      keyHeader: "authorization",
      headers: { "X-Team": "a", "anthropic-version": "2099-01-01" },
    });
    const { headers } = server.requests[0] ?? {};
    expect(headers).toMatchObject({
      authorization: "Bearer secret-key",
      "x-team": "a",
      "anthropic-version": "2099-01-01",
    });
    expect(headers).not.toHaveProperty("x-api-key");
  });

  it("P36 what stands behind a ? in the base URL goes with each request", async () => {
    const server = await serve({ text: "ok" });
    const [base] = server.baseUrl.split("?");
    await readAll(openModel({ provider: "openai", name: "m", baseUrl: `${base}?api-version=2026-01-01` }));
    expect(server.requests[0]?.path).toMatch(/\/chat\/completions\?api-version=2026-01-01$/);
  });

  it("P35 a key that is got is got anew once when the service refuses it", async () => {
    const asked: boolean[] = [];
    const apiKey = (isRefused: boolean): Promise<string> => {
      asked.push(isRefused);
      return Promise.resolve(isRefused ? "new-one" : "old-one");
    };
    const refusal = raw('{"error":{"message":"expired token"}}', { status: 401, type: "application/json" });
    const server = await serve(refusal, { text: "ok" });
    const events = await readAll(
      openModel({ provider: "openai", name: "m", baseUrl: server.baseUrl, apiKey }),
    );
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
    expect(asked).toEqual([false, true]);
    const always = await startFakeModelServer([refusal, refusal, refusal]);
    const failed = await readAll(
      openModel({ provider: "openai", name: "m", baseUrl: always.baseUrl, apiKey }),
    );
    await always.close();
    expect(failed.at(-1)).toMatchObject({ reason: "error", error: { type: "unauthorized" } });
    expect(always.requests).toHaveLength(2);
  });

  it("P35 a key that cannot be got is told, and nothing is sent", async () => {
    const server = await serve();
    const apiKey = (): Promise<string> => Promise.reject(new Error("the vault is closed"));
    const events = await readAll(
      openModel({ provider: "openai", name: "m", baseUrl: server.baseUrl, apiKey }),
    );
    expect(events).toMatchObject([{ type: "end", error: { type: "unauthorized" } }]);
    expect(JSON.stringify(events)).toContain("the vault is closed");
    expect(server.requests).toEqual([]);
  });

  it.each<[string, ModelChoice["provider"], number, string, object]>([
    [
      "Vertex, by one",
      "gemini",
      400,
      "Unable to submit request because it has a maxOutputTokens value of 65536 but the supported range is from 1 (inclusive) to 65536 (exclusive). Update the value and try again.",
      { generationConfig: { maxOutputTokens: 65_535 } },
    ],
    [
      "OpenRouter, for want of money",
      "anthropic",
      402,
      "This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 30104.",
      { max_tokens: 30_104 },
    ],
    [
      "Databricks, with its own number before the limit",
      "openai",
      400,
      "Bad request: rpc error: code = InvalidArgument desc = max_tokens (65536) cannot exceed 8192. Please reduce the length of max output tokens generated.",
      { max_completion_tokens: 8192 },
    ],
    [
      "a range in words",
      "openai",
      400,
      "max_tokens must be between 1 and 8192",
      { max_completion_tokens: 8192 },
    ],
    [
      "the maximum that is exceeded",
      "openai",
      422,
      "Requested max_tokens 65536 exceeds the maximum of 32768 for this model",
      { max_completion_tokens: 32_768 },
    ],
  ])("P36 a reply that is too long is asked for shorter: %s", async (...row) => {
    const [, provider, status, message, lowered] = row;
    const refusal = raw(JSON.stringify({ error: { message } }), { status });
    const server = await serve(refusal, { text: "ok" });
    const tuning = { maxOutput: 65_536 };
    const events = await readAll(openModel({ provider, name: "m", baseUrl: server.baseUrl, tuning }));
    expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
    expect(server.requests.at(-1)?.body).toMatchObject(lowered);
  });

  it.each<[ModelChoice["provider"], "off" | "medium" | "xhigh" | "max", string, object]>([
    // kaitranntt/ccs#344
    [
      "openai",
      "xhigh",
      "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
      { reasoning_effort: "high" },
    ],
    // liliMozi/openhanako#2092
    [
      "openai",
      "medium",
      "Unsupported value: 'reasoning_effort' does not support 'medium' with this model. Supported values are: 'low', 'high', and 'max'",
      { reasoning_effort: "low" },
    ],
    // router-for-me/CLIProxyAPI#1572
    [
      "openai",
      "xhigh",
      "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'xhigh', 'ctx': {'expected': \"'low', 'medium' or 'high'\"}}",
      { reasoning_effort: "high" },
    ],
    // nguyenphutrong/quotio#287
    [
      "anthropic",
      "max",
      'level "max" not supported, valid levels: low, medium, high, xhigh',
      { output_config: { effort: "xhigh" } },
    ],
    [
      "openai-responses",
      "off",
      "Unsupported value: 'none' is not supported with the 'o3-2025-04-16' model. Supported values are: 'low', 'medium', and 'high'.",
      { reasoning: { effort: "low" } },
    ],
  ])("P36 an effort that a model of %s does not have becomes the nearest below it: %s", async (...row) => {
    const [provider, reasoning, refusal, asked] = row;
    const { body, server } = await sent({ provider, tuning: { reasoning } }, [refusal]);
    expect(server.requests).toHaveLength(2);
    expect(body).toMatchObject(asked);
  });

  it("P36 OpenAI gives no summaries to an organization that it has not verified, and thinks all the same", async () => {
    const message = "Your organization must be verified to generate reasoning summaries. Please go to: x";
    const tuning = { reasoning: "high" } as const;
    const { body } = await sent({ provider: "openai-responses", tuning }, [message]);
    expect(body).toMatchObject({ reasoning: { effort: "high" } });
    expect(JSON.stringify(body)).not.toContain("summary");
  });

  it("P36 a service that reserves the money for the longest reply gets a limit that it was not told", async () => {
    const message = "You requested up to 65536 tokens, but can only afford 30104.";
    const [refusal, poorer] = [message, message.replace("30104", "900")].map((words) =>
      raw(JSON.stringify({ error: { message: words, code: 402 } }), { status: 402 }),
    );
    const server = await serve(refusal ?? {}, { text: "ok" }, poorer ?? {});
    const model = openModel({ provider: "openai", name: "m", baseUrl: server.baseUrl });
    expect((await readAll(model)).at(-1)).toEqual({ type: "end", reason: "stop" });
    expect(server.requests.map(({ body }) => body.max_completion_tokens)).toEqual([undefined, 30_104]);
    // With so few tokens, no useful work is possible.
    expect((await readAll(model)).at(-1)).toMatchObject({ error: { type: "quota" } });
  });

  it("P12 a model that is said to see nothing or to call nothing is never tried with it", async () => {
    const server = await serve({ text: "ok" });
    const model = openModel({
      provider: "openai",
      name: "m",
      baseUrl: server.baseUrl,
      images: false,
      tools: false,
    });
    const image = { inlineData: { mimeType: "image/png", data: "AAAA" } };
    const tools = [{ name: "ls", description: "d", parameters: { type: "object" as const, properties: {} } }];
    const history = [{ role: "user" as const, parts: [{ text: "x" }, image] }];
    for await (const _ of model.stream({ system: "", history, tools }, new AbortController().signal));
    expect(JSON.stringify(server.requests[0]?.body)).not.toMatch(/image_url|"tools"/);
  });
});
