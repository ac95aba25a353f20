import type { ModelEvent, ModelFailure, Usage } from "@burin/contract/chat-model";
import type { FunctionCall } from "@burin/contract/messages/message";
import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { findJsonEnd } from "../calls/call-arguments.ts";
import { isAlreadyInHistory } from "../calls/repeated-call.ts";
import { TextCalls } from "../calls/text-calls.ts";
import { type SignedCall, ToolCallAssembly } from "../calls/tool-call-assembly.ts";
import { createReportedFailure, isHtml, readDetail, shortenLine } from "../failures/service-failure.ts";
import type { PreparedRequest } from "../request/prepare-request.ts";
import { MAX_REPLY_CHARACTERS, REPLY_TOO_LONG } from "./reply-limit.ts";
import { type ContentPiece, ThinkTags } from "./think-tags.ts";

/** The context of a reply. */
export interface ReplyTo {
  readonly request: PreparedRequest;
  /** The call ids in the history. No new call may have one of them. */
  readonly takenIds: ReadonlySet<string>;
  /** Whether calls in the text count. */
  readonly isWriter: boolean;
}

/** Reads one reply in any protocol. Passes text on as it arrives, and everything else at the end. */
export abstract class ReplyReader {
  protected calls = new ToolCallAssembly();
  readonly #takenIds: ReadonlySet<string>;
  readonly #textCalls: () => TextCalls;
  #text: TextCalls;
  readonly #tags = new ThinkTags();
  protected usage: Usage | undefined;
  /** The service's own word for why the reply ended; empty until it arrives. */
  protected finishReason = "";
  /** true when the service has said that the reply is over. Anything after that is ignored. */
  isOver = false;
  /** Whether the last data contained a part of the reply. */
  hadMore = false;
  /** true when the service has said that the reply ended in order to make a call. */
  protected isForCall = false;
  /** true while a part of the reply has begun whose end the service will report. */
  protected isPartOpen = false;
  #textSeen = false;
  /** The characters of text and thoughts, including those that are held back. */
  #characters = 0;
  failure: ModelFailure | undefined;
  /** The first data that could not be parsed. */
  protected unreadable: string | undefined;
  #isLastUnreadable = false;
  #lostPiece: string | undefined;
  /** The chunk that reported the end. */
  #ending: string | undefined;

  constructor({ request, takenIds, isWriter }: ReplyTo) {
    this.#takenIds = takenIds;
    const offered = new Set(isWriter ? request.tools.map(({ name }) => name) : []);
    this.#textCalls = () =>
      new TextCalls(offered, (call, written) => isAlreadyInHistory(call, written, request));
    this.#text = this.#textCalls();
  }

  /** Whether nothing is missing, so that a broken connection does no harm. */
  get isComplete(): boolean {
    return this.isOver || this.finishReason !== "";
  }

