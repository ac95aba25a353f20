import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { type HttpRequest, httpRequest } from "@burin/machine/http/http-request";
import {
  type FetchLike,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";

/** A number that the protocol gives to no error, for answers that never came. */
export const ANSWER_LOST = -32_099;

type SendOptions = Parameters<StreamableHTTPClientTransport["send"]>[1];

/**
 * Streamable HTTP in which a request fails when the stream that was to bring its answer has ended without one and
 * cannot be taken up again. The SDK alone would let it wait for its time limit.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const id = !Array.isArray(message) && "method" in message && "id" in message ? message.id : undefined;
    if (id === undefined) return super.send(message, options);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      // Where the answer has come, nobody waits for this one and it is dropped.
      const error = { code: ANSWER_LOST, message: "the connection ended before the answer" };
      this.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/**
 * What the SDK takes for `fetch`, on Burin's own requests: they go through the proxy that the environment names,
 * and a stream may be silent for as long as it likes. Redirects are not followed; the SDK judges those itself.
 */
export const httpFetchIn =
  (environment: NodeJS.ProcessEnv): FetchLike =>
  async (address, init = {}) => {
    const url = new URL(address);
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    const body =
      init.body === undefined || init.body === null ? {} : { body: [Buffer.from(bodyText(init.body))] };
    const method = (init.method ?? "GET") as HttpRequest["method"];
    const signal = init.signal ?? new AbortController().signal;
    const answer = await httpRequest({ url, method, headers, environment, ...body }, signal);
    const entries = Object.entries(answer.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    const content = WITHOUT_BODY.has(answer.status) ? null : streamOf(answer.body);
    return new Response(content, { status: answer.status, headers: entries });
  };

function bodyText(body: NonNullable<RequestInit["body"]>): string {
  if (typeof body === "string" || body instanceof URLSearchParams) return body.toString();
  throw new Error("Only text is sent to MCP servers.");
}

function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(body)) as ReadableStream<Uint8Array>;
}
