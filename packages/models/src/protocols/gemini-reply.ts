import type { ModelEvent, ModelFailure, Usage } from "@burin/contract/chat-model";
import { isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { count, ReplyReader, thought, withheld } from "../replies/reply-reader.ts";
import { wordSet } from "../request/word-set.ts";

const FINE_REASONS = wordSet("STOP MAX_TOKENS FINISH_REASON_UNSPECIFIED OTHER");
/** The model tried to make a call and failed; asking again often helps. */
const FAILED_CALLS = wordSet(
  "MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE MALFORMED_RESPONSE",
);

export class GeminiReply extends ReplyReader {
  #calls = 0;

  protected get isLimited(): boolean {
    return this.finishReason === "MAX_TOKENS";
  }

  protected override errorIn(chunk: JsonRecord): unknown {
    return inner(chunk).error;
  }

  protected usageIn(chunk: JsonRecord): Usage | undefined {
    return usageOf(inner(chunk).usageMetadata);
  }

  protected readChunk(wrapped: JsonRecord): ModelEvent[] | undefined {
    const chunk = inner(wrapped);
    const { promptFeedback: feedback } = chunk;
    if (isRecord(feedback) && typeof feedback.blockReason === "string") {
      this.failure = withheld(feedback.blockReason);
      return [];
    }
    const candidate: unknown = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined;
    if (!isRecord(candidate)) return isRecord(chunk.usageMetadata) ? [] : undefined;
    if (typeof candidate.finishReason === "string") this.finishReason = candidate.finishReason;
    const parts = isRecord(candidate.content) ? candidate.content.parts : undefined;
    return Array.isArray(parts) ? parts.filter(isRecord).flatMap((part) => this.#readPart(part)) : [];
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
    const events = part.thought === true ? thought(text) : this.said(text);
    if (signature !== undefined) events.push({ type: "thought", text: "", signature });
    return events;
  }

  #addCall({ id, name, args }: JsonRecord, signature: string | undefined): void {
    if (typeof name !== "string" || name === "") return;
    this.calls.add({ index: this.#calls, id, name, arguments: args ?? {} }, () => signature);
    this.#calls += 1;
  }

  protected faultOf(isEmpty: boolean): ModelFailure | undefined {
    const reason = this.finishReason;
    if (FAILED_CALLS.has(reason)) {
      const message = `The model failed to write its call in a valid form (${reason}).`;
      return { type: "bad_reply", message, isPassing: true };
    }
    if (reason !== "" && !FINE_REASONS.has(reason)) return withheld(reason);
    // The service is known to end normally without saying anything.
    return isEmpty && reason !== "MAX_TOKENS" ? this.empty() : undefined;
  }
}

/** Some gateways wrap the service's response. */
function inner(chunk: JsonRecord): JsonRecord {
  return isRecord(chunk.response) ? chunk.response : chunk;
}

function usageOf(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  return {
    inputTokens: count(value.promptTokenCount) + count(value.toolUsePromptTokenCount),
    outputTokens: count(value.candidatesTokenCount) + count(value.thoughtsTokenCount),
    cachedTokens: count(value.cachedContentTokenCount),
  };
}
