import type { McpServerSettings } from "@burin/contract/settings/tool-sources";
import { SdkHttpError, SSEClientTransport, SseError, type Transport } from "@modelcontextprotocol/client";
import { CredentialStore } from "./credentials.ts";
import { expandEach, expandVariables } from "./definition.ts";
import { HttpTransport, httpFetchIn } from "./http-transport.ts";
import { unavailable } from "./mcp-error.ts";
import type { OAuthSettings } from "./oauth-client.ts";
import { type OAuthNeeds, withLogin } from "./oauth-fetch.ts";

/** One way to connect to a server. */
export interface Way {
  readonly open: () => Transport;
  /** Servers of the newest protocol may not know the handshake of the older ones. */
  readonly negotiates: boolean;
  readonly isOtherWayWorthwhile: (error: unknown) => boolean;
}

interface AddressNeeds {
  readonly alias: string;
  readonly definition: McpServerSettings;
  readonly environment: NodeJS.ProcessEnv;
  readonly home: string;
  readonly allowedHosts: readonly string[];
}

/** Streamable HTTP with both handshakes, then the older SSE; or only the one in the settings. */
export function waysToAddress(needs: AddressNeeds): Way[] {
  const { type } = needs.definition;
  const ways = [
    { isOlder: false, negotiates: false },
    { isOlder: false, negotiates: true },
    { isOlder: true, negotiates: false },
  ].filter(({ isOlder }) => (isOlder ? type !== "http" : type !== "sse"));
  return ways.map(({ isOlder, negotiates }) => ({
    negotiates,
    open: () => transportTo(needs, { isOlder }),
    isOtherWayWorthwhile: (error) => !isOlder && isUnknownRequest(error),
  }));
}

/** Only errors that mean "unknown request"; any other would happen the other way too. */
function isUnknownRequest(error: unknown): boolean {
  if (error instanceof SdkHttpError) return [400, 404, 405, 406, 415].includes(error.status);
  return error instanceof Error && (error.name === "ProtocolError" || error instanceof SseError);
}

function transportTo(needs: AddressNeeds, { isOlder }: { readonly isOlder: boolean }): Transport {
  const { url, headers } = addressOf(needs);
  const fetch = withLogin(httpFetchIn(needs.environment), oauthNeeds(needs, url));
  const options = { fetch, requestInit: { headers } };
  return isOlder ? new SSEClientTransport(url, options) : new HttpTransport(url, options);
}

/** What a login to the server needs. */
export function oauthNeeds(
  { alias, definition, environment, home, allowedHosts }: AddressNeeds,
  url: URL,
): OAuthNeeds {
  const store = new CredentialStore(home, url.href, environment);
  return {
    alias,
    url,
    store,
    settings: (definition.oauth ?? {}) as OAuthSettings,
    environment,
    allowedHosts,
  };
}

/** The address and the headers with their variables replaced. */
export function addressOf({ alias, definition, environment }: AddressNeeds) {
  const where = `the MCP server "${alias}"`;
  const address = expandVariables(definition.url ?? "", environment, `the url of ${where}`);
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw unavailable(`The url of ${where} is not a valid http:// or https:// URL: ${address}`);
  }
  const headers = expandEach(definition.headers, environment, `in the headers of ${where},`);
  return { url, headers };
}
