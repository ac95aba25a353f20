import { getOrCreate } from "@burin/contract/async/once";
import type { ModelRequest } from "@burin/contract/chat-model";
import type { InlineData, JsonSchema, Message, Part } from "@burin/contract/messages/message";

/** The tokens for the framing of a message and of each of its parts. */
const FRAME = 4;
const IMAGE = 1600;
/** The length of a short history: the messages before the first reply, and a reply. */
const SHORT_HISTORY = 3;
/** Base64 characters per token of a document. A page of a PDF has very roughly 2,500 tokens and 50 kB. */
const BASE64_PER_DOCUMENT_TOKEN = 25;
/** The limits of the correction factor. A count beyond them measures something else than the estimate. */
const MIN_FACTOR = 0.7;
const MAX_FACTOR = 2.5;
/** The share of the window that the answers to one reply may fill without old answers being cleared. */
const MAX_ANSWERS = 0.35;
/** A low estimate, because text with many symbols and digits takes more tokens. */
const CHARACTERS_PER_TOKEN = 3;

/** Returns how many characters the answer to a reply with one call may have in this window. */
export function computeAnswerRoom(window: number): number {
  return Math.floor(window * MAX_ANSWERS * CHARACTERS_PER_TOKEN);
}

/** Estimates the tokens of requests, and corrects the estimate by the service's count of the last one. */
export class ContextSize {
  #factor = 1;
  readonly #messages = new WeakMap<Message, number>();
  readonly #schemas = new WeakMap<JsonSchema, number>();

  estimateRequest(request: ModelRequest): number {
    return Math.ceil(this.#estimateContent(request) * this.#factor);
  }

  /** Whether the request has more tokens than the limit. A short one is not counted, to keep a start fast. */
  isAbove(limit: number, request: ModelRequest): boolean {
    const { history } = request;
    const isText = history.every(({ parts }) => parts.every(({ inlineData }) => inlineData === undefined));
    // An upper bound for text: the JSON framing has more characters than the estimate adds for it.
    const computeUpperBound = () => JSON.stringify(request).length * MAX_PER_CHARACTER * this.#factor;
    if (isText && history.length <= SHORT_HISTORY && computeUpperBound() <= limit) return false;
    return this.estimateRequest(request) > limit;
  }

  estimateOneMessage(message: Message): number {
    return Math.ceil(estimateMessage(message) * this.#factor);
  }

  estimateText(text: string): number {
    return Math.ceil(estimateTokens(text) * this.#factor);
  }

  /** Compares the service's count for a request with its estimate. A service that does not count reports 0. */
  correctFactor(estimated: number, counted: number): void {
    if (counted <= 0) return;
    const factor = (this.#factor * counted) / estimated;
    this.#factor = Math.min(Math.max(factor, MIN_FACTOR), MAX_FACTOR);
  }

  #estimateContent({ system, history, tools }: ModelRequest): number {
    let tokens = estimateTokens(system) + FRAME;
    for (const { name, description, parameters } of tools) {
      const estimateTool = () =>
        estimateTokens(JSON.stringify(parameters)) + estimateTokens(`${name} ${description}`) + FRAME;
      tokens += getOrCreate(this.#schemas, parameters, estimateTool);
    }
    const last = history.at(-1);
    for (const message of history) {
      // Do not cache the last message, which can still grow.
      tokens +=
        message === last ? estimateMessage(message) : getOrCreate(this.#messages, message, estimateMessage);
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

/** Classes of characters. A run is a sequence of characters of one class. */
const BLANK = 0;
const LETTER = 1;
const DIGIT = 2;
const SIGN = 3;
/** The class of each ASCII character. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, unit) => classifyCharacter(String.fromCharCode(unit)));

/** Roughly how many letters one token has. A common word with the space before it is one token. */
const LETTERS_PER_TOKEN = 7;
const DIGITS_PER_TOKEN = 3;
/** Tokens per character outside ASCII: of a European or Semitic script, and of an East Asian script. */
const OTHER_LETTER = 0.5;
const WIDE = 1.1;
const MAX_PER_CHARACTER = WIDE;
const WIDE_FROM = 0x2e80;

/** Estimates a text's tokens, rather high; the service's count corrects it. A tokenizer would load too slowly. */
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
    tokens += estimateCharacter(kind, length);
  }
  return Math.ceil(tokens);
}

/** Returns the tokens that a run's next character adds. A space before a word is free, as are most line breaks. */
function estimateCharacter(kind: number, length: number): number {
  if (kind === LETTER) return length % LETTERS_PER_TOKEN === 1 ? 1 : 0;
  if (kind === DIGIT) return length % DIGITS_PER_TOKEN === 1 ? 1 : 0;
  if (kind === SIGN) return length % 2 === 1 ? 0.9 : 0.4;
  return length === 2 ? 0.7 : length > 16 && length % 16 === 0 ? 1 : 0.05;
}

function classifyCharacter(character: string): number {
  if (" \t\r\n".includes(character)) return BLANK;
  if (/[A-Za-z_]/.test(character)) return LETTER;
  return /\d/.test(character) ? DIGIT : SIGN;
}
