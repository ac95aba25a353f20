import type { ModelEvent, ModelFailure, Usage } from "@burin/contract/chat-model";
import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { brokenOff, closingEvents, count, emptyReply, type ReplyReader, withheld } from "./reply-reader.ts";
import { reportedFailure } from "./service-failure.ts";
import { ToolCallAssembly } from "./tool-call-assembly.ts";

/** A reply that ended in one of these has said what it had to say. */
const FINE_REASONS: ReadonlySet<string> = new Set([
  "STOP",
  "MAX_TOKENS",
  "FINISH_REASON_UNSPECIFIED",
  "OTHER",
]);
/** The model tried to make a call and failed; asking once more often helps. */
const FAILED_CALLS: ReadonlySet<string> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "MISSING_THOUGHT_SIGNATURE",
  "MALFORMED_RESPONSE",
]);

/** Reads one reply in the generateContent protocol. */
export class GeminiReply implements ReplyReader {
  readonly #calls = new ToolCallAssembly();
  readonly #takenIds: ReadonlySet<string>;
  /** One for each call, in order. */
  readonly #signatures: (string | undefined)[] = [];
  #usage: Usage | undefined;
  #finishReason = "";
  #isDone = false;
  #textSeen = false;
  #unreadable: string | undefined;
  #isLastUnreadable = false;
  #failure: ModelFailure | undefined;

  /** `takenIds` are the call ids of the history, which no new call may carry. */
  constructor(takenIds: ReadonlySet<string>) {
    this.#takenIds = takenIds;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  get isComplete(): boolean {
    return this.#isDone || this.#finishReason !== "";
  }

  read(data: string): ModelEvent[] {
    if (this.#isDone || this.#failure || data.trim() === "") return [];
    if (data.trim() === "[DONE]") {
      this.#isDone = true;
      return [];
    }
    const parsed = parseJson(data);
    // Without `alt=sse` the whole stream is one list.
    const chunks = Array.isArray(parsed) ? parsed : [parsed];
    return chunks.flatMap((chunk) => this.#readChunk(chunk, data));
  }

  finish(): ModelEvent[] {
    const isLimited = this.#finishReason === "MAX_TOKENS";
    const ending = isLimited ? "limit" : this.isComplete ? "complete" : "open";
    const failure = this.#failure ?? this.#verdict();
    const calls = this.#calls.finish({ ending, takenIds: this.#takenIds }).map((call, index) => {
      const signature = this.#signatures[index];
      return signature === undefined ? { call } : { call, signature };
    });
    return closingEvents({ calls, usage: this.#usage, failure, isLimited });
  }

  #readChunk(wrapped: unknown, data: string): ModelEvent[] {
    const chunk = isRecord(wrapped) && isRecord(wrapped.response) ? wrapped.response : wrapped;
    this.#isLastUnreadable = !isRecord(chunk);
    if (!isRecord(chunk)) {
      this.#unreadable ??= data;
      this.#calls.loseChunk();
      return [];
    }
    if (chunk.error) {
      this.#failure = reportedFailure(chunk.error);
      return [];
    }
    this.#usage = usageOf(chunk.usageMetadata) ?? this.#usage;
    const { promptFeedback: feedback } = chunk;
    if (isRecord(feedback) && typeof feedback.blockReason === "string") {
      this.#failure = withheld(feedback.blockReason);
      return [];
    }
    const candidate: unknown = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined;
    if (!isRecord(candidate)) {
      if (!isRecord(chunk.usageMetadata)) this.#unreadable ??= data;
      return [];
    }
    if (typeof candidate.finishReason === "string") this.#finishReason = candidate.finishReason;
    const parts = isRecord(candidate.content) ? candidate.content.parts : undefined;
    return Array.isArray(parts) ? parts.filter(isRecord).flatMap((part) => this.#readPart(part)) : [];
  }

  #readPart(part: JsonRecord): ModelEvent[] {
    const { text, functionCall } = part;
    const inner = isRecord(functionCall) ? functionCall.thoughtSignature : undefined;
    const given = part.thoughtSignature ?? part.thought_signature ?? inner;
    const signature = typeof given === "string" && given !== "" ? given : undefined;
    if (isRecord(functionCall)) {
      this.#addCall(functionCall, signature);
      return [];
    }
    const events: ModelEvent[] = [];
    if (typeof text === "string" && text !== "") {
      if (part.thought !== true) this.#textSeen = true;
      events.push({ type: part.thought === true ? "thought" : "text", text });
    }
    if (signature !== undefined) events.push({ type: "thought", text: "", signature });
    return events;
  }

  #addCall({ id, name, args }: JsonRecord, signature: string | undefined): void {
    if (typeof name !== "string" || name === "") return;
    this.#calls.add([{ index: this.#signatures.length, id, name, arguments: args ?? {} }]);
    this.#signatures.push(signature);
  }

  /** Why this is no reply that anybody can use, if so. */
  #verdict(): ModelFailure | undefined {
    const reason = this.#finishReason;
    const isEmpty = !this.#textSeen && this.#calls.isEmpty;
    if (FAILED_CALLS.has(reason)) {
      const message = `The model failed to put its call into form (${reason}).`;
      return { type: "bad_reply", message, isPassing: true };
    }
    if (reason !== "" && !FINE_REASONS.has(reason)) return withheld(reason);
    // The service is known to finish properly with nothing said.
    if (isEmpty && reason !== "MAX_TOKENS") return emptyReply(this.#unreadable);
    return this.#isLastUnreadable && !this.isComplete && this.#calls.isEmpty ? brokenOff() : undefined;
  }
}

function usageOf(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  return {
    inputTokens: count(value.promptTokenCount) + count(value.toolUsePromptTokenCount),
    outputTokens: count(value.candidatesTokenCount) + count(value.thoughtsTokenCount),
    cachedTokens: count(value.cachedContentTokenCount),
  };
}
