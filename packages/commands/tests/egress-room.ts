import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connect, type Server as NetServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type ConnectionOptions, connect as connectSecurely } from "node:tls";
import { listenOnFreePort } from "@burin/testing/fake-model-server";
import { CERTIFICATE, KEY } from "@burin/testing/tls-pair";
import { type EgressOptions, EgressProxy } from "../src/egress/egress-proxy.ts";
import type { EgressRefusal } from "../src/egress/refusal.ts";

export const LOGIN = `proxy-authorization: Basic ${Buffer.from("run_1:word").toString("base64")}\r\n`;

interface SeenRequest {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A proxy, and the servers that it may lead to: all on loopback, by names that only the proxy looks up. */
export class EgressFixture {
  readonly seen: SeenRequest[] = [];
  readonly refusals: EgressRefusal[] = [];
  readonly lookups: string[] = [];
  readonly judged: string[] = [];
  port = 0;
  plainPort = 0;
  securePort = 0;
  #proxy: EgressProxy | null = null;
  readonly #servers: (Server | NetServer)[] = [];
  readonly #sockets = new Set<Socket>();

  async open(given: Partial<EgressOptions> = {}): Promise<this> {
    const onRequest = async (request: IncomingMessage, response: import("node:http").ServerResponse) => {
      const { method, url, headers } = request;
      const seen = { line: `${method} ${url}`, headers, body: await text(request) };
      this.seen.push(seen);
      if (url === "/away") response.writeHead(302, { location: "http://elsewhere.test/" });
      response.end(`answer to ${seen.line}`);
    };
    const plain = createServer((...pair) => void onRequest(...pair));
    const secure = createSecureServer({ cert: CERTIFICATE, key: KEY }, (...pair) => void onRequest(...pair));
    this.#servers.push(plain, secure);
    this.plainPort = await listenOnFreePort(plain);
    this.securePort = await listenOnFreePort(secure);
    this.#proxy = new EgressProxy({
      environment: {},
      judge: async ({ host, port }) => {
        this.judged.push(`${host}:${port}`);
        return host.endsWith("model.test") || host === "127.0.0.1" ? null : `${host} is not allowed here.`;
      },
      findClient: (user, password) => (password === "word" ? user : null),
      named: () => this.named(),
      resolve: async (host) => {
        this.lookups.push(host);
        return ["127.0.0.1"];
      },
      onRefusal: (refusal) => this.refusals.push(refusal),
      ...given,
    });
    this.port = await this.#proxy.listen();
    return this;
  }

  named(): string[] {
    return [this.plainPort, this.securePort].map((port) => `model.test:${port}`);
  }

  connect(): Socket {
    const socket = connect({ host: "127.0.0.1", port: this.port, allowHalfOpen: true });
    socket.on("error", () => {});
    this.#sockets.add(socket);
    return socket;
  }

  /** Sends the text and resolves to all that comes until the proxy ends the connection. */
  async say(request: string): Promise<string> {
    const socket = this.connect();
    socket.write(request, "latin1");
    return text(socket);
  }

  /** Opens a tunnel; the socket, or the text of the refusal. */
  async tunnel(place: string, login = LOGIN): Promise<Socket | string> {
    const socket = this.connect();
    socket.write(`CONNECT ${place} HTTP/1.1\r\nhost: ${place}\r\n${login}\r\n`, "latin1");
    const [first] = (await once(socket, "data")) as [Buffer];
    if (first.toString().startsWith("HTTP/1.1 200")) return socket;
    return first.toString() + (await text(socket));
  }

  /** A request over TLS in a tunnel; resolves to the response, or to the error of TLS. */
  async secureRequest(place: string, options: ConnectionOptions): Promise<string> {
    const tunnel = await this.tunnel(place);
    if (typeof tunnel === "string") return tunnel;
    const secure = connectSecurely({ socket: tunnel, rejectUnauthorized: false, ...options });
    secure.on("secureConnect", () =>
      secure.write("GET /packages HTTP/1.1\r\nhost: model.test\r\nconnection: close\r\n\r\n"),
    );
    return text(secure).catch((error: unknown) => String(error));
  }

  close(): void {
    this.#proxy?.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) {
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
    }
  }
}
