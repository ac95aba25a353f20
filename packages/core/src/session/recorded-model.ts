import type { ChatModel, ModelEvent } from "@burin/contract/chat-model";
import type { FunctionCall } from "@burin/contract/messages/function-call";

interface RecordedReply {
  readonly turn: number;
  readonly events: ModelEvent[];
}

/** A prompt with all replies until the next one. */
export interface RecordedPrompt {
  readonly text: string;
  readonly replies: RecordedReply[];
}

/** Replays the recorded replies, whatever the request is. `callAs` maps each call. */
export class RecordedModel implements ChatModel {
  readonly name = "recorded";
  readonly #callAs: (call: FunctionCall) => FunctionCall;
  #left: RecordedReply[] = [];

  constructor(callAs: (call: FunctionCall) => FunctionCall) {
    this.#callAs = callAs;
  }

  /** From the next request on, replays the replies to this prompt. */
  take(prompt: RecordedPrompt): void {
    this.#left = [...prompt.replies];
  }

  async *stream(): AsyncGenerator<ModelEvent> {
    const reply = this.#left.shift();
    if (reply === undefined) {
      const error = { type: "script", message: "The record of this session has no further reply." };
      yield { type: "end", reason: "error", error };
      return;
    }
    for (const event of reply.events) {
      yield event.type === "function_call" ? { ...event, call: this.#callAs(event.call) } : event;
    }
    yield { type: "end", reason: "stop" };
  }
}
