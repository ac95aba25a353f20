import { runWithTimeout } from "@burin/contract/async/wait";
import { loadProxyRoute } from "@burin/net/http-request";
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
import { createNeedsLoginError, createUnavailableError, McpError } from "./mcp-error.ts";
import { createHttpFetch } from "./transports.ts";

export interface OAuthSettings {
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The only login service that is accepted. A secret without an issuer belongs to the service of the first login. */
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  /** The port of the redirect address, if the login service requires a fixed one. */
  readonly callbackPort?: number;
}

export interface OAuthOptions {
  readonly alias: string;
  readonly url: URL;
  readonly store: CredentialStore;
  readonly settings: OAuthSettings;
  readonly environment: NodeJS.ProcessEnv;
  /** Addresses (`host:port`) on this machine or its network that a server on the internet may name for its login. */
  readonly allowedHosts: readonly string[];
  /** How many milliseconds each answer during the login may take. */
  readonly answerMs: number;
}

/** The maximum number of bytes of an answer. Descriptions and tokens are short. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Returns a login's `fetch`. The server names the addresses, so one on the internet must not make Burin ask machines
 * that only this one can reach, and never a metadata service. `onRefusal` gets refusals, as the SDK may go on.
 */
export function createLoginFetch(
  { environment, url: server, allowedHosts, answerMs }: OAuthOptions,
  onRefusal: (error: Error) => void = () => {},
): FetchLike {
  const fetchFromAllowedAddress: FetchLike = async (address, init) => {
    const url = new URL(address);
    const { resolveAllowedAddresses, formatHostPort } = await import("@burin/net/guard-host");
    if (formatHostPort(url) === formatHostPort(server)) return createHttpFetch(environment)(url, init);
    const isProxied = Object.keys(await loadProxyRoute(url, environment)).length > 0;
    const isServerOutside = await resolveAllowedAddresses(server, { named: [] }, isProxied).then(
      () => true,
      ({ type }: WebError) => type === "unknown_host",
    );
    const named = isServerOutside ? allowedHosts : [formatHostPort(url)];
    const addresses = await resolveAllowedAddresses(url, { named }, isProxied);
    return createHttpFetch(environment, isProxied ? undefined : addresses)(url, init);
  };
  return async (address, init = {}) => {
    const { origin } = new URL(address);
    const fetchAndRead = async (signal: AbortSignal) =>
      readWholeAnswer(await fetchFromAllowedAddress(address, { ...init, signal }), origin);
    try {
      return await runWithTimeout(
        createLoginLimit(origin, answerMs),
        fetchAndRead,
        init.signal ?? new AbortController().signal,
      );
    } catch (error) {
      if (error instanceof McpError || error instanceof WebError) onRefusal(error);
      throw error;
    }
  };
}

/** Limits each answer, because a slow service must not delay the user, or sessions that wait for the same login. */
export function createLoginLimit(origin: string, milliseconds: number) {
  const createLoginTimeout = () =>
    new McpError("mcp_timeout", `${origin} did not answer the login within ${milliseconds} ms.`);
  return { milliseconds, late: createLoginTimeout };
}

async function readWholeAnswer({ body, status, headers }: Response, origin: string): Promise<Response> {
  const pieces: Uint8Array[] = [];
  let left = MAX_ANSWER_BYTES;
  for await (const piece of body ?? []) {
    left -= piece.length;
    const tooLong = `${origin} answered the login with more than ${MAX_ANSWER_BYTES} bytes.`;
    if (left < 0) throw new McpError("mcp_failed", tooLong);
    pieces.push(piece);
  }
  return new Response(pieces.length === 0 ? null : Buffer.concat(pieces), { status, headers });
}

interface OAuthClientOptions extends Pick<OAuthOptions, "alias" | "store" | "settings"> {
  readonly redirectUrl: string;
  /** Called with the address to open in a browser, as in McpLogin; null if no user is present. */
  readonly onAuthorize: McpLogin["onAddress"] | null;
  readonly state: string;
}

/**
 * Burin as the client of an authorization server, for one login or one refresh. Credentials that the service calls
 * invalid are not used in this attempt, but stay stored until better ones replace them: a failure never costs a login.
 */
