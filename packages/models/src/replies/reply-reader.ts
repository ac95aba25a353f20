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

/** What a reply answers. */
export interface ReplyTo {
  readonly request: PreparedRequest;
  /** The call ids of the history, which no new call may have. */
  readonly takenIds: ReadonlySet<string>;
  /** Whether calls in the text count. */
  readonly isWriter: boolean;
}

/** Reads one reply in any protocol: text as it comes, all else when it is over. */
export abstract class ReplyReader {
  protected calls = new ToolCallAssembly();
  readonly #takenIds: ReadonlySet<string>;
  readonly #textCalls: () => TextCalls;
  #text: TextCalls;
  readonly #tags = new ThinkTags();
  protected usage: Usage | undefined;
  /** The service's own name for it; empty until it is sent. */
  protected finishReason = "";
  /** The service has said that it is at the end; what follows means nothing. */
  isOver = false;
  /** Whether the last data had something of the reply in it. */
  hadMore = false;
  /** The service has said that it ends for a call. */
  protected isForCall = false;
  /** A part of the reply has begun whose end the service will report. */
  protected isPartOpen = false;
  #textSeen = false;
  /** Of text and thoughts, also those that are held back. */
  #characters = 0;
  failure: ModelFailure | undefined;
  /** The first thing that could not be parsed. */
  protected unreadable: string | undefined;
  #isLastUnreadable = false;
  #lostPiece: string | undefined;
  /** The chunk that told the end. */
  #ending: string | undefined;

  constructor({ request, takenIds, isWriter }: ReplyTo) {
    this.#takenIds = takenIds;
    const offered = new Set(isWriter ? request.tools.map(({ name }) => name) : []);
    this.#textCalls = () =>
      new TextCalls(offered, (call, written) => isAlreadyInHistory(call, written, request));
    this.#text = this.#textCalls();
  }

  /** Nothing is missing, so that a connection that breaks now does no harm. */
  get isComplete(): boolean {
    return this.isOver || this.finishReason !== "";
  }

