import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { buffer } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isRecord, type JsonRecord, parseJson } from "@burin/contract/messages/untrusted-json";
import { describeError } from "@burin/contract/text/error-message";
import type { ScriptLine } from "@burin/models/scripted";
import { anthropicProtocol } from "./anthropic-protocol.ts";
import { chatCompletionsProtocol } from "./chat-completions-protocol.ts";
import { geminiProtocol } from "./gemini-protocol.ts";
import { responsesProtocol } from "./responses-protocol.ts";
import { findRefusal, type Refusal, type ServiceName } from "./service-habits.ts";
import { createSecret, type FakeProtocol, type WireReply } from "./wire-reply.ts";

/** One request for a reply, as it arrived. */
export interface RecordedRequest {
  /** The path, including the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; empty when it was not a JSON object. */
  readonly body: JsonRecord;
  readonly bodyBytes: number;
}

/** A response written by hand, for tests of faults, with arbitrary bytes and timing. */
export interface RawReply {
  readonly raw: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
}

type PlainReply = ScriptLine | RawReply;
/** One reply of a fake service: plain values, bytes written by hand, or a function of the request. */
export type FakeReply = PlainReply | ((request: RecordedRequest) => PlainReply | Promise<PlainReply>);

/** A running fake service, and the requests that it got. */
export interface FakeModelServer {
  /** The base URL, which ends in `/v1`, as a user would write it; it works for every protocol. */
  readonly baseUrl: string;
  /** Every request for a reply, in order, including refused ones. */
  readonly requests: readonly RecordedRequest[];
  /** Why requests were refused. A test of a correct client asserts that it is empty. */
  readonly problems: readonly string[];
  /** The replies that no request has used. */
  unusedReplies(): readonly FakeReply[];
  close(): Promise<void>;
}

export interface FakeServiceOptions {
  /** A service whose own requirements are checked as well. A refused request uses no reply of the script. */
  readonly service?: ServiceName;
}

