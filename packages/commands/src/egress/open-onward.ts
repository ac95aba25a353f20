import { connect, isIP, type Socket } from "node:net";
import { allowedAddresses, type Resolve } from "@burin/net/guard-host";
import { type Route, routeTo, tunnelTo } from "@burin/net/proxy";
import { WebError } from "@burin/net/web-error";
import { type HostPlace, hostPlaceText } from "@burin/shell-judge";
import { RefusedConnection, refusedPlace } from "./refusal.ts";

/** The way to a place that was judged. */
export interface Onward {
  /** A connection for a tunnel. */
  dial(): Promise<Socket>;
  /** What a request over plain HTTP needs: the proxy of the environment, or the judged addresses. */
  readonly route: Route;
  readonly addresses: readonly string[];
}

interface OnwardNeeds {
  readonly environment: NodeJS.ProcessEnv;
  readonly resolve: Resolve | undefined;
  readonly named: readonly string[];
  readonly dialMs: number;
}

/** Looks the place up once and judges all its addresses. Throws a RefusedConnection. */
export async function openOnward(place: HostPlace, needs: OnwardNeeds): Promise<Onward> {
  const { environment, resolve, named, dialMs } = needs;
  const isPlain = place.port === 80;
  const url = new URL(`${isPlain ? "http" : "https"}://${hostPlaceText(place)}/`);
  const tunnel = tunnelTo(url, environment);
  const guard = resolve === undefined ? { named } : { named, resolve };
  const addresses = await allowedAddresses(url, guard, tunnel !== null).catch((error: unknown) => {
    throw asRefusal(place, error);
  });
  return {
    addresses: tunnel === null ? addresses : [],
    route: routeTo(new URL(`http://${hostPlaceText(place)}/`), environment),
    dial: async () => tunnel?.() ?? dialAddresses(addresses, place.port, dialMs),
  };
}

/** The place is on this machine or in its network; only the user can know whether that is meant. */
export class PrivatePlace extends RefusedConnection {
  constructor(place: HostPlace) {
    const { status, message } = refusedPlace(place, "is on this machine or in a private network");
    super(status, message);
  }
}

function asRefusal(place: HostPlace, error: unknown): unknown {
  if (!(error instanceof WebError)) return error;
  switch (error.type) {
    case "private_address":
      return new PrivatePlace(place);
    case "forbidden_address":
      return new RefusedConnection(403, error.message.replace("fetched", "reached"));
    default:
      return new RefusedConnection(502, error.message);
  }
}

/** Tries one after the other, as their order says. */
async function dialAddresses(addresses: readonly string[], port: number, dialMs: number): Promise<Socket> {
  const until = performance.now() + dialMs;
  let fault: unknown = new Error("it has no address");
  for (const [index, address] of addresses.entries()) {
    // A dead address must not take the time of all.
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

function dialAddress(host: string, port: number, mostMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, family: isIP(host), allowHalfOpen: true });
    socket.setTimeout(mostMs, () => socket.destroy(new Error(`nothing answered at ${host}`)));
    socket.on("error", reject);
    socket.once("connect", () => resolve(socket.setTimeout(0)));
  });
}
