import {
  type IncomingMessage,
  request as openRequest,
  type RequestOptions,
  type ServerResponse,
} from "node:http";
import { request as openSecureRequest } from "node:https";
import { messageOf } from "@burin/contract/text/error-message";
import { type HostPlace, hostPlaceText } from "@burin/shell-judge";
import type { Onward } from "./open-onward.ts";
import { RefusedConnection } from "./refusal.ts";

interface Forwarded {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly place: HostPlace;
  /** As it was written. */
  readonly path: string;
  readonly onward: Onward;
}

interface ForwardLimits {
  readonly dialMs: number;
  readonly idleMs: number;
  readonly mostBytes: number;
}

/** They describe one connection, not the message; Host and the frame of the body are written again here. */
const OF_CONNECTION = new Set(
  "connection keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer upgrade host expect content-length transfer-encoding".split(
    " ",
  ),
);

/**
 * Sends the request on as a new one, on a connection of its own: only what was understood is written, so that the
 * server cannot read another request in it. Rejects when no answer came.
 */
export async function forwardRequest(forwarded: Forwarded, limits: ForwardLimits): Promise<void> {
  const { request, response, place, onward } = forwarded;
  const open = onward.route.protocol === "https:" ? openSecureRequest : openRequest;
  const sending = open(requestOptions(forwarded));
  response.once("close", () => sending.destroy());
  let bytes = 0;
  const count = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > limits.mostBytes) sending.destroy(new Error("more bytes than one connection may have"));
  };
  request.on("data", count).pipe(sending);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    sending.setTimeout(limits.idleMs, () => sending.destroy(new Error("nothing came for too long")));
    sending.on("error", (error) =>
      reject(new RefusedConnection(502, `${hostPlaceText(place)} could not be reached: ${messageOf(error)}`)),
    );
    sending.once("response", resolve);
  });
  const { statusCode = 502, statusMessage = "" } = answer;
  response.writeHead(statusCode, statusMessage, endToEnd(answer.rawHeaders, ["content-length"]));
  answer.on("error", () => response.destroy());
  answer.on("data", count).pipe(response);
}

function requestOptions({ request, place, path, onward }: Forwarded): RequestOptions {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  const coded = coding === undefined ? [] : ["transfer-encoding", "chunked"];
  // The parser has refused a request with both, and a length that is not one.
  const frame = length === undefined ? coded : ["content-length", length];
  const { headers: login = {}, ...route } = onward.route;
  const more = Object.entries(login).filter(([name]) => name !== "host");
  const host = place.port === 80 ? hostPlaceText(place).replace(/:80$/, "") : hostPlaceText(place);
  const headers = [
    ...endToEnd(request.rawHeaders),
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
  const lookup: RequestOptions["lookup"] = (_host, { all }, answer) => {
    const [first = { address: "", family: 4 }] = found;
    // Later, like a real lookup: an address out of reach would fail before the socket has a listener.
    setImmediate(() => (all ? answer(null, found) : answer(null, first.address, first.family)));
  };
  return { ...whole, lookup };
}

/** The headers for the other end, in their order; those that `Connection` names belong to this connection. */
function endToEnd(raw: readonly string[], kept: readonly string[] = []): string[] {
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
      return kept.includes(lower) || !(OF_CONNECTION.has(lower) || named.includes(lower));
    })
    .flat();
}
