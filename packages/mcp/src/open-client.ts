import { isAbsolute, join } from "node:path";
import type { ServerProcess, ServerRequest } from "@burin/commands/processes/server-processes";
import { rejectOnAbort, startTimeout } from "@burin/contract/async/wait";
import type { JsonRecord } from "@burin/contract/messages/untrusted-json";
import type { McpServerSettings } from "@burin/contract/settings/tool-sources";
import { findInnermostError } from "@burin/net/connection-fault";
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
import { type ClientSide, installRequestHandlers } from "./client-requests.ts";
import { CredentialStore } from "./credentials.ts";
import { expandVariables, expandVariablesInValues } from "./definition.ts";
import {
  createNeedsLoginError,
  createUnavailableError,
  describeReason,
  findTellingLine,
  McpError,
} from "./mcp-error.ts";
import { type OAuthOptions, type OAuthSettings, wrapFetchWithLogin } from "./oauth-client.ts";
import {
  ANSWER_LOST_CODE,
  createHttpFetch,
  HttpTransport,
  limitAnswers,
  StdioTransport,
  throttleProgress,
} from "./transports.ts";

declare const BURIN_VERSION: string | undefined;

/** Set by the bundler; undefined in tests of the sources. */
const VERSION = typeof BURIN_VERSION === "string" ? BURIN_VERSION : "0.0.0";

export interface OpenOptions extends ClientSide {
  readonly definition: McpServerSettings;
  readonly environment: NodeJS.ProcessEnv;
  readonly processes: { startServer(request: ServerRequest): Promise<ServerProcess> };
  /** `~/.burin`, or the folder in BURIN_HOME. */
  readonly home: string;
  /** See OAuthOptions. */
  readonly allowedHosts: readonly string[];
  readonly onToolsChanged: () => void;
  /** Removes the secrets that servers get, because a server's error message may contain them. */
  readonly clean: (text: string) => string;
}

type AddressOptions = Pick<OpenOptions, "alias" | "definition" | "environment" | "home" | "allowedHosts">;

interface ConnectionWay {
  readonly open: () => Transport;
  /** Whether the newest handshake is tried. Servers of the newest protocol may not know the older one. */
  readonly negotiates: boolean;
  readonly isOtherWayWorthwhile: (error: unknown) => boolean;
}

export interface OpenClient {
  readonly client: Client;
  /** Resolves to the server's own result, whatever its shape. */
  ask(request: Request, how: RequestOptions): Promise<JsonRecord>;
  /** Returns the last output of the server that was not part of the protocol. */
  lastWords(): string;
}

/** The default time limits of a start in milliseconds. Package runners may have to download a server first. */
const START_MS = { program: 120_000, address: 30_000 };

/** Connects to a server. Loaded late, because the protocol's code takes as long to load as all of Burin. */
export async function openClient(needs: OpenOptions, signal: AbortSignal): Promise<OpenClient> {
  const { alias, definition } = needs;
  const limit =
    definition.startTimeout ?? (definition.type === "stdio" ? START_MS.program : START_MS.address);
  let last: Transport | null = null;
  let fault: unknown;
  for (const way of listTransports(needs)) {
    try {
      last = way.open();
      const client = await connectClient(last, way, { needs, signal, timeout: limit });
      return { client, ask: createRawRequest(client), lastWords: () => needs.clean(readLastOutput(last)) };
    } catch (error) {
      signal.throwIfAborted();
      fault = error;
      if (!way.isOtherWayWorthwhile(error)) break;
    }
  }
  if (fault instanceof McpError) throw fault;
  if (fault instanceof UnauthorizedError || (fault instanceof SdkHttpError && fault.status === 401)) {
    throw createNeedsLoginError(alias);
  }
  const line = findTellingLine(needs.clean(readLastOutput(last)));
  const said = line === "" ? "" : ` Its last output: ${line}`;
  const lacks = definition.type === "stdio" ? "started" : "reached";
  const why = `The MCP server "${alias}" could not be ${lacks}: ${describeReason(fault)}.${said}`;
  throw createUnavailableError(needs.clean(why));
}

