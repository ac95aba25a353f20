import type { ModelEvent, ModelFailure, Usage } from "@burin/contract/chat-model";
import { filterRecords, isRecord, type JsonRecord } from "@burin/contract/messages/untrusted-json";
import { createReportedFailure } from "../failures/service-failure.ts";
import {
  createThoughtEvents,
  createWithheldFailure,
  ReplyReader,
  type ReplyTo,
  readOpenAiUsage,
} from "../replies/reply-reader.ts";
import { tagSignature } from "../request/thought-signature.ts";

const ITEM_EVENT = /^response\.(?:output_item|output_text|refusal|function_call_arguments|reasoning\w*)\./;

class ResponseItem {
  /** The item's position in the output, if an event has named it. */
  index: unknown;
  callId: unknown;
  name: unknown;
  arguments = "";
  /** The service has sent the complete item. Before that, a lost event may have contained a part of it. */
  isWhole = false;
  isDamaged = false;
  isCall = false;
  hasText = false;
}

export class ResponsesReply extends ReplyReader {
  readonly #items = new Map<string, ResponseItem>();
  readonly #mayBeSilent: boolean;
  protected isLimited = false;
  #hasBegun = false;
  #unexplained: ModelFailure | undefined;

  constructor(to: ReplyTo) {
    super(to);
    // After tool results a model may have nothing more to say.
    this.#mayBeSilent = to.request.history.at(-1)?.parts.some((part) => part.functionResponse) ?? false;
  }

