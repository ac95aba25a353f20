import type { ChatModel, ModelEvent, ModelFailure, ModelRequest } from "@burin/contract/chat-model";
import type { Part } from "@burin/contract/messages/message";
import type { CallsInText, ModelPrice, ModelProvider } from "@burin/contract/settings/settings";
import { describeError } from "@burin/contract/text/error-message";
import { SilenceWatch, sendHttpRequest } from "@burin/net/http-request";
import { formatUrl } from "../failures/shown-url.ts";
import type { Signer } from "../keys/aws-signature.ts";
import type { CertificateSource } from "../keys/key-source.ts";
import { computeCost } from "../replies/price.ts";
import type { AnswerEvent, ReplyEnding, readAnswer } from "../replies/read-answer.ts";
import { ReplyLimit } from "../replies/reply-limit.ts";
import type { ReplyReader, ReplyTo } from "../replies/reply-reader.ts";
import { BodyEncoder } from "../request/body-bytes.ts";
import { isFirstParty, Lessons, listKnownQuirks } from "../request/lessons.ts";
import {
  collectCallIds,
  type MediaSupport,
  type PreparedRequest,
  prepareRequest,
  type Tuning,
} from "../request/prepare-request.ts";
import type { Quirks } from "../request/quirks.ts";

/** A model at a service, in any protocol. */
export interface ServiceOptions {
  /** The service's name for the model. */
  readonly name: string;
  /**
   * The address before the part that the protocol defines; it usually ends in a version, as in `/v1`. What follows
   * a `?` is sent with every request.
   */
  readonly baseUrl: string;
  /** The key, or a function that returns it, which is called again when the service has refused the last key. */
  readonly apiKey?: string | ((isRefused: boolean) => Promise<string>) | undefined;
  /** The variable that holds the key, for messages. */
  readonly keyFrom?: string | undefined;
  /** The header for the key if it is not the protocol's own; `authorization` means a bearer token. */
  readonly keyHeader?: string | undefined;
  /** Signs each request if no key is sent. */
  readonly signer?: (() => Promise<Signer>) | undefined;
  readonly certificate?: CertificateSource | undefined;
  /** Headers that are sent with each request; they replace the protocol's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** False: the model accepts no images, and gets a description instead. */
  readonly images?: boolean | undefined;
  /** False: the model is offered no tools. */
  readonly tools?: boolean | undefined;
  readonly tuning?: Tuning | undefined;
  /** The model's price, unless the service reports the cost itself. */
  readonly price?: ModelPrice | undefined;
  /** The environment, which may name a proxy. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** How long the service may be silent, in milliseconds. */
  readonly silenceMs?: number | undefined;
  /** Whether calls in the model's text are run. */
  readonly callsInText?: CallsInText | undefined;
}

export interface Protocol extends MediaSupport {
  readonly name: ModelProvider;
  /** The path above `models`, from the path of the base URL without slashes at its end. */
  root(basePath: string): string;
  /** The path of a request. */
  path(root: string, model: string): string;
  readonly query?: string;
  readonly keyHeader: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Returns the body in pieces. The body of a longer conversation begins with the same pieces, if the protocol allows
   * it.
   */
  body(
    model: string,
    request: PreparedRequest,
    quirks: Quirks,
  ): readonly string[] | Promise<readonly string[]>;
  /** Called after the request was sent; the reader's code is loaded only then. */
  reply(to: ReplyTo): Promise<ReplyReader>;
  /** Returns the protocol for a model that refuses this one. */
  otherwise?(): Promise<Protocol>;
}

