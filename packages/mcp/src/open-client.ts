import { isAbsolute, join } from "node:path";
import type { ServerProcess, ServerRequest } from "@burin/commands/processes/server-processes";
import { afterTime, unlessAborted } from "@burin/contract/async/wait";
import type { JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { McpServerSettings } from "@burin/contract/settings/tool-sources";
import { innermost } from "@burin/net/connection-fault";
import {
  Client,
  type ClientOptions,
  type JsonSchemaValidatorResult,
  ProtocolError,
  type Request,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  type StandardSchemaV1,
  type Transport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { answerRequests, type ClientSide } from "./client-requests.ts";
import { CredentialStore } from "./credentials.ts";
import { expandEach, expandVariables } from "./definition.ts";
import { McpError, needsLogin, reasonOf, tellingLine, unavailable } from "./mcp-error.ts";
import { type OAuthNeeds, type OAuthSettings, withLogin } from "./oauth-client.ts";
import {
  ANSWER_LOST,
  calmProgress,
  HttpTransport,
  httpFetchIn,
  limitAnswers,
  StdioTransport,
} from "./transports.ts";

declare const BURIN_VERSION: string | undefined;

/** Set by the bundler; undefined in tests of the sources. */
const VERSION = typeof BURIN_VERSION === "string" ? BURIN_VERSION : "0.0.0";

export interface OpenNeeds extends ClientSide {
  readonly definition: McpServerSettings;
  readonly environment: NodeJS.ProcessEnv;
  readonly processes: { startServer(request: ServerRequest): Promise<ServerProcess> };
  /** `~/.burin`, or where BURIN_HOME points. */
  readonly home: string;
  /** See OAuthNeeds. */
  readonly allowedHosts: readonly string[];
  readonly onToolsChanged: () => void;
  /** Without the secrets that servers are given: what one says when it fails may hold them. */
  readonly clean: (text: string) => string;
}

type AddressNeeds = Pick<OpenNeeds, "alias" | "definition" | "environment" | "home" | "allowedHosts">;

interface Way {
  readonly open: () => Transport;
  /** Servers of the newest protocol may not know the handshake of the older ones. */
  readonly negotiates: boolean;
  readonly isOtherWayWorthwhile: (error: unknown) => boolean;
}

export interface OpenClient {
  readonly client: Client;
  /** Resolves to the server's own result, whatever it has. */
  ask(request: Request, how: RequestOptions): Promise<JsonRecord>;
  /** What the server wrote last outside the protocol. */
  lastWords(): string;
}

/** Package runners may have to download a server first. */
const START_MS = { program: 120_000, address: 30_000 };

/** Loaded with the first connection only, because the protocol's code takes as long to load as all of Burin. */
export async function openClient(needs: OpenNeeds, signal: AbortSignal): Promise<OpenClient> {
  const { alias, definition } = needs;
  const limit =
    definition.startTimeout ?? (definition.type === "stdio" ? START_MS.program : START_MS.address);
  let last: Transport | null = null;
  let fault: unknown;
  for (const way of waysTo(needs)) {
    try {
      last = way.open();
      const client = await connected(last, way, { needs, signal, timeout: limit });
      return { client, ask: takingAnyResult(client), lastWords: () => needs.clean(lastWordsOf(last)) };
    } catch (error) {
      signal.throwIfAborted();
      fault = error;
      if (!way.isOtherWayWorthwhile(error)) break;
    }
  }
  if (fault instanceof McpError) throw fault;
  if (fault instanceof UnauthorizedError || (fault instanceof SdkHttpError && fault.status === 401)) {
    throw needsLogin(alias);
  }
  const line = tellingLine(needs.clean(lastWordsOf(last)));
  const said = line === "" ? "" : ` Its last output: ${line}`;
  const lacks = definition.type === "stdio" ? "started" : "reached";
  const why = `The MCP server "${alias}" could not be ${lacks}: ${reasonOf(fault)}.${said}`;
  throw unavailable(needs.clean(why));
}

/** What a program wrote last outside the protocol; a service writes nothing. */
function lastWordsOf(transport: Transport | null): string {
  return transport instanceof StdioTransport ? transport.lastWords() : "";
}

/** With both handshakes a program or streamable HTTP, then the older SSE; or only the one in the settings. */
function waysTo(needs: OpenNeeds): Way[] {
  const { type } = needs.definition;
  const twice = (way: Omit<Way, "negotiates">) => [false, true].map((negotiates) => ({ ...way, negotiates }));
  if (type === "stdio") {
    const open = () => new StdioTransport(() => startProgram(needs));
    return twice({ open, isOtherWayWorthwhile: (error) => error instanceof ProtocolError });
  }
  const http = { open: () => transportTo(needs, HttpTransport), isOtherWayWorthwhile: isUnknownRequest };
  const older = { open: () => transportTo(needs, SSEClientTransport), isOtherWayWorthwhile: () => false };
  return [
    ...(type === "sse" ? [] : twice(http)),
    ...(type === "http" ? [] : [{ ...older, negotiates: false }]),
  ];
}

function startProgram({ definition, environment, processes, roots, alias }: OpenNeeds) {
  const { command = "", args, env, cwd = ".", sandbox } = definition;
  const where = `the MCP server "${alias}"`;
  const folder = expandVariables(cwd, environment, `the cwd of ${where}`);
  return processes.startServer({
    command: expandVariables(command, environment, `the command of ${where}`),
    args: args.map((word) => expandVariables(word, environment, `an argument of ${where}`)),
    env: expandEach(env, environment, `in the env of ${where},`),
    cwd: isAbsolute(folder) ? folder : join(roots[0] ?? ".", folder),
    sandbox,
  });
}

/** Only errors that mean "unknown request"; any other would happen the other way too. */
function isUnknownRequest(error: unknown): boolean {
  if (error instanceof SdkHttpError) return [400, 404, 405, 406, 415].includes(error.status);
  return error instanceof Error && (error.name === "ProtocolError" || error instanceof SseError);
}

function transportTo(needs: AddressNeeds, Kind: typeof HttpTransport | typeof SSEClientTransport): Transport {
  const { url, headers } = addressOf(needs);
  const fetch = withLogin(httpFetchIn(needs.environment), oauthNeeds(needs, url));
  return limitAnswers(new Kind(url, { fetch, requestInit: { headers } }));
}

/** What a login to the server needs. */
export function oauthNeeds(
  { alias, definition, environment, home, allowedHosts }: AddressNeeds,
  url: URL,
): OAuthNeeds {
  const store = new CredentialStore(home, url.href, environment);
  return {
    alias,
    url,
    store,
    settings: (definition.oauth ?? {}) as OAuthSettings,
    environment,
    allowedHosts,
    answerMs: definition.startTimeout ?? START_MS.address,
  };
}

/** The address and the headers with their variables replaced. */
export function addressOf({ alias, definition, environment }: AddressNeeds) {
  const where = `the MCP server "${alias}"`;
  const address = expandVariables(definition.url ?? "", environment, `the url of ${where}`);
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw unavailable(`The url of ${where} is not a valid http:// or https:// URL: ${address}`);
  }
  const headers = expandEach(definition.headers, environment, `in the headers of ${where},`);
  return { url, headers };
}

async function connected(
  transport: Transport,
  { negotiates }: Way,
  { needs, ...limits }: { readonly needs: OpenNeeds; readonly signal: AbortSignal; readonly timeout: number },
): Promise<Client> {
  const options = {
    capabilities: {
      roots: {},
      elicitation: { form: {}, url: {} },
      ...(needs.askModel ? { sampling: {} } : {}),
    },
    jsonSchemaValidator: ACCEPTING,
    ...(negotiates ? { versionNegotiation: { mode: "auto" as const } } : {}),
  };
  const client = new Client({ name: "burin", title: "Burin", version: VERSION }, options);
  const { isUserAsked, onCall } = answerRequests(client, needs);
  client.setNotificationHandler("notifications/tools/list_changed", () => needs.onToolsChanged());
  try {
    await withinLimits(limits, (how) => client.connect(transport, how), isUserAsked);
  } catch (error) {
    // Also ends the program that was started for it; its last output is complete then.
    await transport.close().catch(() => {});
    throw error;
  }
  calmProgress(transport);
  const request = client.request.bind(client) as (...given: unknown[]) => Promise<JsonRecord>;
  client.request = ((...given: unknown[]) => {
    if ((given[0] as Request).method === "tools/call") onCall();
    return withinLimits(given.pop() as Limits, (how) => request(...given, how), isUserAsked);
  }) as Client["request"];
  return client;
}

interface Limits extends RequestOptions {
  readonly timeout: number;
}

/** The most that a timer takes. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Keeps the time limits of a request instead of the SDK, for which the time in which this process was stopped counts,
 * and that in which the user thinks about a question of the server.
 */
async function withinLimits<T>(
  { timeout, maxTotalTimeout = timeout, signal, onprogress, ...how }: Limits,
  ask: (how: RequestOptions) => Promise<T>,
  isUserAsked: () => boolean,
): Promise<T> {
  const time = new AbortController();
  const over = () => time.abort(new SdkError(SdkErrorCode.RequestTimeout, "Request timed out"));
  const clock = (milliseconds: number) => {
    let stop = () => {};
    const begin = () => {
      stop();
      stop = afterTime(Math.min(milliseconds, NEVER_MS), () => (isUserAsked() ? begin() : over()));
    };
    begin();
    return { begin, stop: () => stop() };
  };
  const [silence, all] = [clock(timeout), clock(maxTotalTimeout)];
  const either = AbortSignal.any([time.signal, ...(signal ? [signal] : [])]);
  const listened = onprogress && {
    onprogress: (progress: Parameters<typeof onprogress>[0]) => {
      silence.begin();
      onprogress(progress);
    },
  };
  try {
    return await unlessAborted(ask({ ...how, ...listened, signal: either, timeout: NEVER_MS }), either);
  } finally {
    silence.stop();
    all.stop();
  }
}

/** Lists are checked entry by entry, so that an invalid one does not affect the others. */
const ANYTHING: StandardSchemaV1<unknown, JsonRecord> = {
  "~standard": {
    version: 1,
    vendor: "burin",
    validate: (value) => ({ value: value as JsonRecord }),
  },
};

/**
 * What can be read of an odd result is shown, also of a call: the SDK would refuse all of it for one wrong field, but
 * knows which headers a call has.
 */
function takingAnyResult(client: Client): OpenClient["ask"] {
  const request = client.request.bind(client) as (...given: unknown[]) => Promise<JsonRecord>;
  const ask: OpenClient["ask"] = (asked, how) => request(asked, ANYTHING, how);
  const requestOfCalls = (...given: [Request, RequestOptions]) =>
    given[0].method === "tools/call" ? ask(...given) : request(...given);
  client.request = requestOfCalls as Client["request"];
  return ask;
}

/** Results are data for the model, not values for this program, so the server's output schema is not enforced. */
const ACCEPTING: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  getValidator<T>() {
    return (input: unknown) =>
      ({ valid: true, data: input, errorMessage: undefined }) as JsonSchemaValidatorResult<T>;
  },
};

export function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

const REFUSED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/**
 * Whether an error means that the connection is lost: `unsent` when the server cannot have received the request,
 * `unknown` when it may have, null when the connection still works.
 */
export function lossOf(error: unknown): "unsent" | "unknown" | null {
  // A server that has forgotten the session has not run its request.
  if (error instanceof SdkHttpError) return error.status === 404 ? "unsent" : null;
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.NotConnected || error.code === SdkErrorCode.SendFailed) return "unsent";
    return error.code === SdkErrorCode.ConnectionClosed ? "unknown" : null;
  }
  if (error instanceof ProtocolError && error.code === ANSWER_LOST) return "unknown";
  const { code } = innermost(error);
  if (!/^E[A-Z]/.test(code)) return null;
  return REFUSED.has(code) ? "unsent" : "unknown";
}
