import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Server as NetServer, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { describeError } from "@burin/contract/text/error-message";
import { formatHostEndpoint, type HostEndpoint, parseHostEndpoint } from "@burin/shell-judge";
import { forwardRequest } from "./forward-request.ts";
import { type ApprovedRoute, openApprovedRoute, PrivateHostError } from "./open-onward.ts";
import {
  buildRefusalHeaders,
  createPrivateHostRefusal,
  type EgressRefusal,
  formatRefusal,
  formatStatusText,
  RefusedConnectionError,
} from "./refusal.ts";
import { joinSockets, readHello, UNRECOGNIZED_NAME } from "./tunnel.ts";

export interface EgressOptions {
  /**
   * Decides whether this client may reach the place. Resolves to null if it may, otherwise to a sentence that says why
   * not. May wait for the user.
   */
  readonly judge: (place: HostEndpoint, client: string, signal: AbortSignal) => Promise<string | null>;
  /** Returns the name of the client with this login, or null if no client has it. */
  readonly findClient: (user: string, password: string) => string | null;
  /**
   * Places that the user has named together with a port: `host:port` on this machine, in a private network or on an
   * unusual port.
   */
  readonly named?: (client: string) => readonly string[];
  /**
   * Asks whether the user allows a place that resolved to a private network. Without this function, such places are
   * refused.
   */
  readonly judgePrivate?: (place: HostEndpoint, client: string, signal: AbortSignal) => Promise<boolean>;
  readonly onRefusal?: (refusal: EgressRefusal) => void;
  /** Names the upstream proxy, if there is one. */
  readonly environment: NodeJS.ProcessEnv;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  readonly limits?: Partial<EgressLimits>;
}

export interface EgressLimits {
  readonly maxConnections: number;
  readonly maxHeadBytes: number;
  /** How long a client may take to send a request's head, or the first bytes in a tunnel. */
  readonly headMs: number;
  readonly dialMs: number;
  /** How long a connection may be idle. */
  readonly idleMs: number;
  /** The maximum number of bytes that a connection may transfer in total, in both directions. */
  readonly maxBytes: number;
}

const EGRESS_LIMITS: EgressLimits = {
  maxConnections: 256,
  maxHeadBytes: 64 * 1024,
  headMs: 20_000,
  dialMs: 30_000,
  idleMs: 15 * 60_000,
  maxBytes: 64 * 1024 ** 3,
};

/** A tunnel that carries plain HTTP. Its requests are parsed like any other and must be for the same place. */
interface TunnelTarget {
  readonly place: HostEndpoint;
  readonly client: string;
}

/**
 * A proxy that lets commands reach the allowed hosts and no others. It serves CONNECT and requests with an absolute
 * URL. It judges the name before it looks it up, then judges every address and dials only those. In a TLS tunnel, the
 * server name in the ClientHello must be the name in the CONNECT request.
 */
export class EgressProxy {
  readonly #options: EgressOptions;
  readonly #limits: EgressLimits;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #bound = new WeakMap<Duplex, TunnelTarget>();
  readonly #listeners = new Set<NetServer>();
  readonly #heads = new Map<Duplex, NodeJS.Timeout>();

