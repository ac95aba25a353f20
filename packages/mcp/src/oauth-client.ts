import { inTime } from "@burin/contract/async/wait";
import { routeTo } from "@burin/net/http-request";
import { WebError } from "@burin/net/web-error";
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { CredentialStore, Credentials } from "./credentials.ts";
import type { McpLogin } from "./mcp-door.ts";
import { McpError, needsLogin, unavailable } from "./mcp-error.ts";
import { httpFetchIn } from "./transports.ts";

export interface OAuthSettings {
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The only login service that is accepted. A secret without it belongs to that of the first login. */
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  /** The port of the redirect address, if the service requires a fixed one. */
  readonly callbackPort?: number;
}

export interface OAuthNeeds {
  readonly alias: string;
  readonly url: URL;
  readonly store: CredentialStore;
  readonly settings: OAuthSettings;
  readonly environment: NodeJS.ProcessEnv;
  /** `host:port` of this machine or its network that a server on the internet may name for its login. */
  readonly allowedHosts: readonly string[];
  /** How long each answer of the login may take. */
  readonly answerMs: number;
}

/** Descriptions and tokens are short. */
const MOST_ANSWER_BYTES = 1024 * 1024;

/**
 * A fetch for what a login needs. A server names those addresses, so one on the internet must not make Burin ask
 * machines that only this one can reach; a metadata service is never asked. The SDK may go on after such a refusal.
 */
export function loginFetchIn(
  { environment, url: server, allowedHosts, answerMs }: OAuthNeeds,
  onRefusal: (error: Error) => void = () => {},
): FetchLike {
  const reach: FetchLike = async (address, init) => {
    const url = new URL(address);
    const { allowedAddresses, placeOf } = await import("@burin/net/guard-host");
    if (placeOf(url) === placeOf(server)) return httpFetchIn(environment)(url, init);
    const isProxied = Object.keys(await routeTo(url, environment)).length > 0;
    const isServerOutside = await allowedAddresses(server, { named: [] }, isProxied).then(
      () => true,
      ({ type }: WebError) => type === "unknown_host",
    );
    const named = isServerOutside ? allowedHosts : [placeOf(url)];
    const addresses = await allowedAddresses(url, { named }, isProxied);
    return httpFetchIn(environment, isProxied ? undefined : addresses)(url, init);
  };
  return async (address, init = {}) => {
    const { origin } = new URL(address);
    const read = async (signal: AbortSignal) =>
      wholeAnswer(await reach(address, { ...init, signal }), origin);
    try {
      return await inTime(loginLimit(origin, answerMs), read, init.signal ?? new AbortController().signal);
    } catch (error) {
      if (error instanceof McpError || error instanceof WebError) onRefusal(error);
      throw error;
    }
  };
}

/** A slow service must hold up neither the user nor the sessions that wait for the same login. */
export function loginLimit(origin: string, milliseconds: number) {
  const late = () =>
    new McpError("mcp_timeout", `${origin} did not answer the login within ${milliseconds} ms.`);
  return { milliseconds, late };
}

async function wholeAnswer({ body, status, headers }: Response, origin: string): Promise<Response> {
  const pieces: Uint8Array[] = [];
  let left = MOST_ANSWER_BYTES;
  for await (const piece of body ?? []) {
    left -= piece.length;
    const tooLong = `${origin} answered the login with more than ${MOST_ANSWER_BYTES} bytes.`;
    if (left < 0) throw new McpError("mcp_failed", tooLong);
    pieces.push(piece);
  }
  return new Response(pieces.length === 0 ? null : Buffer.concat(pieces), { status, headers });
}

interface OAuthClientNeeds extends Pick<OAuthNeeds, "alias" | "store" | "settings"> {
  readonly redirectUrl: string;
  /** Called with what McpLogin's `onAddress` is called with; null when no user is present. */
  readonly onAuthorize: McpLogin["onAddress"] | null;
  readonly state: string;
}

/**
 * Burin as the client of an authorization server, for one login or one refresh. What the service calls invalid is
 * left out of this attempt, but stays stored until something better replaces it: a failure never costs a login.
 */
