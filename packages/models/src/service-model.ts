import type { ChatModel, ModelEvent, ModelFailure, ModelRequest, Usage } from "@burin/contract/chat-model";
import type { JsonSchema } from "@burin/contract/messages/json-schema";
import type { Part } from "@burin/contract/messages/parts";
import type { CallsInText, ModelPrice } from "@burin/contract/settings/settings";
import { messageOf } from "@burin/contract/text/error-message";
import { BodyBytes } from "./body-bytes.ts";
import { exchange } from "./exchange.ts";
import { Lessons } from "./lessons.ts";
import { isPlain, type PreparedRequest, prepareRequest, type Tuning } from "./prepare-request.ts";
import { costOf } from "./price.ts";
import type { End, Outcome } from "./read-answer.ts";
import type { ReplyReader } from "./reply-reader.ts";
import { shownUrl } from "./shown-url.ts";
import type { SchemaDialect } from "./tool-schema.ts";

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
  readonly apiKey?: string | ((isRefused: boolean) => Promise<string>);
  /** The header that carries the key where it is not the protocol's own; `authorization` is as a bearer. */
  readonly keyHeader?: string;
  /** Sent with each request; they stand in the place of the protocol's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** False: the model sees no images, and is told of them in words. */
  readonly images?: boolean;
  /** False: the model is offered no tools. */
  readonly tools?: boolean;
  readonly tuning?: Tuning;
  /** What the model costs, unless the service says it itself. */
  readonly price?: ModelPrice;
  /** Where a proxy is named, instead of this process's own. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The longest silence of the service that is waited for. */
  readonly silenceMs?: number;
  /** Whether calls that the model writes into its text are run. */
  readonly callsInText?: CallsInText;
}

/** What one protocol lays down. */
export interface Protocol {
  readonly dialect: SchemaDialect;
  /** The path of a request, from the path of the base URL without slashes at its end. */
  path(basePath: string, model: string): string;
  readonly query?: string;
  /** What carries the key. */
  readonly keyHeader: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In pieces; a longer conversation gives those of the shorter one first, where the protocol allows it. */
  body(
    model: string,
    request: PreparedRequest,
    quirks: ReadonlySet<string>,
  ): readonly string[] | Promise<readonly string[]>;
  /** `isWriter`: calls in the text count. Asked for when the request is on its way; what reads replies is loaded only then. */
  reply(request: PreparedRequest, takenIds: ReadonlySet<string>, isWriter: boolean): Promise<ReplyReader>;
  /** What a refusal teaches of the service's habits; asked for when there is one. */
  quirks(): Promise<(refusal: string, quirks: ReadonlySet<string>) => string | undefined>;
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
  const lessons = new Lessons();
  lessons.showsNoImages = options.images === false;
  let service: Service | undefined;
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    service ??= { protocol: await protocol(), isKeyRefused: false, options, lessons, bytes: new BodyBytes() };
    yield* streamReply(service, request, signal);
  }
  return { name: options.name, stream };
}

interface Service {
  protocol: Protocol;
  /** The key that was got is no longer good, and another one has to be. */
  isKeyRefused: boolean;
  readonly options: ServiceOptions;
  readonly lessons: Lessons;
  readonly bytes: BodyBytes;
}

async function* streamReply(
  service: Service,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  const connection = new AbortController();
  const abort = (): void => connection.abort();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    for await (const event of learningReply({ service, connection }, request)) {
      if (signal.aborted) break;
      yield event;
      if (event.type === "end") return;
    }
    yield { type: "end", reason: "cancelled" };
  } catch (error) {
    if (signal.aborted) yield { type: "end", reason: "cancelled" };
    else {
      const { connectionFailure } = await import("./service-failure.ts");
      yield ended(connectionFailure(error, new URL(service.options.baseUrl.trim())), "");
    }
  } finally {
    signal.removeEventListener("abort", abort);
    connection.abort();
  }
}

/** What a local server is given for a key may be a word that stands in any message. */
const SHORTEST_KEY = 8;

/** Services like to quote the key they refuse; it must not reach a screen or a log. */
function ended(failure: ModelFailure, key: string): End {
  const message =
    key.length >= SHORTEST_KEY ? failure.message.replaceAll(key, "[the API key]") : failure.message;
  return { type: "end", reason: "error", error: { ...failure, message } };
}

interface Endpoint {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string;
  readonly hasKey: boolean;
}

async function endpointOf({ protocol, options, isKeyRefused }: Service): Promise<Endpoint | ModelFailure> {
  const baseUrl = options.baseUrl.trim();
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    const message = `The base URL "${baseUrl}" is no address: write it as http://host:port/v1 or https://host/v1.`;
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
  let key: string;
  try {
    key = await keyOf(options, isKeyRefused);
  } catch (error) {
    return { type: "unauthorized", message: `There is no API key: ${messageOf(error)}` };
  }
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream, application/json",
    ...serviceHeaders(protocol, options, key),
  };
  return { url, headers, key, hasKey: key !== "" };
}