/** Lets a server listen at a free port of this computer. */
export async function listenOnFreePort(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/**
 * A real HTTP server on loopback that speaks chat completions, Anthropic's Messages, Gemini's generateContent and
 * OpenAI's Responses, all streamed, and plays the replies in order for any client. It checks each request as a
 * strict service would, and answers 400 with the reason when the request is wrong.
 */
export async function startFakeModelServer(
  replies: readonly FakeReply[],
  options: FakeServiceOptions = {},
): Promise<FakeModelServer> {
  const service = new FakeService(replies, options);
  const server = createServer((request, response) => {
    service.answer(request, response).catch((error: unknown) => {
      service.problems.push(`The reply itself failed: ${String(error)}`);
      response.destroy();
    });
  });
  return {
    baseUrl: `http://127.0.0.1:${await listenOnFreePort(server)}/v1`,
    requests: service.requests,
    problems: service.problems,
    unusedReplies: () => service.unusedReplies(),
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The protocol for each path, whatever version is before it. */
const PROTOCOLS: readonly (readonly [RegExp, FakeProtocol])[] = [
  [/^\/v\d\w*\/chat\/completions$/, chatCompletionsProtocol],
  [/^\/v\d\w*\/messages$/, anthropicProtocol],
  [/^\/v\d\w*\/models\/[^/]+:streamGenerateContent$/, geminiProtocol],
  [/^\/v\d\w*\/responses$/, responsesProtocol],
];

class FakeService {
  readonly requests: RecordedRequest[] = [];
  readonly problems: string[] = [];
  readonly #replies: FakeReply[];
  readonly #issued = new Map<string, string>();
  readonly #playing: ServiceName | undefined;

  constructor(replies: readonly FakeReply[], { service }: FakeServiceOptions) {
    this.#replies = [...replies];
    this.#playing = service;
  }

  unusedReplies(): readonly FakeReply[] {
    return [...this.#replies];
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = "" } = request;
    // A request through a proxy has the whole URL in place of the path.
    const path = url.replace(/^http:\/\/[^/]*|\?.*$/gs, "");
    const [, protocol] = PROTOCOLS.find(([pattern]) => method === "POST" && pattern.test(path)) ?? [];
    if (protocol) {
      const recorded = await recordRequest(request);
      this.requests.push(recorded);
      const refusal =
        (this.#playing && findRefusal(this.#playing, path, recorded.body)) ??
        this.#findRefusal(protocol, recorded.body);
      if (refusal) sendJson(response, refusal.status, refusal.body);
      else await this.#sendReply(protocol, recorded, { request, response });
    } else if (method === "GET" && path === "/v1/models") {
      sendJson(response, 200, { object: "list", data: [{ id: "fake-model", object: "model" }] });
    } else {
      const message = `There is no ${method} ${path}`;
      sendJson(response, 404, { error: { message, type: "not_found_error" } });
    }
  }

  #findRefusal(protocol: FakeProtocol, body: JsonRecord): Refusal | undefined {
    try {
      protocol.check(body, this.#issued);
      assert(this.#replies.length > 0, "no reply is left in the script");
      return undefined;
    } catch (error) {
      const message = describeError(error);
      this.problems.push(`Request ${this.requests.length}: ${message}`);
      return {
        status: 400,
        body: protocol.buildErrorBody({ message, type: "invalid_request_error", status: 400 }),
      };
    }
  }

  async #sendReply(
    protocol: FakeProtocol,
    recorded: RecordedRequest,
    { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  ): Promise<void> {
    const next = this.#replies.shift() ?? {};
    const line = typeof next === "function" ? await next(recorded) : next;
    if ("raw" in line) return line.raw(request, response);
    const { error } = line;
    if (error?.status !== undefined) return sendJson(response, error.status, protocol.buildErrorBody(error));
    const { body } = recorded;
    const reply = this.#wireReply(protocol, line, body);
    if (protocol.buildDocument && body.stream !== true)
      return sendJson(response, 200, error ? protocol.buildErrorBody(error) : protocol.buildDocument(reply));
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    for (const data of protocol.buildEvents(reply)) {
      if (response.destroyed) return;
      response.write(formatServerSentEvent(data));
      // Send each piece in a packet of its own, so that the client sees the reply grow.
      await nextTurn();
    }
    response.end();
  }

  #wireReply(protocol: FakeProtocol, line: ScriptLine, body: JsonRecord): WireReply {
    const { thought = "", text = "", error } = line;
    // `call_1` and so on, counted over the whole conversation, even if its beginning was left out.
    const last = Math.max(protocol.countAnsweredCalls(body), findHighestCallNumber(body));
    const begun = error ? [] : (line.calls ?? []);
    const calls = begun.map((call, index) => ({ ...call, id: `call_${last + index + 1}` }));
    const [first] = calls;
    if (protocol.returnsThoughts && thought && first) this.#issued.set(first.id, createSecret(thought));
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, ...line.usage };
    return { model: String(body.model), thought, text, calls, usage, error };
  }
}

/** Writes an event with its type as its name, in the protocols whose events have types. */
function formatServerSentEvent(data: object | string): string {
  if (typeof data === "string") return `data: ${data}\n\n`;
  return `${"type" in data ? `event: ${data.type}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
}

function findHighestCallNumber(body: JsonRecord): number {
  const numbers = JSON.stringify(body).matchAll(/"call_(\d{1,9})"/g);
  return Math.max(0, ...Array.from(numbers, ([, number]) => Number(number)));
}

async function recordRequest(request: IncomingMessage): Promise<RecordedRequest> {
  const bytes = await buffer(request);
  const body = parseJson(bytes.toString("utf8"));
  const { url: path = "", headers } = request;
  return { path, headers, body: isRecord(body) ? body : {}, bodyBytes: bytes.length };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
