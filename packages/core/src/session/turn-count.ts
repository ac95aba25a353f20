import type { AgentEvent } from "@burin/contract/agent-event";

/** Events that may occur during a reply without ending it. */
const BESIDE_REPLIES = new Set<AgentEvent["type"]>([
  "usage",
  "notice",
  "subagent_call",
  "task",
  "question",
  "question_answered",
  "mode",
  "model",
  "context_fill",
  "input_error",
  "name",
]);

/** Counts the model's replies in a session, from 1. Users name a point in a session by these numbers. */
export class TurnCount {
  #turn = 0;
  #isInReply = false;

  /** Returns the turn that the event belongs to; 0 before the first. `isFirst` marks the start of a reply. */
  countEvent(event: AgentEvent): { readonly turn: number; readonly isFirst: boolean } {
    const isOfReply =
      (event.type === "text" && event.role === "model") ||
      event.type === "thought" ||
      (event.type === "tool_call" && event.call.status === "validating");
    const isFirst = isOfReply && !this.#isInReply;
    if (isFirst) this.#turn += 1;
    if (isOfReply) this.#isInReply = true;
    else if (!BESIDE_REPLIES.has(event.type)) this.#isInReply = false;
    return { turn: this.#turn, isFirst };
  }
}
