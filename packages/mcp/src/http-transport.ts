import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { type HttpRequest, httpRequest } from "@burin/machine/http/http-request";
import {
  type FetchLike,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { MOST_MESSAGE_BYTES } from "./stdio-transport.ts";

/** A number that the protocol does not use, for responses that never came. */
export const ANSWER_LOST = -32_099;

type SendOptions = Parameters<StreamableHTTPClientTransport["send"]>[1];

/**
 * Streamable HTTP in which a request fails when its response stream has ended without a response and cannot be
 * resumed. With the SDK alone it would wait for its time limit.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const id = !Array.isArray(message) && "method" in message && "id" in message ? message.id : undefined;
    if (id === undefined) return super.send(message, options);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      // If the response has already come, this one is dropped.
      const error = { code: ANSWER_LOST, message: "the connection ended before the answer" };
      this.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/**
 * A `fetch` for the SDK that uses Burin's own requests: with the proxy that the environment names, and without a
 * limit for silence. Redirects are not followed; the SDK decides about them. Connects to `addresses`, if given.
 */
export const httpFetchIn =
  (environment: NodeJS.ProcessEnv, addresses?: readonly string[]): FetchLike =>
  async (address, init = {}) => {
    const url = new URL(address);
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    const body =
      init.body === undefined || init.body === null ? {} : { body: [Buffer.from(bodyText(init.body))] };
    const method = (init.method ?? "GET") as HttpRequest["method"];
    const signal = init.signal ?? new AbortController().signal;
    const checked = addresses === undefined ? {} : { addresses };
    const answer = await httpRequest({ url, method, headers, environment, ...body, ...checked }, signal);
    const entries = Object.entries(answer.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    const isStream = /^text\/event-stream/i.test(String(answer.headers["content-type"]));
    const content = WITHOUT_BODY.has(answer.status) ? null : streamOf(bounded(answer.body, isStream));
    return new Response(content, { status: answer.status, headers: entries });
  };

function bodyText(body: NonNullable<RequestInit["body"]>): string {
  if (typeof body === "string" || body instanceof URLSearchParams) return body.toString();
  throw new Error("Only text is sent to MCP servers.");
}

/** Fails at a message that is too long: the rest of the body, or in a stream of events what no empty line ends. */
async function* bounded(body: AsyncIterable<Uint8Array>, isStream: boolean): AsyncGenerator<Uint8Array> {
  let length = 0;
  let before = "";
  for await (const bytes of body) {
    length += bytes.length;
    if (isStream) {
      const text = before + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
      if (/\n\r?\n|\r\r/.test(text)) length = 0;
      before = text.slice(-2);
    }
    if (length > MOST_MESSAGE_BYTES)
      throw new Error(`it sent a message of more than ${MOST_MESSAGE_BYTES} bytes`);
    yield bytes;
  }
}

function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(body)) as ReadableStream<Uint8Array>;
}
