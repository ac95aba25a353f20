import type { Message, Part } from "@burin/contract/messages/message";
import { isRecord } from "@burin/contract/messages/untrusted-json";
import { ASK, closeServers, raw, readAll, serve } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openModel } from "../choice/open-model.ts";

afterEach(closeServers);

describe("P36 thoughts that nobody has signed", () => {
  const called = (id: string): Message[] => [
    { role: "model", parts: [{ functionCall: { id, name: "ls", args: {} } }] },
    { role: "user", parts: [{ functionResponse: { id, name: "ls", response: { output: "x" } } }] },
  ];
  const [first, ...more] = called("a");
  const thinking = {
    role: "model",
    parts: [{ text: "hm", thought: true }, ...(first?.parts ?? [])],
  } as const;
  const history = [ASK, thinking, ...more, ...called("b")];

  // NousResearch/hermes-agent#22313, #14018: DeepSeek's and Kimi's own endpoints.
  it.each([
    "The `content[].thinking` in the thinking mode must be passed back to the API.",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
  ])("go back where a service wants them: %s", async (words) => {
    const server = await serve({ error: { message: words, status: 400 } }, { text: "never" });
    const model = openModel({ provider: "anthropic", name: "m", baseUrl: server.baseUrl });
    // The fake accepts only signed thoughts, as Anthropic does, and rejects the second request, too.
    await readAll(model, { history });
    const thoughts = server.requests.map(({ body }) =>
      (body as { messages: { role: string; content: { type: string }[] }[] }).messages
        .filter(({ role }) => role === "assistant")
        .map(({ content }) => content.filter(({ type }) => type === "thinking")),
    );
    const [first, second] = ["hm", " "].map((thinking) => [{ type: "thinking", thinking }]);
    expect(thoughts).toEqual([
      [[], []],
      [first, second],
    ]);
  });
});

// anomalyco/opencode#3077
it("P36 Claude with a budget for thinking takes over the work of another model, and thinks about the next prompt", async () => {
  const server = await serve({ text: "ok" }, { thought: "mine", text: "ok" }, { text: "ok" }, { text: "ok" });
  const model = openModel({
    provider: "anthropic",
    name: "m",
    baseUrl: server.baseUrl,
    tuning: { reasoning: 4000 },
  });
  const called = (id: string, ...before: Part[]): Message[] => [
    { role: "model", parts: [...before, { functionCall: { id, name: "ls", args: {} } }] },
    { role: "user", parts: [{ functionResponse: { id, name: "ls", response: { output: "x" } } }] },
  ];
  const begun = [ASK, ...called("a"), { role: "user", parts: [{ text: "go on" }] } as const];
  await readAll(model, { history: begun });
  const next = [...begun, { role: "model", parts: [{ text: "ok" }] } as const, ASK];
  const [own] = (await readAll(model, { history: next })).flatMap((event) =>
    event.type === "thought" && event.signature ? event.signature : [],
  );
  const thought = { text: "mine", thought: true, ...(own ? { thoughtSignature: own } : {}) };
  await readAll(model, { history: [...next, ...called("b", thought), ...called("c")] });
  const thinking = server.requests.map(({ body }) => isRecord(body.thinking) && body.thinking.type);
  expect([thinking, server.problems]).toEqual([[false, "enabled", "enabled"], []]);
});

it("P36 Claude goes on thinking where it refuses what another service has signed, and gets back its own", async () => {
  const server = await serve({ thought: "mine", text: "ok" }, { text: "ok" });
  const tuning = { reasoning: "high" } as const;
  const model = openModel({ provider: "anthropic", name: "m", baseUrl: server.baseUrl, tuning });
  const thought = (text: string, thoughtSignature: string): Message => ({
    role: "model",
    parts: [{ text, thought: true, thoughtSignature }, { text: "so" }],
  });
  const begun = [ASK, thought("theirs", "anthropic:foreign"), ASK];
  const [own = ""] = (await readAll(model, { history: begun })).flatMap((event) =>
    event.type === "thought" ? (event.signature ?? []) : [],
  );
  await readAll(model, { history: [...begun, thought("mine", own), ASK] });
  const bodies = server.requests.map(({ body }) => JSON.stringify(body));
  const thoughts = bodies.map((body) => body.match(/"thinking":"(?:their|mine)/g));
  expect(thoughts).toEqual([['"thinking":"their'], null, ['"thinking":"mine']]);
  for (const body of bodies) expect(body).toContain('"thinking":{"type":"adaptive"');
});

// anthropics/claude-code#56695
it("P36 Claude goes on thinking where it does not take a thought back as it is", async () => {
  const message =
    "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.";
  const refusal = raw(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }), {
    status: 400,
  });
  const server = await serve({ thought: "mine", text: "ok" }, refusal, { text: "ok" });
  const tuning = { reasoning: "high" } as const;
  const model = openModel({ provider: "anthropic", name: "m", baseUrl: server.baseUrl, tuning });
  const [own = ""] = (await readAll(model)).flatMap((event) =>
    event.type === "thought" ? (event.signature ?? []) : [],
  );
  const said = [{ text: "mine", thought: true, thoughtSignature: own }, { text: "ok" }];
  const events = await readAll(model, { history: [ASK, { role: "model", parts: said }, ASK] });
  expect(events.at(-1)).toEqual({ type: "end", reason: "stop" });
  const bodies = server.requests.map(({ body }) => JSON.stringify(body));
  expect(bodies.map((body) => body.includes('"thinking":"mine"'))).toEqual([false, true, false]);
  for (const body of bodies) expect(body).toContain('"thinking":{"type":"adaptive"');
});
