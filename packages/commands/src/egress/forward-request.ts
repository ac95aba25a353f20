import {
  type IncomingMessage,
  request as openRequest,
  type RequestOptions,
  type ServerResponse,
} from "node:http";
import { request as openSecureRequest } from "node:https";
import { describeError } from "@burin/contract/text/error-message";
import { formatHostEndpoint, type HostEndpoint } from "@burin/shell-judge";
import type { ApprovedRoute } from "./open-onward.ts";
import { RefusedConnectionError } from "./refusal.ts";

interface ForwardedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly place: HostEndpoint;
  /** The path as it was written. */
  readonly path: string;
  readonly onward: ApprovedRoute;
}

interface ForwardLimits {
  readonly dialMs: number;
  readonly idleMs: number;
  readonly maxBytes: number;
}

/**
 * Hop-by-hop headers: they describe one connection, not the message. Host and the body's framing are written again
 * below.
 */
const HOP_BY_HOP_HEADERS = new Set(
  "connection keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer upgrade host expect content-length transfer-encoding".split(
    " ",
  ),
);

/**
 * Sends the request to its target on a new connection. Only parsed fields are written, so the server cannot read a
 * second request from them. Rejects when no response arrived.
 */
export async function forwardRequest(forwarded: ForwardedRequest, limits: ForwardLimits): Promise<void> {
  const { request, response, place, onward } = forwarded;
  const open = onward.route.protocol === "https:" ? openSecureRequest : openRequest;
  const sending = open(buildRequestOptions(forwarded));
  response.once("close", () => sending.destroy());
  let bytes = 0;
  const countSentBytes = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > limits.maxBytes) sending.destroy(new Error("more bytes than one connection may have"));
  };
  request.on("data", countSentBytes).pipe(sending);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    sending.setTimeout(limits.idleMs, () => sending.destroy(new Error("no data arrived for too long")));
    sending.on("error", (error) =>
      reject(
        new RefusedConnectionError(
          502,
          `${formatHostEndpoint(place)} could not be reached: ${describeError(error)}`,
        ),
      ),
    );
    sending.once("response", resolve);
  });
  const { statusCode = 502, statusMessage = "" } = answer;
  response.writeHead(statusCode, statusMessage, filterHeaders(answer.rawHeaders, ["content-length"]));
  answer.on("error", () => response.destroy());
  answer.on("data", countSentBytes).pipe(response);
}

function buildRequestOptions({ request, place, path, onward }: ForwardedRequest): RequestOptions {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  const coded = coding === undefined ? [] : ["transfer-encoding", "chunked"];
  // The parser has already rejected a request with both headers, and an invalid length.
  const frame = length === undefined ? coded : ["content-length", length];
  const { headers: login = {}, ...route } = onward.route;
  const more = Object.entries(login).filter(([name]) => name !== "host");
  const host = place.port === 80 ? formatHostEndpoint(place).replace(/:80$/, "") : formatHostEndpoint(place);
  const headers = [
    ...filterHeaders(request.rawHeaders),
    "host",
    host,
    ...frame,
    ...more.flat(),
    "connection",
    "close",
  ];
  const base = { method: request.method, agent: false, headers, setHost: false } as const;
  const whole = { ...base, host: place.host, port: place.port, path };
  if (route.hostname !== undefined) return { ...base, ...route, path: `http://${host}${path}` };
  if (route.agent !== undefined) return { ...whole, ...route };
  const found = onward.addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const answerWithApproved: RequestOptions["lookup"] = (_host, { all }, answer) => {
    const [first = { address: "", family: 4 }] = found;
    // Answer asynchronously, as a real lookup does: an unreachable address would otherwise fail before the socket has a
    // listener.
    setImmediate(() => (all ? answer(null, found) : answer(null, first.address, first.family)));
  };
  return { ...whole, lookup: answerWithApproved };
}

/** Returns the end-to-end headers in order, without those that `Connection` lists. */
function filterHeaders(raw: readonly string[], kept: readonly string[] = []): string[] {
  const pairs = raw.flatMap((name, index) =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? ""] as const] : [],
  );
  const named = pairs
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) =>
      value
        .toLowerCase()
        .split(",")
        .map((one) => one.trim()),
    );
  return pairs
    .filter(([name]) => {
      const lower = name.toLowerCase();
      return kept.includes(lower) || !(HOP_BY_HOP_HEADERS.has(lower) || named.includes(lower));
    })
    .flat();
}
