import type { ChatModel, ModelEvent, ModelFailure, ModelRequest } from "@burin/contract/chat-model";
import type { Part } from "@burin/contract/messages/parts";
import type { CallsInText, ModelPrice, ModelProvider } from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { type ClientCertificate, httpRequest } from "@burin/machine/http/http-request";
import { SilenceWatch } from "@burin/machine/http/silence-watch";
import type { Signer } from "./aws-signature.ts";
import { BodyBytes } from "./body-bytes.ts";
import type { CertificatePlace } from "./key-source.ts";
import { Lessons } from "./lessons.ts";
import { type PreparedRequest, prepareRequest, type Taker, type Tuning } from "./prepare-request.ts";
import { costOf } from "./price.ts";
import type { Quirks } from "./quirks.ts";
import type { AnswerEvent, Ending } from "./read-answer.ts";
import type { ReplyReader } from "./reply-reader.ts";
import { shownUrl } from "./shown-url.ts";

/** A model at a service, whatever protocol that speaks. */
export interface ServiceOptions {
  /** The model, as the service names it. */
  readonly name: string;
  /**
   * The address before the part that the protocol lays down; it usually ends in a version, as in `/v1`. What
   * stands behind a `?` goes with every request.
   */
  readonly baseUrl: string;
  /** The key, or what gets it; then it is asked for anew when the service has refused the last one. */
  readonly apiKey?: string | ((isRefused: boolean) => Promise<string>) | undefined;
  /** The header that carries the key where it is not the protocol's own; `authorization` is as a bearer. */
  readonly keyHeader?: string | undefined;
  /** What signs each request, where no key is sent. */
  readonly signer?: (() => Promise<Signer>) | undefined;
  /** What Burin shows of itself where the service asks for it. */
  readonly certificate?: CertificatePlace | undefined;
  /** Sent with each request; they stand in the place of the protocol's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** False: the model sees no images, and is told of them in words. */
  readonly images?: boolean | undefined;
  /** False: the model is offered no tools. */
  readonly tools?: boolean | undefined;
  readonly tuning?: Tuning | undefined;
  /** What the model costs, unless the service says it itself. */
  readonly price?: ModelPrice | undefined;
  /** Where a proxy is named, instead of this process's own. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** The longest silence of the service that is waited for. */
  readonly silenceMs?: number | undefined;
  /** Whether calls that the model writes into its text are run. */
  readonly callsInText?: CallsInText | undefined;
}

/** What one protocol lays down. */
export interface Protocol extends Taker {
  readonly name: ModelProvider;
  /** The path of a request, from the path of the base URL without slashes at its end. */
  path(basePath: string, model: string): string;
  /** The path that lists the service's models. */
  listing(basePath: string): string;
  readonly query?: string;
  /** What carries the key. */
  readonly keyHeader: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In pieces; a longer conversation gives those of the shorter one first, where the protocol allows it. */
  body(
    model: string,
    request: PreparedRequest,
    quirks: Quirks,
  ): readonly string[] | Promise<readonly string[]>;
  /** `isWriter`: calls in the text count. Asked for when the request is on its way; what reads replies is loaded only then. */
  reply(request: PreparedRequest, takenIds: ReadonlySet<string>, isWriter: boolean): Promise<ReplyReader>;
  /** What a model speaks that refuses this protocol. */
  otherwise?(): Promise<Protocol>;
}

declare const BURIN_VERSION: string | undefined;
/** The build puts it in; code that runs from its sources has none. */
const VERSION = typeof BURIN_VERSION === "string" ? BURIN_VERSION : "0.0.0";
/** Local servers may think over a long prompt for minutes before the first byte. */
const DEFAULT_SILENCE_MS = 600_000;
/** A service that refuses one thing after the other is not asked for ever. */
const MOST_LESSONS = 8;

/** The model of a service. Nothing is opened before `stream` is read, and a protocol is loaded only then. */
export function serviceModel(protocol: () => Promise<Protocol>, options: ServiceOptions): ChatModel {
  const service = new Service(protocol, options);
  return { name: options.name, stream: (request, signal) => service.stream(request, signal) };
}

/** What one request to the service needs beside the service. */
interface Asking {
  readonly protocol: Protocol;
  readonly endpoint: Endpoint;
  readonly prepared: PreparedRequest;
  /** Aborting it closes the connection. */
  readonly connection: AbortController;
}

class Service {
  readonly #options: ServiceOptions;
  readonly #load: () => Promise<Protocol>;
  readonly #lessons = new Lessons();
  readonly #bytes = new BodyBytes();
  #protocol: Protocol | undefined;

