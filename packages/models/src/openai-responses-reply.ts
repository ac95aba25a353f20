import type { ModelEvent, ModelFailure, Usage } from "@burin/contract/chat-model";
import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { brokenOff, closingEvents, count, emptyReply, type ReplyReader, withheld } from "./reply-reader.ts";
import { reportedFailure } from "./service-failure.ts";
import { ownedSignature } from "./thought-signature.ts";
import { ToolCallAssembly } from "./tool-call-assembly.ts";

const ITEM_EVENT = /^response\.(?:output_item|output_text|refusal|function_call_arguments|reasoning\w*)\./;

/** One item of the output as far as it has come. */
interface Item {
  callId: unknown;
  name: unknown;
  arguments: string;
  /** The service has given the item as a whole; until then a lost event may have held a piece of it. */
  isWhole: boolean;
  isDamaged: boolean;
  isCall: boolean;
  hasText: boolean;
}

/** Reads one reply in the Responses protocol. */
export class ResponsesReply implements ReplyReader {
  readonly #items = new Map<string, Item>();
  readonly #takenIds: ReadonlySet<string>;
  readonly #mayBeSilent: boolean;
  #usage: Usage | undefined;
  #status = "";
  #isLimited = false;
  #textSeen = false;
  #unreadable: string | undefined;
  #isLastUnreadable = false;
  #failure: ModelFailure | undefined;

  /**
   * `takenIds` are the call ids of the history, which no new call may carry. Behind the answers of tools a
   * model may have nothing more to say.
   */
  constructor(takenIds: ReadonlySet<string>, mayBeSilent = false) {
    this.#takenIds = takenIds;
    this.#mayBeSilent = mayBeSilent;
  }

