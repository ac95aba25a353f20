import { onceFor } from "@burin/contract/async/once";
import type { ModelRequest } from "@burin/contract/chat-model";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import type { Message } from "@burin/contract/messages/message";
import type { InlineData, Part } from "@burin/contract/messages/parts";
import { estimateTokens, MOST_PER_CHARACTER } from "./token-estimate.ts";

/** Tokens for the frame of a message and of each of its parts. */
const FRAME = 4;
const IMAGE = 1600;
/** The messages before the first reply, and a reply. */
const SHORT_HISTORY = 3;
/** A page of a PDF has very roughly 2,500 tokens and 50 kB. */
const BASE64_PER_DOCUMENT_TOKEN = 25;
/** A count that differs more than this from the estimate counts something else. */
const LEAST_FACTOR = 0.7;
const MOST_FACTOR = 2.5;
/** The share of the window that the answers to one reply may fill without any old answers being cleared. */
const MOST_ANSWERS = 0.35;
/** A low estimate, because text of many symbols and digits takes more tokens. */
const CHARACTERS_PER_TOKEN = 3;

/** How many characters a window leaves for the answer to a reply with one call. */
export function roomForAnswers(window: number): number {
  return Math.floor(window * MOST_ANSWERS * CHARACTERS_PER_TOKEN);
}

/** Estimates how many tokens requests have, corrected by the service's count for the last one. */
export class ContextSize {
  #factor = 1;
  readonly #messages = new WeakMap<Message, number>();
  readonly #schemas = new WeakMap<JsonSchema, number>();

  of(request: ModelRequest): number {
    return Math.ceil(this.#estimate(request) * this.#factor);
  }

  /** Counting takes a start longer than all else that it computes, and a short request cannot have many tokens. */
  isAbove(limit: number, request: ModelRequest): boolean {
    const { history } = request;
    const isText = history.every(({ parts }) => parts.every(({ inlineData }) => inlineData === undefined));
    // No estimate for text is higher: what frames it has more characters as JSON than it counts.
    const most = () => JSON.stringify(request).length * MOST_PER_CHARACTER * this.#factor;
    if (isText && history.length <= SHORT_HISTORY && most() <= limit) return false;
    return this.of(request) > limit;
  }

  ofMessage(message: Message): number {
    return Math.ceil(estimateMessage(message) * this.#factor);
  }

  ofText(text: string): number {
    return Math.ceil(estimateTokens(text) * this.#factor);
  }

  /** Compares the service's count for a request with its estimate. A service that does not count reports 0. */
  learn(estimated: number, counted: number): void {
    if (counted <= 0) return;
    const factor = (this.#factor * counted) / estimated;
    this.#factor = Math.min(Math.max(factor, LEAST_FACTOR), MOST_FACTOR);
  }

  #estimate({ system, history, tools }: ModelRequest): number {
    let tokens = estimateTokens(system) + FRAME;
    for (const { name, description, parameters } of tools) {
      const words = () =>
        estimateTokens(JSON.stringify(parameters)) + estimateTokens(`${name} ${description}`) + FRAME;
      tokens += onceFor(this.#schemas, parameters, words);
    }
    const last = history.at(-1);
    for (const message of history) {
      // Only the last message can still grow.
      tokens +=
        message === last ? estimateMessage(message) : onceFor(this.#messages, message, estimateMessage);
    }
    return tokens;
  }
}

function estimateMessage({ parts }: Message): number {
  let tokens = FRAME;
  for (const part of parts) tokens += FRAME + estimatePart(part);
  return tokens;
}

function estimatePart({ text, inlineData, functionCall, functionResponse }: Part): number {
  if (functionCall) return estimateTokens(`${functionCall.name} ${JSON.stringify(functionCall.args ?? {})}`);
  if (functionResponse) {
    const { output, error } = functionResponse.response ?? {};
    const said = typeof output === "string" ? output : error;
    return estimateTokens(typeof said === "string" ? said : JSON.stringify(functionResponse.response ?? {}));
  }
  return inlineData ? estimateMedia(inlineData) : estimateTokens(text ?? "");
}

function estimateMedia({ mimeType = "", data = "" }: InlineData): number {
  if (mimeType.startsWith("image/")) return IMAGE;
  return Math.max(IMAGE, Math.ceil(data.length / BASE64_PER_DOCUMENT_TOKEN));
}
