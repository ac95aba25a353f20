import { request as httpRequest, Agent as PlainAgent } from "node:http";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import { BlockList, isIP, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import { getOrCreate } from "@burin/contract/async/once";
import { describeError } from "@burin/contract/text/error-message";
import type { Target } from "./socks.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ProxyRoute {
  readonly protocol?: string;
  readonly agent?: PlainAgent;
  readonly hostname?: string;
  readonly port?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Shared by sessions: agents that keep connections alive, keyed by the proxy's whole address with its user. */
const tunnels = new Map<string, PlainAgent>();

/**
 * Finds the proxy by the usual variables, lower case first; never for this machine. Throws if a variable is not a valid
 * address.
 */
export function findProxyRoute(url: URL, environment: Environment): ProxyRoute {
  const proxy = findProxyUrl(url, environment);
  if (!proxy) return {};
  const isSecure = url.protocol === "https:";
  if (isSecure || isSocks(proxy)) {
    const name = `${url.protocol} ${proxy.href}`;
    return { agent: getOrCreate(tunnels, name, () => createTunnelAgent(proxy, isSecure)) };
  }
  const { protocol, port } = proxy;
  return {
    protocol,
    hostname: parseHostname(proxy),
    port: port || (protocol === "https:" ? "443" : "80"),
    path: `${url.origin}${url.pathname}${url.search}`,
    headers: { host: url.host, ...buildAuthorization(proxy) },
  };
}

/** Returns a function that connects through the environment's proxy; null without a proxy. */
export function createTunnelDialer(url: URL, environment: Environment): (() => Promise<Socket>) | null {
  const proxy = findProxyUrl(url, environment);
  if (!proxy) return null;
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  return () => createDialer(proxy)({ host: parseHostname(url), port });
}

function findProxyUrl(url: URL, environment: Environment): URL | undefined {
  const readVariable = (name: string): string => environment[name.toLowerCase()] || environment[name] || "";
  const address =
    readVariable(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY") || readVariable("ALL_PROXY");
  if (address === "" || isExempt(url, readVariable("NO_PROXY"))) return undefined;
  // Many users write a literal `%` in a password.
  const full = (address.includes("://") ? address : `http://${address}`).replace(/%(?![\da-f]{2})/gi, "%25");
  const proxy = URL.canParse(full) ? new URL(full) : undefined;
  if (proxy && (/^https?:$/.test(proxy.protocol) || isSocks(proxy))) return proxy;
  throw new Error("The proxy in the environment is not a valid http://, https:// or socks5:// URL");
}

function isSocks({ protocol }: URL): boolean {
  return /^socks(?:5h?)?:$/.test(protocol);
}

function isExempt(url: URL, list: string): boolean {
  const host = parseHostname(url);
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\./.test(host))
    return true;
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== "" && matchesExemption(entry, host, port));
}

function matchesExemption(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isInSubnet(entry, host);
  const [, name = entry, wantedPort = port] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (wantedPort !== port) return false;
  const domain = name.replace(/^\*?\./, "").replace(/^\[|\]$/g, "");
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
}

function isInSubnet(entry: string, host: string): boolean {
  const [address = "", bits = ""] = entry.split("/");
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family) return false;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const range = new BlockList();
  range.addSubnet(address, Number(bits), type);
  return range.check(host, type);
}

function parseHostname(url: URL): string {
  return url.hostname.toLowerCase().replace(/^\[|\]$/g, "");
}

function buildAuthorization({ username, password }: URL): Record<string, string> {
  if (username === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** Ignores an error: the user of the connection gets it when the connection closes. */
function ignoreError(): void {}

type OnConnection = (error: Error | null, stream: Duplex) => void;

type Dial = (target: Target) => Promise<Socket>;

/** A proxy that accepts the connection and then is silent must not keep the process alive. */
const MAX_TUNNEL_WAIT_MS = 60_000;

/** Connects through the proxy; errors name it. */
function createDialer(proxy: URL): Dial {
  const dial: Dial = isSocks(proxy)
    ? async (target) => (await import("./socks.ts")).dialBySocks(proxy, target, MAX_TUNNEL_WAIT_MS)
    : (target) => dialByConnect(proxy, target);
  return async (target) => {
    try {
      const socket = await dial(target);
      socket.setTimeout(0);
      return socket.on("error", ignoreError);
    } catch (error) {
      const fault = error instanceof Error && "code" in error ? "cannot be used: " : "";
      throw new Error(`the proxy ${proxy.host} ${fault}${describeError(error)}`);
    }
  };
}

function dialByConnect(proxy: URL, { host, port }: Target): Promise<Socket> {
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const isSecure = proxy.protocol === "https:";
  const asking = (isSecure ? httpsRequest : httpRequest)({
    hostname: parseHostname(proxy),
    port: proxy.port || (isSecure ? 443 : 80),
    method: "CONNECT",
    path: target,
    headers: { host: target, ...buildAuthorization(proxy) },
    agent: false,
  });
  return new Promise((resolve, reject) => {
    asking.setTimeout(MAX_TUNNEL_WAIT_MS, () => asking.destroy(new Error("did not answer")));
    asking.on("error", reject);
    asking.once("connect", ({ statusCode = 0 }, socket: Socket) => {
      if (statusCode >= 200 && statusCode <= 299) return resolve(socket);
      socket.destroy();
      reject(new Error(`answered HTTP ${statusCode} to CONNECT ${target}: check its rules and your login`));
    });
    asking.end();
  });
}

/** Opens its connections through the proxy and keeps them alive, as the normal agent does with direct ones. */
function createTunnelAgent(proxy: URL, isSecure: boolean): PlainAgent {
  const dial = createDialer(proxy);
  const agent = new (isSecure ? Agent : PlainAgent)({ keepAlive: true });
  const createConnection = (options: RequestOptions, onConnection: OnConnection) => {
    dial({ host: options.host ?? "", port: Number(options.port ?? (isSecure ? 443 : 80)) }).then(
      (socket) => onConnection(null, isSecure ? startTls(socket, options) : socket),
      (error: Error) => onConnection(error, new Socket()),
    );
  };
  return Object.assign(agent, { createConnection });
}

function startTls(socket: Socket, options: RequestOptions): Duplex {
  const { host, servername, ca, cert, key, passphrase, rejectUnauthorized } = options;
  const given = Object.entries({ ca, cert, key, passphrase, rejectUnauthorized });
  const secure = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  const name = servername ?? (isIP(host ?? "") === 0 ? (host ?? "") : "");
  // A tunnel whose request was cancelled has no other error listener.
  return connect({ ...secure, socket, servername: name }).on("error", ignoreError);
}
