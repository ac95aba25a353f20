import type { ModelEvent, ModelFailure, Usage } from "@burin/contract/chat-model";
import type { FunctionCall } from "@burin/contract/messages/function-call";
import { bounded, looksLikeHtml } from "./service-failure.ts";

/** Reads one reply in one protocol: text as it comes, all else when it is over. */
export interface ReplyReader {
  /** The service has said that it is at the end; what follows means nothing. */
  readonly isDone: boolean;
  readonly hasFailed: boolean;
  /** Nothing is missing, so that a connection that breaks now does no harm. */
  readonly isComplete: boolean;
  /** Takes the data of one event and gives the text in it. */
  read(data: string): ModelEvent[];
  /** All that follows the text, with the one end event last. */
  finish(): ModelEvent[];
}

/** A call with what its provider wants back together with it. */
interface SignedCall {
  readonly call: FunctionCall;
  readonly signature?: string;
}

interface WholeReply {
  readonly calls: readonly SignedCall[];
  readonly usage: Usage | undefined;
  readonly failure: ModelFailure | undefined;
  /** The output limit cut it. */
  readonly isLimited: boolean;
}

/** The events that end a reply. After a failure no call is given: nothing of a broken reply may run. */
export function closingEvents({ calls, usage, failure, isLimited }: WholeReply): ModelEvent[] {
  const told: ModelEvent[] = usage ? [{ type: "usage", usage }] : [];
  if (failure) return [...told, { type: "end", reason: "error", error: failure }];
  return [
    ...calls.flatMap(({ call, signature }): ModelEvent[] => [
      ...(signature === undefined
        ? []
        : [{ type: "thought", text: "", signature, callId: call.id } satisfies ModelEvent]),
      { type: "function_call", call },
    ]),
    ...told,
    { type: "end", reason: isLimited ? "length" : "stop" },
  ];
}

/** A reply with nothing in it; `unreadable` is the first thing that could not be understood, if any. */
export function emptyReply(unreadable: string | undefined): ModelFailure {
  const failure = { type: "bad_reply", isPassing: true };
  if (unreadable === undefined) {
    return { ...failure, message: "The reply of the service was empty: no text and no call." };
  }
  if (looksLikeHtml(unreadable)) {
    const message = "A web page came in place of a reply: the base URL is wrong. It usually ends in /v1.";
    return { type: "bad_reply", message };
  }
  return { ...failure, message: `The reply of the service could not be read: ${bounded(unreadable)}` };
}

/** A reply that ended in the middle of an event, with no sign of being complete. */
export function brokenOff(): ModelFailure {
  return { type: "bad_reply", message: "The reply of the service broke off.", isPassing: true };
}

/** A reply whose rest the service keeps to itself, by its rules. */
export function withheld(reason: string): ModelFailure {
  return { type: "bad_reply", message: `The service withheld the rest of the reply (${bounded(reason)}).` };
}

export function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}
