import type { FunctionCall, FunctionDeclaration, Message } from "./messages/message.ts";
import type { ModelPrice } from "./settings/settings.ts";

/** What a model is asked: instructions, the history, and the tools that it may call. */
export interface ModelRequest {
  readonly system: string;
  readonly history: readonly Message[];
  readonly tools: readonly FunctionDeclaration[];
  /** true when the next request may be minutes away because a user has to answer first. */
  readonly isPauseLikely?: boolean;
  /** Called once the request is sent, when other work no longer delays it. Not passed to models of embedders. */
  readonly onSent?: (() => void) | undefined;
}

/** How many tokens a request and its reply took, and what they cost. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** How many of the input tokens came from the provider's cache. */
  readonly cachedTokens: number;
  /**
   * How many of the input tokens were written to a cache, if writing costs more than plain input. `hour`: how many of
   * these the service keeps for an hour instead of five minutes, if it says so.
   */
  readonly cacheWrites?: { readonly tokens: number; readonly hour?: number };
  /** The cost of the request and its reply in the currency of the prices, if known. */
  readonly cost?: number;
}

/** What kind of failure a model or its service had. These words are stable; a model of your own may use another. */
export type ModelFailureType =
  | "unreachable"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "rate_limited"
  | "quota"
  | "bad_request"
  | "no_tools"
  | "wrong_protocol"
  | "server_error"
  | "bad_reply"
  | "empty_reply"
  | "reply_too_long"
  | "timeout"
  | "context_length"
  | "script"
  | (string & {});

/** Why the model or its service failed: a word for programs, and words for a user with what to do about it. */
export interface ModelFailure {
  readonly type: ModelFailureType;
  readonly message: string;
  /** The HTTP status, if there was one. */
  readonly status?: number;
  /** The model's context window in tokens, if the request was too long and the service reported the limit. */
  readonly contextWindow?: number;
  /** true if the same request may succeed a little later. */
  readonly isPassing?: boolean;
  /** How many milliseconds the service asks clients to wait. */
  readonly retryAfterMs?: number;
}

/** A piece of reasoning, or provider data about reasoning that must be sent back. */
export interface Thought {
  readonly type: "thought";
  readonly text: string;
  /** Marks the end of the reasoning so far. It is sent back unchanged with it; see `Part.thoughtSignature`. */
  readonly signature?: string;
  /** true if all earlier text of this reply was reasoning too, which only became clear now. */
  readonly takesText?: true;
  /** The id of the function call that the signature is sent back with, instead of the reasoning. */
  readonly callId?: string;
}

/** A message for the user during the reply, for example that the request is being sent again. */
export interface Notice {
  readonly type: "notice";
  readonly message: string;
  /** true if the reply starts over, so that earlier reasoning is dropped. Never set after text or a call. */
  readonly restart?: true;
  /** The request is sent again after a pause. */
  readonly retry?: Retry;
}

/** A further attempt to get a reply. */
export interface Retry {
  readonly attempt: number;
  readonly mostAttempts: number;
  readonly seconds: number;
  /** The HTTP status that the service answered with; absent when it did not answer. */
  readonly status?: number;
}

/** One piece of a reply. The last event of each reply is `end`. */
export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | Thought
  | { readonly type: "function_call"; readonly call: FunctionCall }
  | { readonly type: "usage"; readonly usage: Usage }
  | Notice
  | { readonly type: "end"; readonly reason: "stop" | "length" | "cancelled" }
  | { readonly type: "end"; readonly reason: "error"; readonly error: ModelFailure };

/**
 * A model. `stream` never throws: failures and aborts are reasons of the `end` event, which comes exactly once, as the
 * last event. Each function call is complete and has an id that is unique in the history.
 */
export interface ChatModel {
  readonly name: string;
  /** How many tokens a request and its reply may have together, if known. */
  readonly contextWindow?: number;
  readonly price?: ModelPrice;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
