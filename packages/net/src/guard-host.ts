import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { findInnermostError } from "./connection-fault.ts";
import { classifyAddress } from "./judge-address.ts";
import { WebError } from "./web-error.ts";

/** All addresses of a host. Throws like `node:dns` when it has none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export interface HostGuard {
  /** `host:port` entries of this machine or its network that the user has allowed; the whole entry must match. */
  readonly named: readonly string[];
  readonly resolve?: ResolveHost;
}

/** Names that only exist on internal networks. If a proxy does the lookup, the name is all that can be checked. */
const INTERNAL_NAME =
  /^[^.]+$|\.(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa)$/;
const METADATA_NAMES = new Set(["metadata.google.internal", "metadata", "instance-data.ec2.internal"]);

/** The host as an address or a name, without brackets and without a dot at the end. */
export function normalizeHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

/** `host:port`, as the user would write it. */
export function formatHostPort(url: URL): string {
  const host = normalizeHost(url);
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/**
 * Resolves the host's addresses. Throws a WebError unless all of them are allowed. A proxy does its own lookup, so a
 * host that this machine cannot resolve is then judged by its name.
 */
export async function resolveAllowedAddresses(
  url: URL,
  guard: HostGuard,
  isProxied: boolean,
): Promise<readonly string[]> {
  const host = normalizeHost(url);
  try {
    const addresses =
      isIP(host) === 0 ? await resolveOrThrow(host, guard.resolve ?? resolveWithSystem) : [host];
    for (const address of addresses) assertAddressAllowed(url, address, guard);
    return addresses;
  } catch (error) {
    if (!isProxied || !(error instanceof WebError) || error.type !== "unknown_host") throw error;
    if (METADATA_NAMES.has(host)) throw createForbiddenError(url, host);
    if (INTERNAL_NAME.test(host) && !isNamedHost(url, guard))
      throw createPrivateError(url, `a name of the inner network`);
    return [];
  }
}

export function isNamedHost(url: URL, { named }: HostGuard): boolean {
  const place = formatHostPort(url);
  return named.some((entry) => entry.toLowerCase() === place);
}

async function resolveWithSystem(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

async function resolveOrThrow(host: string, resolve: ResolveHost): Promise<readonly string[]> {
  const addresses = await resolve(host).catch((error: unknown) => {
    const { code } = findInnermostError(error);
    throw code === "EAI_AGAIN"
      ? new WebError("unknown_host", `The host ${host} could not be looked up: is this machine online?`)
      : new WebError("unknown_host", `The host "${host}" does not exist.`);
  });
  if (addresses.length === 0) throw new WebError("unknown_host", `The host "${host}" does not exist.`);
  return addresses;
}

function assertAddressAllowed(url: URL, address: string, guard: HostGuard): void {
  const reach = classifyAddress(address);
  if (reach === "never") throw createForbiddenError(url, address);
  if (reach === "private" && !isNamedHost(url, guard)) {
    const what = address === normalizeHost(url) ? "an address" : `at ${address}, an address`;
    throw createPrivateError(url, `${what} of this machine or of a private network`);
  }
}

function createForbiddenError(url: URL, address: string): WebError {
  const message = `${formatHostPort(url)} leads to ${address}, a reserved address that is never fetched.`;
  return new WebError("forbidden_address", message);
}

function createPrivateError(url: URL, what: string): WebError {
  const place = formatHostPort(url);
  return new WebError(
    "private_address",
    `${place} is ${what}. It is fetched only when the user allows it: "web": {"allowedHosts": ["${place}"]} in settings.json.`,
  );
}
