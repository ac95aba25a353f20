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
import { type Ground, untilAborted } from "../ground.ts";
import { faultLine, INVALID_REQUEST, MOST_UNREAD_BYTES } from "../message-lines.ts";
import { Place } from "./place.ts";
import { tellOfChanges, toolServer } from "./tool-server.ts";

const HOST = "127.0.0.1";
const PATH = "/mcp";
const JSON_HEADERS = { "content-type": "application/json" };
/** What a client that vanishes in its message leaves. */
const GONE = "ECONNRESET";
/** Clients that disconnect leave sessions behind; the one that was unused for longest is removed. */
const MOST_SESSIONS = 64;
/** A client that reads nothing of its answer for so long gets no more of it. */
const MOST_UNREAD_MS = 30_000;
const LOOK_MS = 100;

export interface HttpOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** The secret that clients need; default: a random one. */
  readonly token?: string;
}

/** Serves clients on this computer that know the token, until the user interrupts. */
export async function serveMcpOverHttp(ground: Ground, { port, token: given }: HttpOptions): Promise<void> {
  const token = given ?? randomBytes(24).toString("base64url");
  /** The session that each connection was last used for. */
  const sockets = new Map<Socket, string | undefined>();
  const room = async (session: string | undefined) => {
    const unread = () => {
      const own = [...sockets].filter(([, user]) => user === session);
      return own.reduce((all, [{ writableLength }]) => all + writableLength, 0);
    };
    while (unread() > MOST_UNREAD_BYTES) await pause(LOOK_MS);
  };
  const clients = new HttpClients(ground, room);
  const onerror = ({ code, message }: NodeJS.ErrnoException): void => {
    if (code !== GONE) ground.note(message);
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
  server.setTimeout(MOST_UNREAD_MS, (socket) => void (socket.writableLength > 0 && socket.destroy()));
  server.listen(port, HOST);
  await once(server, "listening");
  server.on("error", onerror);
  const { port: taken } = server.address() as AddressInfo;
  // Who has set the token knows it, and what is printed may be kept in a log.
  const shown = given === undefined ? token : "<the token that was set>";
  ground.note(
    `MCP server at http://${HOST}:${taken}${PATH}; clients send this header: Authorization: Bearer ${shown}`,
  );
  await untilAborted(ground.signal);
  server.close();
  await clients.close();
  server.closeAllConnections();
}

/** Closing the connection while the client is still sending would often lose the answer. */
function refuseBody(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  const why = `The message is longer than ${DEFAULT_MAX_REQUEST_BODY_SIZE} bytes.`;
  response.writeHead(413, JSON_HEADERS).end(faultLine(INVALID_REQUEST, why));
}

/** Requests to a server always have both. */
type NamedRequest = IncomingMessage & { readonly method: string; readonly url: string };

function isToken({ headers }: IncomingMessage, token: string): boolean {
  const print = (text: string) => createHash("sha256").update(text).digest();
  const given = headers.authorization?.replace(/^bearer +/i, "Bearer ") ?? "";
  return timingSafeEqual(print(given), print(`Bearer ${token}`));
}

/**
 * Starts a stream with a comment, because otherwise its client would get nothing before the first message; and
 * ends it with its client, because otherwise the one stream of a session would stay taken until the next message.
 */
function listenedTo(response: Response, signal: AbortSignal): Response {
  if (!response.ok || response.body === null) return response;
  const begun = new TransformStream<Uint8Array, Uint8Array>({
    start: (stream) => stream.enqueue(Buffer.from(":\n\n")),
  });
  return new Response(response.body.pipeThrough(begun, { signal }), response);
}

/** A client of the older revisions. Two requests of one id at a time would share a stream, and the first would wait forever. */
class ClientTransport extends WebStandardStreamableHTTPServerTransport {
  /** Ids of the requests that have no answer yet. */
  readonly #open = new Set<unknown>();

  override async handleRequest(request: Request, options: HandleRequestOptions = {}): Promise<Response> {
    const sent = [options.parsedBody ?? []].flat();
    const asked = sent.filter((one) => isJSONRPCRequest(one));
    const isTwice = (id: RequestId) => asked.filter((one) => one.id === id).length > 1;
    const again = asked.find(({ id }) => this.#open.has(id) || isTwice(id));
    if (again !== undefined) return refused(again);
    for (const { id } of asked) this.#open.add(id);
    const response = await super.handleRequest(request, options);
    if (!response.ok) for (const { id } of asked) this.#open.delete(id);
    else for (const { params } of sent.filter(isCancelled)) this.#end(params.requestId);
    return response;
  }

  /** What was cancelled gets no answer, and its stream would stay open. */
  #end(id: RequestId): void {
    this.#open.delete(id);
    this.closeSSEStream(id);
  }

  override async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    if (!("method" in message)) this.#open.delete(message.id);
    return super.send(message, options);
  }
}

function refused(again: JSONRPCRequest): Response {
  const why = `The request ${JSON.stringify(again.id)} has no answer yet: give each request an id of its own.`;
  return new Response(faultLine(INVALID_REQUEST, why, again), { status: 400, headers: JSON_HEADERS });
}

function isCancelled(sent: unknown): sent is CancelledNotification & { params: { requestId: RequestId } } {
  return isSpecType.CancelledNotification(sent) && sent.params.requestId !== undefined;
}

/** The message of a request; undefined where there is none, or it cannot be read. */
async function bodyOf(request: Request): Promise<unknown> {
  if (request.method !== "POST") return undefined;
  try {
    const read = await readRequestBody(request.clone());
    return read.tooLarge ? undefined : JSON.parse(read.text);
  } catch {
    return undefined;
  }
}

/** Resolves when the client of a session has read enough of its answers for another. */
type Room = (session: string | undefined) => Promise<void>;

/** Those of the older revisions have a session each; the newer ones say with each request all that it needs. */
class HttpClients {
  readonly #ground: Ground;
  readonly #room: Room;
  readonly #shared: Place;
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #sessions = new Map<string, ClientTransport>();

  constructor(ground: Ground, room: Room) {
    this.#ground = ground;
    this.#room = room;
    this.#shared = new Place(ground, () => room(undefined));
    const onerror = ({ message }: Error) => ground.note(message);
    this.#modern = createMcpHandler(() => this.#serverIn(this.#shared), { legacy: "reject", onerror });
    const { notify } = this.#modern;
    this.#shared.onChange((what) => {
      if (what === "tools") notify.toolsChanged();
      else if (what === "resources") notify.resourcesChanged();
    });
  }

  #serverIn(place: Place) {
    return toolServer({ version: this.#ground.version, place, followsRoots: false });
  }

  async answer(request: Request): Promise<Response> {
    const parsedBody = await bodyOf(request);
    if (!(await isLegacyRequest(request, parsedBody))) return this.#modern.fetch(request);
    const id = request.headers.get("mcp-session-id");
    if (id === null) return this.#begin(request, parsedBody);
    const session = this.#sessions.get(id);
    if (session === undefined) return new Response("There is no such session.\n", { status: 404 });
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    const response = await session.handleRequest(request, { parsedBody });
    return request.method === "GET" ? listenedTo(response, request.signal) : response;
  }

  async #begin(request: Request, parsedBody: unknown): Promise<Response> {
    const place = new Place(this.#ground, () => this.#room(transport.sessionId));
    const transport = new ClientTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
    });
    const server = this.#serverIn(place);
    tellOfChanges(server, place);
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
    else if (this.#sessions.size > MOST_SESSIONS) await oldest?.close();
    return response;
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.close()));
    await this.#modern.close();
    await this.#shared.close();
  }
}