  constructor(options: EgressOptions) {
    this.#options = options;
    this.#limits = { ...EGRESS_LIMITS, ...options.limits };
    // The parser rejects a repeated Host or Content-Length.
    this.#server = createServer({ requestTimeout: 0, maxHeaderSize: this.#limits.maxHeadBytes });
    this.#server.on("request", (request, response) => void this.#onRequest(request, response));
    this.#server.on("connect", (request, socket, head) => void this.#onConnect(request, socket, head));
    this.#server.on("clientError", (_error, socket) => {
      if (socket.writable) socket.end(formatRefusal(400, "This is not a request that a proxy understands."));
      else socket.destroy();
    });
  }

  /** Serves a listening socket, which may belong to another network namespace. */
  serve(listener: NetServer): void {
    this.#listeners.add(listener);
    // A client may close its sending side and still wait for the response.
    Object.assign(listener, { allowHalfOpen: true });
    listener.on("connection", (socket) => this.#acceptConnection(socket));
  }

  /** Listens on this machine's loopback. Resolves to the port. */
  async listen(): Promise<number> {
    const { createServer: createListener } = process.getBuiltinModule("node:net");
    const listener = createListener();
    await new Promise<void>((resolve, reject) => {
      listener.once("error", reject).listen(0, "127.0.0.1", () => resolve());
    });
    this.serve(listener);
    return (listener.address() as AddressInfo).port;
  }

  #acceptConnection(socket: Socket): void {
    if (this.#sockets.size >= this.#limits.maxConnections) {
      socket.on("error", () => {});
      socket.end(formatRefusal(503, "Burin's proxy has too many open connections."));
      return;
    }
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#stopWaiting(socket);
    });
    this.#readHttp(socket);
  }

  #readHttp(socket: Duplex): void {
    this.#limitHeadTime(socket);
    this.#server.emit("connection", socket);
  }

  /** Closes a connection whose head does not arrive in full in time. */
  #limitHeadTime(socket: Duplex): void {
    this.#stopWaiting(socket);
    const refuseLate = () =>
      socket.end(formatRefusal(408, "The head of the request took too long."), () => socket.destroy());
    this.#heads.set(socket, setTimeout(refuseLate, this.#limits.headMs));
  }

  #stopWaiting(socket: Duplex): void {
    clearTimeout(this.#heads.get(socket));
    this.#heads.delete(socket);
  }

  /** Ends all connections. */
  close(): void {
    for (const listener of this.#listeners) listener.close();
    this.#listeners.clear();
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #onConnect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#stopWaiting(socket);
    if (head.length > 0) socket.unshift(head);
    const { gone, stop } = watchSocket(socket);
    const asked = String(request.url);
    let client: string | null = null;
    try {
      if (this.#bound.has(socket))
        throw new RefusedConnectionError(400, "A tunnel cannot be opened inside a tunnel.");
      client = this.#identifyClient(request);
      const place = parseHostEndpoint(asked);
      if (place === null)
        throw new RefusedConnectionError(400, `"${asked}" is not the name of a host and a port.`);
      const onward = await this.#approveRoute(place, client, gone);
      const target = place.port === 80 ? null : await onward.dial();
      stop();
      if (gone.aborted) return void target?.destroy();
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      await this.#useTunnel(socket, { place, client, target });
    } catch (error) {
      stop();
      if (gone.aborted) return void socket.destroy();
      const refusal = this.#refuse(asked, client, error);
      socket.end(formatRefusal(refusal.status, refusal.reason));
      socket.resume();
    }
  }

  /** Looks at the first bytes: TLS for the requested name is passed through unchanged, HTTP is parsed. */
  async #useTunnel(
    socket: Duplex,
    { place, client, target }: TunnelTarget & { target: Socket | null },
  ): Promise<void> {
    const { hello, bytes } = await readHello(socket, this.#limits);
    const isNamed =
      hello.kind === "tls" && (hello.name === null ? place.isAddress : isSameName(hello.name, place));
    if (target !== null && isNamed) {
      target.write(bytes);
      joinSockets(socket, target, this.#limits);
      return;
    }
    target?.destroy();
    if (socket.destroyed) return;
    if (hello.kind === "tls" || place.port === 443) {
      const said =
        hello.kind !== "tls"
          ? "without TLS"
          : hello.name === null
            ? "without a server name"
            : `for "${hello.name}"`;
      const reason = `A tunnel to ${formatHostEndpoint(place)} was opened and then used ${said}.`;
      this.#refuse(formatHostEndpoint(place), client, new RefusedConnectionError(403, reason));
      socket.end(hello.kind === "tls" ? UNRECOGNIZED_NAME : "");
      socket.resume();
      return;
    }
    socket.unshift(bytes);
    this.#bound.set(socket, { place, client });
    this.#readHttp(socket);
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    this.#stopWaiting(socket);
    const gone = new AbortController();
    response.once("close", () => {
      gone.abort();
      if (!socket.destroyed) this.#limitHeadTime(socket);
    });
    const bound = this.#bound.get(socket);
    let asked = String(request.url);
    let client = bound?.client ?? null;
    try {
      client ??= this.#identifyClient(request);
      const { place, path } =
        bound === undefined ? readTarget(request) : readTunnelTarget(request, bound.place);
      asked = formatHostEndpoint(place);
      const onward = await this.#approveRoute(place, client, gone.signal);
      await forwardRequest({ request, response, place, path, onward }, this.#limits);
    } catch (error) {
      if (gone.signal.aborted || response.headersSent) return void response.destroy();
      const { status, reason } = this.#refuse(asked, client, error);
      response.writeHead(status, formatStatusText(reason), {
        ...buildRefusalHeaders(status),
        connection: "close",
      });
      response.end(`${reason}\n`);
    }
  }

  #identifyClient({ headers }: IncomingMessage): string {
    const [, encoded = ""] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headers["proxy-authorization"] ?? "") ?? [];
    const [user = "", ...password] = Buffer.from(encoded, "base64").toString().split(":");
    const client = this.#options.findClient(user, password.join(":"));
    if (client !== null) return client;
    throw new RefusedConnectionError(
      407,
      "Only commands that were allowed to use the network reach Burin's proxy.",
    );
  }

  /** Judges the place, and only then looks it up. Throws a RefusedConnectionError. */
  async #approveRoute(place: HostEndpoint, client: string, signal: AbortSignal): Promise<ApprovedRoute> {
    const named = this.#options.named?.(client) ?? [];
    const text = formatHostEndpoint(place);
    const isNamed = named.includes(text);
    if (!isNamed && place.isAddress) throw createPrivateHostRefusal(place, "is an address without a name");
    if (!isNamed && place.port !== 443 && place.port !== 80) {
      throw createPrivateHostRefusal(place, "is on another port than 443 and 80");
    }
    const fault = await this.#options.judge(place, client, signal);
    if (fault !== null) throw new RefusedConnectionError(403, fault);
    signal.throwIfAborted();
    const { environment, resolve, judgePrivate } = this.#options;
    const needs = { environment, resolve, dialMs: this.#limits.dialMs };
    try {
      return await openApprovedRoute(place, { ...needs, named });
    } catch (error) {
      if (!(error instanceof PrivateHostError) || !(await judgePrivate?.(place, client, signal))) throw error;
      signal.throwIfAborted();
      return openApprovedRoute(place, { ...needs, named: [...named, text] });
    }
  }

  #refuse(place: string, client: string | null, error: unknown): EgressRefusal {
    const isOurs = error instanceof RefusedConnectionError;
    const reason = isOurs ? error.message : `${place} could not be reached: ${describeError(error)}`;
    const refusal = { status: isOurs ? error.status : (502 as const), place, reason, client };
    this.#options.onRefusal?.(refusal);
    return refusal;
  }
}

