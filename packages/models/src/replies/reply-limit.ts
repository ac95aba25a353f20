import type { ModelEvent, ModelFailure } from "@burin/contract/chat-model";

/** Several times what any model can write at once: text, thoughts and call arguments together. */
export const MAX_REPLY_CHARACTERS = 4 * 1024 * 1024;

export const REPLY_TOO_LONG: ModelFailure = {
  type: "reply_too_long",
  message: `The reply had more than ${MAX_REPLY_CHARACTERS} characters without an end, so it was ended there. The part before that is kept.`,
};

/** Ends a reply that would never end by itself. */
export class ReplyLimit {
  #left = MAX_REPLY_CHARACTERS;
  /** true until an event was passed on. */
  isUntouched = true;

  get isReached(): boolean {
    return this.#left < 0;
  }

  /** Returns the event, or the part of it that fits and the end. */
  limitEvent(event: ModelEvent): readonly ModelEvent[] {
    this.isUntouched = false;
    const room = this.#left;
    this.#left -= countCharacters(event);
    if (this.#left >= 0 || event.type === "end") return [event];
    const end: ModelEvent = { type: "end", reason: "error", error: REPLY_TOO_LONG };
    const isText = event.type === "text" || event.type === "thought";
    return isText && room > 0 ? [{ type: event.type, text: event.text.slice(0, room) }, end] : [end];
  }
}

/** How many characters an event without text counts as. */
const OF_EVENT = 100;

function countCharacters(event: ModelEvent): number {
  if (event.type === "text") return event.text.length;
  if (event.type === "thought") return event.text.length + (event.signature?.length ?? 0);
  if (event.type === "function_call") return JSON.stringify(event.call.args).length;
  return event.type === "notice" ? event.message.length + OF_EVENT : OF_EVENT;
}
