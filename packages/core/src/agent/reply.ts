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
  /** What was said before this reply took it up: a model may begin anew, and nothing is to be said twice. */
  readonly said?: string;
}

/** Passes on what is said and thought; the calls wait for the end of the reply, so that a broken one runs none. */
export async function* readReply(
  { model, request, note, said = "" }: Asked,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Reply> {
  let text = "";
  let held = "";
  let isHolding = said !== "";
  let usage: Usage | undefined;
  const calls: FunctionCall[] = [];
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case "text": {
        held += event.text;
        if (isHolding && said.length > held.length && said.startsWith(held)) break;
        const piece = isHolding && held.startsWith(said) ? held.slice(said.length) : held;
        isHolding = false;
        held = "";
        if (piece === "") break;
        text += piece;
        yield note({ type: "text", role: "model", text: piece });
        break;
      }
      case "function_call":
        calls.push(event.call);
        break;
      case "end":
        // It was no repetition, unless it broke off in the middle of one.
        if (held !== "" && event.reason === "stop") {
          text += held;
          yield note({ type: "text", role: "model", text: held });
        }
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
