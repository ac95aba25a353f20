import type { AgentEvent } from "@burin/contract/agent-event";
import type { PartListUnion } from "@burin/contract/messages/message";
import { describe, expect, it } from "vitest";
import { buildHistory } from "./history.ts";

const asked: AgentEvent = { type: "text", role: "user", text: "go" };
const said = (text: string): AgentEvent => ({ type: "text", role: "model", text });
const thought = (text: string, more: { signature?: string; callId?: string } = {}): AgentEvent => ({
  type: "thought",
  text,
  ...more,
});
const asking = (callId: string): AgentEvent => ({
  type: "tool_call",
  call: { callId, name: "ls", args: {}, description: "", status: "validating" },
});
const answered = (callId: string, llmContent: PartListUnion): AgentEvent => ({
  type: "tool_call",
  call: {
    callId,
    name: "ls",
    args: {},
    description: "",
    status: "success",
    llmContent,
    returnDisplay: "",
  },
});

function reply(...events: AgentEvent[]) {
  return buildHistory([asked, ...events])[1]?.parts;
}

describe("P36 thoughts in the history", () => {
  it("are joined, apart from the text, and closed by their signature", () => {
    expect(
      reply(thought("a"), thought("b"), thought("", { signature: "s" }), thought("c"), said("x"), said("y")),
    ).toEqual([
      { text: "ab", thought: true, thoughtSignature: "s" },
      { text: "c", thought: true },
      { text: "xy" },
    ]);
  });

  it("text behind a thought, and a thought behind text, are parts of their own", () => {
    expect(reply(said("x"), thought("", { signature: "s" }), said("y"))).toEqual([
      { text: "x" },
      { text: "", thought: true, thoughtSignature: "s" },
      { text: "y" },
    ]);
    expect(reply(thought(""), said("x"))).toEqual([{ text: "x" }]);
  });

  it("a signature for a call stands on that call", () => {
    expect(reply(thought("", { signature: "s", callId: "b" }), asking("a"), asking("b"))).toMatchObject([
      { functionCall: { id: "a" } },
      { functionCall: { id: "b" }, thoughtSignature: "s" },
    ]);
  });

  it("of a reply that begins anew do not count, and those of earlier replies do", () => {
    const restart: AgentEvent = { type: "notice", message: "again", restart: true };
    expect(reply(thought("lost"), restart, thought("kept"), said("x"))).toEqual([
      { text: "kept", thought: true },
      { text: "x" },
    ]);
    expect(buildHistory([asked, thought("lost"), restart])).toEqual([
      { role: "user", parts: [{ text: "go" }] },
    ]);
    expect(buildHistory([asked, thought("kept"), answered("a", "x"), restart])).toMatchObject([
      {},
      { parts: [{ text: "kept" }, { functionCall: { id: "a" } }] },
      {},
    ]);
    expect(reply(thought("kept"), { type: "notice", message: "by the way" })).toEqual([
      { text: "kept", thought: true },
    ]);
  });
});

describe("P6 old answers that are cleared", () => {
  const image = { inlineData: { mimeType: "image/png", data: "x" } };

  it("leave a note, lose their media, and stay the answers to their calls", () => {
    const history = buildHistory([
      asked,
      asking("a"),
      asking("b"),
      answered("a", ["long", image]),
      answered("b", ["short", image]),
      { type: "text", role: "user", text: "look at this" },
      { type: "cleared", callIds: ["a"] },
    ]);
    expect(history[2]?.parts).toMatchObject([
      {
        functionResponse: { id: "a", response: { output: expect.stringContaining("removed to save room") } },
      },
      { functionResponse: { id: "b", response: { output: "short" } } },
      image,
      { text: "look at this" },
    ]);
  });

  it("a compaction puts its text before the messages that it keeps", () => {
    const before = [asked, said("x"), asked, asking("a"), answered("a", "alpha")];
    const compaction = {
      type: "compaction",
      text: "all so far",
      summary: "so far",
      tokensBefore: 9,
      tokensAfter: 3,
    } as const;
    const kept = buildHistory([...before, { ...compaction, kept: 2 }]);
    expect(kept).toMatchObject([
      { role: "user", parts: [{ text: "all so far" }] },
      { role: "model", parts: [{ functionCall: { id: "a" } }] },
      { role: "user", parts: [{ functionResponse: { id: "a", response: { output: "alpha" } } }] },
    ]);
    expect(buildHistory([...before, { ...compaction, kept: 0 }, said("on")])).toEqual([
      { role: "user", parts: [{ text: "all so far" }] },
      { role: "model", parts: [{ text: "on" }] },
    ]);
  });

  it("a context note speaks in the user's role", () => {
    expect(buildHistory([{ type: "context", text: "rules", file: "/x/AGENTS.md" }, asked])).toEqual([
      { role: "user", parts: [{ text: "rules" }, { text: "Prompt:\n\ngo" }] },
    ]);
  });
});
