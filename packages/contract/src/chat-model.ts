import type { FunctionCall, FunctionDeclaration } from "./messages/function-call.ts";
import type { Message } from "./messages/message.ts";
import type { ModelPrice } from "./settings/settings.ts";

export interface ModelRequest {
  readonly system: string;
  readonly history: readonly Message[];
  readonly tools: readonly FunctionDeclaration[];
  /** The next request may be minutes away: somebody is waited for. */
  readonly isPauseLikely?: boolean;
  /** Called when it has gone out: what is done now delays nothing. Models that are handed in get plain data, without it. */
  readonly onSent?: (() => void) | undefined;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input tokens, how many the provider had cached. */
  readonly cachedTokens: number;
  /** Of the input tokens, those that went into a cache which costs more than input; `hour`: of these, those that are kept for an hour instead of five minutes, where the service says it. */
  readonly cacheWrites?: { readonly tokens: number; readonly hour?: number };
  /** What the request and its reply cost, where that is known; in the currency of the prices. */
  readonly cost?: number;
}

/** Why the model or its service failed, in words for a user, with what to do about it. */
export interface ModelFailure {
  /** Stable, for programs: `unreachable`, `unauthorized`, `forbidden`, `not_found`, `rate_limited`, `quota`, `bad_request`, `no_tools`, `wrong_protocol`, `server_error`, `bad_reply`, `timeout`, `context_length`, `script`. */
  readonly type: string;
  readonly message: string;
  /** The HTTP status, where there was one. */
  readonly status?: number;
  /** The model's window in tokens, when the request was too long for it and the service said so. */
  readonly contextWindow?: number;
  /** The same request may well succeed a little later. */
  readonly isPassing?: boolean;
  /** How long the service asks to be left alone. */
  readonly retryAfterMs?: number;
}

/** A piece of reasoning, or what its provider wants back with it. */
export interface Thought {
  readonly type: "thought";
  readonly text: string;
  /** Ends the reasoning so far and goes back with it, unchanged; see `Part.thoughtSignature`. */
  readonly signature?: string;
  /** All text of this reply so far was thought as well: only now it has become plain. */
  readonly takesText?: true;
  /** The signature goes back with this function call instead. */
  readonly callId?: string;
}

/** What the user should know of the way to the reply, e.g. that a service is asked once more. */
export interface Notice {
  readonly type: "notice";
  readonly message: string;
  /** The reply begins anew: what was thought before does not count. Never set after text or a call. */
  readonly restart?: true;
}

export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | Thought
  | { readonly type: "function_call"; readonly call: FunctionCall }
  | { readonly type: "usage"; readonly usage: Usage }
  | Notice
  | { readonly type: "end"; readonly reason: "stop" | "length" | "cancelled" }
  | { readonly type: "end"; readonly reason: "error"; readonly error: ModelFailure };

/**
 * One model. `stream` never throws: failure and abort are end reasons, and `end` is always the last event,
 * exactly once. Each function call comes whole, with an id that is unique within the history.
 */
export interface ChatModel {
  readonly name: string;
  /** How many tokens a request and its reply may take together, where the maker of this object knows. */
  readonly contextWindow?: number;
  /** What it costs, where the maker of this object knows. */
  readonly price?: ModelPrice;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