/** The key of the service; throws where there is none, in words that may be shown. */
export async function keyOf({ apiKey = "" }: ServiceOptions, isRefused = false): Promise<string> {
  const key = (typeof apiKey === "string" ? apiKey : await apiKey(isRefused)).trim();
  if (!/[^\x21-\x7e]/.test(key)) return key;
  throw new Error("it holds a blank, a line break or a letter that no key has: set it again.");
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

interface Asking {
  readonly service: Service;
  readonly connection: AbortController;
}

/** Asks again, at once, without what the service has just refused, as long as nothing else was given out. */
async function* learningReply(
  asking: Asking,
  request: ModelRequest,
): AsyncGenerator<ModelEvent, void, undefined> {
  const { service } = asking;
  const { lessons, options } = service;
  const offered = options.tools === false ? { ...request, tools: [] } : request;
  const written = await schemaWriter(service.protocol, offered);
  const tuning = options.tuning ? { tuning: options.tuning } : {};
  service.isKeyRefused = false;
  for (let learned = 0; ; learned += 1) {
    const endpoint = await endpointOf(service);
    if ("type" in endpoint) return yield ended(endpoint, "");
    const prepared = { ...prepareRequest(offered, lessons, written), ...tuning };
    let isSilent = true;
    const events = requestOnce(asking, endpoint, prepared);
    let next = await events.next();
    for (; !next.done; next = await events.next()) {
      isSilent = false;
      yield next.value;
    }
    const { end, refusal } = next.value;
    if (end.reason !== "error") {
      lessons.noteTaken(prepared.history);
      return yield end;
    }
    const mayLearn = isSilent && learned < MOST_LESSONS;
    const lesson = mayLearn ? await lessonOf(service, prepared, { error: end.error, refusal }) : undefined;
    if (lesson === undefined) return yield ended(end.error, endpoint.key);
    if (lesson.message !== "") yield { type: "notice", message: lesson.message };
  }
}

/** The tools of our own have schemas that need no change for most services. */
async function schemaWriter(
  { dialect }: Protocol,
  { tools }: ModelRequest,
): Promise<(schema: JsonSchema) => JsonSchema> {
  if (dialect === "full" && tools.every(({ parameters }) => isPlain(parameters))) return (schema) => schema;
  const { toolSchema } = await import("./tool-schema.ts");
  return (schema) => toolSchema(schema, dialect);
}

async function* requestOnce(
  { service, connection }: Asking,
  endpoint: Endpoint,
  prepared: PreparedRequest,
): AsyncGenerator<ModelEvent, Outcome, undefined> {
  const { protocol, options, lessons, bytes } = service;
  const open = {
    ...endpoint,
    model: options.name,
    body: bytes.of(prepared.conversation, await protocol.body(options.name, prepared, lessons.quirks)),
    silenceMs: options.silenceMs ?? DEFAULT_SILENCE_MS,
    environment: options.environment,
    connection,
  };
  const isWriter = mayWriteCalls(service, prepared);
  const events = exchange(open, () => protocol.reply(prepared, callIds(prepared), isWriter));
  let next = await events.next();
  for (; !next.done; next = await events.next()) {
    const event = next.value;
    if (event.type === "usage") yield { ...event, usage: priced(event.usage, options.price) };
    else if (event.type !== "function_call") yield event;
    else {
      lessons.makesCalls ||= !isWritten(event.call.id);
      const { ownCall } = await import("./own-call.ts");
      yield { type: "function_call", call: ownCall(event.call, prepared) };
    }
  }
  return next.value;
}

function priced(usage: Usage, price: ModelPrice | undefined): Usage {
  const cost = costOf(usage, price);
  return cost === undefined ? usage : { ...usage, cost };
}

/** Whether calls in the text of the model count: by default where it has never made one in the proper way. */
function mayWriteCalls({ options, lessons }: Service, { history }: ModelRequest): boolean {
  const { callsInText = "auto" } = options;
  if (callsInText !== "auto") return callsInText === "on";
  const isMade = ({ functionCall }: Part): boolean =>
    functionCall !== undefined && !isWritten(functionCall.id);
  return !lessons.makesCalls && !history.some(({ parts }) => parts.some(isMade));
}

/** The ids of calls that were found in text begin so; see `freshCallId`. */
function isWritten(id = ""): boolean {
  return /^text\d{5,}$/.test(id);
}

/** What the refusal teaches, and what the person should know of it; undefined when it teaches nothing. */
async function lessonOf(
  service: Service,
  sent: PreparedRequest,
  { error, refusal }: { readonly error: ModelFailure; readonly refusal: string | undefined },
): Promise<{ readonly message: string } | undefined> {
  const { lessons, protocol, options } = service;
  if (error.type === "unauthorized" && typeof options.apiKey === "function" && !service.isKeyRefused) {
    service.isKeyRefused = true;
    return { message: "" };
  }
  if (error.type === "wrong_protocol" && protocol.otherwise) {
    service.protocol = await protocol.otherwise();
    const message = `${options.name} speaks the Responses protocol only; it is asked that way. Set model.provider to openai-responses to begin so.`;
    return { message };
  }
  const [{ learn }, { withoutKeywords }, quirkIn] = await Promise.all([
    import("./learn.ts"),
    import("./schema-keywords.ts"),
    protocol.quirks(),
  ]);
  lessons.strip = withoutKeywords;
  return learn({ lessons, sent, model: options.name, quirkIn }, error, refusal);
}

/** Plain loops, here as in all that is done with each part of a history: it may hold thousands of turns. */
function callIds({ history }: ModelRequest): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { parts } of history) {
    for (const { functionCall } of parts) if (functionCall?.id !== undefined) ids.add(functionCall.id);
  }
  return ids;
}
