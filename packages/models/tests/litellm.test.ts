import type { ModelEvent } from "@burin/contract/chat-model";
import type { Message, Part } from "@burin/contract/messages/message";
import { ASK, closeServers, delta, raw, readAll, serve, sse } from "@burin/testing/served-model";
import { afterEach, describe, expect, it } from "vitest";
import { openModel } from "../src/choice/open-model.ts";

afterEach(closeServers);

/** The history after a reply that calls `ls`. */
function historyOf(events: readonly ModelEvent[]): Message[] {
  const parts = events.flatMap((event): Part[] => {
    if (event.type === "function_call") return [{ functionCall: event.call }];
    if (event.type !== "thought" || event.callId !== undefined) return [];
    return [{ thought: true, text: event.text, ...signature(event.signature) }];
  });
  for (const event of events) {
    const called = parts.find(({ functionCall }) => functionCall !== undefined);
    if (event.type === "thought" && event.callId !== undefined)
      Object.assign(called ?? {}, signature(event.signature));
  }
  const functionResponse = { id: "c1", name: "ls", response: { output: "seen" } };
  return [ASK, { role: "model", parts }, { role: "user", parts: [{ functionResponse }] }];
}

function signature(thoughtSignature: string | undefined): Part {
  return thoughtSignature === undefined ? {} : { thoughtSignature };
}

/** What goes back of a reply of these pieces, and what after a refusal of it. */
async function sentBack(pieces: readonly object[], refusal: string): Promise<string[]> {
  const told = raw(sse(...pieces.map((piece) => delta(piece)), delta({}, "tool_calls")));
  const refused = { error: { status: 400, message: refusal } };
  const { baseUrl, requests } = await serve(told, refused, { text: "ok" });
  const model = openModel({ provider: "openai", name: "m", baseUrl });
  const history = historyOf(await readAll(model));
  expect((await readAll(model, { history })).at(-1)).toMatchObject({ reason: "stop" });
  return requests.slice(1).map(({ body }) => JSON.stringify(body.messages));
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
});