export class OAuthClient implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly #needs: OAuthClientNeeds;
  #discovery: OAuthDiscoveryState | undefined;
  #verifier = "";
  /** Registered for this login; it is stored together with its tokens. */
  #client: StoredOAuthClientInformation | undefined;
  #leftOut = new Set<keyof Credentials>();

  constructor(needs: OAuthClientNeeds) {
    this.#needs = needs;
    this.redirectUrl = needs.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scopes, clientSecret } = this.#needs.settings;
    return {
      client_name: "Burin",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: clientSecret === undefined ? "none" : "client_secret_post",
      application_type: "native",
      ...(scopes === undefined ? {} : { scope: scopes.join(" ") }),
    };
  }

  state(): string {
    return this.#needs.state;
  }

  async clientInformation(asked?: {
    readonly issuer?: string;
  }): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret } = this.#needs.settings;
    if (asked?.issuer !== undefined) await this.#judgeIssuer(asked.issuer);
    if (clientId !== undefined) {
      // The SDK warns if there is no issuer.
      const issuer = asked?.issuer === undefined ? {} : { issuer: asked.issuer };
      const secret = clientSecret === undefined ? {} : { client_secret: clientSecret };
      return { client_id: clientId, ...secret, ...issuer };
    }
    if (this.#client !== undefined || this.#leftOut.has("client")) return this.#client;
    return (await this.#needs.store.read()).client;
  }

  /** A server names its login service, and could name one that collects secrets: only the one that the user meant gets it. */
  async #judgeIssuer(issuer: string): Promise<void> {
    const { alias, settings, store, onAuthorize } = this.#needs;
    const isSecret = settings.clientSecret !== undefined;
    const meant = settings.issuer ?? (isSecret ? (await store.read()).tokens?.issuer : issuer);
    if (meant === undefined && onAuthorize === null) throw needsLogin(alias);
    if (meant === undefined || withoutSlash(meant) === withoutSlash(issuer)) return;
    const what = isSecret ? "its client secret was given for" : "its settings name";
    throw new McpError(
      "mcp_needs_login",
      `The MCP server "${alias}" wants the login at ${issuer}, but ${what} ${meant}. Nothing was sent there. ` +
        `If you trust ${issuer}, set "issuer" to it, in "oauth" of this server in your settings.json, and log in again.`,
    );
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    if (this.#needs.settings.clientId === undefined) this.#client = client;
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    return this.#leftOut.has("tokens") ? undefined : (await this.#needs.store.read()).tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    // If the service sends no new refresh token, the old one is to be used again.
    const { refresh_token } = (await this.#needs.store.read()).tokens ?? {};
    const kept = refresh_token === undefined ? tokens : { refresh_token, ...tokens };
    this.#leftOut.delete("tokens");
    const client = this.#client === undefined ? {} : { client: this.#client };
    await this.#needs.store.change({ ...client, tokens: kept });
  }

  redirectToAuthorization(url: URL): void {
    const { onAuthorize, alias, settings } = this.#needs;
    if (onAuthorize === null) throw needsLogin(alias);
    const { authorizationServerMetadata: about, authorizationServerUrl } = this.#discovery ?? {};
    const issuer = about?.issuer ?? authorizationServerUrl;
    onAuthorize(url, settings.clientSecret === undefined ? undefined : issuer);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#discovery = discovery;
  }

  invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): void {
    if (scope === "all" || scope === "client") {
      this.#leftOut.add("client");
      this.#client = undefined;
    }
    if (scope === "all" || scope === "tokens") this.#leftOut.add("tokens");
  }
}

function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, "");
}

/**
 * The same fetch with the token of the last login. A refused token is refreshed, by one process and once, and the
 * request sent again; if that does not help, the error says how to log in.
 */
export function withLogin(fetch: FetchLike, needs: OAuthNeeds): FetchLike {
  return async (address, init = {}) => {
    const isKeyGiven = new Headers(init.headers).has("authorization");
    const token = isKeyGiven ? null : await accessToken(needs.store);
    const answer = await fetch(address, token === null ? init : withToken(init, token));
    if (isKeyGiven && answer.status === 401) throw keyRefused(needs.alias);
    if (answer.status === 403) return refusedScope(answer, needs);
    if (answer.status !== 401) return answer;
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

function keyRefused(alias: string): McpError {
  const message = `The MCP server "${alias}" refused the Authorization header of its settings: correct it, or remove it and run: burin mcp login ${alias}`;
  return unavailable(message);
}

/** Refreshes, and does not start a new login without the user. */
function refresher(needs: OAuthNeeds): OAuthClient {
  const redirectUrl = "http://127.0.0.1/callback";
  return new OAuthClient({ ...needs, redirectUrl, onAuthorize: null, state: "" });
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
