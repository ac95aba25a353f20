import type { ModelEvent } from "@burin/contract/chat-model";
import type { Message } from "@burin/contract/messages/message";
import { describe, expect, it } from "vitest";
import { parseScript, scriptedModel } from "./scripted.ts";

const NEVER = new AbortController().signal;
const ASK: Message = { role: "user", parts: [{ text: "go" }] };

async function ask(model: ReturnType<typeof scriptedModel>, history: readonly Message[], signal = NEVER) {
  const events: ModelEvent[] = [];
  for await (const event of model.stream({ system: "", history, tools: [] }, signal)) events.push(event);
  return events;
}

function callMessage(...ids: string[]): Message {
  return { role: "model", parts: ids.map((id) => ({ functionCall: { id, name: "ls", args: {} } })) };
}

function answers(...ids: string[]): Message {
  return {
    role: "user",
    parts: ids.map((id) => ({ functionResponse: { id, name: "ls", response: { output: "" } } })),
  };
}

describe("the scripted model", () => {
  it("plays its lines in order with the same ids every time, and says which are left", async () => {
    const line = {
      thought: "hm",
      text: "two",
      calls: [
        { name: "ls", args: { a: 1 } },
        { name: "ls", args: {} },
      ],
    };
    const model = scriptedModel([line, { text: "done", usage: { inputTokens: 3 } }]);
    expect(model.unusedLines()).toHaveLength(2);
    expect(await ask(model, [ASK])).toEqual([
      { type: "thought", text: "hm" },
      { type: "text", text: "two" },
      { type: "function_call", call: { id: "call_1", name: "ls", args: { a: 1 } } },
      { type: "function_call", call: { id: "call_2", name: "ls", args: {} } },
      { type: "end", reason: "stop" },
    ]);
    expect(model.unusedLines()).toEqual([{ text: "done", usage: { inputTokens: 3 } }]);
    const history = [ASK, callMessage("call_1", "call_2"), answers("call_2", "call_1")];
    expect(await ask(model, history)).toEqual([
      { type: "text", text: "done" },
      { type: "usage", usage: { inputTokens: 3, outputTokens: 0, cachedTokens: 0 } },
      { type: "end", reason: "stop" },
    ]);
    expect(model.unusedLines()).toEqual([]);
  });

  it("never gives an id that the history has", async () => {
    const model = scriptedModel([{ calls: [{ name: "ls", args: {} }] }]);
    const [event] = await ask(model, [ASK, callMessage("call_2"), answers("call_2")]);
    expect(event).toMatchObject({ call: { id: "call_3" } });
  });

  it.each<[string, Message[], string]>([
    ["a call without an answer at the end", [ASK, callMessage("a")], "No answer was given to the call a."],
    [
      "a call without an answer before the next reply",
      [ASK, callMessage("a", "b"), answers("b"), { role: "model", parts: [{ text: "x" }] }],
      "the call a.",
    ],
    ["an answer without a call", [ASK, answers("z")], '"z" (ls) belongs to no call'],
    ["an answer given twice", [ASK, callMessage("a"), answers("a", "a")], "a was answered twice"],
    [
      "an id used twice",
      [ASK, callMessage("a"), answers("a"), callMessage("a"), answers("a")],
      "Two calls have the id a",
    ],
    [
      "an answer by the wrong tool",
      [
        ASK,
        callMessage("a"),
        { role: "user", parts: [{ functionResponse: { id: "a", name: "rm", response: {} } }] },
      ],
      "from rm",
    ],
  ])("fails on %s and keeps the line", async (_title, history, words) => {
    const model = scriptedModel([{ text: "x" }]);
    const events = await ask(model, history);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ type: "end", reason: "error", error: { type: "script" } });
    expect(JSON.stringify(events[0])).toContain(JSON.stringify(words).slice(1, -1));
    expect(model.unusedLines()).toHaveLength(1);
  });

  it("fails on a request after the last line", async () => {
    const [end] = await ask(scriptedModel([]), [ASK]);
    expect(end).toMatchObject({ type: "end", reason: "error", error: { type: "script" } });
  });

  it("plays a failure after the text before it", async () => {
    const events = await ask(
      scriptedModel([{ text: "so", error: { type: "rate_limited", message: "slow" } }]),
      [ASK],
    );
    expect(events).toEqual([
      { type: "text", text: "so" },
      { type: "end", reason: "error", error: { type: "rate_limited", message: "slow" } },
    ]);
  });

  it("ends as cancelled when aborted before or between events", async () => {
    const controller = new AbortController();
    const model = scriptedModel([{ thought: "a", text: "b" }]);
    const seen: ModelEvent[] = [];
    for await (const event of model.stream({ system: "", history: [ASK], tools: [] }, controller.signal)) {
      seen.push(event);
      controller.abort();
    }
    expect(seen).toEqual([
      { type: "thought", text: "a" },
      { type: "end", reason: "cancelled" },
    ]);
    expect(await ask(model, [ASK], controller.signal)).toEqual([{ type: "end", reason: "cancelled" }]);
  });
});

describe("a script file", () => {
  it("is read line by line, with blank lines, CRLF and a byte order mark", () => {
    const text = '\ufeff{"text":"a"}\r\n\r\n{"calls":[{"name":"ls","args":{}}]}\n{"error":{"message":"x"}}\n';
    expect(parseScript(text)).toEqual([
      { text: "a" },
      { calls: [{ name: "ls", args: {} }] },
      { error: { message: "x" } },
    ]);
  });

  it.each([
    ["{", "Line 2 of the script is not valid JSON"],
    ["[]", "Line 2 of the script cannot be used: the line must be an object"],
    ["{}", "Line 2 of the script cannot be used: it is empty"],
    ['{"txt":"a"}', '"txt" is not a parameter'],
    ['{"text":3}', '"text" must be a string, got number 3'],
    ['{"calls":{}}', '"calls" must be an array'],
    ['{"calls":[{"name":"ls"}]}', '"calls.0.args" is required (object)'],
    ['{"calls":[{"name":"ls","args":[]}]}', '"calls.0.args" must be an object'],
    ['{"usage":{"inputTokens":-1}}', '"usage.inputTokens" must be at least 0'],
    ['{"error":{}}', '"error.message" is required'],
    ['{"constructor":1}', '"constructor" is not a parameter'],
  ])("%s is refused with its line", (line, words) => {
    expect(() => parseScript(`{"text":"a"}\n${line}`)).toThrow(words);
  });
});
