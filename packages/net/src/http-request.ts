import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import { afterTime } from "@burin/contract/async/wait";
import type { Route } from "./proxy.ts";

/** In PEM. */
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
  /** In pieces, sent as one. */
  readonly body?: readonly Uint8Array[];
  /** Connects to these instead of looking the host up, on a new connection; no proxy is used. */
  readonly addresses?: readonly string[];
  /** Where the proxy is named, instead of this process's own environment. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Called when all of the request has been passed to the system. */
  readonly onSent?: (() => void) | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Ends with an error when the connection breaks or the signal aborts; leaving the loop closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The variables that name a proxy; the code for proxies is loaded only if one is set. */
const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/** Policies and cookies fill more than the 16 KB that Node reads by default. */
const MOST_HEAD_BYTES = 256 * 1024;

/**
 * One request with Node's own HTTP client. Used instead of `fetch`, whose first use costs Node 20 about 20 ms until
 * the request is sent and 90 ms of CPU in all, and which ends a silence of five minutes by itself. Does not follow
 * redirects and sets no time limit: the signal ends the request. Uses a proxy that the environment names.
 */
export async function httpRequest(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const route = request.addresses
    ? dialling(request.addresses)
    : await routeTo(request.url, request.environment);
  const isSecure = (route.protocol ?? request.url.protocol) === "https:";
  // A dynamic import would start Node's loader for ES modules, which a bundled program does not need otherwise.
  const { request: open } = process.getBuiltinModule(isSecure ? "node:https" : "node:http");
  const { method, body = [] } = request;
  const bytes = body.reduce((sum, piece) => sum + piece.length, 0);
  const length = request.body === undefined ? {} : { "content-length": bytes };
  const headers = { ...request.headers, ...length, ...route.headers };
  const options = { ...route, ...request.certificate, method, headers, maxHeaderSize: MOST_HEAD_BYTES };
  let isStale = false;
  const send = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sending = open(request.url, options, resolve);
      // A request that still waits for its proxy has no connection, and would tell only later that it has ended.
      endOnAbort(sending, signal, reject);
      sending.on("error", (error) => {
        isStale = sending.reusedSocket && "code" in error && CLOSED.has(String(error.code));
        reject(error);
      });
      // Without a response and without an error, too: a server that switches to another protocol (HTTP 101).
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
  const response = await send().catch((error: unknown) => {
    // The server closed the idle connection just when it was used again: it has not received all.
    if (isStale && !signal.aborted) return send();
    throw error;
  });
  // A connection may break before the body is read; the reader then gets the error.
  response.on("error", () => {});
  return { status: response.statusCode ?? 0, headers: response.headers, body: response };
}

/** What writing to a connection says that the other side has closed; the second for a request that is long. */
const CLOSED = new Set(["ECONNRESET", "EPIPE"]);

const heard = new WeakSet<object>();

/** Node's own `signal` ends the connection, which may serve others by then; a body without a length looks whole. */
function endOnAbort(sending: ClientRequest, signal: AbortSignal, onEnd: (error: Error) => void): void {
  let open: ClientRequest | IncomingMessage = sending;
  sending.once("response", (response) => (open = response));
  const end = () => {
    const error = Object.assign(new Error("The operation was aborted", { cause: signal.reason as unknown }), {
      name: "AbortError",
      code: "ABORT_ERR",
    });
    open.destroy(error);
    onEnd(error);
  };
  sending.once("socket", (socket) => {
    // A connection whose response has come but was not read yet has no other error listener.
    if (!heard.has(socket)) socket.on("error", () => {});
    heard.add(socket);
  });
  if (signal.aborted) process.nextTick(end);
  signal.addEventListener("abort", end, { once: true });
  sending.once("close", () => signal.removeEventListener("abort", end));
}

/** The options that the request needs for the environment's proxy; none without a proxy. */
export async function routeTo(url: URL, environment: NodeJS.ProcessEnv = process.env): Promise<Route> {
  if (!PROXY_VARIABLES.some((name) => environment[name])) return {};
  return (await import("./proxy.ts")).routeTo(url, environment);
}

function dialling(addresses: readonly string[]): RequestOptions {
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const lookup: RequestOptions["lookup"] = (_host, { all }, answer) => {
    const [first = { address: "", family: 4 }] = found;
    // Later, like a real lookup: an address out of reach would fail before the socket has a listener.
    setImmediate(() => (all ? answer(null, found) : answer(null, first.address, first.family)));
  };
  return { agent: false, lookup };
}

/** Returns the text of a body, or the start of a longer one. A broken connection ends it early. */
export async function startOfText(body: AsyncIterable<Uint8Array>, mostBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for await (const piece of body) {
      text += decoder.decode(piece, { stream: true });
      bytes += piece.byteLength;
      if (bytes >= mostBytes) break;
    }
  } catch {
    // What has come so far is all there is.
  }
  return text;
}

/** Ends a connection on which nothing has come for too long. The time that the reader takes does not count. */
export class SilenceWatch {
  isOver = false;
  #isWaiting = true;
  #stop = () => {};
  readonly #silenceMs: number;
  readonly #connection: AbortController;

  constructor(silenceMs: number, connection: AbortController) {
    this.#silenceMs = silenceMs;
    this.#connection = connection;
    this.#begin();
  }

  /** The same body; each piece counts as activity, even one without meaning. */
  async *listen(body: HttpAnswer["body"]): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of body) {
      this.#isWaiting = false;
      yield piece;
      this.#isWaiting = true;
      this.#begin();
    }
  }

  #begin(): void {
    this.stop();
    this.#stop = afterTime(this.#silenceMs, () => {
      if (!this.#isWaiting) return this.#begin();
      this.isOver = true;
      this.#connection.abort();
    });
  }

  stop(): void {
    this.#stop();
  }
}