  read(data: string): ModelEvent[] {
    const text = data.trim();
    this.hadMore = false;
    // Some services send comments such as ": keepalive" as data. Gateways may send the last chunk twice.
    if (this.failure || text === "" || text.startsWith(":") || text === this.#ending) return [];
    const parsed = parseJson(data);
    // Some services put several chunks into one event, even after one that was cut off.
    const pieces = parsed === undefined ? text.split(/\n|(?<=\})(?=event:)|(?:data: ?|(?<=\}))(?=\{)/) : [];
    if (pieces.some((piece) => isRecord(parseJson(piece))))
      return pieces.flatMap((piece) => this.read(piece));
    this.isOver ||= text === "[DONE]";
    // Some services send one chunk, or the whole stream, as a list.
    const all: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
    const chunks = all.filter((chunk) => !this.isOver || (isRecord(chunk) && this.comesLate(chunk)));
    this.hadMore = chunks.length > 0;
    const events = chunks.flatMap((chunk) => this.#readChunk(chunk, data));
    for (const event of events) if (event.type === "thought") this.#characters += event.text.length;
    if (this.#characters + this.calls.characters > MAX_REPLY_CHARACTERS) this.failure ??= REPLY_TOO_LONG;
    if (this.finishReason !== "") this.#ending ??= text;
    return events;
  }

  finish(): ModelEvent[] {
    const last = [...this.buildLastEvents(), ...this.#buildEvents(this.#tags.finish())];
    const failure =
      this.failure ?? this.#findOverflow() ?? this.explainFault(this.isEmpty) ?? this.#findCutOff();
    const { isLimited } = this;
    const takenIds = this.#takenIds;
    const ending = isLimited ? "limit" : this.areCallsComplete ? "complete" : "open";
    const bareEnding = ending === "complete" && !this.hasTold ? "open" : ending;
    const made = this.calls.buildCalls({ ending, bareEnding, takenIds });
    const structured = made.map(({ call }) => call);
    const { text, calls } = this.#text.finishReply(structured, failure === undefined && !isLimited, takenIds);
    const said: ModelEvent[] = text === "" ? [] : [{ type: "text", text }];
    const told = calls.length > 0 ? createNotice(describeWrittenCalls(calls)) : [];
    const all = [...made, ...calls.map((call) => ({ call }))];
    const isCallMissing = this.isForCall && all.length === 0;
    const fault =
      failure ?? (isCallMissing ? createBrokenFailure("ended for a call, and there is none.") : undefined);
    const lost = fault || all.some(({ call }) => call.argsError) ? undefined : this.#lostPiece;
    const gap = lost === undefined ? [] : createNotice(`${MISSING}: ${shortenLine(lost)}`);
    return [
      ...last,
      ...said,
      ...this.buildEventsAfterText(),
      ...told,
      ...gap,
      ...this.#buildEnding(all, fault),
    ];
  }

  /** Returns the events that end a reply. After a failure there are no calls: nothing in a broken reply may run. */
  #buildEnding(calls: readonly SignedCall[], failure: ModelFailure | undefined): ModelEvent[] {
    const { usage, isLimited } = this;
    const told: ModelEvent[] = usage ? [{ type: "usage", usage }] : [];
    if (failure) return [...told, { type: "end", reason: "error", error: failure }];
    const made = calls.flatMap(({ call, signature }): ModelEvent[] => {
      const event: ModelEvent = { type: "function_call", call };
      return signature === undefined
        ? [event]
        : [{ type: "thought", text: "", signature, callId: call.id }, event];
    });
    return [...made, ...told, { type: "end", reason: isLimited ? "length" : "stop" }];
  }

  protected abstract get isLimited(): boolean;

  protected get areCallsComplete(): boolean {
    return this.isComplete;
  }

  /** Whether the service itself reported the end. Without that, a call without arguments may have been cut off. */
  protected get hasTold(): boolean {
    return this.areCallsComplete;
  }

  /** Whether neither text nor a call has arrived. */
  protected get isEmpty(): boolean {
    return !this.#textSeen && this.calls.isEmpty;
  }

  /** Whether a chunk after the end still belongs to the reply. */
  protected comesLate(_chunk: JsonRecord): boolean {
    return false;
  }

  /** Returns the usage of the whole reply so far, if the chunk reports it. */
  protected abstract readUsage(chunk: JsonRecord): Usage | undefined;

  /** Reads one chunk or event. Returns undefined if it contains nothing known. */
  protected abstract readChunk(chunk: JsonRecord): ModelEvent[] | undefined;

  /** Returns why the reply is not usable, as far as the protocol says so. */
  protected abstract explainFault(isEmpty: boolean): ModelFailure | undefined;

  /** Returns an error that is an event of its own or takes the place of a chunk. */
  protected findError(chunk: JsonRecord): unknown {
    if (chunk.type === "error") return chunk.error ?? chunk;
    return chunk.type === undefined ? chunk.error : undefined;
  }

  /** Called when a chunk could not be read. It may have contained a part of a call. */
  protected noteLostChunk(): void {
    this.calls.noteLostChunk();
  }

  protected buildLastEvents(): ModelEvent[] {
    return [];
  }

  /** Returns the events that concern the reply as a whole. */
  protected buildEventsAfterText(): ModelEvent[] {
    return [];
  }

  protected addText(text: unknown): ModelEvent[] {
    if (typeof text !== "string") return [];
    this.#characters += text.length;
    return this.#buildEvents(this.#tags.add(text));
  }

  #buildEvents(pieces: readonly ContentPiece[]): ModelEvent[] {
    return pieces.flatMap(({ text, isThought, takesText }): ModelEvent[] => {
      if (isThought) {
        if (!takesText) return [{ type: "thought", text }];
        this.#textSeen = false;
        const { heldText } = this.#text;
        // All text so far was reasoning, not the answer.
        this.#text = this.#textCalls();
        return [{ type: "thought", text: heldText + text, takesText }];
      }
      this.#textSeen = true;
      const shown = this.#text.add(text);
      return shown === "" ? [] : [{ type: "text", text: shown }];
    });
  }

  /** Describes a reply without content. */
  protected describeEmpty(): ModelFailure {
    const { unreadable } = this;
    if (unreadable === undefined) return createBrokenFailure("was empty: no text and no call.");
    if (isHtml(unreadable)) {
      const message =
        "The reply was a web page: check the base URL, which usually ends in /v1, and whether a proxy or a login page of the network has answered.";
      return { type: "bad_reply", message };
    }
    return (
      readToldFailure(unreadable) ?? createBrokenFailure(`could not be read: ${shortenLine(unreadable)}`)
    );
  }

  #readChunk(chunk: unknown, data: string): ModelEvent[] {
    this.#isLastUnreadable = true;
    if (!isRecord(chunk)) {
      this.unreadable ??= data;
      // Plain text, such as "ping", is not part of the reply.
      if (chunk !== undefined || !/["{}]/.test(data)) return [];
      this.#lostPiece ??= data;
      this.noteLostChunk();
      return [];
    }
    this.usage = this.readUsage(chunk) ?? this.usage;
    const error = this.findError(chunk);
    // An error after the output limit cut the reply is not another failure.
    if (error && !this.isLimited) {
      // `true` only says that there is an error; the message is in the field next to it.
      this.failure = createReportedFailure(error === true ? chunk : error);
      return [];
    }
    const events = this.readChunk(chunk);
    this.#isLastUnreadable = events === undefined;
    // The service may report an error in a format that the protocol does not define.
    if (events === undefined && (chunk.code ?? chunk.detail) !== undefined && readDetail(chunk) !== "") {
      this.failure = createReportedFailure(chunk);
    } else if (events === undefined) this.unreadable ??= data;
    return events ?? [];
  }

  /** z.ai does not reject a conversation that is too long; it sends a reply without content. */
  #findOverflow(): ModelFailure | undefined {
    if (!this.isEmpty || this.finishReason !== "model_context_window_exceeded") return undefined;
    return { type: "context_length", message: "The conversation is longer than the model's window." };
  }

  /** Describes a reply that ended in the middle, with no sign of being complete. */
  #findCutOff(): ModelFailure | undefined {
    const isBroken = this.#isLastUnreadable || this.isPartOpen;
    if (!isBroken || this.areCallsComplete || !this.calls.isEmpty) return undefined;
    return readToldFailure(this.unreadable) ?? createBrokenFailure("broke off.");
  }
}

