import { onceFor } from "@burin/contract/async/once";
import type { ModelRequest } from "@burin/contract/chat-model";
import type { InlineData, JsonSchema, Message, Part } from "@burin/contract/messages/message";

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

/** Classes of characters; a run consists of characters of one class. */
const BLANK = 0;
const LETTER = 1;
const DIGIT = 2;
const SIGN = 3;
/** Of the characters of ASCII. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, unit) => classOf(String.fromCharCode(unit)));

/** Letters per token, roughly; a common word with the space before it is one token. */
const LETTERS_PER_TOKEN = 7;
const DIGITS_PER_TOKEN = 3;
/** Characters outside ASCII: a letter of a European or Semitic script, and one of the East Asian scripts. */
const OTHER_LETTER = 0.5;
const WIDE = 1.1;
const MOST_PER_CHARACTER = WIDE;
const WIDE_FROM = 0x2e80;

/** Rather high; the service's count corrects it. A tokenizer would take longer to load than all else at a start. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let run = BLANK;
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 127) {
      tokens += unit >= WIDE_FROM ? WIDE : OTHER_LETTER;
      run = BLANK;
      length = 0;
      continue;
    }
    const kind = CLASSES[unit] ?? SIGN;
    if (kind !== run) {
      run = kind;
      length = 0;
    }
    length += 1;
    tokens += costOf(kind, length);
  }
  return Math.ceil(tokens);
}

/** What the next character of a run adds. A space before a word is free, and so are most line breaks. */
function costOf(kind: number, length: number): number {
  if (kind === LETTER) return length % LETTERS_PER_TOKEN === 1 ? 1 : 0;
  if (kind === DIGIT) return length % DIGITS_PER_TOKEN === 1 ? 1 : 0;
  if (kind === SIGN) return length % 2 === 1 ? 0.9 : 0.4;
  return length === 2 ? 0.7 : length > 16 && length % 16 === 0 ? 1 : 0.05;
}

function classOf(character: string): number {
  if (" \t\r\n".includes(character)) return BLANK;
  if (/[A-Za-z_]/.test(character)) return LETTER;
  return /\d/.test(character) ? DIGIT : SIGN;
}