export class OAuthClient implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly #needs: OAuthClientOptions;
  #discovery: OAuthDiscoveryState | undefined;
  #verifier = "";
  /** The client registered for this login. It is stored together with its tokens. */
  #client: StoredOAuthClientInformation | undefined;
  #leftOut = new Set<keyof Credentials>();

  constructor(needs: OAuthClientOptions) {
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
      // Pass the issuer, because the SDK warns if there is none.
      const issuer = asked?.issuer === undefined ? {} : { issuer: asked.issuer };
      const secret = clientSecret === undefined ? {} : { client_secret: clientSecret };
      return { client_id: clientId, ...secret, ...issuer };
    }
    if (this.#client !== undefined || this.#leftOut.has("client")) return this.#client;
    return (await this.#needs.store.read()).client;
  }

  /** Rejects any login service but the one the user meant: the server could name one that collects secrets. */
  async #judgeIssuer(issuer: string): Promise<void> {
    const { alias, settings, store, onAuthorize } = this.#needs;
    const isSecret = settings.clientSecret !== undefined;
    const meant = settings.issuer ?? (isSecret ? (await store.read()).tokens?.issuer : issuer);
    if (meant === undefined && onAuthorize === null) throw createNeedsLoginError(alias);
    if (meant === undefined || removeTrailingSlash(meant) === removeTrailingSlash(issuer)) return;
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
    // If the service sends no new refresh token, the old one must be used again.
    const { refresh_token } = (await this.#needs.store.read()).tokens ?? {};
    const kept = refresh_token === undefined ? tokens : { refresh_token, ...tokens };
    this.#leftOut.delete("tokens");
    const client = this.#client === undefined ? {} : { client: this.#client };
    await this.#needs.store.change({ ...client, tokens: kept });
  }

  redirectToAuthorization(url: URL): void {
    const { onAuthorize, alias, settings } = this.#needs;
    if (onAuthorize === null) throw createNeedsLoginError(alias);
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

function removeTrailingSlash(issuer: string): string {
  return issuer.replace(/\/$/, "");
}

/**
 * Wraps `fetch` to send the token of the last login. A rejected token is refreshed once, by one process, and the
 * request is sent again. If that does not help, the error says how to log in.
 */
export function wrapFetchWithLogin(fetch: FetchLike, needs: OAuthOptions): FetchLike {
  return async (address, init = {}) => {
    const isKeyGiven = new Headers(init.headers).has("authorization");
    const token = isKeyGiven ? null : await readAccessToken(needs.store);
    const answer = await fetch(address, token === null ? init : addToken(init, token));
    if (isKeyGiven && answer.status === 401) throw createKeyRefusedError(needs.alias);
    if (answer.status === 403) return rememberRefusedScope(answer, needs);
    if (answer.status !== 401) return answer;
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(answer);
    await answer.body?.cancel();
    const fresh = await needs.store.runExclusively(async () => {
      const now = await readAccessToken(needs.store);
      // Another request or process has already refreshed the token.
      if (now !== null && now !== token) return now;
      if (now === null) throw createNeedsLoginError(needs.alias);
      await needs.store.assertCanStore();
      await auth(createRefresher(needs), {
        serverUrl: needs.url,
        fetchFn: createLoginFetch(needs),
        ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
        ...(scope ? { scope } : {}),
      });
      return readAccessToken(needs.store);
    });
    if (fresh === null) throw createNeedsLoginError(needs.alias);
    const again = await fetch(address, addToken(init, fresh));
    if (again.status === 401) throw createNeedsLoginError(needs.alias);
    return again;
  };
}

async function readAccessToken(store: CredentialStore): Promise<string | null> {
  return (await store.read()).tokens?.access_token ?? null;
}

function addToken(init: RequestInit, token: string): RequestInit {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}

function createKeyRefusedError(alias: string): McpError {
  const message = `The MCP server "${alias}" refused the Authorization header of its settings: correct it, or remove it and run: burin mcp login ${alias}`;
  return createUnavailableError(message);
}

/** Creates a client that refreshes a token, but does not start a new login without the user. */
function createRefresher(needs: OAuthOptions): OAuthClient {
  const redirectUrl = "http://127.0.0.1/callback";
  return new OAuthClient({ ...needs, redirectUrl, onAuthorize: null, state: "" });
}

/** Throws if scopes were missing, and stores them, so that the next login asks for them. */
async function rememberRefusedScope(answer: Response, { alias, store }: OAuthOptions): Promise<Response> {
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
