import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { CallLedger, declaredProblem, firstProblem } from "./conversation.ts";
import { type FakeProtocol, list, pieces, type WireError, type WireReply } from "./wire-reply.ts";

/** Chat completions, as strict as the strictest services. */
export const chatCompletionsProtocol: FakeProtocol = {
  problem,
  returnsThoughts: false,
  eventsOf,
  documentOf,
  errorBody,
  answeredCalls: ({ messages }) => list(messages).filter(({ role }) => role === "tool").length,
};

function problem({ model, messages, tools }: JsonRecord): string | undefined {
  if (typeof model !== "string" || model === "") return "model: a name is missing";
  if (!Array.isArray(messages) || messages.length === 0) return "messages: a list is missing";
  const found = toolsProblem(tools);
  if (found !== undefined) return found;
  // Here the id of a call may be any text.
  const ledger = new CallLedger(/./s);
  let last = "start";
  for (const [index, message] of messages.entries()) {
    const wrong = isRecord(message) ? messageProblem(message, last, ledger) : "is not an object";
    if (wrong !== undefined) return `messages[${index}] ${wrong}`;
    last = message.role;
  }
  if (ledger.unanswered !== undefined || last === "user" || last === "tool") return ledger.unanswered;
  return `messages: the last is of ${last}`;
}

function toolsProblem(tools: unknown): string | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools) || tools.length === 0) return "tools: must be a list with at least one tool";
  const declared = list(tools).map((tool) => (tool.type === "function" ? tool.function : undefined));
  if (declared.length < tools.length || !declared.every(isRecord)) return "tools: an entry is not a function";
  const silent = declared.find(({ description }) => typeof description !== "string");
  if (silent) return `tools: "${String(silent.name)}" has no description`;
  return declaredProblem(declared.map(({ name, parameters }) => ({ name, schema: parameters ?? null })));
}

function messageProblem(message: JsonRecord, last: string, ledger: CallLedger): string | undefined {
  const { role, content } = message;
  if (role === "tool") {
    const isFit = hasParts(content, isText);
    return ledger.answer(message.tool_call_id) ?? (isFit ? undefined : "has content that is not text");
  }
  if (ledger.unanswered !== undefined) return `comes before it: ${ledger.unanswered}`;
  switch (role) {
    case "system":
      if (last !== "start") return "is a system message out of order";
      return content !== "" && hasParts(content, isText) ? undefined : "has no content";
    case "user":
      if (last === "user") return "is a second user message in a row";
      return /\S/.test(String(content)) && hasParts(content, isUserPart)
        ? undefined
        : "has no usable content";
    case "assistant":
      if (last !== "user" && last !== "tool") return `is an assistant message after ${last}`;
      return replyProblem(message, ledger);
    default:
      return `has the unknown role "${String(role)}"`;
  }
}

/** A text, or a list of such parts; services with cache marks accept lists everywhere. */
function hasParts(content: unknown, isFit: (part: JsonRecord) => boolean): boolean {
  if (!Array.isArray(content)) return typeof content === "string";
  return content.length > 0 && content.every((part) => isRecord(part) && isFit(part));
}

function isText({ type }: JsonRecord): boolean {
  return type === "text";
}

function isUserPart({ type, text, image_url: image }: JsonRecord): boolean {
  if (type === "text") return typeof text === "string" && /\S/.test(text);
  const url = isRecord(image) ? String(image.url) : "";
  return type === "image_url" && /^(https?:\/\/|data:image\/[a-z+.-]+;base64,)/.test(url);
}

function replyProblem({ content, tool_calls: calls }: JsonRecord, ledger: CallLedger): string | undefined {
  const hasText = typeof content === "string" && content !== "";
  if (calls === undefined) return hasText ? undefined : "has neither content nor tool calls";
  if (content !== null && !hasText) return "must have null or text as content";
  if (!Array.isArray(calls) || calls.length === 0) return "has an empty list of tool calls";
  return firstProblem<unknown>(calls, (call) => {
    const called: unknown = isRecord(call) && call.type === "function" ? call.function : undefined;
    if (!isRecord(call) || !isRecord(called)) return "has a tool call that is not a function";
    const { name, arguments: given } = called;
    if (typeof given !== "string" || !isRecord(parseJson(given))) {
      return `has arguments in the tool call ${String(call.id)} that are not JSON text of an object`;
    }
    return ledger.call(call.id, name);
  });
}

function eventsOf(reply: WireReply): (object | string)[] {
  const chunk = (fields: object) => ({ ...head(reply, "chat.completion.chunk"), ...fields });
  const delta = (fields: object, finish_reason: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: fields, finish_reason }] });
  const events: (object | string)[] = [
    delta({ role: "assistant", content: "" }),
    ...pieces(reply.thought).map((piece) => delta({ reasoning_content: piece })),
    ...pieces(reply.text).map((piece) => delta({ content: piece })),
  ];
  if (reply.error) return [...events, errorBody(reply.error)];
  for (const [index, { id, type, function: called }] of toolCalls(reply).entries()) {
    events.push(delta({ tool_calls: [{ index, id, type, function: { ...called, arguments: "" } }] }));
    for (const piece of pieces(called.arguments))
      events.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  return [...events, delta({}, finishReason(reply)), chunk({ choices: [], usage: usageIn(reply) }), "[DONE]"];
}

function documentOf(reply: WireReply): object {
  const { thought, text } = reply;
  const calls = toolCalls(reply);
  const message = {
    role: "assistant",
    content: text || null,
    ...(thought ? { reasoning_content: thought } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const choices = [{ index: 0, message, finish_reason: finishReason(reply) }];
  return { ...head(reply, "chat.completion"), choices, usage: usageIn(reply) };
}

function head({ model }: WireReply, object: string): object {
  return { id: "reply", object, created: 0, model };
}

function toolCalls({ calls }: WireReply) {
  return calls.map(({ id, name, args }) => {
    return { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  });
}

function errorBody({ message, type, status }: WireError): object {
  return { error: { message, type: type ?? "server_error", code: status ?? null } };
}

function finishReason({ calls }: WireReply): string {
  return calls.length > 0 ? "tool_calls" : "stop";
}

function usageIn({ usage: { inputTokens, outputTokens, cachedTokens } }: WireReply): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}
