import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
} from "@modelcontextprotocol/client";
import type { CredentialStore } from "./credentials.ts";
import { McpError, needsLogin } from "./mcp-error.ts";
import { OAuthClient, type OAuthSettings } from "./oauth-client.ts";

export interface OAuthNeeds {
  readonly alias: string;
  readonly url: URL;
  readonly store: CredentialStore;
  readonly settings: OAuthSettings;
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
      await auth(refresher(needs), {
        serverUrl: needs.url,
        fetchFn: fetch,
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
