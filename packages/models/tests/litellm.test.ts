import type { ModelEvent } from "@burin/contract/chat-model";
import type { Message, Part } from "@burin/contract/messages/message";
import { ASK, closeServers, delta, raw, readAll, serve, sse } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openModel } from "../src/choice/open-model.ts";

afterEach(closeServers);

/** The history after a reply that calls `ls`, and its answer. */
function historyOf(events: readonly ModelEvent[]): Message[] {
  const parts = events.flatMap((event): Part[] => {
    if (event.type === "function_call") return [{ functionCall: event.call }];
    if (event.type === "text") return [{ text: event.text }];
    if (event.type !== "thought" || event.callId !== undefined) return [];
    return [{ thought: true, text: event.text, ...signature(event.signature) }];
  });
  for (const event of events) {
    const called = parts.find(({ functionCall }) => functionCall !== undefined);
    if (event.type === "thought" && event.callId !== undefined)
      Object.assign(called ?? {}, signature(event.signature));
  }
  const id = parts.find(({ functionCall }) => functionCall)?.functionCall?.id ?? "c1";
  const functionResponse = { id, name: "ls", response: { output: "seen" } };
  return [ASK, { role: "model", parts }, { role: "user", parts: [{ functionResponse }] }];
}

function signature(thoughtSignature: string | undefined): Part {
  return thoughtSignature === undefined ? {} : { thoughtSignature };
}

/** What goes back of a reply of these pieces, and what after a refusal of it. */
async function sentBack(pieces: readonly object[], refusal: string): Promise<string[]> {
  const told = raw(sse(...pieces.map((piece) => delta(piece)), delta({}, "tool_calls")));
  const refused = raw(JSON.stringify({ error: { message: refusal } }), { status: 400 });
  const { baseUrl, requests } = await serve(told, refused, { text: "ok" });
  const model = openModel({ provider: "openai", name: "m", baseUrl });
  const history = historyOf(await readAll(model));
  expect((await readAll(model, { history })).at(-1)).toMatchObject({ reason: "stop" });
  return requests.slice(1).map(({ body }) => JSON.stringify(body.messages));
}

/** Of the last call, and of its answer. */
function idsIn(messages: string): string[] {
  const [made, answered] = JSON.parse(messages).slice(-2);
  return [made.tool_calls[0].id, answered.tool_call_id];
}

const call = { index: 0, id: "c1", type: "function", function: { name: "ls", arguments: "{}" } };

describe("P36 behind LiteLLM", () => {
  // BerriAI/litellm#15601: without them Claude refuses the answers of its calls.
  it("Claude's signed thoughts go back as blocks, and to nobody who refuses them", async () => {
    const block = (thinking: string, sign: string | null) => ({
      type: "thinking",
      thinking,
      signature: sign,
    });
    const [sent = "", again = ""] = await sentBack(
      [
        { reasoning_content: "I ", thinking_blocks: [block("I ", null)] },
        { reasoning_content: "look", thinking_blocks: [block("look", null)] },
        { reasoning_content: "", thinking_blocks: [block("", "c2ln")] },
        { thinking_blocks: [{ type: "redacted_thinking", data: "c2VjcmV0" }] },
        { thinking_blocks: [{ type: "redacted_thinking", data: "bW9yZQ" }] },
        { thinking_blocks: [block("So", null)] },
        { thinking_blocks: [block("", "bmV3")] },
        { tool_calls: [call], thinking_blocks: [block("unsigned", null)] },
      ],
      "messages.1: Unexpected field thinking_blocks",
    );
    const blocks = [
      block("I look", "c2ln"),
      { type: "redacted_thinking", data: "c2VjcmV0" },
      { type: "redacted_thinking", data: "bW9yZQ" },
      block("So", "bmV3"),
    ];
    expect(JSON.parse(sent).at(-2).thinking_blocks).toEqual(blocks);
    expect(again).not.toContain("thinking_blocks");
  });

  it("Gemini's signature goes back with its call, and to nobody who refuses it", async () => {
    const passed = { provider_specific_fields: { thought_signature: "c2ln" } };
    const [sent = "", again = ""] = await sentBack(
      [{ tool_calls: [{ ...call, ...passed }] }],
      "Unknown name provider_specific_fields",
    );
    expect(JSON.parse(sent).at(-2).tool_calls).toEqual([expect.objectContaining(passed)]);
    expect(again).not.toContain("provider_specific_fields");
  });

  // BerriAI/litellm#37849: with a piece of the signature, or another one, Vertex refuses every request from then on.
  it("Gemini's signature within an id goes back in it, on the call and its answer, and to nobody who refuses it", async () => {
    const id = `call_2156408__thought__${"AY89a1/Iab3+RVjKCabD".repeat(50)}`;
    const refusal =
      "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 64, but got a string with length 1023 instead.";
    const [sent = "", again = ""] = await sentBack([{ tool_calls: [{ ...call, id }] }], refusal);
    expect(idsIn(sent)).toEqual([id, id]);
    const [first = "", second] = idsIn(again);
    expect(first).toMatch(/^[a-z0-9]{9}$/);
    expect(second).toBe(first);
  });

  it.each(["anthropic", "openai-responses"] as const)(
    "%s gets such an id without the signature",
    async (provider) => {
      const { baseUrl, requests } = await serve({ text: "ok" });
      const id = `call_2156408__thought__${"AY89a1/Iab3+RVjKCabD".repeat(50)}`;
      const functionCall = { id, name: "ls", args: {} };
      const functionResponse = { id, name: "ls", response: { output: "seen" } };
      const history: Message[] = [
        ASK,
        { role: "model", parts: [{ functionCall }] },
        { role: "user", parts: [{ functionResponse }] },
      ];
      await readAll(openModel({ provider, name: "m", baseUrl }), { history });
      expect(JSON.stringify(requests[0]?.body).match(/"call_2156408"/g)).toHaveLength(2);
    },
  );
});

describe("P36 at Databricks", () => {
  // BerriAI/litellm#36931: the form in which Claude's thoughts come is the one that is taken back.
  it("Claude's signed thoughts go back as a part of the content, before the text, and to nobody who refuses them", async () => {
    const said = (text: string, sign = "") => ({ type: "summary_text", text, signature: sign });
    const piece = (text: string, sign?: string) => ({
      content: [{ type: "reasoning", summary: [said(text, sign)] }],
    });
    const [sent = "", again = ""] = await sentBack(
      [piece("I "), piece("look"), piece("", "c2ln"), { content: "So:" }, { tool_calls: [call] }],
      "Invalid value: 'reasoning'. Supported values are: 'text' and 'refusal'.",
    );
    const content = [
      { type: "reasoning", summary: [said("I look", "c2ln")] },
      { type: "text", text: "So:" },
    ];
    expect(JSON.parse(sent).at(-2)).toMatchObject({ content, tool_calls: [{ id: "c1" }] });
    expect(JSON.parse(again).at(-2)).toMatchObject({ content: "So:", tool_calls: [{ id: "c1" }] });
  });
});