/** Compares the name in the ClientHello, where some programs use capitals or a trailing dot. */
function isSameName(name: string, { host, port }: HostEndpoint): boolean {
  return parseHostEndpoint(`${name}:${port}`)?.host === host;
}

/** What a request asks for: where, and the path as it was written. */
interface Target {
  readonly place: HostEndpoint;
  readonly path: string;
}

function readTarget({ url = "" }: IncomingMessage): Target {
  const [, authority = "", path = ""] = /^http:\/\/([^/?#@\\\s]+)((?:[/?][^\s#]*)?)$/i.exec(url) ?? [];
  const place = parseHostEndpoint(ensurePort(authority, 80));
  if (place !== null) return { place, path: path.startsWith("/") ? path : `/${path}` };
  const advice = "This is a proxy: it takes CONNECT host:443, and requests for a whole http:// address.";
  throw new RefusedConnectionError(400, advice);
}

/** A request in a tunnel repeats its host. A different host could reach another site on the same server. */
function readTunnelTarget({ url = "", headers }: IncomingMessage, place: HostEndpoint): Target {
  const asked = parseHostEndpoint(ensurePort(headers.host ?? "", place.port));
  const isSame = asked !== null && formatHostEndpoint(asked) === formatHostEndpoint(place);
  if (isSame && /^\/[^\s#]*$/.test(url)) return { place, path: url };
  const told = `A tunnel to ${formatHostEndpoint(place)} was opened and then used for "${headers.host ?? url}".`;
  throw new RefusedConnectionError(403, told);
}

function ensurePort(authority: string, port: number): string {
  return /:\d+$/.test(authority.replace(/^\[.*\]/, "")) ? authority : `${authority}:${port}`;
}

/** Notices that the client has closed the connection: nothing else reads the socket while the user is being asked. */
function watchSocket(socket: Duplex): { readonly gone: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const abortRequest = () => controller.abort();
  const triggerRead = () => {
    if (socket.readableLength === 0) socket.read();
  };
  socket.on("readable", triggerRead).once("end", abortRequest).once("close", abortRequest);
  if (socket.destroyed) abortRequest();
  return {
    gone: controller.signal,
    stop: () => void socket.off("readable", triggerRead).off("end", abortRequest),
  };
}
