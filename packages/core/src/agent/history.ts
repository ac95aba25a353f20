import type { Message } from "../messages/message.ts";
import type { Part } from "../messages/parts.ts";
import type { Thought } from "../models/chat-model.ts";
import { responseParts } from "../scheduler/function-response.ts";
import { isAnswered, type ToolCall } from "../scheduler/tool-call.ts";
import type { AgentEvent } from "./agent-event.ts";

/**
 * What the model is sent, folded from the events in their order: the agent keeps its history with it, and
 * whoever holds the events (a log, a `stream-json` reader) gets the very same history back.
 */
export class History {
  readonly #messages: { role: Message["role"]; parts: Part[] }[] = [];
  /** The calls of the reply in hand; null stands for an answer that has not come. */
  #answers = new Map<string, readonly Part[] | null>();
  /** What goes back with a call that is still to come. */
  readonly #signatures = new Map<string, string>();

  get messages(): readonly Message[] {
    return this.#messages;
  }

  apply(event: AgentEvent): void {
    if (event.type === "text") this.#addText(event.role, event.text);
    if (event.type === "thought") this.#addThought(event);
    if (event.type === "notice" && event.restart) this.#forgetThoughts();
    if (event.type === "tool_call") this.#applyCall(event.call);
  }

  #addText(role: Message["role"], text: string): void {
    const last = this.#messages.at(-1);
    const part = last?.parts.at(-1);
    if (role === "model" && last?.role === "model" && part?.text !== undefined && !part.thought) {
      part.text += text;
    } else this.#messageOf(role).parts.push({ text });
  }

  #addThought({ text, signature, callId }: Thought): void {
    if (callId !== undefined) {
      if (signature !== undefined) this.#signatures.set(callId, signature);
      return;
    }
    if (text === "" && signature === undefined) return;
    const { parts } = this.#messageOf("model");
    let part = parts.at(-1);
    if (!part?.thought || part.thoughtSignature !== undefined) {
      part = { text: "", thought: true };
      parts.push(part);
    }
    part.text = `${part.text ?? ""}${text}`;
    if (signature !== undefined) part.thoughtSignature = signature;
  }

  /** A reply that begins anew has given thoughts only, and it stands alone at the end. */
  #forgetThoughts(): void {
    const last = this.#messages.at(-1);
    if (last?.role !== "model") return;
    while (last.parts.at(-1)?.thought) last.parts.pop();
    if (last.parts.length === 0) this.#messages.pop();
  }

  #applyCall(call: ToolCall): void {
    if (!this.#answers.has(call.callId)) {
      this.#answers.set(call.callId, null);
      const functionCall = { id: call.callId, name: call.name, args: call.args };
      const thoughtSignature = this.#signatures.get(call.callId);
      this.#messageOf("model").parts.push(
        thoughtSignature === undefined ? { functionCall } : { functionCall, thoughtSignature },
      );
    }
    if (isAnswered(call)) {
      this.#answers.set(call.callId, responseParts(call));
      this.#giveAnswers();
    }
  }

  /** The answers enter together and in the order of the calls, once the last one has come. */
  #giveAnswers(): void {
    const answers = [...this.#answers.values()];
    if (answers.some((answer) => answer === null)) return;
    this.#messageOf("user").parts.push(...answers.flatMap((answer) => answer ?? []));
    this.#answers = new Map();
  }

  #messageOf(role: Message["role"]): { parts: Part[] } {
    const last = this.#messages.at(-1);
    if (last?.role === role) return last;
    const message = { role, parts: [] };
    this.#messages.push(message);
    return message;
  }
}

/** The history that the events tell. */
export function historyOf(events: Iterable<AgentEvent>): readonly Message[] {
  const history = new History();
  for (const event of events) history.apply(event);
  return history.messages;
}
