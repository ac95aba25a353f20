import type { ScriptedCall, ScriptLine } from "@burin/models/scripted";
import { chatRequestProblem } from "./check-chat-request.ts";
import { dataEvent, type FakeProtocol, list, pieces, usageOf, type WireReply } from "./wire-reply.ts";

/** Chat completions, as strict as the strictest services. */
export const chatCompletionsProtocol: FakeProtocol = {
  problem: chatRequestProblem,
  isStreamed: (body) => body.stream === true,
  streamed: (reply) => streamedReply(reply).map(dataEvent),
  whole: wholeReply,
  errorBody: (error) => ({ error: errorBody(error) }),
  answeredCalls: ({ messages }) => list(messages).filter(({ role }) => role === "tool").length,
};

/** The reply as the data of server-sent events, in order, as a streaming service sends them. */
function streamedReply({ line, model, callIds }: WireReply): string[] {
  const chunk = (fields: object): string =>
    JSON.stringify({ id: "reply", object: "chat.completion.chunk", created: 0, model, ...fields });
  const delta = (fields: object): string =>
    chunk({ choices: [{ index: 0, delta: fields, finish_reason: null }] });
  const events = [delta({ role: "assistant", content: "" })];
  for (const piece of pieces(line.thought ?? "")) events.push(delta({ reasoning_content: piece }));
  for (const piece of pieces(line.text ?? "")) events.push(delta({ content: piece }));
  if (line.error) {
    events.push(JSON.stringify({ error: errorBody(line.error) }));
    return events;
  }
  const calls = line.calls ?? [];
  for (const [index, call] of calls.entries()) {
    const begun = {
      index,
      id: callIds[index],
      type: "function",
      function: { name: call.name, arguments: "" },
    };
    events.push(delta({ tool_calls: [begun] }));
    for (const piece of pieces(JSON.stringify(call.args))) {
      events.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
  }
  events.push(chunk({ choices: [{ index: 0, delta: {}, finish_reason: finishReason(calls) }] }));
  events.push(chunk({ choices: [], usage: wireUsage(line) }), "[DONE]");
  return events;
}

/** The same reply as the one JSON document that answers a request without `stream`. */
function wholeReply({ line, model, callIds }: WireReply): object {
  if (line.error) return { error: errorBody(line.error) };
  const calls = line.calls ?? [];
  const toolCalls = calls.map((call, index) => ({
    id: callIds[index],
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.args) },
  }));
  const message = {
    role: "assistant",
    content: line.text ?? null,
    ...(line.thought ? { reasoning_content: line.thought } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
  const choices = [{ index: 0, message, finish_reason: finishReason(calls) }];
  return { id: "reply", object: "chat.completion", created: 0, model, choices, usage: wireUsage(line) };
}

function errorBody(error: NonNullable<ScriptLine["error"]>): object {
  return { message: error.message, type: error.type ?? "server_error", code: error.status ?? null };
}

function finishReason(calls: readonly ScriptedCall[]): string {
  return calls.length > 0 ? "tool_calls" : "stop";
}

function wireUsage(line: ScriptLine): object {
  const { inputTokens, outputTokens, cachedTokens } = usageOf(line);
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}