  read(data: string): ModelEvent[] {
    const text = data.trim();
    this.hadMore = false;
    // Some services pass on comments of others as data: ": keepalive". Gateways may send the last chunk twice.
    if (this.failure || text === "" || text.startsWith(":") || text === this.#ending) return [];
    const parsed = parseJson(data);
    // Some services put several into one event, also behind one that is cut.
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
    const last = [...this.lastWords(), ...this.#spoken(this.#tags.finish())];
    const failure = this.failure ?? this.#outgrown() ?? this.faultOf(this.isEmpty) ?? this.#brokenOff();
    const { isLimited } = this;
    const takenIds = this.#takenIds;
    const ending = isLimited ? "limit" : this.areCallsComplete ? "complete" : "open";
    const bareEnding = ending === "complete" && !this.hasTold ? "open" : ending;
    const made = this.calls.finish({ ending, bareEnding, takenIds });
    const structured = made.map(({ call }) => call);
    const { text, calls } = this.#text.finish(structured, failure === undefined && !isLimited, takenIds);
    const said: ModelEvent[] = text === "" ? [] : [{ type: "text", text }];
    const told = calls.length > 0 ? createNotice(describeWrittenCalls(calls)) : [];
    const all = [...made, ...calls.map((call) => ({ call }))];
    const isCallMissing = this.isForCall && all.length === 0;
    const fault =
      failure ?? (isCallMissing ? createBrokenFailure("ended for a call, and there is none.") : undefined);
    const lost = fault || all.some(({ call }) => call.argsError) ? undefined : this.#lostPiece;
    const gap = lost === undefined ? [] : createNotice(`${MISSING}: ${shortenLine(lost)}`);
    return [...last, ...said, ...this.afterText(), ...told, ...gap, ...this.#closing(all, fault)];
  }

  /** The events that end a reply. After a failure there is no call: nothing of a broken reply may run. */
  #closing(calls: readonly SignedCall[], failure: ModelFailure | undefined): ModelEvent[] {
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

  /** Whether the service itself has told the end: only then is a call without arguments not one that was cut. */
  protected get hasTold(): boolean {
    return this.areCallsComplete;
  }

  /** Neither a text nor a call has come. */
  protected get isEmpty(): boolean {
    return !this.#textSeen && this.calls.isEmpty;
  }

  /** Whether a chunk behind the end belongs to the reply. */
  protected comesLate(_chunk: JsonRecord): boolean {
    return false;
  }

  /** What the chunk says of all that the reply has cost so far. */
  protected abstract usageIn(chunk: JsonRecord): Usage | undefined;

  /** Takes one chunk or event; undefined where it holds nothing that anybody knows. */
  protected abstract readChunk(chunk: JsonRecord): ModelEvent[] | undefined;

  /** Returns why this is not a usable reply, as far as the protocol says so. */
  protected abstract faultOf(isEmpty: boolean): ModelFailure | undefined;

  /** As an event of its own, or in the place of a chunk. */
  protected errorIn(chunk: JsonRecord): unknown {
    if (chunk.type === "error") return chunk.error ?? chunk;
    return chunk.type === undefined ? chunk.error : undefined;
  }

  /** A chunk could not be read; it may have held a piece of a call. */
  protected loseChunk(): void {
    this.calls.loseChunk();
  }

  protected lastWords(): ModelEvent[] {
    return [];
  }

  /** What belongs to the reply as a whole. */
  protected afterText(): ModelEvent[] {
    return [];
  }

  protected said(text: unknown): ModelEvent[] {
    if (typeof text !== "string") return [];
    this.#characters += text.length;
    return this.#spoken(this.#tags.add(text));
  }

  #spoken(pieces: readonly ContentPiece[]): ModelEvent[] {
    return pieces.flatMap(({ text, isThought, takesText }): ModelEvent[] => {
      if (isThought) {
        if (!takesText) return [{ type: "thought", text }];
        this.#textSeen = false;
        const { heldText } = this.#text;
        // What came so far was not the answer.
        this.#text = this.#textCalls();
        return [{ type: "thought", text: heldText + text, takesText }];
      }
      this.#textSeen = true;
      const shown = this.#text.add(text);
      return shown === "" ? [] : [{ type: "text", text: shown }];
    });
  }

  /** A reply without content. */
  protected empty(): ModelFailure {
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
      // Mere words, such as "ping", are no piece of it.
      if (chunk !== undefined || !/["{}]/.test(data)) return [];
      this.#lostPiece ??= data;
      this.loseChunk();
      return [];
    }
    this.usage = this.usageIn(chunk) ?? this.usage;
    const error = this.errorIn(chunk);
    // An error after the limit has cut the reply is not another failure.
    if (error && !this.isLimited) {
      // A mere sign that it is one; the words stand beside it.
      this.failure = createReportedFailure(error === true ? chunk : error);
      return [];
    }
    const events = this.readChunk(chunk);
    this.#isLastUnreadable = events === undefined;
    // An error in a form of the service's own, where the protocol has another.
    if (events === undefined && chunk.code !== undefined && readDetail(chunk) !== "") {
      this.failure = createReportedFailure(chunk);
    } else if (events === undefined) this.unreadable ??= data;
    return events ?? [];
  }

  /** z.ai does not refuse what is too long: its reply has no content. */
  #outgrown(): ModelFailure | undefined {
    if (!this.isEmpty || this.finishReason !== "model_context_window_exceeded") return undefined;
    return { type: "context_length", message: "The conversation is longer than the model's window." };
  }

  /** A reply that ended in the middle, with no sign of being complete. */
  #brokenOff(): ModelFailure | undefined {
    const isBroken = this.#isLastUnreadable || this.isPartOpen;
    if (!isBroken || this.areCallsComplete || !this.calls.isEmpty) return undefined;
    return readToldFailure(this.unreadable) ?? createBrokenFailure("broke off.");
  }
}

/** Asked again, the service may do better. */
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

/** The failure that JSON of an unknown shape, or a sentence, reports, if any. */
function readToldFailure(unreadable = ""): ModelFailure | undefined {
  // A gateway may have written an event of its own behind it.
  const told = parseJson(unreadable) ?? parseJson(unreadable.slice(0, findJsonEnd(unreadable)));
  if (readDetail(told) !== "") return createReportedFailure(told);
  // Mere words, if they name a reason.
  const inWords = createReportedFailure(unreadable);
  return /^[{[<]/.test(unreadable) || inWords.type === "server_error" ? undefined : inWords;
}

/** A reply whose rest the service keeps to itself, by its rules; some say more of why. */
export function createWithheldFailure(reason: string, more?: unknown): ModelFailure {
  const why = formatReason(reason, more);
  const message = `The service withheld the rest of the reply (${why}): say it in other words, or choose another model.`;
  return { type: "bad_reply", message };
}

/** The service's name for a reason, with its words if there are any. */
export function formatReason(reason: string, words: unknown): string {
  return shortenLine(typeof words === "string" && words !== "" ? `${reason}: ${words}` : reason);
}

/** Routers say what they take for a request, in whatever protocol. */
export function readCost(usage: JsonRecord): Pick<Usage, "cost"> {
  const { cost, cost_in_usd_ticks: ticks, is_byok: hasOwnKey, cost_details: parts } = usage;
  if (readCount(ticks) > 0) return { cost: readCount(ticks) / 1e10 };
  const total = isRecord(cost) ? cost.total_cost : cost;
  // With a key of the user's own, the service behind takes its part from the user itself.
  const behind = hasOwnKey === true && isRecord(parts) ? Number(parts.upstream_inference_cost) : 0;
  return typeof total === "number" && total >= 0 ? { cost: total + (behind || 0) } : {};
}

/** Usage as OpenAI says it, under the names of chat completions or of Responses. */
export function readOpenAiUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const given = value.prompt_tokens_details ?? value.input_tokens_details;
  const details = isRecord(given) ? given : {};
  const inputTokens = readCount(value.prompt_tokens ?? value.input_tokens);
  const thoughts = value.completion_tokens_details ?? value.output_tokens_details;
  const thought = isRecord(thoughts) ? readCount(thoughts.reasoning_tokens) : 0;
  // Some (Vercel's gateway) count thoughts beside the output, not in it.
  const said = Math.max(readCount(value.completion_tokens ?? value.output_tokens), thought);
  return {
    inputTokens,
    // Some (xAI, Gemini) count thoughts only in the total.
    outputTokens: inputTokens === 0 ? said : Math.max(said, readCount(value.total_tokens) - inputTokens),
    cachedTokens:
      readCount(details.cached_tokens) ||
      readCount(value.cached_tokens) ||
      readCount(value.prompt_cache_hit_tokens),
    ...readCacheWrites({ ...value, ...details }),
    ...readCost(value),
  };
}

/** How much was written to a cache, as reported by Anthropic and its gateways; undefined if nothing was. */
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