  get isDone(): boolean {
    return this.#status !== "";
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  get isComplete(): boolean {
    return this.isDone;
  }

  read(data: string): ModelEvent[] {
    if (this.isDone || this.#failure || data.trim() === "" || data.trim() === "[DONE]") return [];
    const event = parseJson(data);
    this.#isLastUnreadable = !isRecord(event);
    if (!isRecord(event)) {
      this.#unreadable ??= data;
      for (const item of this.#items.values()) item.isDamaged ||= !item.isWhole;
      return [];
    }
    const { type } = event;
    if (type === "error" || (type === undefined && event.error)) {
      this.#failure = reportedFailure(event.error ?? event);
      return [];
    }
    if (type === undefined && event.object === "response") return this.#readResponse(event);
    if (typeof type !== "string") this.#unreadable ??= data;
    return typeof type === "string" ? this.#readEvent(type, event) : [];
  }

  finish(): ModelEvent[] {
    const failure = this.#failure ?? this.#verdict();
    const assembly = new ToolCallAssembly();
    const calls = [...this.#items.values()].filter((item) => item.isCall);
    for (const [index, item] of calls.entries()) {
      assembly.add([{ index, id: item.callId, name: item.name, arguments: "" }]);
      if (item.isDamaged && !item.isWhole) assembly.loseChunk();
      assembly.add([{ index, arguments: item.arguments }]);
    }
    const ending = this.#isLimited ? "limit" : this.isComplete || calls.at(-1)?.isWhole ? "complete" : "open";
    const made = assembly.finish({ ending, takenIds: this.#takenIds }).map((call) => ({ call }));
    return closingEvents({ calls: made, usage: this.#usage, failure, isLimited: this.#isLimited });
  }

  #readEvent(type: string, event: JsonRecord): ModelEvent[] {
    if (/^response\.(completed|incomplete|failed)$/.test(type)) {
      return isRecord(event.response) ? this.#readResponse(event.response, type) : [];
    }
    return ITEM_EVENT.test(type) ? this.#readItemEvent(type, event) : [];
  }

  #readItemEvent(type: string, event: JsonRecord): ModelEvent[] {
    const item = this.#itemOf(event);
    switch (type) {
      case "response.output_item.added":
        return isRecord(event.item) ? this.#begin(item, event.item) : [];
      case "response.output_item.done":
        return isRecord(event.item) ? this.#complete(item, event.item) : [];
      case "response.function_call_arguments.delta":
        item.isCall = true;
        if (typeof event.delta === "string") item.arguments += event.delta;
        return [];
      case "response.function_call_arguments.done":
        item.isCall = true;
        if (typeof event.arguments === "string") {
          item.arguments = event.arguments;
          item.isWhole = true;
        }
        return [];
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#text(item, event.delta);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return thought(item, event.delta);
      case "response.reasoning_summary_part.added":
        return item.hasText ? thought(item, "\n\n") : [];
      default:
        return [];
    }
  }

  /** The event says by position, by id, or not at all which item it belongs to: then it is the last one. */
  #itemOf({ output_index: index, item_id: id, item }: JsonRecord): Item {
    const inner = isRecord(item) ? item.id : undefined;
    const key = index ?? id ?? inner;
    if (key === undefined) {
      const last = [...this.#items.values()].at(-1);
      if (last && !isRecord(item)) return last;
    }
    const name = String(key ?? this.#items.size);
    const known = this.#items.get(name) ?? {
      callId: undefined,
      name: undefined,
      arguments: "",
      isWhole: false,
      isDamaged: false,
      isCall: false,
      hasText: false,
    };
    this.#items.set(name, known);
    return known;
  }

  #begin(item: Item, given: JsonRecord): ModelEvent[] {
    if (given.type !== "function_call") return [];
    item.isCall = true;
    item.callId = given.call_id ?? given.id;
    item.name = given.name;
    if (typeof given.arguments === "string") item.arguments = given.arguments;
    return [];
  }

  #complete(item: Item, given: JsonRecord): ModelEvent[] {
    if (given.type === "function_call") {
      const { arguments: whole } = given;
      if (given.call_id !== undefined || item.callId === undefined) item.callId = given.call_id ?? given.id;
      item.name = given.name ?? item.name;
      item.isCall = true;
      if (typeof whole === "string" && (whole !== "" || item.arguments === "")) item.arguments = whole;
      else if (isRecord(whole)) item.arguments = JSON.stringify(whole);
      item.isWhole = given.status !== "incomplete";
      return [];
    }
    if (given.type === "message") {
      const text = item.hasText ? [] : this.#text(item, textsOf(given.content, ""));
      return [...text, ...phaseOf(given)];
    }
    if (given.type !== "reasoning") return [];
    const summary = textsOf(given.summary, "\n\n") || textsOf(given.content, "\n\n");
    return [...(item.hasText ? [] : thought(item, summary)), ...signed(given)];
  }

  /** The response as a whole, which ends the stream; what has not come before is taken from it. */
  #readResponse(response: JsonRecord, type = "response.completed"): ModelEvent[] {
    this.#usage = usageOf(response.usage) ?? this.#usage;
    this.#status = type;
    if (type === "response.failed" || response.status === "failed") {
      this.#failure = reportedFailure(response.error ?? response);
      return [];
    }
    const details = isRecord(response.incomplete_details) ? response.incomplete_details : {};
    const reason = typeof details.reason === "string" ? details.reason : "";
    if (type === "response.incomplete" || response.status === "incomplete") {
      if (/filter|safety/i.test(reason)) this.#failure = withheld(reason);
      else this.#isLimited = true;
    }
    const output = Array.isArray(response.output) && this.#items.size === 0 ? response.output : [];
    return output
      .filter(isRecord)
      .flatMap((item, index) => this.#complete(this.#itemOf({ output_index: index }), item));
  }

  #text(item: Item, text: unknown): ModelEvent[] {
    if (typeof text !== "string" || text === "") return [];
    item.hasText = true;
    this.#textSeen = true;
    return [{ type: "text", text }];
  }

  /** Why this is no reply that anybody can use, if so. */
  #verdict(): ModelFailure | undefined {
    const hasCall = [...this.#items.values()].some((item) => item.isCall);
    if (hasCall) return undefined;
    const isOver =
      this.#isLimited || (this.isComplete && this.#mayBeSilent && this.#unreadable === undefined);
    if (!this.#textSeen) return isOver ? undefined : emptyReply(this.#unreadable);
    return this.#isLastUnreadable && !this.isComplete ? brokenOff() : undefined;
  }
}

function thought(item: Item, text: unknown): ModelEvent[] {
  if (typeof text !== "string" || text === "") return [];
  item.hasText = true;
  return [{ type: "thought", text }];
}

/** Reasoning can be sent back only where the service has given it in a form that it can open again. */
function signed({ id, summary, encrypted_content }: JsonRecord): ModelEvent[] {
  if (typeof encrypted_content !== "string" || encrypted_content === "") return [];
  const item = { id, summary: Array.isArray(summary) ? summary : [], encrypted_content };
  return [{ type: "thought", text: "", signature: ownedSignature("openai-responses", JSON.stringify(item)) }];
}

/** Whether the text was a word between or the answer; the service wants to hear it again. */
function phaseOf({ phase }: JsonRecord): ModelEvent[] {
  if (typeof phase !== "string" || phase === "") return [];
  const signature = ownedSignature("openai-responses-message", JSON.stringify({ phase }));
  return [{ type: "thought", text: "", signature }];
}

function textsOf(parts: unknown, separator: string): string {
  if (!Array.isArray(parts)) return "";
  const texts = parts.filter(isRecord).map((part) => part.text ?? part.refusal);
  return texts.filter((text) => typeof text === "string").join(separator);
}

function usageOf(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const details = isRecord(value.input_tokens_details) ? value.input_tokens_details : {};
  return {
    inputTokens: count(value.input_tokens),
    outputTokens: count(value.output_tokens),
    cachedTokens: count(details.cached_tokens),
  };
}
