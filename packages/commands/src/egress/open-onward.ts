import { connect, isIP, type Socket } from "node:net";
import { type ResolveHost, resolveAllowedAddresses } from "@burin/net/guard-host";
import { createTunnelDialer, findProxyRoute, type ProxyRoute } from "@burin/net/proxy";
import { WebError } from "@burin/net/web-error";
import { formatHostEndpoint, type HostEndpoint } from "@burin/shell-judge";
import { createPrivateHostRefusal, RefusedConnectionError } from "./refusal.ts";

/** The route to a place that was judged and allowed. */
export interface ApprovedRoute {
  /** Opens a connection for a tunnel. */
  dial(): Promise<Socket>;
  /** The options for a request over plain HTTP: the environment's proxy, or the judged addresses. */
  readonly route: ProxyRoute;
  readonly addresses: readonly string[];
}

interface RouteOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly resolve: ResolveHost | undefined;
  readonly named: readonly string[];
  readonly dialMs: number;
}

/** Looks the place up once and judges all its addresses. Throws a RefusedConnectionError. */
export async function openApprovedRoute(place: HostEndpoint, needs: RouteOptions): Promise<ApprovedRoute> {
  const { environment, resolve, named, dialMs } = needs;
  const isPlain = place.port === 80;
  const url = new URL(`${isPlain ? "http" : "https"}://${formatHostEndpoint(place)}/`);
  const tunnel = createTunnelDialer(url, environment);
  const guard = resolve === undefined ? { named } : { named, resolve };
  const addresses = await resolveAllowedAddresses(url, guard, tunnel !== null).catch((error: unknown) => {
    throw toConnectionRefusal(place, error);
  });
  return {
    addresses: tunnel === null ? addresses : [],
    route: findProxyRoute(new URL(`http://${formatHostEndpoint(place)}/`), environment),
    dial: async () => tunnel?.() ?? dialAddresses(addresses, place.port, dialMs),
  };
}

/** The error for a place on this machine or in its network: only the user knows whether the command may reach it. */
export class PrivateHostError extends RefusedConnectionError {
  constructor(place: HostEndpoint) {
    const { status, message } = createPrivateHostRefusal(place, "is on this machine or in a private network");
    super(status, message);
  }
}

function toConnectionRefusal(place: HostEndpoint, error: unknown): unknown {
  if (!(error instanceof WebError)) return error;
  switch (error.type) {
    case "private_address":
      return new PrivateHostError(place);
    case "forbidden_address":
      return new RefusedConnectionError(403, error.message.replace("fetched", "reached"));
    default:
      return new RefusedConnectionError(502, error.message);
  }
}

/** Tries one address after the other, in the given order. */
async function dialAddresses(addresses: readonly string[], port: number, dialMs: number): Promise<Socket> {
  const until = performance.now() + dialMs;
  let fault: unknown = new Error("it has no address");
  for (const [index, address] of addresses.entries()) {
    // One dead address must not use up the time for all.
    const share = (until - performance.now()) / (addresses.length - index);
    if (share <= 0) break;
    try {
      return await dialAddress(address, port, share);
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

function dialAddress(host: string, port: number, maxMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, family: isIP(host), allowHalfOpen: true });
    socket.setTimeout(maxMs, () => socket.destroy(new Error(`nothing answered at ${host}`)));
    socket.on("error", reject);
    socket.once("connect", () => resolve(socket.setTimeout(0)));
  });
}
