import type { FunctionCall, FunctionDeclaration, Message } from "./messages/message.ts";
import type { ModelPrice } from "./settings/settings.ts";

export interface ModelRequest {
  readonly system: string;
  readonly history: readonly Message[];
  readonly tools: readonly FunctionDeclaration[];
  /** The next request may be minutes away because a user has to answer first. */
  readonly isPauseLikely?: boolean;
  /** Called once the request is sent: work done now delays nothing. Not passed to models of embedders. */
  readonly onSent?: (() => void) | undefined;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** How many of the input tokens the provider had cached. */
  readonly cachedTokens: number;
  /**
   * How many of the input tokens were written to a cache that costs more than input; `hour`: how many of these are
   * kept for an hour instead of five minutes, if the service says so.
   */
  readonly cacheWrites?: { readonly tokens: number; readonly hour?: number };
  /** What the request and its reply cost, if known, in the currency of the prices. */
  readonly cost?: number;
}

/** Why the model or its service failed, in words for a user, with what to do about it. */
export interface ModelFailure {
  /**
   * A stable name for programs: `unreachable`, `unauthorized`, `forbidden`, `not_found`, `rate_limited`, `quota`,
   * `bad_request`, `no_tools`, `wrong_protocol`, `server_error`, `bad_reply`, `reply_too_long`, `timeout`,
   * `context_length`, `script`.
   */
  readonly type: string;
  readonly message: string;
  /** The HTTP status, if there was one. */
  readonly status?: number;
  /** The model's window in tokens, if the request was too long and the service named the limit. */
  readonly contextWindow?: number;
  /** The same request may succeed a little later. */
  readonly isPassing?: boolean;
  /** How long the service asks clients to wait. */
  readonly retryAfterMs?: number;
}

/** A piece of reasoning, or data about it that its provider wants back. */
export interface Thought {
  readonly type: "thought";
  readonly text: string;
  /** Ends the reasoning so far and is sent back with it, unchanged; see `Part.thoughtSignature`. */
  readonly signature?: string;
  /** All text of this reply so far was reasoning too; this has only become clear now. */
  readonly takesText?: true;
  /** The signature is sent back with this function call instead. */
  readonly callId?: string;
}

/** What the user should know while waiting for the reply, e.g. that a request is sent again. */
export interface Notice {
  readonly type: "notice";
  readonly message: string;
  /** The reply starts again: earlier reasoning does not count. Never set after text or a call. */
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
 * One model. `stream` never throws: failure and abort are end reasons, and `end` is always the last event, exactly
 * once. Each function call is complete and has an id that is unique within the history.
 */
export interface ChatModel {
  readonly name: string;
  /** How many tokens a request and its reply may have together, if known. */
  readonly contextWindow?: number;
  readonly price?: ModelPrice;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
