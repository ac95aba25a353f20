import type { ModelEvent, ModelFailure, Usage } from "@burin/contract/chat-model";
import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { brokenOff, closingEvents, count, emptyReply, type ReplyReader, withheld } from "./reply-reader.ts";
import { reportedFailure } from "./service-failure.ts";
import { ownedSignature } from "./thought-signature.ts";
import { ToolCallAssembly } from "./tool-call-assembly.ts";

const LIMIT_REASONS: ReadonlySet<string> = new Set(["max_tokens", "model_context_window_exceeded"]);

/** Reads one reply in the Messages protocol. */
export class AnthropicReply implements ReplyReader {
  readonly #calls = new ToolCallAssembly();
  readonly #takenIds: ReadonlySet<string>;
  /** What was signed so far in each block that is open. */
  readonly #signatures = new Map<unknown, string>();
  readonly #callIndexes = new Set<number | string>();
  #index: unknown = 0;
  #usage: Usage | undefined;
  #stopReason = "";
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
    return this.#isDone || this.#stopReason !== "";
  }

  read(data: string): ModelEvent[] {
    if (this.#isDone || this.#failure || data.trim() === "") return [];
    const event = parseJson(data);
    if (!isRecord(event)) {
      this.#unreadable ??= data;
      this.#isLastUnreadable = true;
      this.#calls.loseChunk();
      return [];
    }
    this.#isLastUnreadable = false;
    if (event.type === "error" || (event.error && event.type === undefined)) {
      this.#failure = reportedFailure(event.error ?? event);
      return [];
    }
    return this.#readEvent(event, data);
  }

  finish(): ModelEvent[] {
    const isLimited = LIMIT_REASONS.has(this.#stopReason);
    const ending = isLimited ? "limit" : this.isComplete ? "complete" : "open";
    const failure = this.#failure ?? this.#verdict();
    const calls = this.#calls.finish({ ending, takenIds: this.#takenIds }).map((call) => ({ call }));
    return closingEvents({ calls, usage: this.#usage, failure, isLimited });
  }

  #readEvent(event: JsonRecord, data: string): ModelEvent[] {
    const { message, delta, content_block: block } = event;
    this.#index = event.index ?? this.#index;
    switch (event.type) {
      case "message_start":
        if (isRecord(message)) this.#addUsage(message.usage);
        return [];
      case "content_block_start":
        return isRecord(block) ? this.#beginBlock(block) : [];
      case "content_block_delta":
        return isRecord(delta) ? this.#readDelta(delta) : [];
      case "content_block_stop":
        return this.#endBlock();
      case "message_delta":
        this.#addUsage(event.usage);
        if (isRecord(delta) && typeof delta.stop_reason === "string") this.#stopReason = delta.stop_reason;
        return [];
      case "message_stop":
        this.#isDone = true;
        return [];
      case "message":
        return this.#readWhole(event);
      default:
        if (event.type === undefined) this.#unreadable ??= data;
        return [];
    }
  }

  /** A server that ignores `stream` answers with the message at once. */
  #readWhole(message: JsonRecord): ModelEvent[] {
    this.#addUsage(message.usage);
    const content = Array.isArray(message.content) ? message.content : [];
    const events = content.filter(isRecord).flatMap((block, index) => {
      this.#index = index;
      return [...this.#beginBlock(block), ...this.#endBlock()];
    });
    this.#stopReason = typeof message.stop_reason === "string" ? message.stop_reason : "";
    this.#isDone = true;
    return events;
  }

  #beginBlock(block: JsonRecord): ModelEvent[] {
    switch (block.type) {
      case "tool_use": {
        const { id, name, input } = block;
        this.#callIndexes.add(this.#callIndex());
        const isWhole = isRecord(input) && Object.keys(input).length > 0;
        this.#calls.add([{ index: this.#callIndex(), id, name, ...(isWhole ? { arguments: input } : {}) }]);
        return [];
      }
      case "redacted_thinking":
        if (typeof block.data === "string") {
          this.#signatures.set(this.#index, ownedSignature("anthropic-redacted", block.data));
        }
        return [];
      case "thinking":
        this.#sign(block.signature);
        return thought(block.thinking);
      default:
        return this.#text(block.text);
    }
  }

  #readDelta(delta: JsonRecord): ModelEvent[] {
    switch (delta.type) {
      case "input_json_delta":
        // A tool that the service runs itself has input, too; it is no call to us.
        if (!this.#callIndexes.has(this.#callIndex())) return [];
        this.#calls.add([{ index: this.#callIndex(), arguments: delta.partial_json }]);
        return [];
      case "thinking_delta":
        return thought(delta.thinking);
      case "signature_delta":
        this.#sign(delta.signature);
        return [];
      default:
        return this.#text(delta.text);
    }
  }

  #callIndex(): number | string {
    return typeof this.#index === "number" ? this.#index : String(this.#index);
  }

  #sign(piece: unknown): void {
    if (typeof piece !== "string" || piece === "") return;
    const signed = this.#signatures.get(this.#index) ?? ownedSignature("anthropic", "");
    this.#signatures.set(this.#index, signed + piece);
  }

  #endBlock(): ModelEvent[] {
    const signature = this.#signatures.get(this.#index);
    this.#signatures.delete(this.#index);
    return signature === undefined ? [] : [{ type: "thought", text: "", signature }];
  }

  #text(text: unknown): ModelEvent[] {
    if (typeof text !== "string" || text === "") return [];
    this.#textSeen = true;
    return [{ type: "text", text }];
  }

  /** The counts of the start may be corrected at the end; what is not told again still holds. */
  #addUsage(usage: unknown): void {
    if (!isRecord(usage)) return;
    const known = this.#usage ?? { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
    const cachedTokens = count(usage.cache_read_input_tokens) || known.cachedTokens;
    const input =
      count(usage.input_tokens) +
      count(usage.cache_read_input_tokens) +
      count(usage.cache_creation_input_tokens);
    this.#usage = {
      inputTokens: Math.max(input, known.inputTokens),
      outputTokens: count(usage.output_tokens) || known.outputTokens,
      cachedTokens,
    };
  }

  /** Why this is no reply that anybody can use, if so. */
  #verdict(): ModelFailure | undefined {
    if (this.#stopReason === "refusal") return withheld("refusal");
    const isEmpty = !this.#textSeen && this.#calls.isEmpty;
    if (isEmpty && (this.#stopReason === "" || this.#stopReason === "tool_use")) {
      return emptyReply(this.#unreadable);
    }
    return this.#isLastUnreadable && !this.isComplete && this.#calls.isEmpty ? brokenOff() : undefined;
  }
}

function thought(text: unknown): ModelEvent[] {
  return typeof text === "string" && text !== "" ? [{ type: "thought", text }] : [];
}
