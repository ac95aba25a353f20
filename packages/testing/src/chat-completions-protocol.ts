import assert from "node:assert/strict";
import { filterRecords, isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { CallLedger, checkDeclaredTools, checkWithPlace } from "./conversation.ts";
import { type FakeProtocol, splitIntoPieces, type WireReply } from "./wire-reply.ts";

/** Chat completions, as strict as the strictest services. */
export const chatCompletionsProtocol: FakeProtocol = {
  check,
  returnsThoughts: false,
  buildEvents,
  buildDocument,
  buildErrorBody: ({ message, type, status }) => ({
    error: { message, type: type ?? "server_error", code: status ?? null },
  }),
  countAnsweredCalls: ({ messages }) => filterRecords(messages).filter(({ role }) => role === "tool").length,
};

function check({ model, messages, tools }: JsonRecord): void {
  assert(typeof model === "string" && model !== "", "model: a name is missing");
  assert(Array.isArray(messages) && messages.length > 0, "messages: a list is missing");
  if (tools !== undefined) checkTools(tools);
  // These services accept any text as the id of a call.
  const ledger = new CallLedger(/./s);
  let last = "start";
  for (const [index, message] of messages.entries()) {
    checkWithPlace(`messages[${index}] `, () => {
      assert(isRecord(message), "is not an object");
      checkMessage(message, last, ledger);
    });
    last = message.role;
  }
  ledger.checkAnswered();
  assert(last === "user" || last === "tool", `messages: the last is of ${last}`);
}

function checkTools(tools: unknown): void {
  assert(Array.isArray(tools) && tools.length > 0, "tools: must be a list with at least one tool");
  const declared = filterRecords(tools).map((tool) => (tool.type === "function" ? tool.function : undefined));
  assert(declared.length === tools.length && declared.every(isRecord), "tools: an entry is not a function");
  for (const { name, description } of declared)
    assert(typeof description === "string", `tools: "${String(name)}" has no description`);
  checkDeclaredTools(declared.map(({ name, parameters }) => ({ name, schema: parameters ?? null })));
}

function checkMessage(message: JsonRecord, last: string, ledger: CallLedger): void {
  const { role, content } = message;
  if (role === "tool") {
    ledger.answer(message.tool_call_id);
    assert(isTextOrParts(content, isText), "has content that is not text");
    return;
  }
  checkWithPlace("comes before it: ", () => ledger.checkAnswered());
  if (role === "system") {
    assert(last === "start", "is a system message out of order");
    assert(content !== "" && isTextOrParts(content, isText), "has no content");
  } else if (role === "user") {
    assert(last !== "user", "is a second user message in a row");
    assert(/\S/.test(String(content)) && isTextOrParts(content, isUserPart), "has no usable content");
  } else {
    assert(role === "assistant", `has the unknown role "${String(role)}"`);
    assert(last === "user" || last === "tool", `is an assistant message after ${last}`);
    checkAssistantMessage(message, ledger);
  }
}

/** Checks content: a text, or a list of text parts, which services with cache marks accept everywhere. */
function isTextOrParts(content: unknown, isAllowed: (part: JsonRecord) => boolean): boolean {
  if (!Array.isArray(content)) return typeof content === "string";
  return content.length > 0 && content.every((part) => isRecord(part) && isAllowed(part));
}

function isText({ type }: JsonRecord): boolean {
  return type === "text";
}

function isUserPart({ type, text, image_url: image, file }: JsonRecord): boolean {
  if (type === "text") return typeof text === "string" && /\S/.test(text);
  if (type === "file") {
    const { filename, file_data: data } = isRecord(file) ? file : {};
    return typeof filename === "string" && /^data:application\/pdf;base64,./.test(String(data));
  }
  const url = isRecord(image) ? String(image.url) : "";
  return type === "image_url" && /^(https?:\/\/|data:image\/[a-z+.-]+;base64,)/.test(url);
}

function checkAssistantMessage({ content, tool_calls: calls }: JsonRecord, ledger: CallLedger): void {
  // Databricks puts thoughts into the content.
  const hasText =
    content !== "" && isTextOrParts(content, (part) => isText(part) || part.type === "reasoning");
  assert(calls !== undefined || hasText, "has neither content nor tool calls");
  if (calls === undefined) return;
  assert(content === null || hasText, "must have null or text as content");
  assert(Array.isArray(calls) && calls.length > 0, "has an empty list of tool calls");
  for (const call of calls) {
    const called: unknown = isRecord(call) && call.type === "function" ? call.function : undefined;
    assert(isRecord(call) && isRecord(called), "has a tool call that is not a function");
    const { name, arguments: given } = called;
    const isJson = typeof given === "string" && isRecord(parseJson(given));
    assert(isJson, `has arguments in the tool call ${String(call.id)} that are not JSON text of an object`);
    ledger.call(call.id, name);
  }
}

function buildEvents(reply: WireReply): (object | string)[] {
  const createChunk = (fields: object) => ({ ...buildHead(reply, "chat.completion.chunk"), ...fields });
  const createDelta = (fields: object, finish_reason: string | null = null) =>
    createChunk({ choices: [{ index: 0, delta: fields, finish_reason }] });
  const events: (object | string)[] = [
    createDelta({ role: "assistant", content: "" }),
    ...splitIntoPieces(reply.thought).map((piece) => createDelta({ reasoning_content: piece })),
    ...splitIntoPieces(reply.text).map((piece) => createDelta({ content: piece })),
  ];
  if (reply.error) return [...events, chatCompletionsProtocol.buildErrorBody(reply.error)];
  for (const [index, { id, type, function: called }] of buildToolCalls(reply).entries()) {
    events.push(createDelta({ tool_calls: [{ index, id, type, function: { ...called, arguments: "" } }] }));
    for (const piece of splitIntoPieces(called.arguments))
      events.push(createDelta({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  return [
    ...events,
    createDelta({}, findFinishReason(reply)),
    createChunk({ choices: [], usage: buildUsage(reply) }),
    "[DONE]",
  ];
}

function buildDocument(reply: WireReply): object {
  const { thought, text } = reply;
  const calls = buildToolCalls(reply);
  const message = {
    role: "assistant",
    content: text || null,
    ...(thought ? { reasoning_content: thought } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const choices = [{ index: 0, message, finish_reason: findFinishReason(reply) }];
  return { ...buildHead(reply, "chat.completion"), choices, usage: buildUsage(reply) };
}

function buildHead({ model }: WireReply, object: string): object {
  return { id: "reply", object, created: 0, model };
}

function buildToolCalls({ calls }: WireReply) {
  return calls.map(({ id, name, args }) => {
    return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  });
}

function findFinishReason({ calls }: WireReply): string {
  return calls.length > 0 ? "tool_calls" : "stop";
}

function buildUsage({ usage: { inputTokens, outputTokens, cachedTokens } }: WireReply): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}