declare const BURIN_VERSION: string | undefined;
/** Set by the build; missing when running from the sources. */
const VERSION = typeof BURIN_VERSION === "string" ? BURIN_VERSION : "0.0.0";
/** Local servers may take minutes for a long prompt before the first byte. */
const DEFAULT_SILENCE_MS = 600_000;
/** The most requirements that are learned from one request. */
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
    const abort = (): void => connection.abort();
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    const tries: Tries = {
      learned: 0,
      isKeyRefused: false,
      isOver: false,
      limit: new ReplyLimit(),
      connection,
      signal,
    };
    try {
      for (;;) {
        const asking = await this.#prepare(request, tries);
        if ("type" in asking) return yield createFailedEnding(asking);
        for await (const event of await this.#ask(asking, connection)) {
          for (const one of await this.#handleEvent(event, asking, tries)) yield one;
          if (tries.isOver) return;
        }
        const lesson = await this.#takeLesson(asking, tries);
        if (lesson === undefined || signal.aborted) return yield this.#buildEnd(asking, signal);
        if (lesson !== "") yield { type: "notice", message: lesson };
      }
    } catch (error) {
      yield await this.#explain(error, tries.asking, signal);
    } finally {
      signal.removeEventListener("abort", abort);
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

  async #explain(error: unknown, asking: OpenRequest | undefined, signal: AbortSignal): Promise<ModelEvent> {
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
    tries.asking?.silence.stop();
    const silence = new SilenceWatch(silenceMs, tries.connection);
    tries.asking = { protocol, endpoint, prepared, silence, ending: { type: "end", reason: "stop" } };
    return tries.asking;
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
    this.#lessons.noteTaken(prepared.history);
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
  async #ask(
    { protocol, endpoint, prepared, silence }: OpenRequest,
    connection: AbortController,
  ): Promise<Awaited<ReturnType<typeof readAnswer>>> {
    const { name: model, environment } = this.#options;
    const { url, key, certificate, sign } = endpoint;
    const keyFrom = key !== "" || sign ? (this.#options.keyFrom ?? "") : undefined;
    const { onSent } = prepared;
    const pieces = await protocol.body(model, prepared, this.#lessons.quirks);
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
          isWriter: this.#mayWriteCalls(prepared),
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
  #mayWriteCalls({ history }: ModelRequest): boolean {
    const { callsInText = "auto" } = this.#options;
    if (callsInText !== "auto") return callsInText === "on";
    if (isFirstParty(this.#options.baseUrl)) return false;
    const isMade = ({ functionCall }: Part): boolean =>
      functionCall !== undefined && !isTextCallId(functionCall.id);
    return !this.#lessons.makesCalls && !history.some(({ parts }) => parts.some(isMade));
  }
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

type Endpoint = Awaited<ReturnType<typeof resolveAccess>> & { readonly url: URL };

async function resolveEndpoint(
  protocol: Protocol,
  options: ServiceOptions,
  isKeyRefused: boolean,
): Promise<Endpoint | ModelFailure> {
  const baseUrl = options.baseUrl.trim();
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    const message = `The base URL "${baseUrl}" is not a valid URL: write it as http://host:port/v1 or https://host/v1.`;
    return { type: "bad_request", message };
  }
  if (url.username !== "" || url.password !== "") {
    const message = `The base URL of ${formatUrl(url)} holds a user name or password: set an API key instead.`;
    return { type: "bad_request", message };
  }
  url.pathname = protocol.path(protocol.root(url.pathname.replace(/\/+$/, "")), options.name);
  url.hash = "";
  if (protocol.query)
    url.search = [url.search.slice(1), protocol.query].filter((part) => part !== "").join("&");
  try {
    const access = await resolveAccess(protocol, options, isKeyRefused);
    const accept = "text/event-stream, application/json";
    return { url, ...access, headers: { "content-type": "application/json", accept, ...access.headers } };
  } catch (error) {
    return { type: "unauthorized", message: describeError(error) };
  }
}

/** Shortens a base URL: some users copy the full address of an endpoint, with its path. */
export function normalizeOpenAiBase(base: string): string {
  return base.replace(/\/(?:chat\/completions|completions|responses|models)$/, "");
}

/** Returns the headers that authorize a request. Throws a message for the user where something is missing. */
export async function resolveAccess(protocol: Protocol, options: ServiceOptions, isRefused = false) {
  const { apiKey = "", certificate: place, environment = {}, signer } = options;
  const getKey = () => (typeof apiKey === "string" ? apiKey : apiKey(isRefused));
  const key = (await catchFault("There is no API key", getKey)).trim();
  if (/[^\x21-\x7e]|["']/.test(key))
    throw new Error("The API key holds a space, a quote or a character that no key has: set it again.");
  const certificate =
    place &&
    (await catchFault("There is no client certificate", async () =>
      (await import("../keys/key-source.ts")).readCertificate(place, environment),
    ));
  const sign = signer && (await catchFault("There is no key to sign with", signer));
  return { headers: buildHeaders(protocol, options, key), key, certificate, sign };
}

async function catchFault<T>(what: string, get: () => T | Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    throw new Error(`${what}: ${describeError(error)}`);
  }
}

function buildHeaders(protocol: Protocol, options: ServiceOptions, key: string): Record<string, string> {
  const { keyHeader = protocol.keyHeader, headers = {} } = options;
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    "user-agent": `burin/${VERSION}`,
    ...protocol.headers,
    ...(key === "" ? {} : { [keyHeader]: keyHeader === "authorization" ? `Bearer ${key}` : key }),
    ...Object.fromEntries(given),
  };
}

/** The ids of calls that were found in text begin like this; see `createCallId`. */
function isTextCallId(id = ""): boolean {
  return /^text\d{5,}$/.test(id);
}
