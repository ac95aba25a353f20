import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Server as NetServer, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "@burin/contract/text/error-message";
import { type HostPlace, hostPlaceText, readHostPlace } from "@burin/shell-judge";
import { forwardRequest } from "./forward-request.ts";
import { type Onward, openOnward, PrivatePlace } from "./open-onward.ts";
import {
  type EgressRefusal,
  RefusedConnection,
  refusalHeaders,
  refusalPhrase,
  refusalText,
  refusedPlace,
} from "./refusal.ts";
import { joinSockets, readHello, UNRECOGNIZED_NAME } from "./tunnel.ts";

export interface EgressOptions {
  /** Whether this client may reach the place: null, or the sentence why not. May take as long as the user needs. */
  readonly judge: (place: HostPlace, client: string, signal: AbortSignal) => Promise<string | null>;
  /** Returns the name of the client that has this login; null when nobody has. */
  readonly clientOf: (user: string, password: string) => string | null;
  /** `host:port` on this machine, in a private network or on another port that the user has named. */
  readonly named?: (client: string) => readonly string[];
  /** Whether the user wants a place that turned out to be in a private network. Without it, such a place is refused. */
  readonly judgePrivate?: (place: HostPlace, client: string, signal: AbortSignal) => Promise<boolean>;
  readonly onRefusal?: (refusal: EgressRefusal) => void;
  /** Names the proxy that leads out of this network. */
  readonly environment: NodeJS.ProcessEnv;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  readonly limits?: Partial<EgressLimits>;
}

export interface EgressLimits {
  readonly mostConnections: number;
  readonly mostHeadBytes: number;
  /** How long a program may take for the head of a request, and for the first bytes in a tunnel. */
  readonly headMs: number;
  readonly dialMs: number;
  /** How long nothing may come on a connection. */
  readonly idleMs: number;
  /** Of one connection, in both directions. */
  readonly mostBytes: number;
}

const EGRESS_LIMITS: EgressLimits = {
  mostConnections: 256,
  mostHeadBytes: 64 * 1024,
  headMs: 20_000,
  dialMs: 30_000,
  idleMs: 15 * 60_000,
  mostBytes: 64 * 1024 ** 3,
};

/** A tunnel to a place without TLS: its requests are read like others, and must be for this place. */
interface Bound {
  readonly place: HostPlace;
  readonly client: string;
}

/**
 * A proxy that leads commands to the hosts that are allowed, and to no others: CONNECT, and requests with a whole
 * address. A place is judged by its name first and looked up only then, all its addresses are judged, and exactly
 * these are dialled. In a tunnel with TLS the name in the first message must be the name that was asked for.
 */
export class EgressProxy {
  readonly #options: EgressOptions;
  readonly #limits: EgressLimits;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #bound = new WeakMap<Duplex, Bound>();
  readonly #listeners = new Set<NetServer>();
  readonly #heads = new Map<Duplex, NodeJS.Timeout>();

