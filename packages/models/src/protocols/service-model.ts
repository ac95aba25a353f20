import type { ChatModel, ModelEvent, ModelFailure, ModelRequest } from "@burin/contract/chat-model";
import type { Part } from "@burin/contract/messages/message";
import type { ModelProvider } from "@burin/contract/settings/settings";
import { SilenceWatch, sendHttpRequest } from "@burin/net/http-request";
import { computeCost } from "../replies/price.ts";
import type { AnswerEvent, ReplyEnding, readAnswer } from "../replies/read-answer.ts";
import { ReplyLimit } from "../replies/reply-limit.ts";
import { BodyEncoder } from "../request/body-bytes.ts";
import { isFirstParty, Lessons, listKnownQuirks } from "../request/lessons.ts";
import { collectCallIds, type PreparedRequest, prepareRequest } from "../request/prepare-request.ts";
import { type Endpoint, resolveEndpoint } from "./endpoint.ts";
import type { Protocol, ServiceOptions } from "./protocol.ts";

/** Local servers may take minutes for a long prompt before the first byte. */
const DEFAULT_SILENCE_MS = 600_000;
/** The maximum number of requirements that are learned from one request. */
const MAX_LESSONS = 8;

/** The model of a service. Opens nothing before `stream` is read, and loads its protocol only then. */
export function createServiceModel(protocol: () => Promise<Protocol>, options: ServiceOptions): ChatModel {
  const service = new Service(protocol, options);
  return { name: options.name, stream: (request, signal) => service.stream(request, signal) };
}

/** One request, ready to be sent. */
interface OpenRequest {
  readonly protocol: Protocol;
  readonly endpoint: Endpoint;
  readonly prepared: PreparedRequest;
  /** The body in pieces. */
  readonly pieces: readonly string[];
  readonly silence: SilenceWatch;
  /** How the reply has ended. */
  ending: ReplyEnding;
}

/** The requests for one reply: the latest one, and what the refusals of earlier ones have taught. */
interface Tries {
  learned: number;
  isKeyRefused: boolean;
  /** true when the last event was passed on. */
  isOver: boolean;
  asking?: OpenRequest;
  /** The requests that were refused. */
  readonly refused: OpenRequest[];
  readonly limit: ReplyLimit;
  readonly connection: AbortController;
  readonly signal: AbortSignal;
}

class Service {
  readonly #options: ServiceOptions;
  readonly #load: () => Promise<Protocol>;
  readonly #lessons = new Lessons();
  readonly #bytes = new BodyEncoder();
  #protocol: Protocol | undefined;

  constructor(load: () => Promise<Protocol>, options: ServiceOptions) {
    this.#load = load;
    this.#options = options;
    this.#lessons.showsNoImages = options.images === false;
  }

  /** Repeats the request at once, without what the service has just refused, as long as no event was passed on. */
  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const connection = new AbortController();
    const abortConnection = (): void => connection.abort();
    signal.addEventListener("abort", abortConnection, { once: true });
    if (signal.aborted) abortConnection();
    const tries: Tries = {
      learned: 0,
      isKeyRefused: false,
      isOver: false,
      refused: [],
      limit: new ReplyLimit(),
      connection,
      signal,
    };
    try {
      let asking = await this.#prepare(request, tries);
      for (;;) {
        if ("type" in asking) return yield createFailedEnding(asking);
        for await (const event of await this.#sendRequest(asking, connection)) {
          for (const one of await this.#handleEvent(event, asking, tries)) yield one;
          if (tries.isOver) return;
        }
        const again = await this.#learn(asking, request, tries);
        if (again === undefined || signal.aborted) return yield this.#buildEnd(asking, signal);
        if (again.lesson !== "") yield { type: "notice", message: again.lesson };
        asking = again.next;
      }
    } catch (error) {
      yield await this.#toFailureEvent(error, tries.asking, signal);
    } finally {
      signal.removeEventListener("abort", abortConnection);
      tries.asking?.silence.stop();
      connection.abort();
    }
  }

