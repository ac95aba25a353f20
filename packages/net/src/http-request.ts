import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import { startTimeout } from "@burin/contract/async/wait";
import type { ProxyRoute } from "./proxy.ts";

/** A client certificate and its key, in PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
  readonly passphrase?: string;
}

export interface HttpRequest {
  readonly url: URL;
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly certificate?: ClientCertificate | undefined;
  /** The body in pieces, which are sent as one. */
  readonly body?: readonly Uint8Array[];
  /** The addresses to connect to, on a new connection, instead of looking the host up; no proxy is used. */
  readonly addresses?: readonly string[];
  /** The environment that names the proxy, instead of this process's own. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Called when the whole request has been handed to the system. */
  readonly onSent?: (() => void) | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Ends with an error when the connection breaks or the signal aborts; leaving the loop closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The variables that name a proxy; the code for proxies is loaded only if one is set. */
const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/** Policies and cookies fill more than the 16 KB that Node reads by default. */
const MAX_HEAD_BYTES = 256 * 1024;

/**
 * Sends one request with Node's own HTTP client. Not `fetch`: its first use costs Node 20 about 20 ms before the
 * request is sent and 90 ms of CPU in all, and it ends any connection that is silent for five minutes. Does not follow
 * redirects and has no time limit: the signal ends the request. Uses the environment's proxy.
 */
export async function sendHttpRequest(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  const route = request.addresses
    ? pinAddresses(request.addresses)
    : await loadProxyRoute(request.url, request.environment);
  const isSecure = (route.protocol ?? request.url.protocol) === "https:";
  // A dynamic import would start Node's loader for ES modules, which a bundled program does not need otherwise.
  const { request: open } = process.getBuiltinModule(isSecure ? "node:https" : "node:http");
  const { method, body = [] } = request;
  const bytes = body.reduce((sum, piece) => sum + piece.length, 0);
  const length = request.body === undefined ? {} : { "content-length": bytes };
  const headers = { ...request.headers, ...length, ...route.headers };
  const options = { ...route, ...request.certificate, method, headers, maxHeaderSize: MAX_HEAD_BYTES };
  let isStale = false;
  const sendOnce = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sending = open(request.url, options, resolve);
      // A request that is still waiting for its proxy has no connection yet, so it would report the abort too late.
      destroyOnAbort(sending, signal, reject);
      sending.on("error", (error) => {
        isStale = sending.reusedSocket && "code" in error && CLOSED_CODES.has(String(error.code));
        reject(error);
      });
      // The connection may close with neither a response nor an error: a server that switches protocols (HTTP 101).
      sending.once("close", () =>
        reject(
          Object.assign(new Error("The connection was closed without a response"), { code: "ECONNRESET" }),
        ),
      );
      // Sends all pieces and the head in one write.
      sending.cork();
      for (const piece of body) sending.write(piece);
      sending.uncork();
      sending.end(request.onSent);
    });
  const response = await sendOnce().catch((error: unknown) => {
    // The server closed the idle connection just as it was reused, so it has not received the whole request.
    if (isStale && !signal.aborted) return sendOnce();
    throw error;
  });
  // A connection may break before the body is read; the reader then gets the error.
  response.on("error", () => {});
  return { status: response.statusCode ?? 0, headers: response.headers, body: response };
}

/**
 * Error codes that mean the server has closed the connection; the second one occurs while a long request is written.
 */
const CLOSED_CODES = new Set(["ECONNRESET", "EPIPE"]);

const socketsWithListener = new WeakSet<object>();

/**
 * Node's own `signal` would end the connection even when it already serves another request, and a body without a length
 * would then look complete.
 */
function destroyOnAbort(sending: ClientRequest, signal: AbortSignal, onEnd: (error: Error) => void): void {
  let open: ClientRequest | IncomingMessage = sending;
  sending.once("response", (response) => (open = response));
  const abortWithError = () => {
    const error = Object.assign(new Error("The operation was aborted", { cause: signal.reason as unknown }), {
      name: "AbortError",
      code: "ABORT_ERR",
    });
    open.destroy(error);
    onEnd(error);
  };
  sending.once("socket", (socket) => {
    // While a response has arrived but is not read yet, its connection has no other error listener.
    if (!socketsWithListener.has(socket)) socket.on("error", () => {});
    socketsWithListener.add(socket);
  });
  if (signal.aborted) process.nextTick(abortWithError);
  signal.addEventListener("abort", abortWithError, { once: true });
  sending.once("close", () => signal.removeEventListener("abort", abortWithError));
}

/** Returns the request options for the environment's proxy; none without a proxy. */
export async function loadProxyRoute(url: URL, environment: NodeJS.ProcessEnv = {}): Promise<ProxyRoute> {
  if (!PROXY_VARIABLES.some((name) => environment[name])) return {};
  return (await import("./proxy.ts")).findProxyRoute(url, environment);
}

function pinAddresses(addresses: readonly string[]): RequestOptions {
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const answerWithPinned: RequestOptions["lookup"] = (_host, { all }, answer) => {
    const [first = { address: "", family: 4 }] = found;
    // Answer asynchronously, as a real lookup does: an unreachable address would otherwise fail before the socket has a
    // listener.
    setImmediate(() => (all ? answer(null, found) : answer(null, first.address, first.family)));
  };
  return { agent: false, lookup: answerWithPinned };
}

/** Returns the text of a body, or the start of a longer one. A broken connection ends it early. */
export async function readTextStart(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for await (const piece of body) {
      text += decoder.decode(piece, { stream: true });
      bytes += piece.byteLength;
      if (bytes >= maxBytes) break;
    }
  } catch {
    // Return what has arrived so far.
  }
  return text;
}

/** Ends a connection that has been silent for too long. Time that the reader spends does not count. */
export class SilenceWatch {
  isOver = false;
  #isWaiting = true;
  #stop = () => {};
  readonly #silenceMs: number;
  readonly #connection: AbortController;

  constructor(silenceMs: number, connection: AbortController) {
    this.#silenceMs = silenceMs;
    this.#connection = connection;
    this.#startTimer();
  }

  /** Passes on the pieces of the body. Each piece counts as activity, even one without meaning. */
  async *watchPieces(body: HttpResponse["body"]): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of body) {
      this.#isWaiting = false;
      yield piece;
      this.#isWaiting = true;
      this.#startTimer();
    }
  }

  #startTimer(): void {
    this.stop();
    this.#stop = startTimeout(this.#silenceMs, () => {
      if (!this.#isWaiting) return this.#startTimer();
      this.isOver = true;
      this.#connection.abort();
    });
  }

  stop(): void {
    this.#stop();
  }
}
