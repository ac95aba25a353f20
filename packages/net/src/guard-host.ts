import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { innermost } from "./connection-fault.ts";
import { reachOf } from "./judge-address.ts";
import { WebError } from "./web-error.ts";

/** All addresses of a host. Throws like `node:dns` when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface Guard {
  /** `host:port` of this machine or its network that the user allowed; compared as a whole. */
  readonly named: readonly string[];
  readonly resolve?: Resolve;
}

/** Names that only the internal network knows; if a proxy does the lookup, only the name can be checked. */
const INSIDE_NAME =
  /^[^.]+$|\.(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa)$/;
const METADATA_NAMES = new Set(["metadata.google.internal", "metadata", "instance-data.ec2.internal"]);

/** The host as an address or a name, without brackets and without a dot at the end. */
export function plainHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

/** `host:port`, as the user would write it. */
export function placeOf(url: URL): string {
  const host = plainHost(url);
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/**
 * The addresses of the host. Throws a WebError unless every one of them is allowed. A proxy does its own lookup: for
 * it a host that this machine does not know is judged by its name.
 */
export async function allowedAddresses(
  url: URL,
  guard: Guard,
  isProxied: boolean,
): Promise<readonly string[]> {
  const host = plainHost(url);
  try {
    const addresses = isIP(host) === 0 ? await resolved(host, guard.resolve ?? systemResolve) : [host];
    for (const address of addresses) judge(url, address, guard);
    return addresses;
  } catch (error) {
    if (!isProxied || !(error instanceof WebError) || error.type !== "unknown_host") throw error;
    if (METADATA_NAMES.has(host)) throw never(url, host);
    if (INSIDE_NAME.test(host) && !isNamed(url, guard)) throw notNamed(url, `a name of the inner network`);
    return [];
  }
}

export function isNamed(url: URL, { named }: Guard): boolean {
  const place = placeOf(url);
  return named.some((entry) => entry.toLowerCase() === place);
}

async function systemResolve(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

async function resolved(host: string, resolve: Resolve): Promise<readonly string[]> {
  const addresses = await resolve(host).catch((error: unknown) => {
    const { code } = innermost(error);
    throw code === "EAI_AGAIN"
      ? new WebError("unknown_host", `The host ${host} could not be looked up: is this machine online?`)
      : new WebError("unknown_host", `The host "${host}" does not exist.`);
  });
  if (addresses.length === 0) throw new WebError("unknown_host", `The host "${host}" does not exist.`);
  return addresses;
}

function judge(url: URL, address: string, guard: Guard): void {
  const reach = reachOf(address);
  if (reach === "never") throw never(url, address);
  if (reach === "private" && !isNamed(url, guard)) {
    const what = address === plainHost(url) ? "an address" : `at ${address}, an address`;
    throw notNamed(url, `${what} of this machine or of a private network`);
  }
}

function never(url: URL, address: string): WebError {
  const message = `${placeOf(url)} leads to ${address}, a reserved address that is never fetched.`;
  return new WebError("forbidden_address", message);
}

function notNamed(url: URL, what: string): WebError {
  const place = placeOf(url);
  return new WebError(
    "private_address",
    `${place} is ${what}. It is fetched only when the user allows it: "web": {"allowedHosts": ["${place}"]} in settings.json.`,
  );
}