  constructor(load: () => Promise<Protocol>, options: ServiceOptions) {
    this.#load = load;
    this.#options = options;
    this.#lessons.showsNoImages = options.images === false;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const connection = new AbortController();
    const abort = (): void => connection.abort();
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    try {
      for await (const event of this.#learningReply(request, connection)) {
        if (signal.aborted) break;
        yield event;
        if (event.type === "end") return;
      }
      yield { type: "end", reason: "cancelled" };
    } catch (error) {
      if (signal.aborted) return yield { type: "end", reason: "cancelled" };
      const { connectionFailure } = await import("./service-failure.ts");
      yield failed(connectionFailure(error, new URL(this.#options.baseUrl.trim())));
    } finally {
      signal.removeEventListener("abort", abort);
      connection.abort();
    }
  }

  /** Asks again, at once, without what the service has just refused, as long as nothing else was given out. */
  async *#learningReply(
    request: ModelRequest,
    connection: AbortController,
  ): AsyncGenerator<ModelEvent, void, undefined> {
    const { tools, tuning } = this.#options;
    const offered = { ...request, ...(tools === false ? { tools: [] } : {}), ...(tuning ? { tuning } : {}) };
    let isKeyRefused = false;
    for (let learned = 0; ; learned += 1) {
      this.#protocol ??= await this.#load();
      const protocol = this.#protocol;
      const endpoint = await endpointOf(protocol, this.#options, isKeyRefused);
      if ("type" in endpoint) return yield failed(endpoint);
      const prepared = await prepareRequest(offered, this.#lessons, protocol);
      let ending: Ending | undefined;
      let isSilent = true;
      for await (const event of this.#ask({ protocol, endpoint, prepared, connection })) {
        if (event.type === "end") ending = event;
        else yield event;
        isSilent &&= event.type === "end";
      }
      if (ending?.reason !== "error") {
        this.#lessons.noteTaken(prepared.history);
        return yield ending ?? { type: "end", reason: "stop" };
      }
      const { error, refusal } = ending;
      const mayLearn = isSilent && learned < MOST_LESSONS;
      const isGot = typeof this.#options.apiKey === "function";
      if (mayLearn && error.type === "unauthorized" && !isKeyRefused && isGot) {
        isKeyRefused = true;
        continue;
      }
      const lesson = mayLearn ? await this.#learn(prepared, error, refusal) : undefined;
      if (lesson === undefined) return yield failed(withoutKey(error, endpoint.key));
      if (lesson !== "") yield { type: "notice", message: lesson };
    }
  }

  /** What the user should know of what the refusal teaches; undefined when it teaches nothing. */
  async #learn(sent: PreparedRequest, error: ModelFailure, refusal?: string): Promise<string | undefined> {
    const { name: model } = this.#options;
    const protocol = this.#protocol ?? (await this.#load());
    if (error.type === "wrong_protocol" && protocol.otherwise) {
      this.#protocol = await protocol.otherwise();
      return `${model} speaks only the Responses protocol, so that is used. Set model.provider to openai-responses to start with it.`;
    }
    const { learn } = await import("./learn.ts");
    return learn({ lessons: this.#lessons, sent, model, protocol: protocol.name }, error, refusal);
  }

  /** One request and its streamed reply. Throws what the network throws. */
  async *#ask({
    protocol,
    endpoint,
    prepared,
    connection,
  }: Asking): AsyncGenerator<AnswerEvent, void, undefined> {
    const { name: model, environment, silenceMs = DEFAULT_SILENCE_MS } = this.#options;
    const { url, hasKey, certificate, sign } = endpoint;
    const { onSent } = prepared;
    const pieces = await protocol.body(model, prepared, this.#lessons.quirks);
    const body = this.#bytes.of(prepared.conversation, pieces);
    const headers = { ...endpoint.headers, ...sign?.({ ...endpoint, method: "POST", body }) };
    const watch = new SilenceWatch(silenceMs, connection);
    try {
      const asked = httpRequest(
        { url, method: "POST", headers, body, environment, certificate, onSent },
        connection.signal,
      );
      const reading = whileWaiting(() =>
        Promise.all([
          import("./read-answer.ts"),
          protocol.reply(prepared, callIds(prepared), this.#mayWriteCalls(prepared)),
        ]),
      );
      const answer = await asked;
      const [{ readAnswer }, reply] = await reading;
      const told = { ...answer, body: watch.listen(answer.body) };
      for await (const event of readAnswer(told, { url, model, hasKey, connection }, reply)) {
        yield await this.#known(event, prepared);
      }
    } catch (error) {
      if (!watch.isOver) throw error;
      const { silenceFailure } = await import("./service-failure.ts");
      yield failed(silenceFailure(url, silenceMs));
    } finally {
      watch.stop();
    }
  }

  /** The event as the session knows it: a call under the tool's own name, a usage with its price. */
  async #known(event: AnswerEvent, prepared: PreparedRequest): Promise<AnswerEvent> {
    if (event.type === "usage") {
      const cost = costOf(event.usage, this.#options.price);
      return cost === undefined ? event : { ...event, usage: { ...event.usage, cost } };
    }
    if (event.type !== "function_call") return event;
    this.#lessons.makesCalls ||= !isWritten(event.call.id);
    const { ownCall } = await import("./own-call.ts");
    return { type: "function_call", call: ownCall(event.call, prepared) };
  }

  /** Whether calls in the text of the model count: by default where it has never made one in the proper way. */
  #mayWriteCalls({ history }: ModelRequest): boolean {
    const { callsInText = "auto" } = this.#options;
    if (callsInText !== "auto") return callsInText === "on";
    const isMade = ({ functionCall }: Part): boolean =>
      functionCall !== undefined && !isWritten(functionCall.id);
    return !this.#lessons.makesCalls && !history.some(({ parts }) => parts.some(isMade));
  }
}

/** Loads what reads the answer only when the request is on its way: nothing may stand before its first byte. */
function whileWaiting<T>(load: () => Promise<T>): Promise<T> {
  const loading = new Promise((resolve) => setImmediate(resolve)).then(load);
  // A request that fails meanwhile leaves nobody to hear of it.
  loading.catch(() => {});
  return loading;
}

function failed(error: ModelFailure): Ending {
  return { type: "end", reason: "error", error };
}

/** What a local server is given for a key may be a word that stands in any message. */
const SHORTEST_KEY = 8;

/** Services like to quote the key they refuse; it must not reach a screen or a log. */
function withoutKey(failure: ModelFailure, key: string): ModelFailure {
  if (key.length < SHORTEST_KEY) return failure;
  return { ...failure, message: failure.message.replaceAll(key, "[the API key]") };
}

interface Endpoint {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string;
  readonly hasKey: boolean;
  readonly certificate: ClientCertificate | undefined;
  readonly sign: Signer | undefined;
}

async function endpointOf(
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
    const message = `The base URL of ${shownUrl(url)} holds a user name or password: set an API key instead.`;
    return { type: "bad_request", message };
  }
  url.pathname = protocol.path(url.pathname.replace(/\/+$/, ""), options.name);
  url.hash = "";
  if (protocol.query)
    url.search = [url.search.slice(1), protocol.query].filter((part) => part !== "").join("&");
  try {
    const key = await keyOf(options, isKeyRefused);
    const headers = {
      "content-type": "application/json",
      accept: "text/event-stream, application/json",
      ...serviceHeaders(protocol, options, key),
    };
    const [certificate, sign] = [await certificateOf(options), await signerOf(options)];
    return { url, headers, key, hasKey: key !== "" || sign !== undefined, certificate, sign };
  } catch (error) {
    return { type: "unauthorized", message: messageOf(error) };
  }
}

/** Some people copy the address of what is asked for, with its path. */
export function openAiBase(base: string): string {
  return base.replace(/\/(?:chat\/completions|completions|responses|models)$/, "");
}

/** The key of the service; throws where there is none, in words that may be shown. */
export async function keyOf({ apiKey = "" }: ServiceOptions, isRefused = false): Promise<string> {
  const none = "There is no API key";
  const key = typeof apiKey === "string" ? apiKey : await orFault(none, () => apiKey(isRefused));
  if (!/[^\x21-\x7e]/.test(key.trim())) return key.trim();
  throw new Error(`${none}: it contains a space, a line break or a character that no key has: set it again.`);
}

/** What signs a request; throws like `keyOf`. */
export async function signerOf({ signer }: ServiceOptions): Promise<Signer | undefined> {
  return signer && orFault("There is no key to sign with", signer);
}

/** What the service may ask for; throws like `keyOf`. */
export async function certificateOf({ certificate, environment = process.env }: ServiceOptions) {
  if (certificate === undefined) return undefined;
  const { certificateFrom } = await import("./key-source.ts");
  return orFault("There is no client certificate", () => certificateFrom(certificate, environment));
}

async function orFault<T>(what: string, get: () => T | Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    throw new Error(`${what}: ${messageOf(error)}`);
  }
}

/** What goes with every request to the service, whatever it asks for. */
export function serviceHeaders(
  protocol: Pick<Protocol, "keyHeader" | "headers">,
  options: ServiceOptions,
  key: string,
): Record<string, string> {
  const { keyHeader = protocol.keyHeader, headers = {} } = options;
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    "user-agent": `burin/${VERSION}`,
    ...protocol.headers,
    ...(key === "" ? {} : { [keyHeader]: keyHeader === "authorization" ? `Bearer ${key}` : key }),
    ...Object.fromEntries(given),
  };
}

/** The ids of calls that were found in text begin so; see `freshCallId`. */
function isWritten(id = ""): boolean {
  return /^text\d{5,}$/.test(id);
}

/** Plain loops, here as in all that is done with each part of a history: it may hold thousands of turns. */
function callIds({ history }: ModelRequest): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { parts } of history) {
    for (const { functionCall } of parts) if (functionCall?.id !== undefined) ids.add(functionCall.id);
  }
  return ids;
}
