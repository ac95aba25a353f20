import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import {
  type CancelledNotification,
  createMcpHandler,
  DEFAULT_MAX_REQUEST_BODY_SIZE,
  type HandleRequestOptions,
  isJSONRPCRequest,
  isLegacyRequest,
  isSpecType,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  readRequestBody,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { type ServeOptions, waitForAbort } from "../ground.ts";
import { formatErrorLine, INVALID_REQUEST, MAX_UNREAD_BYTES } from "../message-lines.ts";
import { ToolsHost } from "./place.ts";
import { createToolServer, notifyOfChanges } from "./tool-server.ts";

const HOST = "127.0.0.1";
const PATH = "/mcp";
const JSON_HEADERS = { "content-type": "application/json" };
/** The error code when a client disconnects in the middle of its message. */
const CLIENT_GONE = "ECONNRESET";
/** Clients that disconnect leave sessions behind; the one that was unused for longest is removed. */
const MAX_SESSIONS = 64;
/** How long a client may leave a response unread before it is cut off. */
const MAX_UNREAD_MS = 30_000;
const CHECK_INTERVAL_MS = 100;

export interface HttpOptions {
  /** The port; 0 for any free one. */
  readonly port: number;
  /** The secret that clients need; default: a random one. */
  readonly token?: string;
}

/** Serves clients on this computer that know the token, until the user interrupts. */
export async function serveMcpOverHttp(
  ground: ServeOptions,
  { port, token: given }: HttpOptions,
): Promise<void> {
  const token = given ?? randomBytes(24).toString("base64url");
  /** The session that each connection was last used for. */
  const sockets = new Map<Socket, string | undefined>();
  const waitForRoom = async (session: string | undefined) => {
    const countUnread = () => {
      const own = [...sockets].filter(([, user]) => user === session);
      return own.reduce((all, [{ writableLength }]) => all + writableLength, 0);
    };
    while (countUnread() > MAX_UNREAD_BYTES) await pause(CHECK_INTERVAL_MS);
  };
  const clients = new HttpClients(ground, waitForRoom);
  const onerror = ({ code, message }: NodeJS.ErrnoException): void => {
    if (code !== CLIENT_GONE) ground.note(message);
  };
  const answer = toNodeHandler({ fetch: (request) => clients.answer(request) }, { onerror });
  const isLocalHost = localhostHostValidation();
  const isLocalOrigin = localhostOriginValidation();
  const server = createServer((request, response) => {
    if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return;
    sockets.set(request.socket, request.headers["mcp-session-id"]?.toString());
    if (!isToken(request, token)) {
      response
        .writeHead(401, { "www-authenticate": "Bearer" })
        .end("The token is missing or is not the server's.\n");
    } else if (request.url?.split("?")[0] !== PATH)
      response.writeHead(404).end(`The server is at ${PATH}.\n`);
    else if (Number(request.headers["content-length"]) > DEFAULT_MAX_REQUEST_BODY_SIZE)
      refuseBody(request, response);
    else void answer(request as NamedRequest, response);
  });
  server.on("connection", (socket) => {
    socket.once("close", () => sockets.delete(socket));
  });
  server.setTimeout(MAX_UNREAD_MS, (socket) => void (socket.writableLength > 0 && socket.destroy()));
  server.listen(port, HOST);
  await once(server, "listening");
  server.on("error", onerror);
  const { port: taken } = server.address() as AddressInfo;
  // The user who set the token knows it, and printed output may end up in a log.
  const shown = given === undefined ? token : "<the token that was set>";
  ground.note(
    `MCP server at http://${HOST}:${taken}${PATH}; clients send this header: Authorization: Bearer ${shown}`,
  );
  await waitForAbort(ground.signal);
  server.close();
  await clients.close();
  server.closeAllConnections();
}

/** Closing the connection while the client is still sending would often lose the answer. */
function refuseBody(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const why = `The message is longer than ${DEFAULT_MAX_REQUEST_BODY_SIZE} bytes.`;
  response.writeHead(413, JSON_HEADERS).end(formatErrorLine(INVALID_REQUEST, why));
}

/** Requests to a server always have both. */
type NamedRequest = IncomingMessage & { readonly method: string; readonly url: string };

function isToken({ headers }: IncomingMessage, token: string): boolean {
  const hashToken = (text: string) => createHash("sha256").update(text).digest();
  const given = headers.authorization?.replace(/^bearer +/i, "Bearer ") ?? "";
  return timingSafeEqual(hashToken(given), hashToken(`Bearer ${token}`));
}

/**
 * Starts a stream with a comment, because otherwise its client would receive nothing before the first message. Ends the
 * stream when its client disconnects, because otherwise the session's only stream would stay taken until the next
 * message.
 */
function keepStreamOpen(response: Response, signal: AbortSignal): Response {
  if (!response.ok || response.body === null) return response;
  const begun = new TransformStream<Uint8Array, Uint8Array>({
    start: (stream) => stream.enqueue(Buffer.from(":\n\n")),
  });
  return new Response(response.body.pipeThrough(begun, { signal }), response);
}

/**
 * The connection of a client with an older protocol revision. Two simultaneous requests with one id would share a
 * stream, and the first would wait forever.
 */
class ClientTransport extends WebStandardStreamableHTTPServerTransport {
  /** The ids of requests that have no answer yet. */
  readonly #open = new Set<unknown>();

  override async handleRequest(request: Request, options: HandleRequestOptions = {}): Promise<Response> {
    const sent = [options.parsedBody ?? []].flat();
    const asked = sent.filter((one) => isJSONRPCRequest(one));
    const isDuplicateId = (id: RequestId) => asked.filter((one) => one.id === id).length > 1;
    const again = asked.find(({ id }) => this.#open.has(id) || isDuplicateId(id));
    if (again !== undefined) return createDuplicateError(again);
    for (const { id } of asked) this.#open.add(id);
    const response = await super.handleRequest(request, options);
    if (!response.ok) for (const { id } of asked) this.#open.delete(id);
    else for (const { params } of sent.filter(isCancelled)) this.#endRequest(params.requestId);
    return response;
  }

  /** A cancelled request gets no response, so its stream must be closed here. */
  #endRequest(id: RequestId): void {
    this.#open.delete(id);
    this.closeSSEStream(id);
  }

  override async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    if (!("method" in message)) this.#open.delete(message.id);
    return super.send(message, options);
  }
}

