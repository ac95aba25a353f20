import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { type HttpRequest, httpRequest } from "@burin/machine/http/http-request";
import type { FetchLike } from "@modelcontextprotocol/client";

const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/**
 * What the SDK takes for `fetch`, on Burin's own requests: they go through the proxy that the environment names,
 * and a stream may be silent for as long as it likes. Redirects are not followed; the SDK judges those itself.
 */
export const httpFetch: FetchLike = async (address, init = {}) => {
  const url = new URL(address);
  const headers = Object.fromEntries(new Headers(init.headers).entries());
  const body =
    init.body === undefined || init.body === null ? {} : { body: [Buffer.from(bodyText(init.body))] };
  const method = (init.method ?? "GET") as HttpRequest["method"];
  const signal = init.signal ?? new AbortController().signal;
  const answer = await httpRequest({ url, method, headers, ...body }, signal);
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
