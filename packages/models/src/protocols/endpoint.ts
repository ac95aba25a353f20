import type { ModelFailure } from "@burin/contract/chat-model";
import { describeError } from "@burin/contract/text/error-message";
import { formatUrl } from "../failures/shown-url.ts";
import type { Protocol, ServiceOptions } from "./protocol.ts";

declare const BURIN_VERSION: string | undefined;
/** Set by the build; missing when running from the sources. */
const VERSION = typeof BURIN_VERSION === "string" ? BURIN_VERSION : "0.0.0";
export type Endpoint = Awaited<ReturnType<typeof resolveAccess>> & { readonly url: URL };

export async function resolveEndpoint(
  protocol: Protocol,
  options: ServiceOptions,
  isKeyRefused: boolean,
): Promise<Endpoint | ModelFailure> {
  const baseUrl = options.baseUrl.trim();
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    const message = `The base URL "${baseUrl}" is not a valid URL: write it as http://host:port/v1 or https://host/v1.`;
    return { type: "bad_request", message };
  }
  if (url.username !== "" || url.password !== "") {
    const message = `The base URL of ${formatUrl(url)} holds a user name or password: set an API key instead.`;
    return { type: "bad_request", message };
  }
  url.pathname = protocol.path(protocol.root(url.pathname.replace(/\/+$/, "")), options.name);
  url.hash = "";
  if (protocol.query)
    url.search = [url.search.slice(1), protocol.query].filter((part) => part !== "").join("&");
  try {
    const access = await resolveAccess(protocol, options, isKeyRefused);
    const accept = "text/event-stream, application/json";
    return { url, ...access, headers: { "content-type": "application/json", accept, ...access.headers } };
  } catch (error) {
    return { type: "unauthorized", message: describeError(error) };
  }
}

/** Shortens a base URL: some users copy the full address of an endpoint, with its path. */
export function normalizeOpenAiBase(base: string): string {
  return base.replace(/\/(?:chat\/completions|completions|responses|models)$/, "");
}

/** Returns the headers that authorize a request. Throws a message for the user where something is missing. */
export async function resolveAccess(protocol: Protocol, options: ServiceOptions, isRefused = false) {
  const { apiKey = "", certificate: place, environment = {}, signer } = options;
  const getKey = () => (typeof apiKey === "string" ? apiKey : apiKey(isRefused));
  const key = (await catchFault("There is no API key", getKey)).trim();
  if (/[^\x21-\x7e]|["']/.test(key))
    throw new Error("The API key holds a space, a quote or a character that no key has: set it again.");
  const certificate =
    place &&
    (await catchFault("There is no client certificate", async () =>
      (await import("../keys/key-source.ts")).readCertificate(place, environment),
    ));
  const sign = signer && (await catchFault("There is no key to sign with", signer));
  return { headers: buildHeaders(protocol, options, key), key, certificate, sign };
}

async function catchFault<T>(what: string, get: () => T | Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    throw new Error(`${what}: ${describeError(error)}`);
  }
}

function buildHeaders(protocol: Protocol, options: ServiceOptions, key: string): Record<string, string> {
  const { keyHeader = protocol.keyHeader, headers = {} } = options;
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    "user-agent": `burin/${VERSION}`,
    ...protocol.headers,
    ...(key === "" ? {} : { [keyHeader]: keyHeader === "authorization" ? `Bearer ${key}` : key }),
    ...Object.fromEntries(given),
  };
}
