import { routeTo } from "@burin/machine/http/http-request";
import type { WebError } from "@burin/machine/http/web-error";
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
} from "@modelcontextprotocol/client";
import type { CredentialStore } from "./credentials.ts";
import { httpFetchIn } from "./http-transport.ts";
import { McpError, needsLogin } from "./mcp-error.ts";
import { OAuthClient, type OAuthSettings } from "./oauth-client.ts";

export interface OAuthNeeds {
  readonly alias: string;
  readonly url: URL;
  readonly store: CredentialStore;
  readonly settings: OAuthSettings;
  readonly environment: NodeJS.ProcessEnv;
  /** `host:port` of this machine or its network that a server on the internet may name for its login. */
  readonly allowedHosts: readonly string[];
}

/**
 * A fetch for what a login needs. A server names those addresses, so one on the internet must not make Burin ask
 * machines that only this one can reach; a metadata service is never asked. The SDK may go on after such a refusal.
 */
export function loginFetchIn(
  { environment, url: server, allowedHosts }: OAuthNeeds,
  onRefusal: (error: WebError) => void = () => {},
): FetchLike {
  return async (address, init) => {
    const url = new URL(address);
    const { allowedAddresses, placeOf } = await import("@burin/web/guard-host");
    if (placeOf(url) === placeOf(server)) return httpFetchIn(environment)(url, init);
    const isProxied = Object.keys(await routeTo(url, environment)).length > 0;
    const isServerOutside = await allowedAddresses(server, { named: [] }, isProxied).then(
      () => true,
      ({ type }: WebError) => type === "unknown_host",
    );
    const named = isServerOutside ? allowedHosts : [placeOf(url)];
    const addresses = await allowedAddresses(url, { named }, isProxied).catch((error: WebError) => {
      onRefusal(error);
      throw error;
    });
    return httpFetchIn(environment, isProxied ? undefined : addresses)(url, init);
  };
}

/**
 * The same fetch with the token of the last login. A refused token is refreshed, by one process and once, and the
 * request sent again; if that does not help, the error says how to log in.
 */
export function withLogin(fetch: FetchLike, needs: OAuthNeeds): FetchLike {
  return async (address, init = {}) => {
    const token = await accessToken(needs.store);
    const answer = await fetch(address, token === null ? init : withToken(init, token));
    if (answer.status === 403) return refusedScope(answer, needs);
    // An Authorization header in the settings takes precedence.
    if (answer.status !== 401 || (token === null && new Headers(init.headers).has("authorization")))
      return answer;
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(answer);
    await answer.body?.cancel();
    const fresh = await needs.store.alone(async () => {
      const now = await accessToken(needs.store);
      // Another request or process was faster.
      if (now !== null && now !== token) return now;
      if (now === null) throw needsLogin(needs.alias);
      await needs.store.assureRoom();
      await auth(refresher(needs), {
        serverUrl: needs.url,
        fetchFn: loginFetchIn(needs),
        ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
        ...(scope ? { scope } : {}),
      });
      return accessToken(needs.store);
    });
    if (fresh === null) throw needsLogin(needs.alias);
    const again = await fetch(address, withToken(init, fresh));
    if (again.status === 401) throw needsLogin(needs.alias);
    return again;
  };
}

async function accessToken(store: CredentialStore): Promise<string | null> {
  return (await store.read()).tokens?.access_token ?? null;
}

function withToken(init: RequestInit, token: string): RequestInit {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}

/** Refreshes, and does not start a new login without the user. */
function refresher(needs: OAuthNeeds): OAuthClient {
  const onAuthorize = () => {
    throw needsLogin(needs.alias);
  };
  return new OAuthClient({ ...needs, redirectUrl: "http://127.0.0.1/callback", onAuthorize, state: "" });
}

/** The next login asks for the scopes that this one lacked. */
async function refusedScope(answer: Response, { alias, store }: OAuthNeeds): Promise<Response> {
  const { error, scope } = extractWWWAuthenticateParams(answer);
  if (error !== "insufficient_scope") return answer;
  await answer.body?.cancel();
  if (scope !== undefined) {
    const { tokens } = await store.read();
    await store.change({ wantedScope: computeScopeUnion(tokens?.scope, scope) ?? scope });
  }
  const wanted = scope === undefined ? "" : ` (${scope})`;
  throw new McpError(
    "mcp_needs_login",
    `The MCP server "${alias}" requires more permissions than the last login granted${wanted}. Run: burin mcp login ${alias}`,
  );
}