  constructor(options: EgressOptions) {
    this.#options = options;
    this.#limits = { ...EGRESS_LIMITS, ...options.limits };
    // A repeated Host or Content-Length is an error, as the parser reads it.
    this.#server = createServer({ requestTimeout: 0, maxHeaderSize: this.#limits.mostHeadBytes });
    this.#server.on("request", (request, response) => void this.#onRequest(request, response));
    this.#server.on("connect", (request, socket, head) => void this.#onConnect(request, socket, head));
    this.#server.on("clientError", (_error, socket) => {
      if (socket.writable) socket.end(refusalText(400, "This is not a request that a proxy understands."));
      else socket.destroy();
    });
  }

  /** Serves the connections of a listening socket, which may be one of another network namespace. */
  serve(listener: NetServer): void {
    this.#listeners.add(listener);
    // A program may end its side first and still wait for the answer.
    Object.assign(listener, { allowHalfOpen: true });
    listener.on("connection", (socket) => this.#accept(socket));
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

  #accept(socket: Socket): void {
    if (this.#sockets.size >= this.#limits.mostConnections) {
      socket.on("error", () => {});
      socket.end(refusalText(503, "Burin's proxy has too many open connections."));
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
    this.#waitForHead(socket);
    this.#server.emit("connection", socket);
  }

  /** A head that does not come whole ends its connection. */
  #waitForHead(socket: Duplex): void {
    this.#stopWaiting(socket);
    const late = () =>
      socket.end(refusalText(408, "The head of the request took too long."), () => socket.destroy());
    this.#heads.set(socket, setTimeout(late, this.#limits.headMs));
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
        throw new RefusedConnection(400, "A tunnel cannot be opened inside a tunnel.");
      client = this.#client(request);
      const place = readHostPlace(asked);
      if (place === null)
        throw new RefusedConnection(400, `"${asked}" is not the name of a host and a port.`);
      const onward = await this.#open(place, client, gone);
      const target = place.port === 80 ? null : await onward.dial();
      stop();
      if (gone.aborted) return void target?.destroy();
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      await this.#useTunnel(socket, { place, client, target });
    } catch (error) {
      stop();
      if (gone.aborted) return void socket.destroy();
      const refusal = this.#refuse(asked, client, error);
      socket.end(refusalText(refusal.status, refusal.reason));
      socket.resume();
    }
  }

  /** Decides by the first bytes: TLS for the name that was asked for goes on as it is, HTTP is read. */
  async #useTunnel(
    socket: Duplex,
    { place, client, target }: Bound & { target: Socket | null },
  ): Promise<void> {
    const { hello, bytes } = await readHello(socket, this.#limits);
    const isNamed =
      hello.kind === "tls" && (hello.name === null ? place.isAddress : sameName(hello.name, place));
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
      const reason = `A tunnel to ${hostPlaceText(place)} was opened and then used ${said}.`;
      this.#refuse(hostPlaceText(place), client, new RefusedConnection(403, reason));
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
      if (!socket.destroyed) this.#waitForHead(socket);
    });
    const bound = this.#bound.get(socket);
    let asked = String(request.url);
    let client = bound?.client ?? null;
    try {
      client ??= this.#client(request);
      const { place, path } = bound === undefined ? targetOf(request) : targetInTunnel(request, bound.place);
      asked = hostPlaceText(place);
      const onward = await this.#open(place, client, gone.signal);
      await forwardRequest({ request, response, place, path, onward }, this.#limits);
    } catch (error) {
      if (gone.signal.aborted || response.headersSent) return void response.destroy();
      const { status, reason } = this.#refuse(asked, client, error);
      response.writeHead(status, refusalPhrase(reason), { ...refusalHeaders(status), connection: "close" });
      response.end(`${reason}\n`);
    }
  }

  #client({ headers }: IncomingMessage): string {
    const [, encoded = ""] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(headers["proxy-authorization"] ?? "") ?? [];
    const [user = "", ...password] = Buffer.from(encoded, "base64").toString().split(":");
    const client = this.#options.clientOf(user, password.join(":"));
    if (client !== null) return client;
    throw new RefusedConnection(
      407,
      "Only commands that were allowed to use the network reach Burin's proxy.",
    );
  }

  /** Judges the place, and only then looks it up. Throws a RefusedConnection. */
  async #open(place: HostPlace, client: string, signal: AbortSignal): Promise<Onward> {
    const named = this.#options.named?.(client) ?? [];
    const text = hostPlaceText(place);
    const isNamed = named.includes(text);
    if (!isNamed && place.isAddress) throw refusedPlace(place, "is an address without a name");
    if (!isNamed && place.port !== 443 && place.port !== 80) {
      throw refusedPlace(place, "is on another port than 443 and 80");
    }
    const fault = await this.#options.judge(place, client, signal);
    if (fault !== null) throw new RefusedConnection(403, fault);
    signal.throwIfAborted();
    const { environment, resolve, judgePrivate } = this.#options;
    const needs = { environment, resolve, dialMs: this.#limits.dialMs };
    try {
      return await openOnward(place, { ...needs, named });
    } catch (error) {
      if (!(error instanceof PrivatePlace) || !(await judgePrivate?.(place, client, signal))) throw error;
      signal.throwIfAborted();
      return openOnward(place, { ...needs, named: [...named, text] });
    }
  }

  #refuse(place: string, client: string | null, error: unknown): EgressRefusal {
    const isOurs = error instanceof RefusedConnection;
    const reason = isOurs ? error.message : `${place} could not be reached: ${messageOf(error)}`;
    const refusal = { status: isOurs ? error.status : (502 as const), place, reason, client };
    this.#options.onRefusal?.(refusal);
    return refusal;
  }
}

/** Compares the name in TLS, where some programs write capitals or a dot at the end. */
function sameName(name: string, { host, port }: HostPlace): boolean {
  return readHostPlace(`${name}:${port}`)?.host === host;
}

/** What a request asks for: where, and the path as it was written. */
interface Target {
  readonly place: HostPlace;
  readonly path: string;
}

function targetOf({ url = "" }: IncomingMessage): Target {
  const [, authority = "", path = ""] = /^http:\/\/([^/?#@\\\s]+)((?:[/?][^\s#]*)?)$/i.exec(url) ?? [];
  const place = readHostPlace(withPort(authority, 80));
  if (place !== null) return { place, path: path.startsWith("/") ? path : `/${path}` };
  const advice = "This is a proxy: it takes CONNECT host:443, and requests for a whole http:// address.";
  throw new RefusedConnection(400, advice);
}

/** A request in a tunnel names its host once more; another name would reach another site of the same server. */
function targetInTunnel({ url = "", headers }: IncomingMessage, place: HostPlace): Target {
  const asked = readHostPlace(withPort(headers.host ?? "", place.port));
  const isSame = asked !== null && hostPlaceText(asked) === hostPlaceText(place);
  if (isSame && /^\/[^\s#]*$/.test(url)) return { place, path: url };
  const told = `A tunnel to ${hostPlaceText(place)} was opened and then used for "${headers.host ?? url}".`;
  throw new RefusedConnection(403, told);
}

function withPort(authority: string, port: number): string {
  return /:\d+$/.test(authority.replace(/^\[.*\]/, "")) ? authority : `${authority}:${port}`;
}

/** Notices that the program has given up: nobody else reads the socket while a user is asked. */
function watchSocket(socket: Duplex): { readonly gone: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const over = () => controller.abort();
  const look = () => {
    if (socket.readableLength === 0) socket.read();
  };
  socket.on("readable", look).once("end", over).once("close", over);
  if (socket.destroyed) over();
  return { gone: controller.signal, stop: () => void socket.off("readable", look).off("end", over) };
}