  async #loadProtocol(): Promise<Protocol> {
    const protocol = await this.#load();
    const { baseUrl, name } = this.#options;
    for (const quirk of listKnownQuirks(protocol.name, baseUrl, name)) this.#lessons.quirks.add(quirk);
    return protocol;
  }

  async #toFailureEvent(
    error: unknown,
    asking: OpenRequest | undefined,
    signal: AbortSignal,
  ): Promise<ModelEvent> {
    if (signal.aborted) return CANCELLED;
    const { createConnectionFailure, createSilenceFailure } = await import("../failures/service-failure.ts");
    const { baseUrl, silenceMs = DEFAULT_SILENCE_MS } = this.#options;
    if (asking?.silence.isOver)
      return createFailedEnding(createSilenceFailure(asking.endpoint.url, silenceMs));
    return createFailedEnding(createConnectionFailure(error, new URL(baseUrl.trim())));
  }

  async #prepare(request: ModelRequest, tries: Tries): Promise<OpenRequest | ModelFailure> {
    const { tools, tuning, silenceMs = DEFAULT_SILENCE_MS } = this.#options;
    const offered = { ...request, ...(tools === false ? { tools: [] } : {}), ...(tuning ? { tuning } : {}) };
    this.#protocol ??= await this.#loadProtocol();
    const protocol = this.#protocol;
    const endpoint = await resolveEndpoint(protocol, this.#options, tries.isKeyRefused);
    if ("type" in endpoint) return endpoint;
    const prepared = await prepareRequest(offered, this.#lessons, protocol);
    const pieces = await protocol.body(this.#options.name, prepared, this.#lessons.quirks);
    tries.asking?.silence.stop();
    const silence = new SilenceWatch(silenceMs, tries.connection);
    tries.asking = { protocol, endpoint, prepared, pieces, silence, ending: { type: "end", reason: "stop" } };
    return tries.asking;
  }

  /** Returns a request that was not refused yet, and a notice, which may be empty; undefined if there is none. */
  async #learn(asking: OpenRequest, request: ModelRequest, tries: Tries) {
    tries.refused.push(asking);
    // The same refusal may teach several lessons, of which some change nothing in this request.
    for (;;) {
      const lesson = await this.#takeLesson(asking, tries);
      if (lesson === undefined) return undefined;
      const next = await this.#prepare(request, tries);
      if (!tries.refused.some((sent) => isSame(sent, next))) return { lesson, next };
    }
  }

  /** Learns from a refusal. Returns a notice, which may be empty; undefined when asking again is of no use. */
  async #takeLesson(asking: OpenRequest, tries: Tries): Promise<string | undefined> {
    const { ending } = asking;
    const mayLearn = tries.limit.isUntouched && tries.learned < MAX_LESSONS;
    if (ending.reason !== "error" || !mayLearn) return undefined;
    tries.learned += 1;
    const isGot = typeof this.#options.apiKey === "function";
    if (ending.error.type === "unauthorized" && !tries.isKeyRefused && isGot) {
      tries.isKeyRefused = true;
      return "";
    }
    return this.#learnFromRefusal(asking.protocol, asking.prepared, ending);
  }

  #buildEnd({ prepared, endpoint, ending }: OpenRequest, signal: AbortSignal): ModelEvent {
    if (signal.aborted) return CANCELLED;
    if (ending.reason === "error") return createFailedEnding(hideKey(ending.error, endpoint.key));
    this.#lessons.noteAcceptedMedia(prepared.history);
    return ending;
  }

  /** Returns a notice for the user about what the refusal teaches; undefined when it teaches nothing. */
  async #learnFromRefusal(
    protocol: Protocol,
    sent: PreparedRequest,
    { error, refusal }: Extract<ReplyEnding, { reason: "error" }>,
  ): Promise<string | undefined> {
    const { name: model } = this.#options;
    if (error.type === "wrong_protocol" && protocol.otherwise) {
      this.#protocol = await protocol.otherwise();
      return `${model} speaks only the Responses protocol, so that is used. Set model.provider to openai-responses to start with it.`;
    }
    const { learnFromRefusal } = await import("../failures/learn.ts");
    return learnFromRefusal({ lessons: this.#lessons, sent, model, protocol: protocol.name }, error, refusal);
  }

  /** Sends the request and returns the events of its streamed reply. Both throw network errors. */
  async #sendRequest(
    { protocol, endpoint, prepared, pieces, silence }: OpenRequest,
    connection: AbortController,
  ): Promise<Awaited<ReturnType<typeof readAnswer>>> {
    const { name: model, environment } = this.#options;
    const { url, key, certificate, sign } = endpoint;
    const keyFrom = key !== "" || sign ? (this.#options.keyFrom ?? "") : undefined;
    const { onSent } = prepared;
    const body = this.#bytes.encodeConversation(prepared.conversation, pieces);
    const headers = { ...endpoint.headers, ...sign?.({ ...endpoint, method: "POST", body }) };
    const asked = sendHttpRequest(
      { url, method: "POST", headers, body, environment, certificate, onSent },
      connection.signal,
    );
    const reading = waitForLoad(() =>
      Promise.all([
        import("../replies/read-answer.ts"),
        protocol.reply({
          request: prepared,
          takenIds: collectCallIds(prepared),
          isWriter: this.#shouldReadTextCalls(prepared, protocol.name),
        }),
      ]),
    );
    const answer = await asked;
    const [reader, reply] = await reading;
    return reader.readAnswer(
      { ...answer, body: silence.watchPieces(answer.body) },
      { url, model, keyFrom, connection },
      reply,
    );
  }

  /** Returns the events to pass on. The end of the reply is kept for later. */
  async #handleEvent(event: AnswerEvent, asking: OpenRequest, tries: Tries): Promise<readonly ModelEvent[]> {
    if (tries.signal.aborted) {
      tries.isOver = true;
      return [CANCELLED];
    }
    if (event.type === "end") {
      asking.ending = event;
      return [];
    }
    const taken = tries.limit.limitEvent(await this.#finishEvent(event, asking.prepared));
    tries.isOver = tries.limit.isReached;
    return taken;
  }

  /** Completes an event for the session: a call gets the tool's own name, a usage its price. */
  async #finishEvent(
    event: Exclude<AnswerEvent, ReplyEnding>,
    prepared: PreparedRequest,
  ): Promise<ModelEvent> {
    if (event.type === "usage") {
      const cost = computeCost(event.usage, this.#options.price);
      return cost === undefined ? event : { ...event, usage: { ...event.usage, cost } };
    }
    if (event.type !== "function_call") return event;
    this.#lessons.makesCalls ||= !isTextCallId(event.call.id);
    const { resolveCall } = await import("../calls/normalize-call.ts");
    return { type: "function_call", call: resolveCall(event.call, prepared) };
  }

  /**
   * Whether calls in the model's text count: by default only while the model has made no call in the protocol's own
   * way.
   */
  #shouldReadTextCalls({ history }: ModelRequest, protocol: ModelProvider): boolean {
    const { callsInText = "auto" } = this.#options;
    if (callsInText !== "auto") return callsInText === "on";
    if (isFirstParty(this.#options.baseUrl, protocol)) return false;
    const isNativeCall = ({ functionCall }: Part): boolean =>
      functionCall !== undefined && !isTextCallId(functionCall.id);
    return !this.#lessons.makesCalls && !history.some(({ parts }) => parts.some(isNativeCall));
  }
}

function isSame(sent: OpenRequest, next: OpenRequest | ModelFailure): boolean {
  if ("type" in next || next.protocol !== sent.protocol || next.endpoint.key !== sent.endpoint.key)
    return false;
  return (
    next.pieces.length === sent.pieces.length && next.pieces.every((piece, at) => piece === sent.pieces[at])
  );
}

const CANCELLED: ModelEvent = { type: "end", reason: "cancelled" };

/** Loads the code that reads the response only after the request was sent: nothing may delay its first byte. */
function waitForLoad<T>(load: () => Promise<T>): Promise<T> {
  const loading = new Promise((resolve) => setImmediate(resolve)).then(load);
  // If the request fails first, this error has no other handler.
  loading.catch(() => {});
  return loading;
}

function createFailedEnding(error: ModelFailure): ReplyEnding {
  return { type: "end", reason: "error", error };
}

/** A local server's placeholder key may be a word that occurs in any message. */
const SHORTEST_KEY = 8;

/** Services like to quote the key that they refuse; it must not reach a screen or a log. */
function hideKey(failure: ModelFailure, key: string): ModelFailure {
  if (key.length < SHORTEST_KEY) return failure;
  return { ...failure, message: failure.message.replaceAll(key, "[the API key]") };
}

/** The ids of calls that were found in text begin like this; see `createCallId`. */
function isTextCallId(id = ""): boolean {
  return /^text\d{5,}$/.test(id);
}
