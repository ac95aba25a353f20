import { request as httpRequest } from "node:http";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import { BlockList, isIP, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";

type Environment = Readonly<Record<string, string | undefined>>;

/** What a request has to change to go through a proxy. */
export interface Route {
  readonly protocol?: string;
  readonly agent?: Agent;
  readonly hostname?: string;
  readonly port?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const tunnels = new Map<string, Agent>();

/**
 * The way to the address by HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, lower case before upper case:
 * nothing where it is direct. This machine itself is never asked for through a proxy. Throws when the
 * variable holds no address.
 */
export function routeTo(url: URL, environment: Environment): Route {
  const proxy = proxyFor(url, environment);
  if (!proxy) return {};
  if (url.protocol === "https:") {
    const known = tunnels.get(proxy.href) ?? new TunnelAgent(proxy);
    tunnels.set(proxy.href, known);
    return { agent: known };
  }
  const { protocol, port } = proxy;
  return {
    protocol,
    hostname: hostOf(proxy),
    port: port || (protocol === "https:" ? "443" : "80"),
    path: `${url.origin}${url.pathname}${url.search}`,
    headers: { host: url.host, ...authorization(proxy) },
  };
}

function proxyFor(url: URL, environment: Environment): URL | undefined {
  const read = (name: string): string => environment[name.toLowerCase()] || environment[name] || "";
  const address = read(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY") || read("ALL_PROXY");
  if (address === "" || isExempt(url, read("NO_PROXY"))) return undefined;
  const full = address.includes("://") ? address : `http://${address}`;
  const proxy = URL.canParse(full) ? new URL(full) : undefined;
  if (proxy && /^https?:$/.test(proxy.protocol)) return proxy;
  throw new Error("The proxy in the environment is not a valid http:// or https:// URL");
}

function isExempt(url: URL, list: string): boolean {
  const host = hostOf(url);
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\./.test(host))
    return true;
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry !== "" && matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isInRange(entry, host);
  const [, name = entry, wantedPort = port] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (wantedPort !== port) return false;
  const domain = name.replace(/^\*?\./, "").replace(/^\[|\]$/g, "");
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
}

function isInRange(entry: string, host: string): boolean {
  const [address = "", bits = ""] = entry.split("/");
  const family = isIP(address);
  if (
    family === 0 ||
    isIP(host) !== family ||
    !/^\d{1,3}$/.test(bits) ||
    Number(bits) > (family === 4 ? 32 : 128)
  ) {
    return false;
  }
  const type = family === 4 ? "ipv4" : "ipv6";
  const range = new BlockList();
  range.addSubnet(address, Number(bits), type);
  return range.check(host, type);
}

function hostOf(url: URL): string {
  return url.hostname.toLowerCase().replace(/^\[|\]$/g, "");
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** Whoever uses the connection is told by its end. */
function unheard(): void {}

type OnConnection = (error: Error | null, stream: Duplex) => void;

/** A proxy that takes the connection and then says nothing must not keep the process alive. */
const MOST_TUNNEL_WAIT_MS = 60_000;

/** Opens its connections through the proxy and keeps them, as the plain agent keeps direct ones. */
class TunnelAgent extends Agent {
  readonly #proxy: URL;

  constructor(proxy: URL) {
    super({ keepAlive: true });
    this.#proxy = proxy;
  }

  override createConnection(options: RequestOptions, onConnection: OnConnection = () => {}): undefined {
    const { host, port } = options;
    const target = `${isIP(host ?? "") === 6 ? `[${host}]` : host}:${port ?? 443}`;
    const proxy = this.#proxy;
    const isSecure = proxy.protocol === "https:";
    const asking = (isSecure ? httpsRequest : httpRequest)({
      hostname: hostOf(proxy),
      port: proxy.port || (isSecure ? 443 : 80),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...authorization(proxy) },
      agent: false,
    });
    const fail = (reason: string): void =>
      onConnection(new Error(`the proxy ${proxy.host} ${reason}`), new Socket());
    asking.setTimeout(MOST_TUNNEL_WAIT_MS, () => asking.destroy(new Error("did not answer")));
    asking.on("error", (error) => fail(`cannot be used: ${error.message}`));
    asking.once("connect", ({ statusCode = 0 }, socket: Socket) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        fail(`answered HTTP ${statusCode} to CONNECT ${target}`);
        return;
      }
      socket.setTimeout(0);
      socket.on("error", unheard);
      const { servername, ca, rejectUnauthorized } = options;
      const secure = {
        socket,
        servername: servername ?? (isIP(host ?? "") === 0 ? (host ?? "") : ""),
        ...(ca === undefined ? {} : { ca }),
        ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
      };
      // Nobody else hears a tunnel whose request was given up meanwhile.
      onConnection(null, connect(secure).on("error", unheard));
    });
    asking.end();
    return undefined;
  }
}