/** Returns the last output of a program that was not part of the protocol. A service has none. */
function readLastOutput(transport: Transport | null): string {
  return transport instanceof StdioTransport ? transport.readLastOutput() : "";
}

/** Returns the ways to connect, in order: a program, or streamable HTTP and then SSE; the settings may fix one. */
function listTransports(needs: OpenOptions): ConnectionWay[] {
  const { type } = needs.definition;
  const listWithAndWithoutNegotiation = (way: Omit<ConnectionWay, "negotiates">) =>
    [false, true].map((negotiates) => ({ ...way, negotiates }));
  if (type === "stdio") {
    const open = () => new StdioTransport(() => startProgram(needs));
    return listWithAndWithoutNegotiation({
      open,
      isOtherWayWorthwhile: (error) => error instanceof ProtocolError,
    });
  }
  const http = { open: () => createTransport(needs, HttpTransport), isOtherWayWorthwhile: isUnknownRequest };
  const older = { open: () => createTransport(needs, SSEClientTransport), isOtherWayWorthwhile: () => false };
  return [
    ...(type === "sse" ? [] : listWithAndWithoutNegotiation(http)),
    ...(type === "http" ? [] : [{ ...older, negotiates: false }]),
  ];
}

function startProgram({ definition, environment, processes, roots, alias }: OpenOptions) {
  const { command = "", args, env, cwd = ".", sandbox } = definition;
  const where = `the MCP server "${alias}"`;
  const folder = expandVariables(cwd, environment, `the cwd of ${where}`);
  return processes.startServer({
    command: expandVariables(command, environment, `the command of ${where}`),
    args: args.map((word) => expandVariables(word, environment, `an argument of ${where}`)),
    env: expandVariablesInValues(env, environment, `in the env of ${where},`),
    cwd: isAbsolute(folder) ? folder : join(roots[0] ?? ".", folder),
    sandbox,
  });
}

/** Whether the error means "unknown request". Any other error would also occur with the other way. */
function isUnknownRequest(error: unknown): boolean {
  if (error instanceof SdkHttpError) return [400, 404, 405, 406, 415].includes(error.status);
  return error instanceof Error && (error.name === "ProtocolError" || error instanceof SseError);
}

function createTransport(
  needs: AddressOptions,
  Kind: typeof HttpTransport | typeof SSEClientTransport,
): Transport {
  const { url, headers } = resolveAddress(needs);
  const fetch = wrapFetchWithLogin(createHttpFetch(needs.environment), buildOAuthOptions(needs, url));
  return limitAnswers(new Kind(url, { fetch, requestInit: { headers } }));
}

/** Collects what a login to the server needs. */
export function buildOAuthOptions(
  { alias, definition, environment, home, allowedHosts }: AddressOptions,
  url: URL,
): OAuthOptions {
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

/** Returns the address and the headers with their variables replaced. */
export function resolveAddress({ alias, definition, environment }: AddressOptions) {
  const where = `the MCP server "${alias}"`;
  const address = expandVariables(definition.url ?? "", environment, `the url of ${where}`);
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw createUnavailableError(`The url of ${where} is not a valid http:// or https:// URL: ${address}`);
  }
  const headers = expandVariablesInValues(definition.headers, environment, `in the headers of ${where},`);
  return { url, headers };
}

async function connectClient(
  transport: Transport,
  { negotiates }: ConnectionWay,
  {
    needs,
    ...limits
  }: { readonly needs: OpenOptions; readonly signal: AbortSignal; readonly timeout: number },
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
  const { isUserAsked, onCall } = installRequestHandlers(client, needs);
  client.setNotificationHandler("notifications/tools/list_changed", () => needs.onToolsChanged());
  try {
    await runWithinLimits(limits, (how) => client.connect(transport, how), isUserAsked);
  } catch (error) {
    // This also ends the program that was started. After that, its last output is complete.
    await transport.close().catch(() => {});
    throw error;
  }
  throttleProgress(transport);
  const request = client.request.bind(client) as (...given: unknown[]) => Promise<JsonRecord>;
  client.request = ((...given: unknown[]) => {
    if ((given[0] as Request).method === "tools/call") onCall();
    return runWithinLimits(given.pop() as Limits, (how) => request(...given, how), isUserAsked);
  }) as Client["request"];
  return client;
}

