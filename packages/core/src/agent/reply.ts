import type { AgentEvent } from "@burin/contract/agent-event";
import { onceFor } from "@burin/contract/async/once";
import type { ChatModel, ModelEvent, ModelRequest, Usage } from "@burin/contract/chat-model";
import type { FunctionCall } from "@burin/contract/messages/message";
import type { CallIds } from "./call-ids.ts";
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
  /** Adds each event to the history before a reader sees it. */
  readonly note: (event: AgentEvent) => AgentEvent;
  readonly ids: CallIds;
  /** The text that this reply continues: a model may start from its beginning, and no text should appear twice. */
  readonly said?: string;
}

/** Passes on text and reasoning; calls wait for the end of the reply, so that none of a broken reply is run. */
export async function* readReply(
  { model, request, note, ids, said = "" }: Asked,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Reply> {
  let text = "";
  const fresh = new FreshText(said);
  const tell = function* (piece: string): Generator<AgentEvent> {
    if (piece === "") return;
    text += piece;
    yield note({ type: "text", role: "model", text: piece });
  };
  let usage: Usage | undefined;
  const calls: FunctionCall[] = [];
  /** A signature may come with the id of a call that is still to come. */
  const early = new Map<string, string>();
  const idOf = (given: string) => onceFor(early, given, () => ids.take(given));
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case "text":
        yield* tell(fresh.add(event.text));
        break;
      case "function_call":
        calls.push({ ...event.call, id: idOf(event.call.id) });
        early.delete(event.call.id);
        break;
      case "end":
        if (event.reason === "stop") yield* tell(fresh.rest());
        return { text, calls, usage, end: event };
      default:
        if (event.type === "usage") usage = event.usage;
        if (event.type === "thought" && event.takesText) text = "";
        if (event.type === "thought" && event.callId !== undefined)
          yield note({ ...event, callId: idOf(event.callId) });
        else yield note(event);
    }
  }
  const error = { type: "bad_reply", message: "The model's reply ended without a reason for its end." };
  return { text, calls, usage, end: { type: "end", reason: "error", error } };
}

/** The text of a reply without the earlier text, if it repeats all of that at its start. */
class FreshText {
  readonly #said: string;
  #held = "";
  #isHolding: boolean;

  constructor(said: string) {
    this.#said = said;
    this.#isHolding = said !== "";
  }

  add(piece: string): string {
    this.#held += piece;
    if (!this.#isHolding) return this.rest();
    if (this.#said.length > this.#held.length && this.#said.startsWith(this.#held)) return "";
    this.#isHolding = false;
    if (this.#held.startsWith(this.#said)) this.#held = this.#held.slice(this.#said.length);
    return this.rest();
  }

  /** Returns what was held back: a reply that ends before the whole earlier text does not repeat it. */
  rest(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }
}

/** For a service that does not count tokens: a budget must still apply. */
export function estimatedUsage(
  inputTokens: number,
  { text, calls }: Pick<Reply, "text" | "calls">,
  size: ContextSize,
): Usage {
  const said = text + calls.map((call) => JSON.stringify(call.args)).join("");
  return { inputTokens, outputTokens: size.ofText(said), cachedTokens: 0 };
}