function createDuplicateError(again: JSONRPCRequest): Response {
  const why = `The request ${JSON.stringify(again.id)} has no answer yet: give each request an id of its own.`;
  return new Response(formatErrorLine(INVALID_REQUEST, why, again), { status: 400, headers: JSON_HEADERS });
}

function isCancelled(sent: unknown): sent is CancelledNotification & { params: { requestId: RequestId } } {
  return isSpecType.CancelledNotification(sent) && sent.params.requestId !== undefined;
}

/** Returns the message of a request; undefined where there is none, or it cannot be read. */
async function readBody(request: Request): Promise<unknown> {
  if (request.method !== "POST") return undefined;
  try {
    const read = await readRequestBody(request.clone());
    return read.tooLarge ? undefined : JSON.parse(read.text);
  } catch {
    return undefined;
  }
}

/** Resolves when a session's client has read enough of its responses for another to be produced. */
type WaitForRoom = (session: string | undefined) => Promise<void>;

/** Clients of older revisions have one session each; newer clients send everything with each request. */
class HttpClients {
  readonly #ground: ServeOptions;
  readonly #room: WaitForRoom;
  readonly #shared: ToolsHost;
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #sessions = new Map<string, ClientTransport>();

  constructor(ground: ServeOptions, room: WaitForRoom) {
    this.#ground = ground;
    this.#room = room;
    this.#shared = new ToolsHost(ground, () => room(undefined));
    const onerror = ({ message }: Error) => ground.note(message);
    this.#modern = createMcpHandler(() => this.#createServer(this.#shared), { legacy: "reject", onerror });
    const { notify } = this.#modern;
    this.#shared.onChange((what) => {
      if (what === "tools") notify.toolsChanged();
      else if (what === "resources") notify.resourcesChanged();
    });
  }

  #createServer(place: ToolsHost) {
    return createToolServer({ version: this.#ground.version, place, followsRoots: false });
  }

  async answer(request: Request): Promise<Response> {
    const parsedBody = await readBody(request);
    if (!(await isLegacyRequest(request, parsedBody))) return this.#modern.fetch(request);
    const id = request.headers.get("mcp-session-id");
    if (id === null) return this.#beginSession(request, parsedBody);
    const session = this.#sessions.get(id);
    if (session === undefined) return new Response("There is no such session.\n", { status: 404 });
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    const response = await session.handleRequest(request, { parsedBody });
    return request.method === "GET" ? keepStreamOpen(response, request.signal) : response;
  }

  async #beginSession(request: Request, parsedBody: unknown): Promise<Response> {
    const place = new ToolsHost(this.#ground, () => this.#room(transport.sessionId));
    const transport = new ClientTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
    });
    const server = this.#createServer(place);
    notifyOfChanges(server, place);
    const { onclose } = server;
    server.onclose = () => {
      onclose?.();
      this.#sessions.delete(transport.sessionId ?? "");
      void place.close();
    };
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    const [oldest] = this.#sessions.values();
    if (!this.#sessions.has(transport.sessionId ?? "")) await transport.close();
    else if (this.#sessions.size > MAX_SESSIONS) await oldest?.close();
    return response;
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.close()));
    await this.#modern.close();
    await this.#shared.close();
  }
}