  protected override get areCallsComplete(): boolean {
    return this.isComplete || (this.#calls.at(-1)?.isWhole ?? false);
  }

  protected override noteLostChunk(): void {
    for (const item of this.#items.values()) item.isDamaged ||= !item.isWhole;
  }

  protected readUsage({ response, usage }: JsonRecord): Usage | undefined {
    return readOpenAiUsage(isRecord(response) ? response.usage : usage);
  }

  protected readChunk(event: JsonRecord): ModelEvent[] | undefined {
    const { type } = event;
    if (type === undefined && event.object === "response") {
      return /progress|queued/.test(String(event.status)) ? [] : this.#readResponse(event);
    }
    this.#hasBegun ||= type === "response.created";
    if (typeof type !== "string") return undefined;
    if (/^response\.(completed|incomplete|failed|cancelled|done)$/.test(type)) {
      return this.#readResponse(isRecord(event.response) ? event.response : event, type);
    }
    return ITEM_EVENT.test(type) ? this.#readItemEvent(type, event) : [];
  }

  protected override buildLastEvents(): ModelEvent[] {
    for (const [index, item] of this.#calls.entries()) {
      this.calls.add([{ index, id: item.callId, name: item.name, arguments: "" }]);
      if (item.isDamaged && !item.isWhole) this.calls.noteLostChunk();
      this.calls.add([{ index, arguments: item.arguments }]);
    }
    return [];
  }

  /** Azure sends one more event that says why the response failed. */
  protected override comesLate({ type }: JsonRecord): boolean {
    return this.#unexplained !== undefined && type === "error";
  }

  protected explainFault(isEmpty: boolean): ModelFailure | undefined {
    if (this.#unexplained) return this.#unexplained;
    const isOver = this.isLimited || (this.isComplete && this.#mayBeSilent && this.unreadable === undefined);
    return isEmpty && !isOver ? this.describeEmpty() : undefined;
  }

  get #calls(): ResponseItem[] {
    return [...new Set(this.#items.values())].filter((item) => item.isCall);
  }

  #readItemEvent(type: string, event: JsonRecord): ModelEvent[] {
    const item = this.#findItem(event);
    if (type.endsWith(".delta")) this.isPartOpen = this.#hasBegun;
    else if (type.endsWith(".done")) this.isPartOpen = false;
    switch (type) {
      case "response.output_item.added":
        if (isRecord(event.item)) this.#takeCall(item, event.item);
        return [];
      case "response.output_item.done":
        return isRecord(event.item) ? this.#completeItem(item, event.item) : [];
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
      case "response.output_text.done":
        return item.hasText ? [] : this.#addItemText(item, event.text);
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#addItemText(item, event.delta);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return createThought(item, event.delta);
      case "response.reasoning_summary_part.added":
        return item.hasText ? createThought(item, "\n\n") : [];
      default:
        return [];
    }
  }

  /** Finds the item that an event refers to: by position, by id or, if it names neither, the last item. */
  #findItem({ output_index: index, item_id: id, item }: JsonRecord): ResponseItem {
    // llama.cpp sends the call's id where others send the item's.
    const inner = isRecord(item) ? (item.id ?? item.call_id) : undefined;
    const keys = [index, id, inner].filter((key) => key !== undefined).map(String);
    const last = [...this.#items.values()].at(-1);
    if (keys.length === 0 && last && !isRecord(item)) return last;
    if (keys.length === 0) keys.push(String(this.#items.size));
    // A server may give two items the same id; their positions tell them apart.
    const named = keys.map((key) => this.#items.get(key));
    const known =
      named.find((one, at) => one && (at === 0 || index === undefined || one.index === undefined)) ??
      new ResponseItem();
    known.index ??= index;
    for (const key of keys) this.#items.set(key, known);
    return known;
  }

  /** Stores what an item says about its call, at its start and again at its end. */
  #takeCall(item: ResponseItem, { type, call_id: callId, id, name, arguments: whole }: JsonRecord): void {
    if (type !== "function_call") return;
    item.isCall = true;
    item.callId = callId ?? item.callId ?? id;
    item.name = name ?? item.name;
    if (typeof whole === "string") item.arguments = whole || item.arguments;
    else if (isRecord(whole)) item.arguments = JSON.stringify(whole);
  }

  #completeItem(item: ResponseItem, given: JsonRecord): ModelEvent[] {
    this.#takeCall(item, given);
    item.isWhole ||= item.isCall && given.status !== "incomplete";
    if (given.type === "message") {
      const text = item.hasText ? [] : this.#addItemText(item, joinTexts(given.content, ""));
      return [...text, ...createPhase(given)];
    }
    if (given.type !== "reasoning") return [];
    const summary = joinTexts(given.summary, "\n\n") || joinTexts(given.content, "\n\n");
    return [...(item.hasText ? [] : createThought(item, summary)), ...createReasoningEvents(given)];
  }

  /** Reads the complete response, which ends the stream. Adds whatever has not arrived before. */
  #readResponse(response: JsonRecord, type = "response.completed"): ModelEvent[] {
    this.isOver = true;
    if (type === "response.failed" || response.status === "failed") {
      if (response.error) this.failure = createReportedFailure(response.error);
      else this.#unexplained = createReportedFailure(response);
      return [];
    }
    if (type === "response.cancelled" || response.status === "cancelled") {
      const message = "The service broke off its reply: try again.";
      this.failure = { type: "server_error", message, isPassing: true };
      return [];
    }
    const details = isRecord(response.incomplete_details) ? response.incomplete_details : {};
    const reason = typeof details.reason === "string" ? details.reason : "";
    if (type === "response.incomplete" || response.status === "incomplete") {
      if (/filter|safety/i.test(reason)) this.failure = createWithheldFailure(reason);
      else this.isLimited = true;
    }
    const output = filterRecords(response.output);
    if ([...this.#items.values()].some(({ isCall, hasText }) => isCall || hasText)) {
      this.#supplyCalls(output.filter(({ type: kind }) => kind === "function_call"));
      const messages = this.isEmpty ? output.filter(({ type: kind }) => kind === "message") : [];
      return messages.flatMap((given) => this.#completeItem(new ResponseItem(), given));
    }
    return output.flatMap((item, index) => this.#completeItem(this.#findItem({ output_index: index }), item));
  }

  /** Adds calls that have not arrived completely. If their ids differ from the earlier ones, order decides. */
  #supplyCalls(output: readonly JsonRecord[]): void {
    const known = this.#calls;
    for (const [place, given] of output.entries()) {
      const same = known.find(({ callId }) => callId === given.call_id) ?? known[place];
      const item = same ?? this.#findItem({ item_id: `call ${place}` });
      if (!item.isWhole) this.#completeItem(item, given);
    }
  }

  #addItemText(item: ResponseItem, text: unknown): ModelEvent[] {
    item.hasText ||= text !== undefined && text !== "";
    return this.addText(text);
  }
}

function createThought(item: ResponseItem, text: unknown): ModelEvent[] {
  const events = createThoughtEvents(text);
  item.hasText ||= events.length > 0;
  return events;
}

/** Returns an encrypted reasoning item as a signature. Reasoning without encryption cannot be sent back. */
function createReasoningEvents({ id, summary, encrypted_content }: JsonRecord): ModelEvent[] {
  if (typeof encrypted_content !== "string" || encrypted_content === "") return [];
  const item = { id, summary: Array.isArray(summary) ? summary : [], encrypted_content };
  return [{ type: "thought", text: "", signature: tagSignature("openai-responses", JSON.stringify(item)) }];
}

/** Returns whether the text was a comment or the answer, as a signature that the service wants back. */
function createPhase({ phase }: JsonRecord): ModelEvent[] {
  if (typeof phase !== "string" || phase === "") return [];
  const signature = tagSignature("openai-responses-message", JSON.stringify({ phase }));
  return [{ type: "thought", text: "", signature }];
}

function joinTexts(parts: unknown, separator: string): string {
  if (typeof parts === "string") return parts;
  const texts = filterRecords(parts).map((part) => part.text ?? part.refusal);
  return texts.filter((text) => typeof text === "string").join(separator);
}
