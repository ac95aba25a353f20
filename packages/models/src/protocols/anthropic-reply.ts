import type { ModelEvent, ModelFailure, Usage } from "@burin/contract/chat-model";
import { filterRecords, isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { ToolCallAssembly } from "../calls/tool-call-assembly.ts";
import {
  createThoughtEvents,
  createWithheldFailure,
  ReplyReader,
  readCacheWrites,
  readCost,
  readCount,
} from "../replies/reply-reader.ts";
import { tagSignature } from "../request/thought-signature.ts";

const LIMIT_REASONS: ReadonlySet<string> = new Set(["max_tokens", "model_context_window_exceeded"]);

export class AnthropicReply extends ReplyReader {
  /** The signature of the open block so far. */
  #signature: string | undefined;
  readonly #callIndexes = new Set<unknown>();
  /** The input that came with the start of the open block. More pieces may follow until the block ends. */
  #input: JsonRecord | undefined;
  #index: number | string = 0;
  #hasBegun = false;
  /** The message has ended without content that it must have, so more may follow. */
  #mayGoOn = false;
  /** Why the model refused. */
  #explanation: unknown;

  protected get isLimited(): boolean {
    return LIMIT_REASONS.has(this.finishReason);
  }

  protected explainFault(isEmpty: boolean): ModelFailure | undefined {
    if (this.finishReason === "refusal") return createWithheldFailure("refusal", this.#explanation);
    return isEmpty && (this.finishReason === "" || this.isForCall) ? this.describeEmpty() : undefined;
  }

  /** Reads the usage. The end may correct the counts of the start; counts that are not repeated stay as they are. */
  protected readUsage({ type, message, usage: atEnd }: JsonRecord): Usage | undefined {
    const usage = type === "message_start" && isRecord(message) ? message.usage : atEnd;
    if (!isRecord(usage)) return undefined;
    const known = this.usage ?? { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
    const cached = readCount(usage.cache_read_input_tokens);
    const input = readCount(usage.input_tokens) + cached + readCount(usage.cache_creation_input_tokens);
    return {
      inputTokens: Math.max(input, known.inputTokens),
      outputTokens: readCount(usage.output_tokens) || known.outputTokens,
      cachedTokens: cached || known.cachedTokens,
      ...readCost(usage),
      ...(readCacheWrites(usage) ?? (known.cacheWrites && { cacheWrites: known.cacheWrites })),
    };
  }

  protected readChunk(event: JsonRecord): ModelEvent[] | undefined {
    const { delta, content_block: block, message, index } = event;
    if (typeof index === "number" || typeof index === "string") this.#index = index;
    switch (event.type) {
      case "message_start":
        // A gateway that asked again sends the whole message again.
        if (this.#hasBegun) this.calls = new ToolCallAssembly();
        this.#hasBegun = true;
        return isRecord(message) ? this.#readMessage(message) : [];
      case "content_block_start":
        // Some services do not end the previous block.
        return isRecord(block) ? [...this.#endBlock(), ...this.#beginBlock(block)] : [];
      case "content_block_delta":
        this.isPartOpen = this.#hasBegun;
        return isRecord(delta) ? this.#readDelta(delta) : [];
      case "content_block_stop":
        this.isPartOpen = false;
        return this.#endBlock();
      case "message_delta":
        return isRecord(delta) ? this.#readEnd(delta) : [];
      case "message_stop":
        this.isOver = true;
        this.#mayGoOn = this.isEmpty || (this.isForCall && this.calls.isEmpty);
        return [];
      case "message":
        // A server that ignores `stream` sends the whole message at once.
        this.isOver = true;
        return this.#readMessage(event);
      default:
        return event.type === undefined ? undefined : [];
    }
  }

  /**
   * Whether a chunk belongs to the reply although the message has ended: some hosts of GLM send the last blocks late.
   */
  protected override comesLate({ type }: JsonRecord): boolean {
    if (type === "message_start") this.#mayGoOn = false;
    return this.#mayGoOn && String(type).startsWith("content_block");
  }

  protected override buildLastEvents(): ModelEvent[] {
    if (!this.isComplete) this.#input = undefined;
    return this.#endBlock();
  }

  /** Reads the content that a message already has. An empty message says nothing about its end. */
  #readMessage(message: JsonRecord): ModelEvent[] {
    const content = filterRecords(message.content);
    const events = content.flatMap((block, index) => {
      this.#index = index;
      return [...this.#beginBlock(block), ...this.#endBlock()];
    });
    return content.length > 0 || this.isOver ? [...events, ...this.#readEnd(message)] : [];
  }

  #readEnd({ stop_reason: reason, stop_details: details }: JsonRecord): ModelEvent[] {
    if (typeof reason === "string") this.finishReason = reason;
    this.isForCall = this.finishReason === "tool_use";
    this.#explanation = isRecord(details) ? details.explanation : undefined;
    return [];
  }

  #beginBlock(block: JsonRecord): ModelEvent[] {
    switch (block.type) {
      case "tool_use": {
        const { id, name, input } = block;
        this.#callIndexes.add(this.#index);
        this.#input = { index: this.#index, arguments: input };
        this.calls.add([{ index: this.#index, id, name, arguments: isRecord(input) ? undefined : input }]);
        return [];
      }
      case "redacted_thinking":
        if (typeof block.data === "string") this.#signature = tagSignature("anthropic-redacted", block.data);
        return [];
      case "thinking":
        this.#addSignature(block.signature);
        return createThoughtEvents(block.thinking);
      default:
        return this.addText(block.text);
    }
  }

  #readDelta(delta: JsonRecord): ModelEvent[] {
    switch (delta.type) {
      case "input_json_delta":
        // A tool that the service runs itself has input too, but it is not a call for us.
        if (!this.#callIndexes.has(this.#index)) return [];
        this.calls.add([{ index: this.#index, arguments: delta.partial_json }]);
        return [];
      case "thinking_delta":
        return createThoughtEvents(delta.thinking);
      case "signature_delta":
        this.#addSignature(delta.signature);
        return [];
      default:
        return this.addText(delta.text);
    }
  }

  #addSignature(piece: unknown): void {
    if (typeof piece !== "string" || piece === "") return;
    this.#signature = (this.#signature ?? tagSignature("anthropic", "")) + piece;
  }

  #endBlock(): ModelEvent[] {
    const signature = this.#signature;
    this.#signature = undefined;
    if (isRecord(this.#input?.arguments) && Object.keys(this.#input.arguments).length > 0)
      this.calls.add([this.#input]);
    this.#input = undefined;
    return signature === undefined ? [] : [{ type: "thought", text: "", signature }];
  }
}