interface Limits extends RequestOptions {
  readonly timeout: number;
}

/** The longest time that a timer accepts. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Applies the time limits of a request instead of the SDK. The SDK would count time in which this process was
 * suspended, and time in which the user thinks about a question from the server.
 */
async function runWithinLimits<T>(
  { timeout, maxTotalTimeout = timeout, signal, onprogress, ...how }: Limits,
  ask: (how: RequestOptions) => Promise<T>,
  isUserAsked: () => boolean,
): Promise<T> {
  const time = new AbortController();
  const endRequest = () => time.abort(new SdkError(SdkErrorCode.RequestTimeout, "Request timed out"));
  const startTimeLimit = (milliseconds: number) => {
    let stop = () => {};
    const startTimer = () => {
      stop();
      stop = startTimeout(Math.min(milliseconds, NEVER_MS), () =>
        isUserAsked() ? startTimer() : endRequest(),
      );
    };
    startTimer();
    return { begin: startTimer, stop: () => stop() };
  };
  const [silence, all] = [startTimeLimit(timeout), startTimeLimit(maxTotalTimeout)];
  const either = AbortSignal.any([time.signal, ...(signal ? [signal] : [])]);
  const listened = onprogress && {
    onprogress: (progress: Parameters<typeof onprogress>[0]) => {
      silence.begin();
      onprogress(progress);
    },
  };
  try {
    return await rejectOnAbort(ask({ ...how, ...listened, signal: either, timeout: NEVER_MS }), either);
  } finally {
    silence.stop();
    all.stop();
  }
}

/** A schema that accepts everything. Lists are checked later, so that an invalid entry affects no other. */
const ANYTHING: StandardSchemaV1<unknown, JsonRecord> = {
  "~standard": {
    version: 1,
    vendor: "burin",
    validate: (value) => ({ value: value as JsonRecord }),
  },
};

/**
 * Makes the client accept any result, also for calls, so that the readable part of an odd result can be shown. The SDK
 * would reject all of it for one wrong field. Calls still go through the SDK's `callTool`, which knows their headers.
 */
function createRawRequest(client: Client): OpenClient["ask"] {
  const request = client.request.bind(client) as (...given: unknown[]) => Promise<JsonRecord>;
  const ask: OpenClient["ask"] = (asked, how) => request(asked, ANYTHING, how);
  const requestOfCalls = (...given: [Request, RequestOptions]) =>
    given[0].method === "tools/call" ? ask(...given) : request(...given);
  client.request = requestOfCalls as Client["request"];
  return ask;
}

/** Accepts every value: results are data for the model, so the server's output schema is not enforced. */
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
 * Returns whether an error means that the connection is lost. `unsent`: the server cannot have received the request.
 * `unknown`: it may have. null: the connection still works.
 */
export function classifyLoss(error: unknown): "unsent" | "unknown" | null {
  // 404 means that the server has forgotten the session, so it has not run the request.
  if (error instanceof SdkHttpError) return error.status === 404 ? "unsent" : null;
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.NotConnected || error.code === SdkErrorCode.SendFailed) return "unsent";
    return error.code === SdkErrorCode.ConnectionClosed ? "unknown" : null;
  }
  if (error instanceof ProtocolError && error.code === ANSWER_LOST_CODE) return "unknown";
  const { code } = findInnermostError(error);
  if (!/^E[A-Z]/.test(code)) return null;
  return REFUSED.has(code) ? "unsent" : "unknown";
}
