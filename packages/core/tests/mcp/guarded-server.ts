import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { listenOnFreePort } from "@burin/testing/fake-model-server";

/** An MCP server that wants a login, and the authorisation server that gives it; both on one port. */
export interface GuardedServer {
  readonly url: string;
  /** What was asked of it, by path, e.g. "POST /token refresh_token". */
  readonly asked: string[];
  /** Whether programs may register themselves, are refused, or find no place to do so. */
  registration: "open" | "refused" | "absent";
  /** The service that the MCP side names for its login. */
  loginService: string;
  /** How its description of the login service comes. */
  description: "whole" | "never" | "endless";
  /** What came as client secrets. */
  readonly secrets: string[];
  /** A client that somebody has registered by hand. */
  enter(client: string, redirect: string): void;
  /** From now on no access token given so far is good. */
  expire(): void;
  /** Requests for tokens fail as a service that is down, or the MCP side answers with a failure of its own. */
  fail(what: "tokens" | "server", isFailing: boolean): void;
  close(): Promise<void>;
}

interface Grant {
  readonly challenge: string;
  readonly client: string;
  readonly redirect: string;
}

/** What the authorisation server remembers. */
class Authorisation {
  readonly clients = new Map<string, readonly string[]>();
  readonly access = new Set<string>();
  isDown = false;
  readonly #codes = new Map<string, Grant>();
  readonly #refresh = new Map<string, string>();

  register(body: string): Said {
    const client = secret();
    const wanted = JSON.parse(body);
    this.clients.set(client, wanted.redirect_uris);
    return [201, { ...wanted, client_id: client }];
  }

  authorize(query: URLSearchParams): Said {
    const given = Object.fromEntries(query) as Record<string, string>;
    const { client_id: client = "", redirect_uri: redirect = "", code_challenge: challenge = "" } = given;
    if (!this.clients.get(client)?.includes(redirect)) return [400, { error: "invalid_redirect_uri" }];
    const code = secret();
    this.#codes.set(code, { challenge, client, redirect });
    return [302, "", { location: `${redirect}?code=${code}&state=${given.state}` }];
  }

  token(form: URLSearchParams): Said {
    if (this.isDown) return [503, { error: "temporarily_unavailable" }];
    const client = form.get("client_id") ?? "";
    if (!this.clients.has(client)) return [401, { error: "invalid_client" }];
    return this.#isGood(form, client) ? [200, this.#tokens(client)] : [400, { error: "invalid_grant" }];
  }

  #isGood(form: URLSearchParams, client: string): boolean {
    if (form.get("grant_type") === "refresh_token") {
      // Each is good for one use only, as services with rotation have it.
      const old = form.get("refresh_token") ?? "";
      const owner = this.#refresh.get(old);
      this.#refresh.delete(old);
      return owner === client;
    }
    const grant = this.#codes.get(form.get("code") ?? "");
    const verifier = form.get("code_verifier") ?? "";
    const proof = createHash("sha256").update(verifier).digest("base64url");
    const { challenge, redirect, client: owner } = grant ?? {};
    return challenge === proof && owner === client && redirect === form.get("redirect_uri");
  }

  #tokens(client: string): object {
    const pair = { access_token: secret(), refresh_token: secret() };
    this.access.add(pair.access_token);
    this.#refresh.set(pair.refresh_token, client);
    return { ...pair, token_type: "Bearer", expires_in: 3600 };
  }
}

type Said = [status: number, body: object | string, headers?: Record<string, string>];

const secret = () => randomBytes(12).toString("hex");

export async function guardedServer(): Promise<GuardedServer> {
  const service = new Authorisation();
  const asked: string[] = [];
  const secrets: string[] = [];
  const rules: Pick<GuardedServer, "registration" | "loginService" | "description"> = {
    registration: "open",
    loginService: "",
    description: "whole",
  };
  let isBroken = false;
  let origin = "";
  const guarded = (request: IncomingMessage, body: string): Said => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (!service.access.has(token)) {
      const where = `${origin}/.well-known/oauth-protected-resource/mcp`;
      return [401, {}, { "www-authenticate": `Bearer resource_metadata="${where}", scope="tools"` }];
    }
    if (isBroken) return [500, "the server has a bad day"];
    return request.method === "POST" ? answerMcp(JSON.parse(body)) : [405, ""];
  };
  const answers: Record<string, (request: IncomingMessage, body: string, url: URL) => Said> = {
    "/.well-known/oauth-protected-resource/mcp": () => [
      200,
      { resource: `${origin}/mcp`, authorization_servers: [rules.loginService], scopes_supported: ["tools"] },
    ],
    "/.well-known/oauth-authorization-server": () => {
      const { registration_endpoint, ...others } = metadata(origin);
      return [200, rules.registration === "absent" ? others : { ...others, registration_endpoint }];
    },
    "/register": (_, body) =>
      rules.registration === "open" ? service.register(body) : [403, { error: "access_denied" }],
    "/authorize": (_, __, url) => service.authorize(url.searchParams),
    "/token": (_, body) => service.token(new URLSearchParams(body)),
    "/mcp": guarded,
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", origin);
    const body = await bodyOf(request);
    const grantType = url.pathname === "/token" ? ` ${new URLSearchParams(body).get("grant_type")}` : "";
    asked.push(`${request.method} ${url.pathname}${grantType}`);
    const { authorization: given = "" } = request.headers;
    if (given.startsWith("Basic ")) secrets.push(Buffer.from(given.slice(6), "base64").toString());
    secrets.push(...new URLSearchParams(body).getAll("client_secret"));
    if (url.pathname === "/.well-known/oauth-authorization-server") {
      if (rules.description === "never") return;
      if (rules.description === "endless") {
        Readable.from(endless()).pipe(response);
        return;
      }
    }
    send(response, answers[url.pathname]?.(request, body, url) ?? [404, ""]);
  });
  origin = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  rules.loginService = origin;
  return Object.assign(rules, {
    secrets,
    url: `${origin}/mcp`,
    asked,
    enter: (client: string, redirect: string) => void service.clients.set(client, [redirect]),
    expire: () => service.access.clear(),
    fail: (what: "tokens" | "server", isFailing: boolean) => {
      if (what === "tokens") service.isDown = isFailing;
      else isBroken = isFailing;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function* endless() {
  for (;;) yield `${" ".repeat(65_535)}\n`;
}

function metadata(origin: string) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
  };
}

type Message = {
  id?: number;
  method: string;
  params: { protocolVersion: string; arguments: { text: string } };
};

function answerMcp({ id, method, params }: Message): Said {
  if (id === undefined) return [202, ""];
  const result = (value: object): Said => [200, { jsonrpc: "2.0", id, result: value }];
  switch (method) {
    case "initialize":
      return result({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "guarded", version: "1" },
      });
    case "tools/list":
      return result({ tools: [{ name: "echo", inputSchema: { type: "object" } }] });
    default:
      return result({ content: [{ type: "text", text: params.arguments.text }] });
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const text = await textOf(request);
  return text;
}

function send(response: ServerResponse, [status, body, headers = {}]: Said) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
}
