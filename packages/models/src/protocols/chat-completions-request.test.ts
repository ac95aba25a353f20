import type { Message, Part } from "@burin/contract/messages/message";
import { chatCompletionsProtocol } from "@burin/testing/chat-completions-protocol";
import { describe, expect, it } from "vitest";
import { Lessons } from "../request/lessons.ts";
import { prepareRequest } from "../request/prepare-request.ts";
import { isSupportedImage } from "../request/user-items.ts";
import { buildChatBody } from "./chat-completions-request.ts";

const PNG: Part = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };
const LS = { name: "ls", description: "lists", parameters: { type: "object" as const, properties: {} } };

function body(history: readonly Message[], tools = [LS], system = "Be exact.") {
  return JSON.parse(buildChatBody("m", { system, history, tools }).join(""));
}

function messages(...history: Message[]) {
  const request = body(history);
  expect(() => chatCompletionsProtocol.check(request, new Map())).not.toThrow();
  return request.messages.slice(1);
}

function user(...parts: Part[]): Message {
  return { role: "user", parts };
}

function model(...parts: Part[]): Message {
  return { role: "model", parts };
}

function call(id: string, name = "ls"): Part {
  return { functionCall: { id, name, args: { path: "." } } };
}

function answer(id: string, response: Record<string, unknown> = { output: "out" }): Part {
  return { functionResponse: { id, name: "ls", response } };
}

function wireCall(id: string, name = "ls") {
  return { id, type: "function", function: { name, arguments: '{"path":"."}' } };
}

describe("the body of a chat completions request", () => {
  it("asks for a stream with usage and names the tools as functions", () => {
    expect(body([user({ text: "hi" })])).toEqual({
      model: "m",
      tools: [{ type: "function", function: LS }],
      messages: [
        { role: "system", content: "Be exact." },
        { role: "user", content: "hi" },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("P11 has what was added to the last message after it was sent once", () => {
    const last = user({ text: "first" });
    const history = [user({ text: "hi" }), model({ text: "Hello." }), last];
    expect(messages(...history).at(-1)).toEqual({ role: "user", content: "first" });
    (last.parts as Part[]).push({ text: "second" });
    expect(messages(...history).at(-1)).toEqual({ role: "user", content: "first\nsecond" });
  });

  it("has neither a tools key nor a system message where there are none", () => {
    const request = body([user({ text: "hi" })], [], "");
    expect(Object.keys(request)).toEqual(["model", "messages", "stream", "stream_options"]);
    expect(request.messages).toHaveLength(1);
  });

  it("is the same bytes each time, and a longer history only adds to them", () => {
    const history = [user({ text: "hi" }), model({ text: "a" }, call("1")), user(answer("1"))];
    const longer = [...history, model({ text: "done" }), user({ text: "more" })];
    const write = (list: Message[]) =>
      buildChatBody("m", { system: "s", history: list, tools: [LS] }).join("");
    expect(write(history)).toBe(write(structuredClone(history)));
    const end = '],"stream":true,"stream_options":{"include_usage":true}}';
    expect(write(longer).startsWith(write(history).slice(0, -end.length))).toBe(true);
  });

  it("gives text, calls and one tool message a call, outputs and errors", () => {
    const sent = messages(
      user({ text: "one" }, { text: "two" }),
      model(
        { text: "I think", thought: true },
        { text: "Look" },
        { text: "ing." },
        call("1"),
        call("2"),
        call("3"),
      ),
      user(answer("1"), answer("2", { error: "no such file" }), answer("3", { output: "" })),
    );
    expect(sent).toEqual([
      { role: "user", content: "one\ntwo" },
      { role: "assistant", content: "Looking.", tool_calls: [wireCall("1"), wireCall("2"), wireCall("3")] },
      { role: "tool", tool_call_id: "1", content: "out" },
      { role: "tool", tool_call_id: "2", content: "Error: no such file" },
      { role: "tool", tool_call_id: "3", content: "" },
    ]);
  });

  it("puts images behind all tool messages of the turn, and says in words what it cannot carry", async () => {
    const pdf: Part = {
      inlineData: { mimeType: "application/pdf", data: Buffer.alloc(1000).toString("base64") },
    };
    const history = [
      user({ text: "go" }),
      model(call("1"), call("2")),
      user(answer("1"), PNG),
      user(answer("2"), pdf),
      user({ text: "and now?" }),
    ];
    const taker = { dialect: "full", carries: isSupportedImage } as const;
    const prepared = await prepareRequest({ system: "", history, tools: [] }, new Lessons(), taker);
    const sent = messages(...prepared.history);
    expect(sent.slice(1)).toEqual([
      { role: "assistant", content: null, tool_calls: [wireCall("1"), wireCall("2")] },
      { role: "tool", tool_call_id: "1", content: "out" },
      { role: "tool", tool_call_id: "2", content: "out" },
      {
        role: "user",
        content: [
          { type: "text", text: "Image from ls:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
          {
            type: "text",
            text: expect.stringMatching(/from ls of type application\/pdf of 1000 bytes.*\nand now\?$/s),
          },
        ],
      },
    ]);
  });

  it("sends a user's own image with the text beside it", () => {
    expect(messages(user({ text: "what is this?" }, PNG))).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "what is this?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
        ],
      },
    ]);
  });

  it("P34 leaves out a reply that was empty or only thought, and joins the user messages around it", () => {
    const silent = [model(), model({ text: "" }), model({ text: "hm", thought: true })];
    for (const reply of silent) {
      expect(messages(user({ text: "a" }), reply, user({ text: "b" }))).toEqual([
        { role: "user", content: "a\nb" },
      ]);
    }
  });
});
