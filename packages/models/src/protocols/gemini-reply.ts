import type { ModelEvent, ModelFailure, Usage } from "@burin/contract/chat-model";
import { filterRecords, isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { createWordSet } from "@burin/contract/text/words";
import {
  createThoughtEvents,
  createWithheldFailure,
  formatReason,
  ReplyReader,
  readCount,
} from "../replies/reply-reader.ts";

const FINE_REASONS = createWordSet("STOP MAX_TOKENS FINISH_REASON_UNSPECIFIED OTHER");
/** The model failed to make a call. Asking again often helps. */
const FAILED_CALLS = createWordSet(
  "MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE MALFORMED_RESPONSE",
);

export class GeminiReply extends ReplyReader {
  #calls = 0;
  /** The service's explanation of the reason. */
  #why: unknown;
  /** The arguments of calls that arrive in pieces, by the call's position. */
  readonly #growing = new Map<number, JsonRecord>();
  /** The call that is still growing. Some services repeat its name with each piece. */
  #open: JsonRecord = {};

  protected get isLimited(): boolean {
    return this.finishReason === "MAX_TOKENS";
  }

  protected override findError(chunk: JsonRecord): unknown {
    return unwrapChunk(chunk).error;
  }

  protected readUsage(chunk: JsonRecord): Usage | undefined {
    const { usageMetadata: usage } = unwrapChunk(chunk);
    if (!isRecord(usage)) return undefined;
    return {
      inputTokens: readCount(usage.promptTokenCount) + readCount(usage.toolUsePromptTokenCount),
      outputTokens: readCount(usage.candidatesTokenCount) + readCount(usage.thoughtsTokenCount),
      cachedTokens: readCount(usage.cachedContentTokenCount),
    };
  }

  protected readChunk(wrapped: JsonRecord): ModelEvent[] | undefined {
    const chunk = unwrapChunk(wrapped);
    const { promptFeedback: feedback } = chunk;
    if (isRecord(feedback) && typeof feedback.blockReason === "string") {
      this.failure = createWithheldFailure(feedback.blockReason, feedback.blockReasonMessage);
      return [];
    }
    const candidate: unknown = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined;
    if (!isRecord(candidate)) return isRecord(chunk.usageMetadata) ? [] : undefined;
    if (typeof candidate.finishReason === "string") this.finishReason = candidate.finishReason;
    this.#why = candidate.finishMessage;
    const parts = isRecord(candidate.content) ? candidate.content.parts : undefined;
    return filterRecords(parts).flatMap((part) => this.#readPart(part));
  }

  #readPart(part: JsonRecord): ModelEvent[] {
    const { text, functionCall } = part;
    const within = isRecord(functionCall) ? functionCall.thoughtSignature : undefined;
    const given = part.thoughtSignature ?? part.thought_signature ?? within;
    const signature = typeof given === "string" && given !== "" ? given : undefined;
    if (isRecord(functionCall)) {
      this.#addCall(functionCall, signature);
      return [];
    }
    const events = part.thought === true ? createThoughtEvents(text) : this.addText(text);
    // A signature for a tool that the service runs itself means nothing without its part.
    if (signature !== undefined && typeof text === "string")
      events.push({ type: "thought", text: "", signature });
    return events;
  }

  #addCall(given: JsonRecord, signature: string | undefined): void {
    const { id, name, args, partialArgs: pieces } = given;
    // An empty object may only be a placeholder for what follows.
    const whole = isRecord(args) && Object.keys(args).length === 0 ? undefined : args;
    if (!this.#isContinuation(given) && typeof name === "string" && name !== "") {
      this.#calls += 1;
      const isGrowing = given.willContinue === true || pieces !== undefined;
      if (isGrowing) this.#growing.set(this.#calls, isRecord(args) ? args : {});
      this.calls.add({ index: this.#calls, id, name, arguments: isGrowing ? "" : whole }, () => signature);
    }
    const growing = this.#growing.get(this.#calls);
    if (growing) for (const piece of filterRecords(pieces)) applyArgumentPiece(growing, piece);
    else if (name === undefined && whole) this.calls.add({ index: this.#calls, arguments: whole });
  }

  #isContinuation({ id, name, partialArgs: pieces, willContinue }: JsonRecord): boolean {
    const open = this.#open;
    this.#open = willContinue !== true ? {} : name ? { id, name } : open;
    return name === open.name && (id === undefined ? pieces !== undefined : id === open.id);
  }

  protected override buildLastEvents(): ModelEvent[] {
    for (const [index, args] of this.#growing) {
      const isWhole = index < this.#calls || (this.isComplete && !this.isLimited);
      const json = JSON.stringify(args);
      this.calls.add({ index, arguments: isWhole ? json : json.slice(0, -1) });
    }
    return [];
  }

  protected explainFault(isEmpty: boolean): ModelFailure | undefined {
    const reason = this.finishReason;
    if (FAILED_CALLS.has(reason)) {
      const message = `The model failed to write its call in a valid form (${formatReason(reason, this.#why)}).`;
      return { type: "bad_reply", message, isPassing: true };
    }
    if (reason !== "" && !FINE_REASONS.has(reason)) return createWithheldFailure(reason, this.#why);
    // The service is known to end normally without any content.
    if (!isEmpty || reason === "MAX_TOKENS") return undefined;
    const message = `The service ended its reply without any content (${formatReason(reason, this.#why)}).`;
    return this.#why === undefined ? this.describeEmpty() : { type: "bad_reply", message, isPassing: true };
  }
}

/** Adds one piece, such as `{jsonPath: "$.list[0].name", stringValue: "more of it"}`, to the arguments. */
function applyArgumentPiece(args: JsonRecord, { jsonPath, ...piece }: JsonRecord): void {
  const keys = String(jsonPath).match(/[^.[\]'"$]+/g) ?? [];
  let place: Record<string, unknown> = args;
  for (const [depth, key] of keys.entries()) {
    const [known, next] = [Object.hasOwn(place, key) ? place[key] : undefined, keys[depth + 1]];
    // A list may grow only by one element at a time.
    if (Array.isArray(place) && !(Number(key) <= place.length)) return;
    if (next === undefined) place[key] = appendValue(known, piece);
    else if (typeof known === "object" && known !== null) place = known as Record<string, unknown>;
    else place = place[key] = (/^\d+$/.test(next) ? [] : {}) as Record<string, unknown>;
  }
}

function appendValue(known: unknown, { stringValue: text, numberValue, boolValue }: JsonRecord): unknown {
  if (typeof text !== "string") return numberValue ?? boolValue ?? null;
  return typeof known === "string" ? known + text : text;
}

/** Unwraps the service's response, which some gateways wrap. */
function unwrapChunk(chunk: JsonRecord): JsonRecord {
  return isRecord(chunk.response) ? chunk.response : chunk;
}
