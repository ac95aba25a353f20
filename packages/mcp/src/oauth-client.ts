import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { CredentialStore, Credentials } from "./credentials.ts";

/** The settings for the login to a server. */
export interface OAuthSettings {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  /** The port of the redirect address, if the service requires a fixed one. */
  readonly callbackPort?: number;
}

export interface OAuthClientNeeds {
  readonly store: CredentialStore;
  readonly settings: OAuthSettings;
  readonly redirectUrl: string;
  /** Called with the address that the user has to open; throws when no user is present. */
  readonly onAuthorize: (url: URL) => void;
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
    if (clientId !== undefined) {
      // The settings name the client for this server, whichever service issues its tokens; the SDK warns if there is
      // no issuer.
      const issuer = asked?.issuer === undefined ? {} : { issuer: asked.issuer };
      const secret = clientSecret === undefined ? {} : { client_secret: clientSecret };
      return { client_id: clientId, ...secret, ...issuer };
    }
    if (this.#client !== undefined || this.#leftOut.has("client")) return this.#client;
    return (await this.#needs.store.read()).client;
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
    await this.#needs.store.change(
      this.#client === undefined ? { tokens: kept } : { client: this.#client, tokens: kept },
    );
  }

  redirectToAuthorization(url: URL): void {
    this.#needs.onAuthorize(url);
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
