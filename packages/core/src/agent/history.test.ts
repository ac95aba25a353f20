import { describe, expect, it } from "vitest";
import type { AgentEvent } from "./agent-event.ts";
import { historyOf } from "./history.ts";

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
const called = (callId: string): AgentEvent => ({
  type: "tool_call",
  call: {
    callId,
    name: "ls",
    args: {},
    description: "",
    status: "success",
    llmContent: "x",
    returnDisplay: "",
  },
});

function reply(...events: AgentEvent[]) {
  return historyOf([asked, ...events])[1]?.parts;
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
    expect(historyOf([asked, thought("lost"), restart])).toEqual([{ role: "user", parts: [{ text: "go" }] }]);
    expect(historyOf([asked, thought("kept"), called("a"), restart])).toMatchObject([
      {},
      { parts: [{ text: "kept" }, { functionCall: { id: "a" } }] },
      {},
    ]);
    expect(reply(thought("kept"), { type: "notice", message: "by the way" })).toEqual([
      { text: "kept", thought: true },
    ]);
  });
});
