import type { FunctionCall } from "../messages/function-call.ts";
import type { ChatModel, ModelEvent, ModelRequest, Usage } from "../models/chat-model.ts";
import type { AgentEvent } from "./agent-event.ts";
import type { ContextSize } from "./context-size.ts";

export interface Reply {
  readonly text: string;
  readonly calls: readonly FunctionCall[];
  readonly usage: Usage | undefined;
  readonly end: Extract<ModelEvent, { type: "end" }>;
}

interface Asked {
  readonly model: ChatModel;
  readonly request: ModelRequest;
  /** Takes each event into the history before a reader sees it. */
  readonly note: (event: AgentEvent) => AgentEvent;
}

/** Passes on what is said and thought; the calls wait for the end of the reply, so that a broken one runs none. */
export async function* readReply(
  { model, request, note }: Asked,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Reply> {
  let text = "";
  let usage: Usage | undefined;
  const calls: FunctionCall[] = [];
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case "text":
        text += event.text;
        yield note({ type: "text", role: "model", text: event.text });
        break;
      case "function_call":
        calls.push(event.call);
        break;
      case "end":
        return { text, calls, usage, end: event };
      default:
        if (event.type === "usage") usage = event.usage;
        if (event.type === "thought" && event.takesText) text = "";
        yield note(event);
    }
  }
  const error = { type: "bad_reply", message: "The model's reply ended without an end." };
  return { text, calls, usage, end: { type: "end", reason: "error", error } };
}

/** For a service that counts nothing: it must not make a budget endless. */
export function estimatedUsage(inputTokens: number, { text, calls }: Reply, size: ContextSize): Usage {
  const said = text + calls.map((call) => JSON.stringify(call.args)).join("");
  return { inputTokens, outputTokens: size.ofText(said), cachedTokens: 0 };
}
