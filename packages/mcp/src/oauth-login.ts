import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { rejectOnAbort, runWithTimeout } from "@burin/contract/async/wait";
import { auth, extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import type { McpLogin } from "./mcp-door.ts";
import { describeReason, McpError } from "./mcp-error.ts";
import { createLoginFetch, createLoginLimit, OAuthClient, type OAuthOptions } from "./oauth-client.ts";
import { createHttpFetch } from "./transports.ts";

interface LoginOptions extends OAuthOptions, McpLogin {
  /** Headers from the settings, sent with the first request. */
  readonly headers: Readonly<Record<string, string>>;
}

const LOGIN_MS = 10 * 60_000;
const PLAIN_TEXT = { "content-type": "text/plain; charset=utf-8", connection: "close" };

/** Logs in: finds the login service, registers Burin if needed, and waits until the user has agreed in a browser. */
export async function login(options: LoginOptions, signal: AbortSignal): Promise<"logged_in" | "not_needed"> {
  const challenge = await fetchChallenge(options, signal);
  if (challenge === null) return "not_needed";
  const state = randomBytes(16).toString("base64url");
  const callback = await startCallbackServer(state, options.settings.callbackPort ?? 0);
  try {
    const { onAddress: onAuthorize, store } = options;
    const client = new OAuthClient({ ...options, redirectUrl: callback.url, onAuthorize, state });
    client.invalidateCredentials("tokens");
    if (!(await isRegistered(options, callback.url))) client.invalidateCredentials("client");
    let refusal: Error | null = null;
    const fetchFn = createLoginFetch(options, (error) => (refusal ??= error));
    const common = { serverUrl: options.url, fetchFn, ...challenge };
    const outcome = await auth(client, common).catch(async (error: unknown) => {
      if (refusal !== null) throw refusal;
      if ((await client.clientInformation()) !== undefined || client.discoveryState() === undefined)
        throw error;
      throw createNotRegisteredError(options, callback.url, error);
    });
    if (outcome === "AUTHORIZED") return "logged_in";
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LOGIN_MS)]);
    const { code, iss } = await waitForCode(callback.answer, options, { state, limit });
    const exchange = { ...common, authorizationCode: code, ...(iss === null ? {} : { iss }) };
    await store.runExclusively(() => auth(client, exchange));
    return "logged_in";
  } finally {
    callback.close();
  }
}

/** Returns the error for a failed registration. Many services accept only clients that were registered by hand. */
function createNotRegisteredError({ alias }: LoginOptions, redirectUrl: string, error: unknown): McpError {
  const { port } = new URL(redirectUrl);
  const oauth = { clientId: "<client ID>", callbackPort: Number(port) };
  return new McpError(
    "mcp_needs_login",
    `The login service of "${alias}" did not let Burin register itself (${describeReason(error)}). Register an OAuth client there ` +
      `by hand, with the redirect URL ${redirectUrl}. Then add to "${alias}" in mcpServers of your settings.json: ` +
      `"oauth": ${JSON.stringify(oauth)} (and "clientSecret", if you were given one), and log in again.`,
  );
}

/** Whether the stored registration fits. It includes the redirect address, so another port needs a new one. */
async function isRegistered({ store }: LoginOptions, redirectUrl: string): Promise<boolean> {
  const { client } = await store.read();
  return client !== undefined && "redirect_uris" in client && client.redirect_uris.includes(redirectUrl);
}

/** Returns the server's login challenge, or null. Some servers refuse only what follows `initialize`. */
async function fetchChallenge(options: LoginOptions, signal: AbortSignal) {
  const clientInfo = { name: "burin", version: "0" };
  const greeting = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const answer = await postMessage(options, { id: 1, method: "initialize", params: greeting }, { signal });
  const session = answer.headers.get("mcp-session-id");
  const refused = isRefusal(answer)
    ? answer
    : await postMessage(options, { id: 2, method: "tools/list" }, { signal, session });
  if (!isRefusal(refused)) return null;
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refused);
  const { wantedScope = scope } = await options.store.read();
  return {
    ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
    ...(wantedScope ? { scope: wantedScope } : {}),
  };
}

function isRefusal({ status }: Response): boolean {
  return status === 401 || status === 403;
}

async function postMessage(
  { url, headers, environment, answerMs }: LoginOptions,
  message: object,
  { signal, session = null }: { readonly signal: AbortSignal; readonly session?: string | null },
): Promise<Response> {
  const request = {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...(session === null ? {} : { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  };
  const sendRequest = (either: AbortSignal) =>
    createHttpFetch(environment)(url, { ...request, signal: either });
  const answer = await runWithTimeout(createLoginLimit(url.origin, answerMs), sendRequest, signal);
  await answer.body?.cancel();
  return answer;
}

/** Waits for the answer, from the browser or pasted by the user, whichever comes first. */
async function waitForCode(
  callback: Promise<URL>,
  { pasted }: LoginOptions,
  { state, limit }: { readonly state: string; readonly limit: AbortSignal },
) {
  const typed = pasted?.then((text) => (URL.canParse(text.trim()) ? new URL(text.trim()) : text.trim()));
  const first = Promise.race(typed ? [callback, typed] : [callback]);
  const answer = await rejectOnAbort(first, limit).catch((error: unknown) => {
    throw limit.aborted ? new McpError("mcp_needs_login", "The login was not completed.") : error;
  });
  return answer instanceof URL ? readCallback(answer, state) : { code: answer, iss: null };
}

function readCallback(url: URL, state: string) {
  const error = url.searchParams.get("error");
  if (error !== null) {
    const why = url.searchParams.get("error_description") ?? error;
    throw new McpError("mcp_needs_login", `The login was refused: ${why}`);
  }
  const code = url.searchParams.get("code");
  if (code === null || url.searchParams.get("state") !== state) {
    throw new McpError("mcp_needs_login", "That is not the answer to this login attempt.");
  }
  return { code, iss: url.searchParams.get("iss") };
}

/** Opens a server on this machine that waits for the browser's redirect. */
async function startCallbackServer(state: string, port: number) {
  let settle: (answer: URL) => void;
  const answer = new Promise<URL>((resolve) => {
    settle = resolve;
  });
  const server = createServer((request, response) => {
    const [, target = ""] = /^(\/callback\?.*)$/.exec(request.url ?? "") ?? [];
    const url = new URL(target, "http://127.0.0.1");
    const isOurs = url.pathname === "/callback" && url.searchParams.get("state") === state;
    response.writeHead(isOurs ? 200 : 404, PLAIN_TEXT);
    response.end(isOurs ? "Done. You can close this window and go back to Burin.\n" : "Nothing is here.\n");
    if (isOurs) settle(url);
  });
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    answer,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