/** Describes a bad reply. The service may do better when it is asked again. */
function createBrokenFailure(how: string): ModelFailure {
  return { type: "bad_reply", message: `The reply of the service ${how}`, isPassing: true };
}

export function createThoughtEvents(text: unknown): ModelEvent[] {
  return typeof text === "string" && text !== "" ? [{ type: "thought", text }] : [];
}

const MISSING = "A piece of the reply could not be read and is missing from it";

function createNotice(message: string): ModelEvent[] {
  return [{ type: "notice", message }];
}

function describeWrittenCalls(calls: readonly FunctionCall[]): string {
  const names = calls.map(({ name }) => name).join(", ");
  return `The model wrote a call into its text (${names}), and the call is made. With model.callsInText: off such calls stay text.`;
}

/** Returns the failure that JSON of an unknown shape, or a sentence, reports, if any. */
function readToldFailure(unreadable = ""): ModelFailure | undefined {
  // A gateway may have added its own event after it.
  const told = parseJson(unreadable) ?? parseJson(unreadable.slice(0, findJsonEnd(unreadable)));
  if (readDetail(told) !== "") return createReportedFailure(told);
  // Plain text counts if it names a reason.
  const inWords = createReportedFailure(unreadable);
  return /^[{[<]/.test(unreadable) || inWords.type === "server_error" ? undefined : inWords;
}

/** Describes a reply whose rest the service withholds because of its rules. Some services say more about why. */
export function createWithheldFailure(reason: string, more?: unknown): ModelFailure {
  const why = formatReason(reason, more);
  const message = `The service withheld the rest of the reply (${why}): say it in other words, or choose another model.`;
  return { type: "bad_reply", message };
}

/** Returns the service's name for a reason, with its explanation if there is one. */
export function formatReason(reason: string, words: unknown): string {
  return shortenLine(typeof words === "string" && words !== "" ? `${reason}: ${words}` : reason);
}

/** Reads the cost that routers report, in any protocol. */
export function readCost(usage: JsonRecord): Pick<Usage, "cost"> {
  const { cost, cost_in_usd_ticks: ticks, is_byok: hasOwnKey, cost_details: parts } = usage;
  if (readCount(ticks) > 0) return { cost: readCount(ticks) / 1e10 };
  const total = isRecord(cost) ? cost.total_cost : cost;
  // With the user's own key, the service behind the router charges the user separately.
  const behind = hasOwnKey === true && isRecord(parts) ? Number(parts.upstream_inference_cost) : 0;
  return typeof total === "number" && total >= 0 ? { cost: total + (behind || 0) } : {};
}

/** Reads usage in OpenAI's format, under the names of chat completions or of Responses. */
export function readOpenAiUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const given = value.prompt_tokens_details ?? value.input_tokens_details;
  const details = isRecord(given) ? given : {};
  const inputTokens = readCount(value.prompt_tokens ?? value.input_tokens);
  const thoughts = value.completion_tokens_details ?? value.output_tokens_details;
  const thought = isRecord(thoughts) ? readCount(thoughts.reasoning_tokens) : 0;
  // Some services, such as Vercel's gateway, count thoughts separately from the output.
  const said = Math.max(readCount(value.completion_tokens ?? value.output_tokens), thought);
  return {
    inputTokens,
    // Some services, such as xAI and Gemini, count thoughts only in the total.
    outputTokens: inputTokens === 0 ? said : Math.max(said, readCount(value.total_tokens) - inputTokens),
    cachedTokens:
      readCount(details.cached_tokens) ||
      readCount(value.cached_tokens) ||
      readCount(value.prompt_cache_hit_tokens),
    ...readCacheWrites({ ...value, ...details }),
    ...readCost(value),
  };
}

/** Reads how much was written to a cache, as Anthropic and its gateways report it; undefined if nothing was. */
export function readCacheWrites(usage: JsonRecord): Pick<Usage, "cacheWrites"> | undefined {
  const tokens = readCount(usage.cache_creation_input_tokens) || readCount(usage.cache_write_tokens);
  if (tokens === 0) return undefined;
  const kinds = usage.cache_creation ?? usage.cache_creation_token_details;
  if (!isRecord(kinds)) return { cacheWrites: { tokens } };
  return { cacheWrites: { tokens, hour: Math.min(readCount(kinds.ephemeral_1h_input_tokens), tokens) } };
}

export function readCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}
